"""Every way a name, a change or a rules file can be wrong, and exactly what is said about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from solver.errors import RulesError
from solver.rules import build, changed, names, ruleset, settings

BLOCKS = (Path(__file__).parent / "data" / "refused_rules.txt").read_text(encoding="utf-8").split("\n\n")[1:]
YAHTZEE_BOXES = "ones, twos, threes, fours, fives, sixes, three_of_a_kind, four_of_a_kind, full_house, "
YAHTZEE_BOXES += "small_straight, large_straight, yahtzee, chance"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is the working folder too."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(name: Any, changes: Any = None) -> str:
    with pytest.raises(RulesError) as caught:
        ruleset(name, changes)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"yahtzee.bonsu": 50},
            "yahtzee.bonsu: found an unknown key, expected one of: category, bonus, joker "
            '(did you mean "bonus"?)',
        ),
        (
            {"rols": 4},
            "rols: found an unknown key, expected one of: title, summary, dice, rolls, save_rolls, order, "
            'upper_bonus, colours, yahtzee, categories, box_order (did you mean "rolls"?)',
        ),
        (
            {"categories.full_hose.points": 30},
            f"categories.full_hose: found an unknown key, expected one of: {YAHTZEE_BOXES} "
            '(did you mean "full_house"?)',
        ),
        (
            {"categories.full_house.point": 30},
            "categories.full_house.point: found an unknown key, expected one of: title, section, pattern, "
            'points, joker, served, requires (did you mean "points"?)',
        ),
        (
            {"categories.full_house.points.plus": 30},
            "categories.full_house.points.plus: found an unknown key, expected categories.full_house.points, "
            "which has no keys below it",
        ),
        ({"rolls.x": 30}, "rolls.x: found an unknown key, expected rolls, which has no keys below it"),
        (
            {"categories.chance.points.times.x": 3},
            "categories.chance.points.times.x: found an unknown key, expected "
            "categories.chance.points.times, which has no keys below it",
        ),
        ({"rolls": None}, "rolls: found None, expected text, a whole number, true, false, a list or a table"),
        ({3: 4}, "found the key 3, expected keys that are text"),
    ],
)
def test_changed_refuses_unknown_keys(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RulesError) as caught:
        changed(settings("yahtzee"), changes)
    assert str(caught.value) == f"changes: {message}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("yahtzee[", 'rules: found "yahtzee[", expected the changes to end in ], as in yahtzee[rolls=4]'),
        (
            "yahtzee[rolls=4",
            'rules: found "yahtzee[rolls=4", expected the changes to end in ], as in yahtzee[rolls=4]',
        ),
        ("yahtzee[]", 'yahtzee[]: found "", expected changes such as rolls=4, with commas between them'),
        (
            "yahtzee[rolls]",
            'yahtzee[rolls]: found "rolls", expected changes such as rolls=4, with commas between them',
        ),
        (
            "yahtzee[rolls=]",
            "yahtzee[rolls=]: rolls: found nothing, expected a word or a value as in TOML, "
            'such as 50, "text" or [1, 2]',
        ),
        (
            "yahtzee[rolls=4\nx=3]",
            '"yahtzee[rolls=4\\nx=3]": rolls: found "4\\nx=3", expected a word or a value as in TOML, '
            'such as 50, "text" or [1, 2]',
        ),
        ("yahtzee[rolls=0]", "yahtzee[rolls=0]: rolls: found 0, expected a whole number from 1 to 100"),
        (
            "yahtzee[rolls=four]",
            'yahtzee[rolls=four]: rolls: found "four", expected a whole number from 1 to 100',
        ),
        (
            "kniffel[yahtzee.bonus=50]",
            "kniffel[yahtzee.bonus=50]: yahtzee.category: found nothing, expected the key of a box: "
            + YAHTZEE_BOXES,
        ),
        (
            "yatzee",
            'rules: found "yatzee", expected a game or the path of a .toml file '
            f'(did you mean "yahtzee" or "yatzy"?); the games: {", ".join(names())}',
        ),
        (
            "qqq[rolls=4]",
            'rules: found "qqq[rolls=4]", expected a game or the path of a .toml file; '
            f"the games: {', '.join(names())}",
        ),
        ("none.toml", "none.toml: found no such file, expected a rules file (.toml)"),
        ("none.toml[rolls=4]", "none.toml: found no such file, expected a rules file (.toml)"),
        ("sub/none", "sub/none: found no such file, expected a rules file (.toml)"),
        ("./", "./: found a folder, expected a rules file (.toml)"),
        (Path(), ".: found a folder, expected a rules file (.toml)"),
        (
            "a\0.toml",
            '"a\\u0000.toml": found a file that cannot be read (embedded null byte), '
            "expected a rules file (.toml)",
        ),
    ],
)
def test_names_that_are_refused(folder: Path, name: Any, message: str) -> None:
    assert refusal(name) == message


# Files that are wrong


def refused(folder: Path, text: str | bytes) -> str:
    """Return the refusal of a file, without the name of the file."""
    data = text.encode() if isinstance(text, str) else text
    (folder / "a.toml").write_bytes(data)
    message = refusal("a.toml")
    assert message.startswith("a.toml: ")
    return message.removeprefix("a.toml: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a =\n", 'line 1: found "a =", expected TOML (Invalid value)'),
        ('x = 1\ny = "b\n', "line 2: found 'y = \"b', expected TOML (Illegal character '\\n')"),
        ("y = 1\nx = [1\n\n", 'line 2: found "x = [1", expected TOML (Unclosed array)'),
        ('title = "x"\ntitle = "y"\n', "line 2: found 'title = \"y\"', expected every key once in its table"),
        ("[yahtzee]\n[yahtzee]\n", 'line 2: found "[yahtzee]", expected every key once in its table'),
        ("a = {b = 1, b = 2}", 'line 1: found "a = {b = 1, b = 2}", expected every key once in its table'),
        (b'a = 1\ntitle = "\xe9"', "line 2: found byte 0xe9, expected text in UTF-8"),
        ("x = " + "[" * 5000, "found a number or a nest of lists too large to read, expected rules as TOML"),
        ("x = " + "1" * 5000, "found a number or a nest of lists too large to read, expected rules as TOML"),
        ("#" * 1_000_001, "found more than 1000000 bytes, expected a rules file (.toml)"),
        (
            "x = " + "[" * 9 + "]" * 9,
            "x[0][0][0][0][0][0][0][0]: found tables or lists more than eight deep, "
            "expected values as the rules format describes them",
        ),
    ],
)
def test_files_that_are_not_toml(folder: Path, text: str | bytes, message: str) -> None:
    assert refused(folder, text) == message


def test_a_file_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (folder / "a.toml").write_text("")
    monkeypatch.setattr(Path, "open", refuse)
    expected = "a.toml: found a file that cannot be read (Permission denied), expected a rules file (.toml)"
    assert refusal("a.toml") == expected


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.strip().splitlines()[-1])
def test_values_that_are_refused(folder: Path, block: str) -> None:
    text, message = block.strip().split("\n=> ")
    assert refused(folder, f'extends = "yahtzee"\n{text}\n') == message.replace("{boxes}", YAHTZEE_BOXES)


def test_long_values_are_shortened(folder: Path) -> None:
    assert refused(folder, f'title = "{"x" * 61}"') == (
        f'title: found "{"x" * 58}…, expected one line of text of 1 to 60 characters'
    )


def test_number_of_boxes(folder: Path) -> None:
    boxes = "".join(
        f'[categories.b{n}]\ntitle = "{n}"\nsection = "lower"\npattern = {{}}\npoints = 1\n'
        for n in range(21)
    )
    expected = "expected 1 to 20 tables such as [categories.ones]"
    game = 'title = "T"\ndice = 5\nrolls = 3\n'
    assert refused(folder, game + boxes) == f"categories: found 21 boxes, {expected}"
    assert refused(folder, game + "categories = {}") == f"categories: found 0 boxes, {expected}"


@pytest.mark.parametrize("key", ["title", "dice", "rolls", "categories"])
def test_required_keys_of_a_game(key: str) -> None:
    values = settings("yahtzee")
    del values[key]
    with pytest.raises(RulesError, match=rf"^mine: {key}: found nothing, expected [^\n]+$"):
        build(values, "mine")


@pytest.mark.parametrize("key", ["title", "section", "pattern", "points"])
def test_required_keys_of_a_box(key: str) -> None:
    values = settings("yahtzee")
    del values["categories"]["chance"][key]
    with pytest.raises(RulesError, match=rf"^mine: categories.chance.{key}: found nothing, expected [^\n]+$"):
        build(values, "mine")


@pytest.mark.parametrize("key", ["category", "bonus", "joker"])
def test_required_keys_of_the_yahtzee_table(key: str) -> None:
    values = settings("yahtzee")
    del values["yahtzee"][key]
    with pytest.raises(RulesError, match=rf"^mine: yahtzee.{key}: found nothing, expected [^\n]+$"):
        build(values, "mine")


def test_nothing_to_remove_without_a_base(folder: Path) -> None:
    assert refused(folder, "categories.x = false") == (
        "categories.x: found false, expected a box to remove: one of the game that the file extends"
    )


# Extending what cannot be extended


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("3", f"found 3, expected a game or the path of a rules file; the games: {', '.join(names())}"),
        (
            '"yatsy"',
            'found "yatsy", expected a game or the path of a .toml file (did you mean "yatzy" or "yacht"?); '
            f"the games: {', '.join(names())}",
        ),
        (
            '"b.toml"',
            'found "b.toml", expected a game or the path of a file that is there: b.toml is not',
        ),
        ('"a.toml"', 'found "a.toml", expected a game that does not lead back here (a.toml → a.toml)'),
        ('"./a.toml"', 'found "./a.toml", expected a game that does not lead back here (a.toml → a.toml)'),
    ],
)
def test_extends_that_is_refused(folder: Path, value: str, message: str) -> None:
    assert refused(folder, f"extends = {value}\n") == f"extends: {message}"


def test_a_circle_of_files(folder: Path) -> None:
    for one, other in ("ab", "bc", "cb"):
        (folder / f"{one}.toml").write_text(f'extends = "{other}.toml"\n')
    assert refusal("a.toml") == (
        'c.toml: extends: found "b.toml", expected a game that does not lead back here '
        "(a.toml → b.toml → c.toml → b.toml)"
    )


def test_a_fault_is_reported_where_it_is(folder: Path) -> None:
    (folder / "base.toml").write_text('extends = "yatzy"\nrolls = 0\n')
    (folder / "a.toml").write_text('extends = "base.toml"\nrolls = 3\n')
    assert refusal("a.toml") == "base.toml: rolls: found 0, expected a whole number from 1 to 100"


def test_a_number_too_long_to_be_written(folder: Path) -> None:
    """TOML reads more hexadecimal digits than Python writes decimal ones."""
    found = f"0x{'f' * 57}…"
    assert refused(folder, f'extends = "yacht"\nrolls = 0x{"f" * 5000}\n') == (
        f"rolls: found {found}, expected a whole number from 1 to 100"
    )
