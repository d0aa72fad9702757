"""Mean, deviation and chance of an upper bonus without the distribution: against fractions and against it."""

from __future__ import annotations

import json
import math
import tomllib
from functools import cache
from pathlib import Path
from random import Random

import pytest
from games import TINY, random_dice, random_position, solved, with_points
from oracle_moments import SavingMoments
from test_saving import NAMES as SAVING
from test_saving import random_card, saving

import solver
from solver import deviations, distributions
from solver.deviations import Moments
from solver.rules import names_with_table
from solver.scope import Scope
from solver.scorecard import Position
from solver.scoring import scoring
from solver.states import states

PUBLISHED = tomllib.loads((Path(__file__).parent / "data" / "published.toml").read_text("utf-8"))
ORDINARY = [*map(str, TINY), "yahtzee-upper-first", "yatzy-forced", "generala-double", "crag"]
FRACTIONS = [(name, 2) for name in SAVING if "tiers" not in name] + [(SAVING[2], 3), (SAVING[5], 3)]
"""Tiny games with rolls a turn, whose fractions take no more than seconds."""

FREE = next(str(path) for path in TINY if path.stem == "free")
LARGE = "maxi-yatzy"
LATE = (
    "ones=3 twos=8 threes=12 fours=16 fives=20 one_pair=12 two_pairs=20 three_pairs=30 three_of_a_kind=18 "
    "four_of_a_kind=20 five_of_a_kind=25 small_straight=15 large_straight=20 full_straight=21 full_house=20 "
    "villa=33 tower=0"
)
"""A card of the large game with three boxes open, one of which decides on the upper bonus."""


@cache
def oracle(name: str, rolls: int) -> SavingMoments:
    return SavingMoments(saving(name, rolls).ruleset)


@pytest.mark.parametrize(("name", "rolls"), FRACTIONS, ids=lambda one: str(one)[-16:])
def test_saved_rolls_agree_with_exact_fractions(name: str, rolls: int) -> None:
    table, exact = saving(name, rolls), oracle(name, rolls)
    agrees(solver.moments(table), 0, exact.moments())
    assert solver.moments(table).mean == table.expected_score
    random = Random(rolls)
    for _ in range(6):
        card = random_card(table, random)
        state = card.filled, card.upper_subtotal, card.armed
        agrees(solver.moments(table, card), card.boxes_total, exact.moments(*state, card.saved))
        place = Position.of(card, random_dice(table, random), random.randint(0, card.rerolls))
        found = solver.moments(table.ruleset, card, place.dice, place.rerolls)
        agrees(found, card.boxes_total, exact.moments_from(*state, place.dice, place.rerolls))


def agrees(found: Moments, total: int, exact: tuple[object, object, object]) -> None:
    mean, variance, bonus = map(float, exact)  # type: ignore[call-overload]
    assert found.mean == pytest.approx(total + mean, abs=1e-10)
    assert found.standard_deviation**2 == pytest.approx(variance, abs=1e-8)
    assert found.upper_bonus == pytest.approx(bonus, abs=1e-12)


@pytest.mark.parametrize("name", ORDINARY, ids=lambda name: name[-16:])
def test_they_are_those_of_the_exact_distribution(name: str) -> None:
    table, random = solved(name), Random(7)
    agree(solver.moments(name, threads=2), solver.distribution(table))
    for _ in range(4):
        place = random_position(table, random)
        agree(solver.moments(name, place.card), solver.distribution(table, place.card))
        scores = solver.distribution(table, place.card, place.dice, place.rerolls)
        agree(solver.moments(name, place.card, place.dice, place.rerolls), scores)


def agree(found: Moments, scores: solver.Distribution) -> None:
    exact = solver.statistics(scores)
    assert (found.rules, found.card) == (exact.rules, exact.card)
    assert found.mean == pytest.approx(exact.mean, abs=1e-9)
    assert found.standard_deviation == pytest.approx(exact.standard_deviation, abs=1e-9)
    assert found.upper_bonus == pytest.approx(exact.upper_bonus, abs=1e-12)


