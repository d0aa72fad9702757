"""The shipped games against their written rules, own files, changes and names."""

from __future__ import annotations

import copy
import subprocess
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from solver.rules import (
    Category,
    Pattern,
    Points,
    Ruleset,
    Tier,
    YahtzeeRule,
    build,
    changed,
    names,
    names_with_table,
    ruleset,
    settings,
)

SUM = Points("sum")
MATCHED = Points("matched")
UPPER = tuple(
    Category(title.lower(), title, "upper", Pattern(face=face), MATCHED)
    for face, title in enumerate(("Ones", "Twos", "Threes", "Fours", "Fives", "Sixes"), start=1)
)
YAHTZEE_BOXES = "ones, twos, threes, fours, fives, sixes, three_of_a_kind, four_of_a_kind, full_house, "
YAHTZEE_BOXES += "small_straight, large_straight, yahtzee, chance"
GAMES = "yahtzee, yahtzee-free-joker, yahtzee-no-joker, kniffel, yahtzee-upper-first, "
GAMES += "yacht, yacht-sum, yacht-clubhouse, yatzy, yatzy-forced, maxi-yatzy, maxi-yatzy-no-saving, "
GAMES += "kismet, cheerio, crag, generala, generala-double"


def fixed(points: int) -> Points:
    return Points("fixed", plus=points)


def lower(key: str, pattern: Pattern, points: Points, joker: int | None = None, served: int = 0) -> Category:
    title = key.replace("_", " ").title().replace(" Of A ", " of a ")
    return Category(key, title, "lower", pattern, points, joker, served)


def yahtzee_lower(*, joker: bool) -> tuple[Category, ...]:
    return (
        lower("three_of_a_kind", Pattern(alike=3), SUM),
        lower("four_of_a_kind", Pattern(alike=4), SUM),
        lower("full_house", Pattern(groups=(3, 2)), fixed(25), 25 if joker else None),
        lower("small_straight", Pattern(run=4), fixed(30), 30 if joker else None),
        lower("large_straight", Pattern(run=5), fixed(40), 40 if joker else None),
        lower("yahtzee", Pattern(alike=5), fixed(50)),
        lower("chance", Pattern(), SUM),
    )


def yacht_lower(four_of_a_kind: Points) -> tuple[Category, ...]:
    return (
        lower("full_house", Pattern(groups=(3, 2)), SUM),
        lower("four_of_a_kind", Pattern(alike=4), four_of_a_kind),
        lower("little_straight", Pattern(faces=((1, 2, 3, 4, 5),)), fixed(30)),
        lower("big_straight", Pattern(faces=((2, 3, 4, 5, 6),)), fixed(30)),
        lower("choice", Pattern(), SUM),
        lower("yacht", Pattern(alike=5), fixed(50)),
    )


