"""What is allowed in rules but odd."""

from __future__ import annotations

import pytest

from solver.oddities import oddities
from solver.rules import names, ruleset

LAST = "never applies: yahtzee is always the last box to be filled"


def found(name: str) -> dict[str, str]:
    return {one.key: one.text for one in oddities(ruleset(name))}


@pytest.mark.parametrize("name", names())
def test_nothing_is_odd_about_the_shipped_games(name: str) -> None:
    assert oddities(ruleset(name)) == ()


@pytest.mark.parametrize(
    ("changes", "odd"),
    [
        ("categories.chance.pattern={total=31}", {"categories.chance": "no roll scores here"}),
        ("categories.chance.points=0", {"categories.chance": "no roll scores here"}),
        ("categories.chance.points=7", {"categories.chance": "every roll scores the same here, 7"}),
        (
            "categories.full_house.pattern={total=31}",
            {"categories.full_house": "no roll scores here but a joker"},
        ),
        (
            "categories.three_of_a_kind.pattern={alike=4}",
            {"categories.four_of_a_kind": "scores exactly as three_of_a_kind does"},
        ),
        (
            "categories.chance.points=9,categories.full_house.pattern={},categories.full_house.points=9",
            # Not the same as each other: a joker scores 25 in one of them.
            {"categories.chance": "every roll scores the same here, 9"},
        ),
        (
            "upper_bonus.at=106",
            {"upper_bonus.at": "106 is out of reach: upper boxes hold 105 points at most"},
        ),
        ("upper_bonus.at=105", {}),
        (
            "upper_bonus=[{at=63,points=35},{at=200,points=70}]",
            {"upper_bonus[1].at": "200 is out of reach: upper boxes hold 105 points at most"},
        ),
        (
            'categories.ones.pattern={},categories.ones.points={of="sum",plus=58}',
            {"upper_bonus.at": "63 is always reached: upper boxes hold 63 points at least"},
        ),
        ('categories.ones.pattern={},categories.ones.points={of="sum",plus=57}', {}),
        ("colours=[[1,2,3],[4,5,6]]", {"colours": "no pattern asks for a colour"}),
        ("colours=[[1,2,3],[4,5,6]],categories.chance.pattern.colour=all", {}),
        ("yahtzee.bonus=0,yahtzee.joker=none", {"yahtzee": "changes nothing: no bonus and no joker"}),
        ("yahtzee.bonus=0", {}),
        (
            "categories.yahtzee.points=0",
            {
                "yahtzee.bonus": "is never paid: yahtzee never holds points",
                "categories.yahtzee": "no roll scores here",
            },
        ),
        ("order=card", {}),
        ("order=card,categories.chance=false", {"yahtzee": LAST}),
        ("order=upper-first,categories.chance=false", {}),
    ],
)
def test_what_is_odd_and_what_is_not(changes: str, odd: dict[str, str]) -> None:
    assert found(f"yahtzee[{changes}]") == odd


def test_a_free_joker_without_joker_points_of_its_own() -> None:
    rule = "{category=yahtzee,bonus=100,joker=free}".replace("yahtzee", '"yahtzee"').replace("free", '"free"')
    assert found(f"kniffel[yahtzee={rule}]") == {}
    lower = ("full_house", "small_straight", "large_straight")
    removed = ",".join(f"categories.{key}=false" for key in lower)
    nothing = {"yahtzee.joker": "changes nothing: no box has joker points other than its own"}
    assert found(f"yahtzee-free-joker[{removed}]") == nothing
    assert found(f"yahtzee[{removed}]") == {}
    # A joker's own points leave those of a first roll out.
    served = "categories.chance={title=Sum,section=lower,pattern={},points=9,joker=9,served=SERVED}"
    for words in ("Sum", "lower"):
        served = served.replace(words, f'"{words}"')
    assert found(f"yahtzee-free-joker[{removed},{served.replace('SERVED', '0')}]") == nothing | {
        "categories.chance": "every roll scores the same here, 9"
    }
    assert found(f"yahtzee-free-joker[{removed},{served.replace('SERVED', '2')}]") == {}
    others = ("three_of_a_kind", "four_of_a_kind", "chance", *lower)
    removed = ",".join(f"categories.{key}=false" for key in others)
    assert found(f"yahtzee[order=upper-first,{removed}]") == {"yahtzee": LAST}
