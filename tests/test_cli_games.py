"""The command line on whole games: solve, rules and tables, with each refusal in its exact words."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import command_line
import pytest
from command_line import TINY, WITH_TABLE, misuse, on_terminal, posix, refusal, run, said

import solver
from solver import files, library
from solver.deviations import kept
from solver.rules import settings
from solver.table import read_header

home, tables = command_line.home, command_line.tables


# solve


def test_expected_scores_with_ten_decimals(home: Path) -> None:
    lines = said("solve", "yacht-clubhouse", "--output", "clubhouse.dwt").splitlines()
    assert lines[0].startswith("Yacht, clubhouse: as in the 51-games console collection")
    assert lines[1:3] == ["  Rules           yacht-clubhouse", "  Expected score  191.7743691883 points"]
    assert lines[4].startswith("  Time            ")
    kilobytes = (home / "clubhouse.dwt").stat().st_size / 1e3
    assert lines[5] == f"  Table           clubhouse.dwt ({kilobytes:.1f} kB)"
    assert library.load("yacht-clubhouse", path="clubhouse.dwt").root == pytest.approx(
        191.774369188342, abs=1e-11
    )


def test_solving_in_json(home: Path) -> None:
    found = json.loads(said("solve", "yahtzee", "--json", "--threads", "1", "--output", "new.dwt"))
    assert found["expected_score"] == pytest.approx(254.5877287345, abs=1e-10)
    assert found.pop("expected_score") == library.solve("yahtzee").value()
    assert 0 < found.pop("seconds") < 600
    assert found == {"rules": "yahtzee", "states": 536_448, "table": "new.dwt"}
    assert sorted(path.name for path in home.iterdir()) == ["new.dwt"]


def test_solving_a_file_from_elsewhere_with_changes(home: Path) -> None:
    (home / "rules").mkdir()
    (home / "rules" / "base.toml").write_text('extends = "yacht"\ntitle = "Yacht [red]here[/red]"\n')
    (home / "rules" / "house.toml").write_text('extends = "base.toml"\nrolls = 2\n')
    name = os.path.join("rules", "house.toml")
    text = said("solve", name, "--set", "rolls=1")
    assert text.startswith("Yacht [red]here[/red]: Four of a Kind scores four times the face\n")
    assert f"  Rules           {name}[rolls=1]\n" in text
    assert f"{library.solve('yacht[rolls=1]').value():.10f}" in text


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("folder", "found a folder, expected the path of a file"),
        (os.path.join("no", "x.dwt"), "found no folder 'no', expected one that is there"),
        ("house.toml", "found another file there, expected none or a table to replace"),
    ],
)
def test_where_no_table_can_be_written(home: Path, path: str, fault: str) -> None:
    (home / "folder").mkdir()
    (home / "house.toml").write_text('extends = "yacht"')
    assert refusal("solve", "house.toml", "--output", path) == f"--output {path!r}: {fault}"
    assert (home / "house.toml").read_text() == 'extends = "yacht"'
    assert sorted(path.name for path in home.iterdir()) == ["folder", "house.toml"]


@posix
def test_a_folder_that_cannot_be_written_to_is_found_out_before_solving(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from solver.cli import solve

    def denied(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", "xyz")

    monkeypatch.setattr(solve, "TemporaryFile", denied)
    monkeypatch.setattr(library, "solve", None)
    expected = "--output 'x.dwt': the folder cannot be written to: Permission denied"
    assert refusal("solve", "yacht", "--output", "x.dwt") == expected


def test_a_broken_or_older_table_may_be_replaced(home: Path) -> None:
    (home / "x.dwt").write_bytes(b"\x89DWT\r\n\x1a\n and no more")
    said("solve", str(TINY / "none.toml"), "--output", "x.dwt")
    assert read_header("x.dwt").name == "none.toml"


def test_solve_called_wrongly() -> None:
    assert misuse("solve") == "Error: Missing argument 'NAME|FILE'."
    assert misuse("solve", "yacht", "--threads", "0").startswith(
        "Error: Invalid value for '--threads': 0 is not"
    )


def test_too_large_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(library, "solve", too_large)
    assert refusal("solve", "yacht") == "found too little memory for a game with so many states"


@posix
def test_ctrl_c_stops_with_one_line_and_leaves_no_file(home: Path) -> None:
    """Stopped in the midst of solving, which the progress bar shows has begun."""
    changed = ("--set", "rolls=100", "--output", "x.dwt")
    text, code = on_terminal("solve", "yatzy", *changed, when=re.compile(r" [1-9]\d?%").search)
    assert code == 130
    assert text.endswith("dicewise: stopped, no file is left half written\r\n")
    assert "Traceback" not in text
    assert list(home.iterdir()) == []


# rules


def test_the_games(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = library.load("yahtzee").states.scoring.digest
    manifest = {
        "yahtzee": {"name": "yahtzee", "digest": digest, "value": 254.58772873449, "file": "yahtzee.dwt"}
    }
    monkeypatch.setattr(library, "manifest", lambda *_: manifest)
    lines = said("rules").splitlines()
    assert lines[0] == "Name                   Dice   Boxes   Expected score   Rules"
    assert lines[2] == "yahtzee                   5      13   254.5877287345   official rules: forced joker"
    assert lines[10] == "yatzy                     5      15                -   Scandinavian rules"
    assert [line.split()[0] for line in lines[2:]] == list(solver.names())
    games = json.loads(said("rules", "--json"))
    assert games[0] == {
        "rules": "yahtzee",
        "title": "Yahtzee",
        "summary": "official rules: forced joker",
        "dice": 5,
        "rolls": 3,
        "boxes": 13,
        "expected_score": 254.58772873449,
    }
    assert [game["rules"] for game in games] == list(solver.names())
    # The table of this game lies in the folder of DICEWISE_TABLES, that of the next is nowhere.
    assert games[5]["expected_score"] == pytest.approx(166.9550677046, abs=1e-10)
    assert games[6]["expected_score"] is None


def test_a_card_in_words() -> None:
    text = said("rules", "yahtzee")
    assert text.startswith("Yahtzee: official rules: forced joker\n  Dice            five dice\n")
    assert "    Full House        full_house        three of one face and two of another   25" in text
    assert "  Lower section\n    Three of a Kind " in text
    assert "  yahtzee.bonus                       100\n" in text
    assert "  colours                             []\n" in text
    assert "  categories.full_house.pattern       {groups = [3, 2]}\n" in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_every_key_that_is_listed_can_be_set() -> None:
    text = said("rules", "yahtzee")
    keys = [line.split(maxsplit=1) for line in text[text.index("Keys, for") :].splitlines()[1:-1]]
    assert len(keys) == 11 + 13 * 2 + 3
    for key, value in keys:
        changed = solver.ruleset(f"yahtzee[{key}={value}]")
        assert changed.categories == solver.ruleset("yahtzee").categories


def test_a_card_in_json() -> None:
    found = json.loads(said("rules", "yacht[rolls=2]", "--json"))
    assert (found["rules"], found["rolls"], found["boxes"]) == ("yacht[rolls=2]", 2, 12)
    assert found["settings"] == settings("yacht[rolls=2]")
    assert found["facts"][0] == {"label": "Dice", "text": "five dice"}
    assert found["card"][0]["needs"] == "one 1 or more"


def test_check_of_rules_files(home: Path) -> None:
    (home / "good.toml").write_text('extends = "yacht"\ntitle = "Ours"\n')
    (home / "bad.toml").write_text('extends = "yacht"\nrolls = 0\n')
    assert said("rules", "check", "good.toml") == "good.toml: OK, Ours: 5 dice, 3 rolls, 12 boxes\n"
    assert (
        refusal("rules", "check", "bad.toml")
        == "bad.toml: rolls: found 0, expected a whole number from 1 to 100"
    )
    assert refusal("rules", "bad.toml") == "bad.toml: rolls: found 0, expected a whole number from 1 to 100"
    both = run("rules", "check", "bad.toml", "good.toml")
    assert (both.exit_code, both.stdout) == (2, "good.toml: OK, Ours: 5 dice, 3 rolls, 12 boxes\n")
    assert both.stderr == "dicewise: error: bad.toml: rolls: found 0, expected a whole number from 1 to 100\n"


ODD = """
title = "Odd"
dice = 2
rolls = 1
upper_bonus = [{ at = 13, points = 5 }]
categories.sixes = { title = "Sixes", section = "upper", pattern = { face = 6 }, points = "matched" }
categories.far = { title = "Far", section = "lower", pattern = { total = 13 }, points = 5 }
"""


def test_check_warns_of_what_is_odd(home: Path) -> None:
    (home / "odd.toml").write_text(ODD)
    (home / "bad.toml").write_text('extends = "yacht"\nrolls = 0\n')
    result = run("rules", "check", "odd.toml")
    assert (result.exit_code, result.stdout) == (0, "odd.toml: OK, Odd: 2 dice, 1 rolls, 2 boxes\n")
    reach = "13 is out of reach: upper boxes hold 12 points at most"
    assert result.stderr.splitlines() == [
        f"dicewise: warning: odd.toml: upper_bonus.at: {reach}",
        "dicewise: warning: odd.toml: categories.far: no roll scores here",
    ]
    result = run("rules", "check", "odd.toml", "yacht", "bad.toml", "--json")
    fault = "bad.toml: rolls: found 0, expected a whole number from 1 to 100"
    assert (result.exit_code, result.stderr) == (2, f"dicewise: error: {fault}\n")
    odd, yacht, bad = json.loads(result.stdout)
    assert odd == {
        **{"file": "odd.toml", "ok": True, "title": "Odd", "summary": "", "dice": 2, "rolls": 1, "boxes": 2},
        "warnings": [
            {"key": "upper_bonus.at", "text": reach},
            {"key": "categories.far", "text": "no roll scores here"},
        ],
    }
    assert (yacht["file"], yacht["ok"], yacht["warnings"]) == ("yacht", True, [])
    assert bad == {"file": "bad.toml", "ok": False, "error": fault}


def test_a_file_to_start_from(home: Path) -> None:
    assert said("rules", "new", "house") == "house.toml: house, with the rules of yahtzee to change\n"
    assert said("rules", "check", "house.toml") == "house.toml: OK, house: 5 dice, 3 rolls, 13 boxes\n"
    same = solver.ruleset("house.toml", {"title": "Yahtzee"})
    assert replace(same, name="yahtzee", source=None) == solver.ruleset("yahtzee")
    (home / "house.toml").write_text('extends = "yatzy"\nrolls = 5\n')
    there = "found something there already, expected nothing; it is left as it was"
    assert refusal("rules", "new", "house") == f"'house.toml': {there}"
    assert (home / "house.toml").read_text() == 'extends = "yatzy"\nrolls = 5\n'
    found = json.loads(said("rules", "new", "Ours", "--from", "house.toml", "-o", "other.toml", "--json"))
    assert found == {
        **{"file": "other.toml", "from": "house.toml", "title": "Ours", "summary": "Scandinavian rules"},
        **{"dice": 5, "rolls": 5, "boxes": 15},
    }
    assert solver.ruleset("other.toml").categories == solver.ruleset("yatzy").categories
    assert sorted(path.name for path in home.iterdir()) == ["house.toml", "other.toml"]


def test_a_file_to_start_from_refused(home: Path) -> None:
    own = "a name of your own, such as house; --output says where the file goes"
    for name in ("yacht", "yacht.toml", os.path.join("a", "b"), " "):
        assert refusal("rules", "new", name) == f"rules new: found {name!r}, expected {own}"
    assert refusal("rules", "new", "x", "--from", "chess").startswith('rules: found "chess", expected a game')
    path = os.path.join("no", "x.toml")
    assert refusal("rules", "new", "x", "-o", path) == f"{path!r} cannot be written: there is no folder 'no'"
    assert refusal("rules", "new", "x" * 61) == (
        f'yahtzee: title: found "{"x" * 58}…, expected one line of text of 1 to 60 characters'
    )
    assert misuse("rules", "new") == (
        "Error: expected one name for the game: dicewise rules new house --from yacht"
    )
    assert misuse("rules", "yacht", "--from", "yatzy") == (
        "Error: --from and --output go with new: dicewise rules new house --from yacht"
    )
    assert list(home.iterdir()) == []


def test_rules_called_wrongly() -> None:
    expected = "Error: found no file to check, expected one: dicewise rules check house.toml"
    assert misuse("rules", "check") == expected
    assert misuse("rules", "yacht", "yatzy") == "Error: found 'yacht yatzy', expected one game or file"
    assert refusal("rules", "chess").startswith('rules: found "chess", expected a game or the path')


# tables


def test_tables_are_built_byte_for_byte_and_checked(home: Path) -> None:
    first = said("tables", "build", "yacht", "yacht-sum", "--output", "built")
    kilobytes = (home / "built" / "yacht.dwt").stat().st_size / 1e3
    assert first.startswith(f"yacht.dwt: {kilobytes:.1f} kB, expected score 166.9550677046\n")
    assert first.splitlines()[-1].startswith("built: two tables, ")
    assert said("tables", "check", "--folder", "built").startswith("built: OK, two tables, ")
    before = {path.name: path.read_bytes() for path in (home / "built").iterdir()}
    assert sorted(before) == ["manifest.json", "yacht-sum.dwt", "yacht.dwt"]
    said("tables", "build", "yacht", "--output", "built")
    assert {path.name: path.read_bytes() for path in (home / "built").iterdir()} == before


def test_what_slips_cost_is_worked_out_again(home: Path) -> None:
    """The file of the package has what the command writes; what it says of other games stays."""
    package = json.loads((Path(solver.__file__).parent / "strengths.json").read_text("utf-8"))
    assert said("tables", "strengths", "crag", "-o", "s.json") == "crag: 18.1449 points at random\n"
    assert json.loads(Path("s.json").read_text("utf-8")) == {"crag": package["crag"]}
    said("tables", "strengths", "yatzy-forced", "-o", "s.json")
    both = {name: package[name] for name in ("crag", "yatzy-forced")}
    assert json.loads(Path("s.json").read_text("utf-8")) == both
    expected = r"^tables: found 'crog', expected games that come with a table \(did you mean \"crag\"\?\): "
    assert re.match(expected, refusal("tables", "strengths", "crog"))


def test_moments_are_worked_out_as_the_package_knows_them(home: Path) -> None:
    found = solver.moments("yatzy-forced")
    line = f"yatzy-forced: {found.mean:.10f} points, deviation {found.standard_deviation:.10f}\n"
    assert said("tables", "moments", "yatzy-forced", "-o", "m.json") == line
    said("tables", "moments", "crag", "-o", "m.json", "--threads", "1")
    written = json.loads((home / "m.json").read_text("utf-8"))
    assert list(written) == ["yatzy-forced", "crag"]
    assert written["yatzy-forced"] == kept(found, solver.ruleset("yatzy-forced"))
    expected = r"^tables: found 'crog', expected games \(did you mean \"crag\"\?\): yahtzee, "
    assert re.match(expected, refusal("tables", "moments", "crog"))


@pytest.mark.parametrize("command", ["moments", "strengths"])
def test_what_is_known_is_not_written_over_another_file(home: Path, command: str) -> None:
    """Said before the work, and the file stays as it is."""
    for number, contents in enumerate(('{"crag": {}', "[1, 2]", '{"x": 1}', '{"crag": 3}', '{"x": {}}', "5")):
        path = home / f"{number}.json"
        path.write_text(contents, "utf-8")
        expected = f"--output '{path}': found something else than what this command writes of games"
        assert refusal("tables", command, "crag", "-o", str(path)) == expected
        assert path.read_text("utf-8") == contents
    expected = f"--output 'none{os.sep}m.json': found no folder 'none', expected one that is there"
    assert refusal("tables", command, "crag", "-o", f"none{os.sep}m.json") == expected


def test_each_fault_of_the_tables_has_a_line(home: Path) -> None:
    folder = home / "built"
    said("tables", "build", "yacht", "yacht-sum", "yacht-clubhouse", "--output", "built")
    intact = (folder / "yacht.dwt").read_bytes()
    (folder / "yacht.dwt").write_bytes(intact[:-1])
    damaged = bytearray((folder / "yacht-sum.dwt").read_bytes())
    damaged[-5] ^= 1
    (folder / "yacht-sum.dwt").write_bytes(damaged)
    (folder / "yacht-clubhouse.dwt").rename(folder / "other.dwt")
    result = run("tables", "check", "--folder", "built")
    assert (result.exit_code, result.stdout) == (2, "")
    size = len(intact)
    contents = "found other contents than those of the checksum in the manifest"
    assert [line.removeprefix("dicewise: error: ") for line in result.stderr.splitlines()] == [
        f"{str(Path('built', 'yacht.dwt'))!r}: found {size - 1} bytes, expected {size}",
        f"{str(Path('built', 'yacht-sum.dwt'))!r}: {contents}",
        f"{str(Path('built', 'yacht-clubhouse.dwt'))!r}: found no such file, but the manifest lists it",
        "'built': found other.dwt, which the manifest does not list",
    ]


def test_shipped_tables_are_complete_and_of_the_rules_of_today(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "shipped_folder", lambda: home)
    said("tables", "build", "yacht")
    manifest = json.loads((home / "manifest.json").read_text("utf-8"))
    manifest["tables"][0]["digest"] = "0" * 64
    (home / "manifest.json").write_text(json.dumps(manifest))
    others = ", ".join(name for name in WITH_TABLE.split(", ") if name not in ("yacht", "generala-double"))
    result = run("tables", "check")
    old = "found a table of other rules than those of yacht today"
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"dicewise: error: {str(home / 'yacht.dwt')!r}: {old}",
        f"dicewise: error: {str(home)!r}: found no table of {others} and generala-double in the manifest",
    ]


def test_tables_refused(home: Path) -> None:
    assert refusal("tables", "build", "yatsy") == (
        "tables: found 'yatsy', expected games that come with a table "
        f'(did you mean "yatzy" or "yacht"?): {WITH_TABLE}'
    )
    assert refusal("tables", "build", "maxi-yatzy-no-saving").endswith(f": {WITH_TABLE}")
    assert refusal("tables", "check", "--folder", "built") == (
        f"{Path('built', 'manifest.json')}: No such file or directory"
    )
    for text in ("{}", "no JSON", '{"tables": [3]}', '{"tables": [{"name": "yacht"}]}'):
        (home / "manifest.json").write_text(text)
        expected = "'manifest.json': found something else than the manifest that `tables build` writes"
        assert refusal("tables", "check", "--folder", ".") == expected


def test_the_tables_at_hand(home: Path, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "shipped_folder", lambda: home / "shipped")
    (home / "cache" / "dicewise").mkdir(parents=True)
    (home / "cache" / "dicewise" / "x.dwt").write_bytes(b"no table")
    lines = said("tables").splitlines()
    assert lines[0] == f"DICEWISE_TABLES: {tables}"
    assert [line.split()[0] for line in lines[3:5]] == ["yahtzee", "yacht"]
    assert lines[3].endswith("254.5877287345")
    assert lines[5:7] == [f"Shipped: {home / 'shipped'}", "  no such folder"]
    assert lines[7] == f"Cache: {home / 'cache' / 'dicewise'}"
    assert lines[10] == "  ?      x.dwt   0.0 kB   (ForeignTable)"


@pytest.mark.parametrize("reason", [PermissionError(13, "Permission denied"), OSError(5, "Bad disk")])
def test_a_folder_of_tables_that_cannot_be_read_is_a_fault(
    home: Path, tables: Path, monkeypatch: pytest.MonkeyPatch, reason: OSError
) -> None:
    """What is in the other folders is listed all the same."""
    listed = os.listdir

    def refuse(folder: Path) -> list[str]:
        if folder == tables:
            raise reason
        return listed(folder)

    monkeypatch.setattr(os, "listdir", refuse)
    monkeypatch.setattr(library, "shipped_folder", lambda: home / "shipped")
    (home / "cache" / "dicewise").mkdir(parents=True)
    result = run("tables")
    assert result.exit_code == 2
    assert result.stdout.splitlines() == [
        *(f"DICEWISE_TABLES: {tables}", f"  cannot be read: {reason.strerror}"),
        *(f"Shipped: {home / 'shipped'}", "  no such folder"),
        *(f"Cache: {home / 'cache' / 'dicewise'}", "  no tables"),
    ]
    assert result.stderr == f"dicewise: error: {str(tables)!r} cannot be read: {reason.strerror}\n"


def test_sizes() -> None:
    assert [files.size(length) for length in (0, 11_071, 1_747_000)] == ["0.0 kB", "11.1 kB", "1.75 MB"]