CLUBHOUSE_LOWER = (
    lower("choice", Pattern(), SUM),
    lower("four_of_a_kind", Pattern(alike=4), SUM),
    lower("full_house", Pattern(groups=(3, 2), same_face=True), SUM),
    lower("small_straight", Pattern(run=4), fixed(15)),
    lower("big_straight", Pattern(run=5), fixed(30)),
    lower("yacht", Pattern(alike=5), fixed(50)),
)
YATZY_LOWER = (
    lower("one_pair", Pattern(alike=2), MATCHED),
    lower("two_pairs", Pattern(groups=(2, 2)), MATCHED),
    lower("three_of_a_kind", Pattern(alike=3), MATCHED),
    lower("four_of_a_kind", Pattern(alike=4), MATCHED),
    lower("small_straight", Pattern(faces=((1, 2, 3, 4, 5),)), fixed(15)),
    lower("large_straight", Pattern(faces=((2, 3, 4, 5, 6),)), fixed(20)),
    lower("full_house", Pattern(groups=(3, 2)), SUM),
    lower("chance", Pattern(), SUM),
    lower("yatzy", Pattern(alike=5), fixed(50)),
)
MAXI_LOWER = (
    lower("one_pair", Pattern(alike=2), MATCHED),
    lower("two_pairs", Pattern(groups=(2, 2)), MATCHED),
    lower("three_pairs", Pattern(groups=(2, 2, 2)), MATCHED),
    lower("three_of_a_kind", Pattern(alike=3), MATCHED),
    lower("four_of_a_kind", Pattern(alike=4), MATCHED),
    lower("five_of_a_kind", Pattern(alike=5), MATCHED),
    lower("small_straight", Pattern(faces=((1, 2, 3, 4, 5),)), fixed(15)),
    lower("large_straight", Pattern(faces=((2, 3, 4, 5, 6),)), fixed(20)),
    lower("full_straight", Pattern(faces=((1, 2, 3, 4, 5, 6),)), fixed(21)),
    lower("full_house", Pattern(groups=(3, 2)), MATCHED),
    lower("villa", Pattern(groups=(3, 3)), MATCHED),
    lower("tower", Pattern(groups=(4, 2)), MATCHED),
    lower("chance", Pattern(), SUM),
    lower("maxi_yatzy", Pattern(alike=6), fixed(100)),
)
KISMET_LOWER = (
    lower("two_pair_same_colour", Pattern(groups=(2, 2), same_face=True, colour="matched"), SUM),
    lower("three_of_a_kind", Pattern(alike=3), SUM),
    lower("straight", Pattern(run=5), fixed(30)),
    lower("flush", Pattern(colour="all"), fixed(35)),
    lower("full_house", Pattern(groups=(3, 2)), Points("sum", plus=15)),
    lower("full_house_same_colour", Pattern(groups=(3, 2), colour="all"), Points("sum", plus=20)),
    lower("four_of_a_kind", Pattern(alike=4), Points("sum", plus=25)),
    lower("yarborough", Pattern(), SUM),
    lower("kismet", Pattern(alike=5), Points("sum", plus=50)),
)
CHEERIO_LOWER = (
    lower("little_straight", Pattern(faces=((1, 2, 3, 4, 5),)), fixed(20)),
    lower("big_straight", Pattern(faces=((2, 3, 4, 5, 6),)), fixed(25)),
    lower("full_house", Pattern(groups=(3, 2)), SUM),
    lower("big_hand", Pattern(), SUM),
    lower("cheerio", Pattern(alike=5), fixed(50)),
)
CRAG_LOWER = (
    lower("odd_straight", Pattern(faces=((1, 3, 5),)), fixed(20)),
    lower("even_straight", Pattern(faces=((2, 4, 6),)), fixed(20)),
    lower("low_straight", Pattern(faces=((1, 2, 3),)), fixed(20)),
    lower("high_straight", Pattern(faces=((4, 5, 6),)), fixed(20)),
    lower("three_of_a_kind", Pattern(alike=3), fixed(25)),
    lower("thirteen", Pattern(total=13), fixed(26)),
    lower("crag", Pattern(alike=2, total=13), fixed(50)),
)
GENERALA_LOWER = (
    lower("straight", Pattern(run=5), fixed(20), served=5),
    lower("full_house", Pattern(groups=(3, 2)), fixed(30), served=5),
    lower("poker", Pattern(alike=4), fixed(40), served=5),
    lower("generala", Pattern(alike=5), fixed(50)),
)
DOUBLE_GENERALA = replace(lower("double_generala", Pattern(alike=5), fixed(100)), requires="generala")
AT_63 = (Tier(63, 35),)
IN_THREE = (Tier(63, 35), Tier(71, 55), Tier(78, 75))
COLOURS = ((1, 6), (2, 5), (3, 4))
DICE_AND_ROLLS = {"maxi-yatzy": (6, 3), "maxi-yatzy-no-saving": (6, 3), "crag": (3, 2)}
EXPECTED: dict[str, tuple[tuple[Category, ...], tuple[Tier, ...], str, YahtzeeRule | None]] = {
    "yahtzee": (yahtzee_lower(joker=True), AT_63, "free", YahtzeeRule("yahtzee", 100, "forced")),
    "yahtzee-free-joker": (yahtzee_lower(joker=True), AT_63, "free", YahtzeeRule("yahtzee", 100, "free")),
    "yahtzee-no-joker": (yahtzee_lower(joker=False), AT_63, "free", YahtzeeRule("yahtzee", 100, "none")),
    "kniffel": (yahtzee_lower(joker=False), AT_63, "free", None),
    "yahtzee-upper-first": (
        *(yahtzee_lower(joker=True), AT_63, "upper-first", YahtzeeRule("yahtzee", 100, "forced")),
    ),
    "yacht": (yacht_lower(MATCHED), (), "free", None),
    "yacht-sum": (yacht_lower(SUM), (), "free", None),
    "yacht-clubhouse": (CLUBHOUSE_LOWER, AT_63, "free", None),
    "yatzy": (YATZY_LOWER, (Tier(63, 50),), "free", None),
    "yatzy-forced": (YATZY_LOWER, (Tier(63, 50),), "card", None),
    "maxi-yatzy": (MAXI_LOWER, (Tier(84, 100),), "free", None),
    "maxi-yatzy-no-saving": (MAXI_LOWER, (Tier(84, 100),), "free", None),
    "kismet": (KISMET_LOWER, IN_THREE, "free", None),
    "cheerio": (CHEERIO_LOWER, (), "free", None),
    "crag": (CRAG_LOWER, (), "free", None),
    "generala": (GENERALA_LOWER, (), "free", None),
    "generala-double": ((*GENERALA_LOWER, DOUBLE_GENERALA), (), "free", None),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is the working folder too."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", GAMES.split(", "))
