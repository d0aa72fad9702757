"""Calibrated strength: slips like a person's, small losses often and large ones seldom.

A player at temperature T, in points, takes each legal action, a keep or a fill, with a chance proportional to
exp(-loss / T), where the loss is that of the table: best value minus the action's. T = 0 is perfect play, and
the greatest T play at random, each legal action with equal chances. What such play averages is worked out
exactly, by the dynamic programme of `dynamic` with this choice in place of the best one:

    V'(x)  = expected points to come, from state x, of this play
    W'(x)  = variance of the points to come

so that those of the empty card are mean and variance of the score; see `soft_kernels`. The temperature that
averages M points is found by secants within bounds; the mean falls as T rises.
"""

from __future__ import annotations

import bisect
import json
import math
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .dice import Lattice
from .errors import ArgumentError, shown
from .levels import Progress, run_levels
from .lookup import Table
from .plan import Floats, aligned, plan
from .rules import FACES
from .scope import Scope
from .shelf import Shelf
from .states import LANES, States

if TYPE_CHECKING:
    from .soft_kernels import SoftWork, SumPlan

LEVELS: dict[str, float] = {"beginner": 0.2, "casual": 0.11, "club": 0.06, "expert": 0.025, "perfect": 0.0}
"""The temperature of each level, as a share of the points a turn of perfect play."""

LEAST = 1e-300
"""Play at lower temperatures, in points, is play at this one: no loss over it leaves the range of float64."""

_CLOSE = 0.02
"""How far the mean of a temperature may be from the one asked for, in points."""
_MOST_STEPS = 60
_FLATTEST = -0.05


