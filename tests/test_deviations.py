"""Mean, deviation and chance of an upper bonus without the distribution: against fractions and against it."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from games import NAMES, TINY, random_dice, random_position, solved
from oracle_moments import SavingMoments
from test_saving import NAMES as SAVING
from test_saving import random_card, saving

import solver
from solver.deviations import Moments
from solver.scorecard import Position


@cache
def oracle(name: str, rolls: int) -> SavingMoments:
    return SavingMoments(saving(name, rolls).ruleset)


@pytest.mark.parametrize("rolls", [2, 3])
@pytest.mark.parametrize("name", SAVING, ids=lambda name: name[-16:])
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


@pytest.mark.parametrize("name", [*map(str, TINY), *NAMES], ids=lambda name: name[-16:])
def test_they_are_those_of_the_exact_distribution(name: str) -> None:
    table, random = solved(name), Random(7)
    agree(solver.moments(name, threads=2), solver.distribution(table))
    for _ in range(3):
        place = random_position(table, random)
        if place.card.filled.bit_count() > len(place.card.points) // 2:
            agree(solver.moments(name, place.card), solver.distribution(table, place.card))
            scores = solver.distribution(table, place.card, place.dice, place.rerolls)
            agree(solver.moments(name, place.card, place.dice, place.rerolls), scores)


def agree(found: Moments, scores: solver.Distribution) -> None:
    exact = solver.statistics(scores)
    assert (found.rules, found.card) == (exact.rules, exact.card)
    assert found.mean == pytest.approx(exact.mean, abs=1e-9)
    assert found.standard_deviation == pytest.approx(exact.standard_deviation, abs=1e-9)
    assert found.upper_bonus == pytest.approx(exact.upper_bonus, abs=1e-12)