def test_games_are_as_written(name: str) -> None:
    rules = ruleset(name)
    lower_boxes, upper_bonus, order, yahtzee = EXPECTED[name]
    assert rules.categories == UPPER + lower_boxes
    assert (rules.dice, rules.rolls) == DICE_AND_ROLLS.get(name, (5, 3))
    assert (rules.order, rules.colours) == (order, COLOURS if name == "kismet" else ())
    assert (rules.upper_bonus, rules.yahtzee) == (upper_bonus, yahtzee)
    assert (rules.name, rules.source) == (name, None)
    assert rules.keys == tuple(category.key for category in rules.categories)


def test_names_list_the_files_that_are_there() -> None:
    files = {path.name for path in resources.files("solver.rules").iterdir()}
    assert {f"{name}.toml" for name in names()} == {file for file in files if file.endswith(".toml")}
    assert names() == tuple(GAMES.split(", "))


def test_only_the_very_large_games_come_without_a_table() -> None:
    assert set(names()) - set(names_with_table()) == {"maxi-yatzy", "maxi-yatzy-no-saving"}
    assert [name for name in names() if name in names_with_table()] == list(names_with_table())


def test_titles_and_summaries_differ() -> None:
    rules = [ruleset(name) for name in names()]
    assert len({one.title for one in rules}) == len({one.summary for one in rules}) == len(rules)
    assert all(one.summary for one in rules)


def test_rules_are_hashable_and_equal() -> None:
    assert hash(ruleset("yahtzee")) == hash(ruleset("yahtzee"))
    assert ruleset("yahtzee") == build(settings("yahtzee"), "yahtzee")


def test_loading_takes_no_arrays() -> None:
    code = "import sys, solver.rules as r; r.ruleset('yatzy'); print({'numpy', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


# Files of one's own


def box_toml(key: str, pattern: str, points: str) -> str:
    title = key.replace("_", " ").title()
    return (
        f'[categories.{key}]\ntitle = "{title}"\nsection = "lower"\npattern = {pattern}\npoints = {points}\n'
    )


def test_own_file(folder: Path) -> None:
    file = folder / "house.toml"
    file.write_text('extends = "yahtzee"\ntitle = "House"\n[yahtzee]\nbonus = 50\n')
    for given in ("house.toml", "./house.toml", str(file), file, Path("house.toml")):
        rules = ruleset(given)
        assert rules.yahtzee == YahtzeeRule("yahtzee", 50, "forced")
        assert (rules.name, rules.source, rules.title) == (str(given), Path(given), "House")
        assert ruleset(rules.name) == rules
    assert ruleset("house.toml").categories == ruleset("yahtzee").categories


