"""Calibrated strength: exact on tiny games, as asked for on whole ones, and as its games turn out."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from games import TINY, solved, with_points
from oracle_soft import Soft

import solver
from solver.lookup import Table
from solver.rules import names_with_table
from solver.soft_play import play_games
from solver.strength import (
    Softened,
    known_means,
    level_temperature,
    sampled_means,
    shares,
    soften,
    strengths,
    temperature_for,
)

ERRORS = 4.5
TINY_NAMES = [str(path) for path in TINY]
FREE = next(name for name in TINY_NAMES if Path(name).stem == "free")


@cache
def softened(name: str, temperature: float) -> Softened:
    return soften(solved(name), temperature)


# ---------------------------------------------------------------- exact


@pytest.mark.parametrize(
    ("path", "temperature"),
    [
        *((path, math.inf) for path in TINY_NAMES if Path(path).stem not in ("colours", "groups")),
        *((path, 0.7) for path in TINY_NAMES if Path(path).stem not in ("tiers", "groups")),
        *((path, 8.0) for path in TINY_NAMES if Path(path).stem in ("free", "card", "upper_chance")),
        *((path, 0.01) for path in TINY_NAMES if Path(path).stem in ("forced", "none", "served")),
        *((path, 0.01) for path in TINY_NAMES if Path(path).stem == "requires"),
    ],
    ids=lambda value: Path(value).stem if isinstance(value, str) else str(value),
)
def test_tiny_games_agree_with_plain_recursion(path: str, temperature: float) -> None:
    mean, square = Soft(solver.ruleset(path), temperature).value(0, 0, False)
    found = softened(path, temperature)
    assert found.mean == pytest.approx(float(mean), rel=1e-12)
    assert found.standard_deviation == pytest.approx(math.sqrt(square - mean**2), rel=1e-9)


def test_random_play_is_a_fraction() -> None:
    """Nothing is rounded in the oracle where every action has the same chance."""
    mean, square = Soft(solver.ruleset(TINY_NAMES[0]), math.inf).value(0, 0, False)
    assert isinstance(mean, Fraction)
    assert isinstance(square, Fraction)


@pytest.mark.parametrize("name", ["yacht", "generala", "generala-double"])
def test_low_temperatures_come_to_perfect_play(name: str) -> None:
    table = solved(name)
    cold = soften(table, 1e-6)
    assert cold.points == pytest.approx(table.values, abs=1e-6)
    assert cold.mean < table.value() + 1e-9


@pytest.mark.parametrize("temperature", [5e-324, 5e-309, 1e-300])
def test_the_lowest_temperatures_are_perfect_play(temperature: float) -> None:
    table, perfect = solved(FREE), solver.moments(FREE)
    found = soften(table, temperature)
    assert found.mean == pytest.approx(perfect.mean, rel=1e-12)
    played = play_games(table, temperature, 4000, 1)
    assert abs(played.mean() - found.mean) < ERRORS * perfect.standard_deviation / math.sqrt(4000)
    assert shares(np.array([0.0, 1e-9, 1e6]), temperature).tolist() == [1, 0, 0]


@pytest.mark.parametrize("temperature", [0.3, 1.0, math.inf])
def test_large_points_leave_the_deviation_as_it_is(temperature: float, tmp_path: Path) -> None:
    rules = (with_points(tmp_path, 20, plus, 'order = "card"\nrolls = 2') for plus in (0, 100_000))
    small, large = (soften(solver.solve(one), temperature) for one in rules)
    assert large.standard_deviation == pytest.approx(small.standard_deviation, rel=1e-9)
    few = with_points(tmp_path, 3, 0, 'order = "card"\nrolls = 2')
    mean, square = Soft(few, temperature).value(0, 0, False)
    assert small.standard_deviation == pytest.approx(math.sqrt((square - mean**2) * 20 / 3), rel=1e-12)


def test_no_temperature_leaves_the_range_of_numbers() -> None:
    """With a bonus of a hundred thousand points, losses stand far beyond what an exponential holds."""
    table = solver.solve(f"{FREE}[yahtzee.bonus=100000]")
    for temperature in (5e-324, 1e-308, 1e-12, 1.0, 1e6, 1e300):
        found = soften(table, temperature)
        assert np.isfinite(found.points).all()
        assert np.isfinite(found.variances).all()
        assert (found.points <= table.values + 1e-6 * np.abs(table.values) + 1e-6).all()


def test_the_mean_falls_as_the_temperature_rises() -> None:
    temperatures = (0.01, 0.1, 0.5, 1, 2, 4, 8, 32, math.inf)
    means = [softened("yacht", temperature).mean for temperature in temperatures]
    assert all(a > b for a, b in pairwise(means))
    assert means[0] == pytest.approx(solved("yacht").value(), abs=0.02)


def test_threads_change_nothing() -> None:
    table = solved("yacht")
    alone, together = (soften(table, 1.5, threads=threads) for threads in (1, 3))
    assert alone.points.tobytes() == together.points.tobytes()
    assert alone.variances.tobytes() == together.variances.tobytes()


def test_shares_of_options() -> None:
    assert shares(np.array([0.0, 1.0, 3.0]), 2.0) == pytest.approx(
        [math.exp(0) / 1.82966, math.exp(-0.5) / 1.82966, math.exp(-1.5) / 1.82966], rel=1e-5
    )
    assert shares(np.array([0.0, 1e9]), math.inf).tolist() == [0.5, 0.5]
    assert shares(np.array([0.0, 5.0]), 1e-3).tolist() == [1, 0]


# ---------------------------------------------------------------- as asked for


@pytest.mark.parametrize(
    ("name", "means"), [("yacht", (60, 120, 166.9)), ("yahtzee", (200,)), ("yatzy-forced", (100,))]
)
def test_play_averages_what_is_asked_for(name: str, means: tuple[float, ...]) -> None:
    for mean in means:
        temperature = temperature_for(solved(name), mean)
        assert softened(name, temperature).mean == pytest.approx(mean, abs=0.1)
        assert temperature_for(solved(name), mean) == temperature


@pytest.mark.parametrize("path", TINY_NAMES, ids=lambda path: Path(path).stem)
def test_tiny_games_average_what_is_asked_for(path: str) -> None:
    table = solved(path)
    low, high = strengths(table)
    assert low == softened(path, math.inf).mean
    assert high == table.value()
    for share in (0.02, 0.3, 0.5, 0.9, 0.999):
        mean = low + share * (high - low)
        temperature = temperature_for(table, mean)
        if temperature:
            assert soften(table, temperature).mean == pytest.approx(mean, abs=0.02)
        else:
            assert high - mean < 0.01


def test_the_ends_of_the_range() -> None:
    table = solved("yacht")
    low, high = strengths(table)
    assert temperature_for(table, high) == 0
    assert temperature_for(table, low) == math.inf
    assert temperature_for(table, round(high, 2)) == 0


@pytest.mark.parametrize("mean", [-3, 0, 36.9, 167.1, 1e300, math.inf, math.nan])
def test_strengths_that_no_play_has(mean: float) -> None:
    expected = "expected points from 37.15, which random play averages, to 166.96, which perfect play does"
    with pytest.raises(solver.ArgumentError, match=f"^strength {re.escape(f'{mean:g}')}: {expected}$"):
        temperature_for(solved("yacht"), mean)


@pytest.mark.parametrize("temperature", [0, -1.0, math.nan, True, "3", None])
def test_temperatures_that_are_refused(temperature: float) -> None:
    with pytest.raises(solver.ArgumentError, match=r"^temperature .*: expected a number above 0$"):
        soften(solved("yacht"), temperature)


def test_levels_are_temperatures_for_the_size_of_the_game() -> None:
    assert level_temperature("perfect", solved("yacht")) == 0
    assert level_temperature("beginner", solved("yacht")) == pytest.approx(0.2 * solved("yacht").value() / 12)
    levels = ("beginner", "casual", "club", "expert")
    means = [softened("yacht", level_temperature(level, solved("yacht"))).mean for level in levels]
    assert means == sorted(means)


# ---------------------------------------------------------------- known means


@pytest.mark.parametrize("name", ["yacht", "crag", "yatzy-forced"])
def test_known_means_are_worked_out_again(name: str) -> None:
    assert known_means(solver.load(name)) == sampled_means(solver.load(name))


def test_every_game_with_a_table_has_known_means() -> None:
    for name in names_with_table():
        table = solver.load(name)
        known = known_means(table)
        assert known, f"{name}: dicewise tables strengths {name}"
        means = [mean for _, mean in known.sampled]
        assert [table.expected_score, *means, known.random] == sorted(
            [table.expected_score, *means, known.random], reverse=True
        )


def test_a_strength_takes_few_temperatures(monkeypatch: pytest.MonkeyPatch) -> None:
    table, tried = solver.load("yacht-sum"), []

    def counted(*given: object, **named: object) -> Softened:
        tried.append(1)
        return soften(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("solver.strength.soften", counted)
    found = {mean: temperature_for(table, mean) for mean in (45.125, 80.125, 120.125, 150.125, 165.125)}
    monkeypatch.undo()
    assert len(tried) <= 2 * len(found)
    for mean, temperature in found.items():
        assert soften(table, temperature).mean == pytest.approx(mean, abs=0.02)


def test_a_strength_is_found_from_a_table_or_solved_values() -> None:
    assert temperature_for(solver.load("yacht"), 120) == pytest.approx(
        temperature_for(solved("yacht"), 120), rel=1e-3
    )


# ---------------------------------------------------------------- games


@pytest.mark.parametrize(
    ("name", "temperature"),
    [
        ("yacht", 1e-9),
        ("yacht", math.inf),
        ("yatzy-forced", 3.0),
        ("generala", 1.0),
        ("generala-double", 6.0),
        *((str(path), 2.0) for path in TINY),
    ],
    ids=lambda value: Path(value).stem if isinstance(value, str) else str(value),
)
def test_games_are_like_the_exact_figures(name: str, temperature: float) -> None:
    games = 40_000
    scores = play_games(solved(name), temperature, games, 2026)
    exact = softened(name, temperature)
    assert abs(scores.mean() - exact.mean) < ERRORS * exact.standard_deviation / math.sqrt(games)
    # The standard error of a variance, from the fourth moment of the games themselves.
    squares = (scores - exact.mean) ** 2
    assert abs(squares.mean() - exact.standard_deviation**2) < ERRORS * squares.std() / math.sqrt(games)


def test_games_average_what_is_asked_for() -> None:
    temperature = temperature_for(solved("yahtzee"), 200)
    scores = play_games(solved("yahtzee"), temperature, 40_000, 1)
    assert abs(scores.mean() - 200) < ERRORS * scores.std() / 200 + 0.1


def test_a_seed_gives_the_same_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.soft_play._BLOCK", 300)
    table: Table = solved("yacht")
    games = [play_games(table, 1.0, 1000, 5, threads=threads).tolist() for threads in (1, 2, 3)]
    assert games[0] == games[1] == games[2]
    assert games[0] != play_games(table, 1.0, 1000, 6).tolist()
    assert sorted(games[0][:300]) != sorted(games[0][300:600])


def test_progress_ends_with_all_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.soft_play._BLOCK", 4)
    calls: list[tuple[int, int]] = []
    play_games(solved("yacht"), 1.0, 10, 0, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 3), (2, 3), (3, 3)]