@pytest.mark.parametrize("settings", ["rolls = 1", "rolls = 3", "rolls = 3\nsave_rolls = true"])
def test_large_points_leave_the_deviation_as_it_is(settings: str, tmp_path: Path) -> None:
    order = f'order = "card"\n{settings}'
    small, large = (solver.moments(with_points(tmp_path, 20, plus, order)) for plus in (0, 100_000))
    if "save" not in settings:
        one = {1: 35 / 12, 3: 2}[int(settings[-1])]  # Of three throws one keeps 5 and 6, then 4, 5 and 6.
        assert small.standard_deviation == pytest.approx(math.sqrt(20 * one), rel=1e-13)
    assert large.standard_deviation == pytest.approx(small.standard_deviation, rel=1e-9)
    assert large.mean == pytest.approx(20 * 100_000 + small.mean, abs=1e-8)


@pytest.mark.parametrize(
    "change",
    [
        {"upper_bonus.points": 100_000},
        {"yahtzee.bonus": 100_000},
        {"yahtzee.bonus": 100_000, "rolls": 2, "save_rolls": True},
        {"upper_bonus.points": 100_000, "rolls": 2, "save_rolls": True},
    ],
    ids=str,
)
def test_large_bonuses(change: dict[str, object]) -> None:
    table = solver.solve(solver.ruleset(FREE, change))
    found = solver.moments(table.ruleset)
    if table.ruleset.saves:
        mean, variance, _ = map(float, SavingMoments(table.ruleset).moments())
        assert (found.mean, found.standard_deviation) == pytest.approx((mean, math.sqrt(variance)), rel=1e-12)
    else:
        exact = solver.statistics(solver.distribution(table))
        assert found.standard_deviation == pytest.approx(exact.standard_deviation, rel=1e-11)


def test_they_are_equal_to_the_bit_for_any_number_of_threads() -> None:
    card = f"{LATE} saved=5"
    alone = solver.moments(LARGE, card, threads=1)
    assert solver.moments(LARGE, card, threads=3) == alone
    assert 0 < alone.upper_bonus < 1
    fewer, more = solver.moments(LARGE, LATE), solver.moments(LARGE, f"{LATE} saved=30")
    assert fewer.mean < alone.mean < more.mean
    assert fewer.upper_bonus < alone.upper_bonus < more.upper_bonus


def test_a_finished_card_has_no_deviation() -> None:
    rules = solver.ruleset("yacht")
    card = " ".join(f"{key}={7 if key == 'choice' else 0}" for key in rules.keys)
    assert solver.moments("yacht", card) == Moments("yacht", str(rules.card(card)), 7, 0, 0)


def test_what_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(solver.DiceError, match="rerolls 1: found no dice, expected those on the table"):
        solver.moments("yacht", rerolls=1)
    with pytest.raises(solver.CardError, match="saved is 3, but these rules save no rolls"):
        solver.moments("yacht", "saved=3")
    other = solver.ruleset("yacht-sum").card("choice=7")
    with pytest.raises(solver.DicewiseError, match="yacht-sum"):
        solver.moments("yacht", other)
    monkeypatch.setattr(deviations, "MOST_BYTES", 10**6)
    expected = r"^mean and deviation of 'yahtzee': found 0\.0 GB to hold, expected at most 0 GB; simulate, or"
    with pytest.raises(solver.ArgumentError, match=expected):
        solver.moments("yahtzee")


# ---------------------------------------------------------------- what the package knows


def known() -> dict[str, dict[str, object]]:
    package = Path(solver.__file__).parent
    found: dict[str, dict[str, object]] = json.loads((package / deviations.KNOWN_FILE).read_text("utf-8"))
    return found


def test_the_games_whose_distribution_is_too_large_are_known() -> None:
    for name in solver.names():
        rules = solver.ruleset(name)
        needed = distributions.bytes_to_hold(Scope.of(states(scoring(rules)), rules.card()))
        assert (needed > distributions.MOST_BYTES) == (name in known()) == (name not in names_with_table())
        if name in known():
            assert known()[name]["digest"] == scoring(rules).digest, f"dicewise tables moments {name}"
            found = solver.moments(name)
            assert deviations.kept(found, rules) == known()[name]
            assert found.mean == pytest.approx(PUBLISHED["games"][name]["expected"], abs=1e-9)
    once = PUBLISHED["distributions"]["maxi-yatzy-no-saving"]
    found = solver.moments("maxi-yatzy-no-saving")
    assert found.standard_deviation == pytest.approx(once["standard_deviation"], abs=5.1e-5)
    assert 100 * found.upper_bonus == pytest.approx(once["percent_upper_bonus"], abs=5.1e-3)
