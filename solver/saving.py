"""Games in which rolls that a turn does not use are saved for later turns: the dynamic programme.

A state is one of `states` and the number k of rolls saved by the turns before, at most T for each box that is
filled, where T is the rerolls that a turn itself brings. Let j be the rerolls that could still be made now,
this turn's and those saved. With the words of `dynamic`:

    R_j(x, r)   = max over boxes c that roll r may fill of  p(x, c, r) + V(x after c and p, j)
    B_0(x, r)   = R_0(x, r)
    E_j(x, k)   = the mean of B_{j-1} after rerolling all dice but the keep k
    B_j(x, r)   = max(R_j(x, r), max over keeps k inside r of E_j(x, k))
    V(x, k)     = sum over rolls r of P(r) B_{T+k}(x, r)

So one chain B_0, B_1, ... of a state gives its values for all k: each saved roll costs one more pass over the
lattice of keeps, and one more look at the values after. V at one level needs V of the next level alone,
of which k runs up to T more.

The values of a level are one array, a row of states for each k: the states side by side in one tile then
read neighbouring numbers of one row. All levels of a whole game do not fit in memory; only two are held, and
`saving_files` keeps those that are finished.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .errors import RulesError
from .levels import Progress, run_levels
from .plan import Floats, Plan, aligned, parts, plan, work_arrays
from .shelf import remembered
from .states import LANES, States

MOST_BYTES = 16 * 10**9
"""Two levels that take more are not begun with."""


_PIECES_A_THREAD = 32


@dataclass(frozen=True, eq=False)
class Level:
    """The values of all states with so many boxes filled, for each number of saved rolls.

    Attributes
    ----------
    number : int
        Boxes filled.
    flat : float64 array
        A row of `width` values for each number of saved rolls, and `LANES` more numbers before the first row
        and after the last one.
    width : int
        Number of positions of the level, padding included.
    """

    number: int
    flat: Floats
    width: int

    @property
    def values(self) -> Floats:
        """Expected points still to come, shape (most saved rolls + 1, width)."""
        return self.flat[LANES:-LANES].reshape(-1, self.width)


def most_saved(game: States, level: int) -> int:
    """Return how many rolls can be saved where so many boxes are filled."""
    return (game.scoring.rolls - 1) * level


def width_of(game: States, level: int) -> int:
    """Return how many positions a level has."""
    return int(game.level_start[level + 1] - game.level_start[level])


def states_in(game: States, level: int) -> int:
    """Return how many of a level's positions belong to states."""
    return int(game.lanes[game.level_sets[level] : game.level_sets[level + 1]].sum())


def level_values(game: States, level: int) -> int:
    """Return how many values a level has."""
    return width_of(game, level) * (most_saved(game, level) + 1)


def values_in_all(game: States) -> int:
    """Return how many values there are, those of finished games left out."""
    return sum(level_values(game, level) for level in range(game.scoring.boxes))


@remembered(parts)
def level_plan(game: States) -> Plan:
    """Return the arrays for kernels, with `sets.first` counted from the start of each set's level."""
    arrays = plan(game)
    first = arrays.sets.first.copy()
    level = np.repeat(np.arange(len(game.level_sets) - 1), np.diff(game.level_sets))
    first[game.filled] -= game.level_start[level].astype(first.dtype)
    return arrays._replace(sets=arrays.sets._replace(first=first))


def empty_level(game: States, level: int) -> Level:
    """Return a level whose values are not yet written."""
    flat = aligned(level_values(game, level) + 2 * LANES)
    flat[:LANES] = flat[-LANES:] = 0
    return Level(level, flat, width_of(game, level))


def final_level(game: States) -> Level:
    """Return the values of the finished states: saved rolls are worth nothing there."""
    level = empty_level(game, game.scoring.boxes)
    level.values[:] = game.final
    return level


def solved_levels(
    game: States,
    *,
    after: Level | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Level]:
    """Solve a game level by level, and yield each level once it is done, the most boxes filled first.

    Levels without states, where `game` is what follows a card, are left out.

    Parameters
    ----------
    game
        The states.
    after
        The level to go on from; that of the finished states unless given.
    threads
        How many threads share the work; all cores unless given. Results are equal to the bit.
    progress
        Called now and then, from this thread, with the work done and in all.

    Raises
    ------
    RulesError
        If two levels would take more memory than `MOST_BYTES`.
    """
    _check_size(game)
    rerolls = game.scoring.rolls - 1
    after = after or final_level(game)
    costs = [width_of(game, level) // LANES * (rerolls * (level + 1) + 1) for level in range(after.number)]
    total, done = sum(costs), 0

    def report(tiles: int, of: int) -> None:
        if progress:
            progress(done + tiles * costs[number] // of, total)

    first = int(np.argmax(np.diff(game.level_sets) > 0))
    for number in reversed(range(first, after.number)):
        after = _solved_level(game, number, after, threads, report)
        done += costs[number]
        yield after


def _solved_level(
    game: States, number: int, after: Level, threads: int | None, progress: Progress | None
) -> Level:
    from .saving_kernels import solve_saving_tiles

    level, arrays = empty_level(game, number), level_plan(game)
    values = level.flat, after.flat, level.width, after.width, most_saved(game, number)
    start = int(game.level_start[number])

    def work(first: int, last: int) -> None:
        before = start // LANES
        solve_saving_tiles(*values, start, before + first, before + last, arrays, *work_arrays(arrays))

    run_levels(
        [0, level.width // LANES],
        work,
        threads=threads,
        progress=progress,
        pieces_a_thread=_PIECES_A_THREAD,
    )
    level.values[:, states_in(game, number) :] = 0
    return level


def _check_size(game: States) -> None:
    sizes = [8 * level_values(game, level) for level in range(game.scoring.boxes + 1)]
    most = max(map(sum, pairwise(sizes)))
    if most > MOST_BYTES:
        raise RulesError(
            f"rules with saved rolls: found two levels that take {most / 1e9:.1f} GB of memory, "
            f"expected {MOST_BYTES / 1e9:.0f} GB at the most: fewer boxes, rolls or dice"
        )
