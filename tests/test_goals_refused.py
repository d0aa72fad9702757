"""Utilities in every form, and what is refused: goals that make no sense, cards that do not follow."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import solver
from solver import blocks, distributions
from solver.errors import ArgumentError, CardError, GoalError
from solver.goals import Floor, Goal, Reach, Risk, Utility, Win
from solver.lookup import Table
from solver.pursuit import pursue
from solver.rules import build, settings

TINY = Path(__file__).parent / "tiny"


@cache
def table_of(name: str) -> Table:
    return solver.solve(TINY / f"{name}.toml")


# ---------------------------------------------------------------- utilities as they are given


def test_a_utility_is_asked_score_by_score_where_it_cannot_take_an_array() -> None:
    table = table_of("groups")
    of_array, of_score = (
        pursue(table, Utility(worth)).value()
        for worth in (lambda s: np.where(s > 40, 1.0, s / 80), lambda s: 1.0 if s > 40 else s / 80)
    )
    assert of_array == of_score
    assert pursue(table, Utility(lambda score: 2.5)).value() == pytest.approx(2.5, abs=1e-12)


def test_a_function_of_one_number_is_worth_the_same_of_a_single_score() -> None:
    table = table_of("none")
    assert pursue(table, Utility(math.sqrt), "pair=10 fives=5 chance=10").value() == 5
    assert pursue(table, Utility(math.sqrt)).value() == pursue(table, Utility(np.sqrt)).value()


def test_the_last_value_of_an_array_holds_for_all_greater_scores() -> None:
    table = table_of("forced")
    short = pursue(table, Utility([0.0] * 40 + [1.0])).value()
    assert short == pytest.approx(pursue(table, Reach(40)).value(), abs=1e-15)
    assert pursue(table, Utility([0.25])).value() == pytest.approx(0.25, abs=1e-15)


def test_utilities_are_different_goals() -> None:
    assert Utility([0.0, 1.0]) != Utility([0.0, 2.0])


def no_number(score: int) -> float:
    return math.log(-1 - score)


NO_NUMBERS = "utility: expected one number from -1e+300 to 1e+300 for each score"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0.0, math.nan], NO_NUMBERS),
        ([0.0, math.inf], NO_NUMBERS),
        (["few", "many"], NO_NUMBERS),
        ([[1.0], [1.0, 2.0]], NO_NUMBERS),
        ([], "utility: found an array of shape (0,), expected a value for each score"),
        (1.0, "utility: found an array of shape (), expected a value for each score"),
        ([[1.0, 2.0]], "utility: found an array of shape (1, 2), expected a value for each score"),
        (lambda scores: np.where(scores == 20, np.nan, scores), NO_NUMBERS),
        (lambda scores: [1.0, 2.0], NO_NUMBERS),
        (lambda score: "much", NO_NUMBERS),
        (no_number, NO_NUMBERS),
    ],
)
def test_a_utility_that_is_no_number_is_refused(given: object, message: str) -> None:
    with pytest.raises(GoalError) as refused:
        pursue(table_of("forced"), Utility(given))
    assert str(refused.value) == message


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("score", [True, 200.0, "200", None])
def test_a_score_that_is_no_whole_number_is_refused(score: object) -> None:
    with pytest.raises(GoalError) as refused:
        Reach(score)
    assert str(refused.value) == f"goal {score!r}: expected a whole number of points"


def test_a_score_may_be_any_whole_number() -> None:
    table = table_of("none")
    assert [pursue(table, Reach(score)).value() for score in (-(10**30), np.int32(0), 10**30)] == [1, 1, 0]


@pytest.mark.parametrize("theta", [True, 0, 0.0, 9e-7, -1e-9, 3.1, -3.0001, math.nan, math.inf, "0.1", None])
def test_a_taste_for_risk_out_of_range_is_refused(theta: object) -> None:
    with pytest.raises(GoalError) as refused:
        Risk(theta)
    assert str(refused.value) == f"risk {theta!r}: expected a number from 1e-06 to 3, or from -3 to -1e-06"


def test_a_taste_for_risk_too_strong_for_a_great_bonus_is_refused() -> None:
    rules = {"yahtzee": {"category": "pair", "bonus": 150, "joker": "free"}}
    table = solver.solve(build(settings(TINY / "forced.toml") | rules, "great"))
    for theta in (3.0, -3.0, 2.68):
        with pytest.raises(GoalError) as refused:
            pursue(table, Risk(theta))
        expected = "expected a number from -2.67 to 2.67 with a bonus of 150"
        assert str(refused.value) == f"risk {theta!r}: {expected}"
    assert pursue(table, Risk(-2.67)).value() < pursue(table, Risk(2.67)).value() < 600


def test_no_opponents_are_refused() -> None:
    with pytest.raises(GoalError) as refused:
        Win(())
    assert str(refused.value) == "win: found no opponents, expected at least one"


@pytest.mark.parametrize(
    "goal", [Reach(30), Floor(), Risk(0.1), Utility(np.sqrt)], ids=lambda g: type(g).__name__
)
def test_a_card_that_does_not_follow_is_refused(goal: Goal) -> None:
    start = "fives=10 pair=10"
    pursuit = pursue(table_of("forced"), goal, start)
    for card in (
        "",
        "fives=10",
        "fives=5 pair=10",
        "fives=10 pair=0",
        "sixes=12 pair=10",
        "fives=10 pair=10 bonuses=1",
    ):
        with pytest.raises(CardError) as refused:
            pursuit.value(card)
        with pytest.raises(CardError):
            pursuit.advise(card, "12")
        expected = f"expected one that can follow '{start}', which the goal is solved from"
        assert str(refused.value) == f"card '{table_of('forced').card(card)}': {expected}"
    for card in ("fives=10 pair=10", "fives=10 pair=10 run=11 bonuses=1", "fives=10 sixes=6 pair=10 run=8"):
        pursuit.value(card)


def test_bonuses_that_the_boxes_since_cannot_have_brought_are_refused() -> None:
    table = table_of("forced")
    pursuit = pursue(table, Utility(np.sqrt), "sixes=12")
    with pytest.raises(CardError):
        pursuit.value("sixes=12 pair=10 bonuses=1")
    follows = table.card("sixes=12 pair=10 run=11 bonuses=1")
    assert pursuit.value(follows) == pursue(table, Utility(np.sqrt), follows).value() > 0


def test_what_is_too_large_to_hold_is_refused_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    table = solver.solve("yacht")
    late = "ones=3 twos=6 threes=9 fours=8 fives=15 full_house=20 choice=22 yacht=0"
    monkeypatch.setattr(blocks, "MOST_VALUES", 1000)
    message = r"^goal: found [\d,]{5,} values of states and scores .* GB; start from a card with more boxes"
    with pytest.raises(GoalError, match=message):
        pursue(table, Reach(200))
    assert pursue(table, Reach(110), late).value() > 0
    monkeypatch.setattr(distributions, "MOST_BYTES", 10**6)
    begins, ends = (
        r"^distribution of 'yacht': found up to .* GB to hold, expected .* GB; ",
        "start from a card",
    )
    with pytest.raises(ArgumentError, match=f"{begins}take moments, or {ends}"):
        distributions.distribution(table)
    with pytest.raises(ArgumentError, match=f"{begins}{ends}"):  # For a goal there are no moments.
        distributions.distribution(pursue(table, Floor()))
    with pytest.raises(ArgumentError, match=f"{begins[:-2]}$"):  # Nor a card where games are compared.
        solver.compare(["yacht"], Floor())
    assert distributions.distribution(table, late).mean > 0


@pytest.mark.parametrize("opponents", [None, 5, ["ones=3"], [None]])
def test_opponents_that_are_no_distributions_are_refused(opponents: object) -> None:
    with pytest.raises(GoalError, match=r"^win: found .*, expected the distributions of the opponents"):
        Win(opponents)  # type: ignore[arg-type]


def test_a_distribution_outside_a_list_is_refused_on_one_line() -> None:
    alone = distributions.distribution(solver.load("yacht"))
    with pytest.raises(GoalError, match=r"^win: found Distribution\(.*…, expected the distr") as refused:
        Win(alone)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200


@pytest.mark.parametrize("goal", [None, "floor", Floor, 200])
def test_what_is_no_goal_is_refused(goal: object) -> None:
    with pytest.raises(GoalError, match=r"^goal .*: expected one such as Reach\(200\) or Risk\(0.05\)$"):
        pursue(table_of("groups"), goal)  # type: ignore[arg-type]


@pytest.mark.parametrize("worth", [1.1e300, -1.7e308, math.inf, 10**400])
def test_values_whose_sums_would_be_no_numbers_are_refused(worth: float) -> None:
    with pytest.raises(GoalError, match=f"^{re.escape(NO_NUMBERS)}$"):
        pursue(table_of("groups"), Utility(lambda score: worth))


def test_the_greatest_values_leave_room_for_their_sums() -> None:
    found = pursue(table_of("groups"), Utility(lambda scores: np.where(scores > 30, 1e300, -1e300)))
    assert -1e300 < found.value() < 1e300