def test_own_file_without_suffix_and_with_brackets(folder: Path) -> None:
    (folder / "house").write_text('extends = "yatzy"\nrolls = 4\n')
    (folder / "a[1].toml").write_text('extends = "house"\n')
    assert ruleset("house").rolls == ruleset("a[1].toml").rolls == 4
    rules = ruleset("a[1].toml[rolls=5]")
    assert (rules.rolls, rules.name, rules.source) == (5, "a[1].toml[rolls=5]", Path("a[1].toml"))


def test_a_game_is_not_hidden_by_a_file(folder: Path) -> None:
    (folder / "yahtzee").write_text('extends = "yahtzee"\nrolls = 7\n')
    assert ruleset("yahtzee").rolls == 3
    assert ruleset(Path("yahtzee")).rolls == ruleset("./yahtzee").rolls == 7
    assert ruleset(ruleset(Path("yahtzee")).name).rolls == 7


def test_windows_text_is_read(folder: Path) -> None:
    (folder / "a.toml").write_bytes(b'\xef\xbb\xbfextends = "yahtzee"\r\nrolls = 4\r\n')
    assert ruleset("a.toml").rolls == 4


def test_extends_by_path_and_in_a_chain(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "base.toml").write_text('extends = "yatzy"\nrolls = 4\ncategories.chance = false\n')
    (folder / "sub" / "top.toml").write_text('extends = "../base.toml"\norder = "card"\n')
    rules = ruleset("sub/top.toml")
    assert (rules.rolls, rules.order, len(rules.categories)) == (4, "card", 14)
    assert "chance" not in rules.keys


def test_extends_merges_and_removes(folder: Path) -> None:
    (folder / "a.toml").write_text(
        'extends = "yahtzee"\nupper_bonus = []\nyahtzee = false\n'
        'box_order = ["two_pairs", "ones", "full_house"]\n[categories]\n'
        + "".join(
            f"{key} = false\n" for key in YAHTZEE_BOXES.split(", ") if key not in ("ones", "full_house")
        )
        + "[categories.full_house]\npattern = { alike = 2 }\n"
        + box_toml("two_pairs", "{ groups = [2, 2] }", '{ of = "matched", times = 3, plus = 1 }')
    )
    rules = ruleset("a.toml")
    assert rules.keys == ("two_pairs", "ones", "full_house")
    assert rules.categories[0].points == Points("matched", times=3, plus=1)
    assert rules.categories[2] == lower("full_house", Pattern(alike=2), fixed(25))
    assert (rules.upper_bonus, rules.yahtzee) == ((), None)


def test_new_boxes_go_to_the_end(folder: Path) -> None:
    (folder / "a.toml").write_text('extends = "yahtzee"\n' + box_toml("pair", "{ alike = 2 }", "5"))
    assert ruleset("a.toml").keys == (*YAHTZEE_BOXES.split(", "), "pair")


def test_keys_that_have_defaults(folder: Path) -> None:
    text = 'title = "T"\ndice = 1\nrolls = 1\n' + box_toml("any", "{}", "0")
    (folder / "a.toml").write_text(text)
    assert ruleset("a.toml") == Ruleset(
        "a.toml", "T", "", 1, 1, (lower("any", Pattern(), fixed(0)),), source=Path("a.toml")
    )


def test_a_box_that_never_scores_is_allowed(folder: Path) -> None:
    (folder / "a.toml").write_text(
        'title = "T"\ndice = 1\nrolls = 1\n' + box_toml("far", "{ total = 36 }", "5")
    )
    assert ruleset("a.toml").categories[0].pattern == Pattern(total=36)


def test_faces_as_one_list_or_several(folder: Path) -> None:
    text = 'title = "T"\ndice = 5\nrolls = 1\n' + box_toml("one", "{ faces = [3, 1, 1] }", '"matched"')
    (folder / "a.toml").write_text(text + box_toml("two", "{ faces = [[1, 2], [6]] }", '"matched"'))
    one, two = ruleset("a.toml").categories
    assert (one.pattern.faces, two.pattern.faces) == (((1, 1, 3),), ((1, 2), (6,)))