@dataclass(frozen=True, eq=False)
class Softened:
    """What play at a temperature is worth.

    Attributes
    ----------
    table : Table
        Whose losses count.
    temperature : float
        In points; infinite for play at random.
    points, variances : float64 arrays, shape (states.size,)
        Expected points to come from the start of a turn, and their variance; where rolls are saved, as
        many for each number of them.
    """

    table: Table
    temperature: float
    points: Floats
    variances: Floats

    @property
    def mean(self) -> float:
        """Expected final score from the empty card, in points."""
        return float(self.points[self.table.states.position(0, 0, 0)])

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the final score from the empty card, in points."""
        return math.sqrt(max(0.0, self.variances[self.table.states.position(0, 0, 0)]))


def soften(
    table: Table, temperature: float, *, threads: int | None = None, progress: Progress | None = None
) -> Softened:
    """Work out exactly what play at a temperature is worth in every state.

    Parameters
    ----------
    table
        Whose losses count.
    temperature
        In points, above 0; infinity is play at random.
    threads
        All usable cores unless given; results are equal to the bit.
    progress
        Called with the work done and in all.

    Raises
    ------
    ArgumentError
        For a temperature that is not above 0, or a game with saved rolls that is too large.
    """
    if isinstance(temperature, bool) or not isinstance(temperature, (int, float)) or not temperature > 0:
        raise ArgumentError(f"temperature {shown(temperature)}: expected a number above 0")
    from .soft_kernels import soften_tiles

    scope = Scope.of(table.states, table.card(None))
    game = scope.game
    arrays, joints = plan(game), sum_plan(game.scoring.lattice)
    guide = table.values_in(scope)
    points, variances = scope.zeros(), scope.zeros()
    points[:-LANES].reshape(scope.rows, -1)[:, game.level_start[-2] :] = game.final

    cold = 1 / max(temperature, LEAST)

    def work(first: int, last: int) -> None:
        saved = scope.most(int(np.searchsorted(game.level_start, first * LANES, side="right")) - 1)
        tiles = first, last, saved, scope.stride
        soften_tiles(guide, points, variances, *tiles, arrays, joints, cold, _soft_work(game))

    starts = (game.level_start[:-1] // LANES).tolist()
    run_levels(starts, work, threads=threads, progress=progress)
    for values in (points, variances):
        values[:-LANES].reshape(scope.rows, -1)[:, game.padding] = 0
    return Softened(table, float(temperature), points[:-LANES], variances[:-LANES])


@lru_cache(maxsize=8)
def sum_plan(lattice: Lattice) -> SumPlan:
    """Return the joints of a lattice for running sums, face by face and smaller keeps first."""
    from .soft_kernels import SumPlan

    to = [lattice.more[:, face] for face in range(FACES)]
    source = np.tile(np.arange(lattice.short), FACES)
    return SumPlan((np.concatenate(to) * LANES).astype(np.uint32), (source * LANES).astype(np.uint32))


def _soft_work(game: States) -> SoftWork:
    from .soft_kernels import SoftWork

    arrays = plan(game)
    row, keep = (len(arrays.rows.points) + 1) * LANES, arrays.turn.keeps * LANES
    roll = keep - arrays.turn.short * LANES
    fills = roll * arrays.rows.stages
    sizes = (row,) * 3 + (keep + fills - roll,) + (keep,) * 5 + (fills,) * 4 + (row, LANES, LANES)
    return SoftWork(*map(aligned, sizes))


def strengths(table: Table, *, progress: Progress | None = None) -> tuple[float, float]:
    """Return what random and what perfect play average, in points."""
    known = known_means(table)
    lowest = known.random if known else _mean_at(table, math.inf, progress)
    return lowest, table.expected_score


def temperature_for(table: Table, mean: float, *, progress: Progress | None = None) -> float:
    """Return the temperature at which play averages so many points, to a fiftieth of one.

    Found once for each game and mean in a process, while it is not too long ago. Of the games in
    `strengths.json` one or two temperatures have to be tried.

    Parameters
    ----------
    table
        The game.
    mean
        Points to average.
    progress
        Called with the work done and in all of each temperature tried; an error that it raises ends the
        search, also for others who wait for the same one.

    Raises
    ------
    ArgumentError
        If no play between random and perfect averages that.
    """
    key = table.ruleset, float(mean)
    found: float = _FOUND.get(key, lambda: _search(table, float(mean), progress), lambda _: 1)
    return found


_FOUND = Shelf(1024)
_MEANS = Shelf(256)
"""Of temperatures tried for one strength, for the next one."""


def _mean_at(table: Table, temperature: float, progress: Progress | None) -> float:
    key = table.ruleset, temperature
    found: float = _MEANS.get(key, lambda: soften(table, temperature, progress=progress).mean, lambda _: 1)
    return found


class Means(NamedTuple):
    """What random play averages, and play at some temperatures: rising, each with its mean."""

    random: float
    sampled: tuple[tuple[float, float], ...]


KNOWN_FILE = "strengths.json"
_SHARES = tuple(0.005 * 2.15**step for step in range(9))
"""Temperatures whose means are kept, as shares of the points a turn of perfect play."""


def known_means(table: Table) -> Means | None:
    """Return the means that the package knows of a game, if it is one of those."""
    return _known().get(table.states.scoring.digest)


def sampled_means(table: Table, *, progress: Progress | None = None) -> Means:
    """Work out what `known_means` gives for the games of the package."""
    scale = table.expected_score / len(table.ruleset.categories)
    temperatures = [float(f"{share * scale:.3g}") for share in _SHARES]
    random, *means = (
        round(soften(table, temperature, progress=progress).mean, 4)
        for temperature in (math.inf, *temperatures)
    )
    return Means(random, tuple(zip(temperatures, means, strict=True)))


@cache
def _known() -> dict[str, Means]:
    text = resources.files(__package__).joinpath(KNOWN_FILE).read_text("utf-8")
    return {
        one["digest"]: Means(one["random"], tuple((t, mean) for t, mean in one["sampled"]))
        for one in json.loads(text).values()
    }


def tries(table: Table) -> int:
    """Return how many temperatures have to be tried, about, to find a strength."""
    return 2 if known_means(table) else 7


def _search(table: Table, mean: float, progress: Progress | None) -> float:
    """Find the temperature by secants of the odds between random and perfect play, within bounds."""
    lowest, highest = strengths(table, progress=progress)
    if not round(lowest, 2) <= round(mean, 2) <= round(highest, 2):
        raise ArgumentError(
            f"strength {mean:g}: expected points from {lowest:.2f}, which random play averages, to "
            f"{highest:.2f}, which perfect play does"
        )
    if highest - mean < _CLOSE / 2:
        return 0.0
    if mean - lowest < _CLOSE / 2:
        return math.inf

    def odds(points: float) -> float:
        share = min(max((points - lowest) / (highest - lowest), 1e-12), 1 - 1e-12)
        return math.log(share / (1 - share))

    wanted = odds(mean)
    known = known_means(table)
    if known:
        guess, slope = _between([(odds(points), math.log(t)) for t, points in known.sampled], wanted)
    else:
        # As official Yahtzee has it, and other games much the same.
        scale = highest / len(table.ruleset.categories)
        guess, slope = math.log(0.153 * scale) + (0.585 - wanted) / 1.55, -1.55
    cold, hot = -math.inf, math.inf  # logarithms of temperatures that average too much, and too little
    before: tuple[float, float] | None = None
    for _ in range(_MOST_STEPS):
        found = _mean_at(table, math.exp(guess), progress)
        if abs(found - mean) < _CLOSE:
            return math.exp(guess)
        off = odds(found) - wanted
        if off > 0:
            cold = guess
        else:
            hot = guess
        if before and before[1] != off:
            slope = min((off - before[1]) / (guess - before[0]), _FLATTEST)
        before = guess, off
        step = guess - off / slope
        if not cold < step < hot:
            step = (cold + hot) / 2 if math.isfinite(cold + hot) else guess + math.copysign(2.0, off)
        guess = step
    raise ArgumentError(f"strength {mean:g}: found no temperature that averages so many points")


def _between(curve: list[tuple[float, float]], wanted: float) -> tuple[float, float]:
    """Return y where x is wanted, and dx/dy there, by the cubic through the four nearest points.

    Beyond the first and the last point, by the line through the two nearest.
    """
    curve = sorted(curve)
    xs = [x for x, _ in curve]
    place = bisect.bisect(xs, wanted)
    count = 4 if 0 < place < len(xs) else 2
    first = min(max(place - count // 2, 0), len(xs) - count)
    near = curve[first : first + count]

    def at(x: float) -> float:
        return sum(
            y * math.prod((x - other) / (own - other) for other, _ in near if other != own) for own, y in near
        )

    small = 1e-4
    return at(wanted), min(2 * small / (at(wanted + small) - at(wanted - small)), _FLATTEST)


def level_temperature(level: str, table: Table) -> float:
    """Return the temperature of a level in a game, in points."""
    return LEVELS[level] * table.expected_score / len(table.ruleset.categories)


def shares(losses: Floats, temperature: float) -> Floats:
    """Return the chance of each option from its loss, in points: softmax at a temperature."""
    weights: Floats = np.exp(-losses / max(temperature, LEAST))
    chances: Floats = weights / weights.sum()
    return chances
