"""Boxes that score otherwise on the first roll of a turn: the rules side, and the oracle's values by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracle
import pytest

from solver import library
from solver.errors import CardError, RulesError
from solver.rules import Ruleset, build, names, ruleset
from solver.rules.describe import describe
from solver.scoring import scoring

SERVED = "kniffel[categories.large_straight.served=5,categories.full_house.served=7]"


def pair_game(rolls: int, served: int) -> Ruleset:
    """One box, two dice: a pair scores 10."""
    box = {"title": "Pair", "section": "lower", "pattern": {"alike": 2}, "points": 10, "served": served}
    return build({"title": "Pair", "dice": 2, "rolls": rolls, "categories": {"pair": box}}, "pair")


def test_arrays() -> None:
    rules, plain = ruleset(SERVED), ruleset("kniffel")
    arrays, before = scoring(rules), scoring(plain)
    assert np.array_equal(arrays.points, before.points)
    assert arrays.serves
    assert not before.serves
    for number, box in enumerate(rules.categories):
        assert arrays.served_points[number].tolist() == [
            oracle.points(rules, box, roll, first=True) for roll in arrays.lattice.rolls
        ]
    straight = rules.keys.index("large_straight")
    assert arrays.distinct[straight].tolist() == [0, 40, 45]
    assert arrays.served_points[straight, arrays.lattice.roll((2, 3, 4, 5, 6))] == 45
    assert arrays.served_points[straight, arrays.lattice.roll((2, 3, 4, 5, 5))] == 0


def test_a_box_of_no_points_but_served() -> None:
    arrays = scoring(ruleset("kniffel[categories.yahtzee.points=0,categories.yahtzee.served=9]"))
    assert arrays.distinct[11].tolist() == [0, 9]


def test_digests_of_other_games_stay() -> None:
    known = {entry["name"]: entry["digest"] for entry in library.manifest().values()}
    assert all(
        scoring(ruleset(name)).digest == known.get(name, scoring(ruleset(name)).digest) for name in names()
    )
    one = scoring(ruleset(SERVED)).digest
    assert len({one, known["kniffel"], scoring(ruleset(SERVED.replace("7", "8"))).digest}) == 3


def test_a_joker_scores_its_own_points_and_is_served_where_it_has_none() -> None:
    arrays = scoring(ruleset("yahtzee[categories.full_house.served=5,categories.chance.served=3]"))
    full, chance = 8, 12
    assert arrays.served_joker_points[full].tolist() == [25] * 6
    assert arrays.served_joker_points[chance].tolist() == [8, 13, 18, 23, 28, 33]
    assert arrays.joker_points[chance].tolist() == [5, 10, 15, 20, 25, 30]


def test_cards_hold_served_points() -> None:
    rules = ruleset(SERVED)
    assert rules.card("large_straight=45 full_house=32").total == 77
    assert rules.card("large_straight=40 full_house=25").total == 65
    with pytest.raises(CardError, match="large_straight is 44, expected one of 0, 40, 45"):
        rules.card("large_straight=44")
    with pytest.raises(CardError, match="large_straight is 45, expected one of 0, 40"):
        ruleset("kniffel").card("large_straight=45")


def test_in_words_and_refused() -> None:
    row = next(row for row in describe(ruleset(SERVED)).rows if row.key == "large_straight")
    assert row.scores == "40, 5 more on the first roll"
    with pytest.raises(
        RulesError, match="served: found 5, expected points for a served roll in lower boxes only"
    ):
        ruleset("kniffel[categories.ones.served=5]")
    with pytest.raises(RulesError, match="served: found -1, expected a whole number from 0 to 100000"):
        ruleset("kniffel[categories.chance.served=-1]")


@pytest.mark.parametrize(
    ("rolls", "served", "value"),
    [
        # A pair has a chance of 1/6 with each roll; all rolls are first ones where there is one alone.
        (1, 5, Fraction(15, 6)),
        (2, 5, Fraction(15, 6) + Fraction(5, 6) * Fraction(10, 6)),
        (3, 0, 10 * (1 - Fraction(5, 6) ** 3)),
        (3, 5, Fraction(15, 6) + Fraction(5, 6) * 10 * (1 - Fraction(5, 6) ** 2)),
    ],
)
def test_the_oracle_by_hand(rolls: int, served: int, value: Fraction) -> None:
    rules = pair_game(rolls, served)
    assert oracle.exact(rules) == value
    assert oracle.Dense(rules).value() == pytest.approx(float(value), abs=1e-12)
    if rolls > 1:
        first = oracle.Dense(rules).option_values(0, 0, False, (4, 4), rolls - 1)
        later = oracle.Dense(rules).option_values(0, 0, False, (4, 4), rolls - 2)
        assert first["fill", "pair"] == 10 + served
        assert later["fill", "pair"] == 10