def test_changed_leaves_its_input_alone() -> None:
    before = settings("yahtzee")
    kept = copy.deepcopy(before)
    after = changed(
        before,
        {
            "upper_bonus": [{"at": 70, "points": 50}],
            "yahtzee.bonus": 50,
            "categories.full_house.points": 30,
            "categories.chance": False,
        },
    )
    assert before == kept
    after["categories"]["ones"]["title"] = "Aces"
    assert before == kept
    rules = build(after, "mine")
    assert rules.upper_bonus == (Tier(70, 50),)
    assert rules.yahtzee == YahtzeeRule("yahtzee", 50, "forced")
    boxes = {box.key: box for box in rules.categories}
    assert boxes["full_house"].points == fixed(30)
    assert boxes["ones"].title == "Aces"
    assert "chance" not in boxes


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"yahtzee.bonus": 50}, "yahtzee[yahtzee.bonus=50]"),
        ({"order": "upper-first", "rolls": 4}, "yahtzee[order=upper-first,rolls=4]"),
        ({"upper_bonus": ({"at": 63, "points": 50},)}, "yahtzee[upper_bonus=[{at = 63, points = 50}]]"),
        ({"upper_bonus": []}, "yahtzee[upper_bonus=[]]"),
        ({"yahtzee": False}, "yahtzee[yahtzee=false]"),
        ({"title": "true"}, 'yahtzee[title="true"]'),
        ({"title": 'a, ] "[b'}, "yahtzee[title='a, ] \"[b']"),
        ({"title": "it's \"[,\\"}, 'yahtzee[title="it\'s \\"[,\\\\"]'),
        ({"categories.chance.points.plus": 5}, "yahtzee[categories.chance.points.plus=5]"),
        (
            {"categories.full_house.pattern.same_face": True},
            "yahtzee[categories.full_house.pattern.same_face=true]",
        ),
        ({}, "yahtzee"),
    ],
)
def test_names_of_changed_rules_read_back(changes: dict[str, Any], name: str) -> None:
    rules = ruleset("yahtzee", changes)
    assert rules.name == name
    assert ruleset(name) == rules
    assert build(settings(name), name) == rules
    assert (rules == ruleset("yahtzee")) == (not changes)


def test_whole_numbers_of_other_kinds_are_taken() -> None:
    class Four:
        def __index__(self) -> int:
            return 4

    rules = ruleset("yahtzee", {"rolls": Four()})
    assert (rules.rolls, type(rules.rolls)) == (4, int)


def test_changes_of_inner_keys() -> None:
    rules = ruleset("yahtzee[categories.chance.points.plus=5,categories.full_house.pattern.same_face=true]")
    boxes = {box.key: box for box in rules.categories}
    assert boxes["chance"].points == Points("sum", plus=5)
    assert boxes["full_house"].pattern == Pattern(groups=(3, 2), same_face=True)


def test_changes_apply_from_left_to_right() -> None:
    rules = ruleset("yahtzee[ rolls = 4 , order=card]", {"rolls": 5})
    assert (rules.rolls, rules.order, rules.name) == (5, "card", "yahtzee[rolls=4,order=card,rolls=5]")
    assert ruleset(rules.name) == rules


def test_changes_can_add_a_box_and_a_yahtzee_table() -> None:
    box = {"title": "Pair", "section": "lower", "pattern": {"alike": 2}, "points": 5}
    table = {"category": "yahtzee", "bonus": 10, "joker": "none"}
    rules = ruleset("kniffel", {"categories.pair": box, "yahtzee": table})
    assert rules.categories[-1] == lower("pair", Pattern(alike=2), fixed(5))
    assert rules.yahtzee == YahtzeeRule("yahtzee", 10, "none")
    assert ruleset(rules.name) == rules


def test_joker_points_are_dropped_where_there_is_no_joker() -> None:
    assert ruleset("yahtzee", {"yahtzee": False}).categories == ruleset("kniffel").categories
    assert ruleset("kniffel").categories == ruleset("yahtzee-no-joker").categories


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (r'"dice of 2\", and more"', 'dice of 2", and more'),
        (r'"ends in a backslash \\"', "ends in a backslash \\"),
        (r"'plain \'", "plain \\"),
    ],
)
def test_a_change_ends_where_its_quotes_do(written: str, title: str) -> None:
    rules = ruleset(f"yacht[title={written},rolls=4]")
    assert (rules.title, rules.rolls) == (title, 4)
