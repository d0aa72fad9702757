"""Whole games: their exact distributions, and a great many games played.

They are together in one module since such a distribution takes long and is then at hand for all of its tests.
"""

from __future__ import annotations

import math

import numpy as np
import oracle_distribution as plain
import pytest
from games import NAMES, solved, spread

from solver.simulation import Simulation, simulate
from solver.summary import statistics

GAMES = 200_000
ERRORS = 4.5
"""Standard errors that a simulated figure may be off: 7 in a million, and the seed is fixed."""


@pytest.mark.parametrize("name", NAMES)
def test_whole_games_agree_with_the_solver(name: str) -> None:
    found, table = spread(name), solved(name)
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert found.mean == pytest.approx(table.value(), abs=1e-9)
    assert np.all(found.probabilities >= 0)
    assert found.probabilities[0] > 0
    assert found.probabilities[-1] > 0
    assert found.by_row.sum(axis=1) == pytest.approx(np.ones(len(table.ruleset.keys)), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_of_whole_games_add_up_to_the_mean(name: str) -> None:
    found = statistics(spread(name))
    assert sum(found.parts.values()) == pytest.approx(found.mean, abs=1e-9)
    assert found.mean == pytest.approx(solved(name).value(), abs=1e-9)
    turns = [box.turn for box in found.boxes]
    boxes = len(turns)
    assert sum(turn for turn in turns if turn) == pytest.approx(boxes * (boxes + 1) / 2, abs=1e-9)
    assert all(0 <= box.zero <= 1 and 0 < box.full <= 1 for box in found.boxes)


def test_quantiles_by_a_plain_loop() -> None:
    shares = [0.001, 0.01, 0.05, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1 - 1e-9, 1]
    for name in ("yahtzee", "yacht", "yatzy", "yatzy-forced"):
        found = spread(name)
        scores = dict(zip(found.scores.tolist(), found.probabilities.tolist(), strict=True))
        for share in shares:
            assert found.quantile(share) == plain.quantile(scores, share), (name, share)


# ---------------------------------------------------------------- like the exact distribution


@pytest.mark.parametrize("name", ["yahtzee", "yahtzee-free-joker", "yahtzee-no-joker", "yatzy", "yacht"])
def test_simulated_figures_agree_with_the_exact_ones(name: str) -> None:
    found, exact = simulate(solved(name), GAMES, seed=2026), spread(name)
    deviations = exact.scores - exact.mean
    variance, fourth = (float(deviations**power @ exact.probabilities) for power in (2, 4))
    assert abs(found.mean - exact.mean) < ERRORS * math.sqrt(variance / GAMES)
    error = math.sqrt((fourth - variance**2) / (4 * variance * GAMES))
    assert abs(found.standard_deviation - exact.standard_deviation) < ERRORS * error
    assert found.standard_error == pytest.approx(math.sqrt(variance / GAMES), rel=0.02)
    check_boxes(found, name)
    # The whole histogram: the greatest distance of the two distribution functions.
    low, high = exact.least, exact.greatest
    shares = np.bincount(found.scores - low, minlength=high - low + 1) / GAMES
    distance = np.abs(np.cumsum(shares) - np.cumsum(exact.probabilities)).max()
    assert distance < math.sqrt(math.log(2 / 7e-6) / (2 * GAMES))


def check_boxes(found: Simulation, name: str) -> None:
    mine, true = statistics(found.distribution), statistics(spread(name))
    turns = np.arange(1, len(true.boxes) + 1)
    half = spread(name).by_row.shape[1] // 2
    by_row = spread(name).by_row[:, :half] + spread(name).by_row[:, half:]
    first = 0
    for box, of, points in zip(mine.boxes, true.boxes, solved(name).states.scoring.distinct, strict=True):
        rows = by_row[:, first : first + len(points)]
        first += len(points)
        close(box.mean, of.mean, rows.sum(axis=0) @ points**2.0 - of.mean**2)
        close(box.zero, of.zero, of.zero * (1 - of.zero))
        close(box.full, of.full, of.full * (1 - of.full))
        assert box.turn is not None
        assert of.turn is not None
        close(box.turn, of.turn, turns**2.0 @ rows.sum(axis=1) - of.turn**2)
    close(mine.upper_bonus, true.upper_bonus, true.upper_bonus * (1 - true.upper_bonus))
    # At most a bonus a turn, and seldom two in a game: the variance is about the mean.
    close(mine.yahtzee_bonuses, true.yahtzee_bonuses, 2 * true.yahtzee_bonuses)


def close(found: float, expected: float, variance: float) -> None:
    """Whether a mean over all games is within the errors; rounding allowed for where all games are alike."""
    assert abs(found - expected) <= ERRORS * math.sqrt(max(variance, 0) / GAMES) + 1e-9
