"""A constant taste for risk: the expected value of exp(theta x score), whatever the score so far."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .dynamic import worked_out
from .errors import GoalError
from .extremes import extreme_points
from .levels import Progress, beforehand
from .plan import Floats, plan
from .scope import Scope
from .states import LANES, States
from .turn import Chance, mean_of_six

MOST_EXPONENT = 400


def risk_values(
    scope: Scope, theta: float, *, threads: int | None = None, progress: Progress | None = None
) -> tuple[Floats, Floats]:
    """Return +-E[exp(theta (points to come - reference))] of each place, and each state's reference.

    Neither the greatest nor the least points to come, which references are, depend on saved rolls: the best
    dice may come at once, and the worst again and again.
    """
    from .goal_kernels import risk_tiles

    game = scope.game
    arrays = plan(game)
    extreme = extreme_points(game, theta > 0, threads=threads, progress=beforehand(progress))
    # One reference a filled set and flag: the classes of subtotals differ by an upper bonus at the most.
    reference = np.zeros((len(game.filled), 2))
    for flag in (0, 1):
        sets = np.flatnonzero(game.flags > flag)
        first = game.start[sets] + flag * game.classes[sets]
        bounds = np.stack([first, first + game.classes[sets]], axis=1).ravel()
        reference[sets, flag] = np.maximum.reduceat(np.append(extreme, 0), bounds)[::2]
    number = np.repeat(np.arange(len(game.filled)), game.lanes)
    lane = np.arange(len(number)) - np.repeat(np.cumsum(game.lanes) - game.lanes, game.lanes)
    of_state = np.zeros(game.size)
    of_state[game.start[number] + lane] = reference[number, lane // game.classes[number]]
    ends = of_state[game.level_start[-2] :]
    values = scope.zeros()
    of_rows = values[:-LANES].reshape(scope.rows, -1)
    of_rows[:, game.level_start[-2] :] = np.copysign(np.exp(theta * (game.final - ends)), theta)

    def work(first: int, end: int, rows: Floats, keeps: Floats) -> None:
        saved = scope.most(int(np.searchsorted(game.level_start, first * LANES, side="right")) - 1)
        risk_tiles(values, first, end, arrays, theta, reference, saved, scope.stride, rows, keeps)

    return worked_out(game, values, work, threads, progress), of_state


def certain_points(theta: float, values: Floats, reference: Floats) -> Floats:
    """Return the certainty equivalent of the points to come of each place, from `risk_values`."""
    sized = np.where(values == 0, 1.0, np.abs(values))  # Padding holds 0.
    # In points, a poor move has a value also where its exp(theta x points) is 0 beside that of a good one.
    return np.asarray(reference + np.log(sized).reshape(-1, len(reference)) / theta).reshape(-1)


def check_risk(game: States, theta: float) -> None:
    """Refuse a taste for risk with which a single bonus leaves the range of float64."""
    most = max(game.scoring.bonus, int(game.final.max()), 1)
    bound = float(f"{MOST_EXPONENT / most:.3g}")
    if abs(theta) > bound:
        raise GoalError(
            f"risk {theta!r}: expected a number from -{bound:g} to {bound:g} with a bonus of {most}"
        )


def sure_score(theta: float) -> Chance:
    """Return what six equally likely sure scores are worth to a taste for risk, as a sure score."""

    def chance(of: NDArray[np.float64]) -> NDArray[np.float64]:
        # From the one that counts most, so that no exponential is above 1 and their mean is not 0.
        most = of.max(axis=0) if theta > 0 else of.min(axis=0)
        certain: Floats = most + np.log1p(mean_of_six(np.expm1(theta * (of - most)))) / theta
        return certain

    return chance
