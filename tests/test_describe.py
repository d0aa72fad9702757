"""Rules in words, and the documentation of the rules format."""

from __future__ import annotations

import contextlib
import io
import re
from importlib import resources
from pathlib import Path

import pytest

from solver.rules import load, ruleset, validate
from solver.rules.describe import Fact, describe


def test_description_of_the_official_game() -> None:
    words = describe(ruleset("yahtzee"))
    assert (words.title, words.summary) == ("Yahtzee", "official rules: forced joker")
    assert words.facts == (
        Fact("Dice", "five dice"),
        Fact("Rolls", "three rolls a turn at most"),
        Fact("Boxes", "13, one filled each turn"),
        Fact("Order", "any open box"),
        Fact("Upper bonus", "35 from 63 points in the upper section"),
        Fact(
            "Yahtzee bonus",
            "100 for each further five alike while Yahtzee holds points, whatever box it fills",
        ),
        Fact(
            "Joker",
            "forced: once Yahtzee is filled, five alike go into the upper box of their face; if that is "
            "filled, into any lower box for the joker points; if all are filled, into any upper box",
        ),
    )
    assert [(row.key, row.needs, row.scores, row.joker) for row in words.rows[5:]] == [
        ("sixes", "one 6 or more", "sum of the 6s", ""),
        ("three_of_a_kind", "three or more alike", "sum of all dice", ""),
        ("four_of_a_kind", "four or more alike", "sum of all dice", ""),
        ("full_house", "three of one face and two of another", "25", "25"),
        ("small_straight", "four in sequence", "30", "30"),
        ("large_straight", "five in sequence", "40", "40"),
        ("yahtzee", "five alike", "50", ""),
        ("chance", "any dice", "sum of all dice", ""),
    ]


@pytest.mark.parametrize(
    ("name", "label", "text"),
    [
        (
            "yahtzee-free-joker",
            "Joker",
            "free: once Yahtzee is filled, five alike go into any open box, a lower one for the joker points "
            "where the upper box of their face is filled too",
        ),
        ("yahtzee-no-joker", "Joker", "none: a further five alike scores by the rule of the box it fills"),
        ("yacht", "Upper bonus", "none"),
        ("yatzy-forced", "Order", "only the first open box, in the order of the card"),
        ("yahtzee[yahtzee.bonus=0]", "Yahtzee bonus", "none"),
        (
            "yahtzee[upper_bonus=[{at=63,points=35},{at=71,points=55}]]",
            "Upper bonus",
            "35 from 63 and 55 from 71 points in the upper section",
        ),
        ("yahtzee[colours=[[1,2,3],[4,5,6]]]", "Colours", "1-2-3 and 4-5-6"),
        ("yahtzee[rolls=1]", "Rolls", "one roll a turn at most"),
        ("yahtzee[rolls=12]", "Rolls", "12 rolls a turn at most"),
    ],
)
def test_facts(name: str, label: str, text: str) -> None:
    assert Fact(label, text) in describe(ruleset(name)).facts


def test_no_facts_about_what_a_game_does_not_have() -> None:
    assert [fact.label for fact in describe(ruleset("kniffel")).facts] == [
        *("Dice", "Rolls", "Boxes", "Order", "Upper bonus"),
    ]


@pytest.mark.parametrize(
    ("pattern", "points", "needs", "scores"),
    [
        ("{alike=2}", "matched", "two or more alike", "sum of the two dice"),
        ("{alike=5}", "matched", "five alike", "sum of all dice"),
        ("{alike=4}", "{of='matched',times=4}", "four or more alike", "4 × the sum of the four dice"),
        ("{}", "{of='sum',times=2,plus=15}", "any dice", "2 × the sum of all dice + 15"),
        (
            "{groups=[2,2],same_face=true}",
            "sum",
            "two of one face and two of another, or of the same",
            "sum of all dice",
        ),
        ("{groups=[3]}", "matched", "three or more alike", "sum of the three dice"),
        ("{run=3}", "matched", "three in sequence", "sum of the three dice"),
        ("{faces=[[1,2],[6]]}", "matched", "1-2 or 6", "sum of these dice"),
        ("{faces=[6]}", "matched", "6", "value of that die"),
        ("{total=13,alike=2}", "50", "two or more alike, all dice adding up to 13", "50"),
        ("{colour='all'}", "35", "all dice of one colour", "35"),
        ("{alike=3,colour='matched'}", "35", "three or more alike, these of one colour", "35"),
    ],
)
def test_rows_in_words(pattern: str, points: str, needs: str, scores: str) -> None:
    box = f"categories.full_house.pattern={pattern},categories.full_house.points={points}"
    row = describe(ruleset(f"kniffel[colours=[[1,6],[2,5],[3,4]],{box}]")).rows[8]
    assert (row.needs, row.scores) == (needs, scores)


def test_the_worked_example_of_the_documentation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = resources.files("solver.rules").joinpath("README.md").read_text(encoding="utf-8")
    toml, python, output = (
        re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("toml", "python", "text")
    )
    (tmp_path / "house.toml").write_text(toml[0])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(python[0], {})
    assert printed.getvalue() == output[0]


def test_the_documentation_names_every_key() -> None:
    text = resources.files("solver.rules").joinpath("README.md").read_text(encoding="utf-8")
    keys = {*load.FILE_KEYS, *validate.YAHTZEE_KEYS, *validate.CATEGORY_KEYS, *validate.PATTERN_KEYS}
    keys |= {*validate.POINTS_KEYS, *validate.TIER_KEYS}
    assert [key for key in sorted(keys) if not re.search(rf"[`\[{{., ]{key}\b", text)] == []
