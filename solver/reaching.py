"""The greatest chance of at least n more points, for every n at once.

Let R(x, n) be the greatest probability of scoring at least n points from the start of a turn in state x to
the end of the game, upper bonus and further bonuses included (see `dynamic` for the other symbols):

    R(x, n)        = 1 where the upper bonus of x is n or more, else 0     all boxes filled
    B_0(x, n, r)   = max over boxes c that r may fill of  R(x after c and p, n - p(x, c, r))
    E_t, B_t       as for the expected score, from B_0
    R(x, n)        = sum over rolls r of P(r) B_T(x, n, r)

Lanes are needs n: sixteen neighbouring ones of a state go through the lattice side by side, and filling a
box for p points is reading the windows of the state after p lanes further back.

Only a window of needs is worked out in each state: where R is below `cut` it counts as 0, where it is
above 1 - cut as 1. How far off is that? Let e(k) bound the difference to the exact R in states with k open
boxes. Maxima and means of numbers that are each off by e(k - 1) at the most are off by no more, and the cut
moves the result by less than `cut`: e(k) <= e(k - 1) + cut and e(0) = 0, so that

    |R - exact R|  <=  (open boxes) x cut

to which a file adds half the step of its numbers. Rounding of float64 adds less than 1e-12. Sums are rounded
in the same order for every n and rounding is monotone, so that R falls with n to the bit; this is why the
walk from the expected points upwards and downwards may stop at a tile whose last chance is cut.

What was weighed: windows from the guaranteed to the greatest possible points hold 185 million chances for
official Yahtzee, those cut at 1e-6 132 million; windows that lie between sixteen ones and sixteen zeros need
no question whether a load leaves them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import library
from .blocks import Blocks
from .chances import Chances, Windows, bound
from .chances_file import Part, kept_path, opened_chances, write
from .errors import ArgumentError, GoalError
from .extremes import extreme_points
from .levels import Progress, run_levels
from .lookup import Table
from .plan import Floats, Ints, aligned, plan, work_arrays
from .pursuit import exact_table
from .rules import Ruleset, ruleset
from .saving_table import solved_following
from .scope import Scope
from .scorecard import Scorecard
from .states import LANES, States

if TYPE_CHECKING:
    from .reach_kernels import Range

CUT = 1e-6
"""Chances below it count as 0 and those above 1 - cut as 1, unless another one is asked for."""

MOST_BYTES = 4 * 2**30
"""No more memory is asked for."""

_PIECES_A_THREAD = 32
_OUT = 1 << 20


class Level(NamedTuple):
    """The windows of the states of one level that were worked on, each between `LANES` ones and zeros."""

    positions: Ints
    start: Ints
    values: Floats


def reach(
    game: Table | Ruleset | str | os.PathLike[str],
    card: Scorecard | str | None = None,
    *,
    cut: float = CUT,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Chances:
    """Work out the greatest chance of every final score, from a card on.

    Parameters
    ----------
    game
        A table, the rules, the name of a game, or the path of a rules file.
    card
        The card to start from; the empty card unless given. Only states that can follow are worked on.
    cut
        Chances below it count as 0, those above 1 - cut as 1; 0 for the exact chances, which those of games
        with saved rolls always are.
    threads
        All usable cores unless given; the result is equal to the bit.
    progress
        Called with the work done and in all.

    Raises
    ------
    ArgumentError
        If the cut is not from 0 to 0.001.
    CardError
        If the card cannot arise.
    GoalError
        If it would take more than `MOST_BYTES` of memory.
    """
    table = _table(game, card, threads)
    held = table.card(card)
    if table.ruleset.saves:
        _check_cut(cut)
        return _reach_saving(exact_table(table, held, threads), held, threads, progress)
    task = _Task(table.states, held, cut, threads)
    task.check(task.numbers.sum())
    boxes = table.states.scoring.boxes
    levels: list[Floats] = [np.zeros(0)] * (boxes + 1)
    start = np.zeros(table.states.size, np.int64)
    first = held.filled.bit_count()
    downwards = range(boxes - 1, first - 1, -1)
    for number, level in zip(downwards, task.levels(table.values, progress), strict=True):
        levels[number] = level.values
        start[level.positions] = level.start
    store = Windows(table.states, start, levels)
    within = bound(boxes - first, cut)
    return Chances(table, held, cut, within, task.low, task.length, store)


def keep_chances(
    game: Table | Ruleset | str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    cut: float = CUT,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Chances:
    """Work out the greatest chance of every final score from every card, and keep all in a file.

    From then on `pursue` with a score to reach, and `dicewise advise --goal`, look it up there.

    Parameters
    ----------
    game, cut, threads, progress
        As for `reach`.
    path
        The file; in the cache folder, where it is found again, unless given.

    Returns
    -------
    The chances, read from the file.

    Raises
    ------
    ArgumentError, GoalError
        As for `reach`.
    TableError
        If the file cannot be written.
    """
    table = _table(game, None, threads, kept=True)
    task = _Task(table.states, table.card(None), cut, threads)
    sums = np.add.reduceat(task.numbers, table.states.level_start[:-1])
    task.check((sums[1:] + sums[:-1]).max())
    place = Path(path) if path is not None else kept_path(table.states)
    parts = (
        Part(level.positions, task.low[level.positions], level.start, level.values)
        for level in task.levels(table.values, progress)
    )
    write(place, table.ruleset, table.states, cut, parts, parents=path is None)
    return opened_chances(place, table)


def _table(
    game: Table | Ruleset | str | os.PathLike[str],
    card: Scorecard | str | None,
    threads: int | None,
    *,
    kept: bool = False,
) -> Table:
    rules = game.ruleset if isinstance(game, Table) else game if isinstance(game, Ruleset) else ruleset(game)
    if kept:
        rules.refuse_saved_rolls("files of chances")
    if isinstance(game, Table):
        return game
    if rules.saves:
        return solved_following(rules, card, threads=threads)
    return library.solve(rules, threads=threads)


def _check_cut(cut: float) -> None:
    if isinstance(cut, bool) or not isinstance(cut, (int, float)) or not 0 <= cut <= 1e-3:
        raise ArgumentError(f"cut {cut!r}: expected a number from 0 to 0.001")


def _reach_saving(table: Table, card: Scorecard, threads: int | None, progress: Progress | None) -> Chances:
    """Work out the chances of a game with saved rolls.

    A need of n points is a score of -n so far, 0 to be reached: blocks hold those from the most that can
    still come to the least, of which neither depends on saved rolls.
    """
    scope = Scope.of(table.states, card)
    game = scope.game
    floor, ceiling = (
        extreme_points(game, greatest, threads=threads).astype(np.int64) for greatest in (False, True)
    )
    length = np.where(_following(game, card), ceiling - floor, 0)
    blocks = Blocks(scope, -ceiling, length - 1 - ceiling, 0.0, 1.0)
    blocks.solve(lambda scores: (scores >= 0).astype(np.float64), threads, progress)
    low, lengths = (np.tile(of_state, scope.rows) for of_state in (floor + 1, length))
    return Chances(table, card, 0.0, 0.0, low, lengths, _InBlocks(blocks))


class _InBlocks:
    """A `Store` of blocks of scores so far, each the negative of a need."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks

    def take(self, positions: Ints, offsets: Ints) -> Floats:
        """Return the chance at an offset into the window of the state at each of these places."""
        blocks = self._blocks
        saved, states = blocks.scope.split(positions)
        # The first need of a window is the last score of its block.
        return blocks.at(states, blocks.low[states] + blocks.length[states] - 1 - offsets, saved)


class _Task:
    """What one pass works on, and the windows that it finds."""

    def __init__(self, game: States, card: Scorecard, cut: float, threads: int | None) -> None:
        _check_cut(cut)
        self.game, self.cut, self.threads = game, float(cut), threads
        self.name = card.ruleset.name
        self.first_level = card.filled.bit_count()
        self.chosen = _following(game, card)
        floor, ceiling = (extreme_points(game, greatest, threads=threads) for greatest in (False, True))
        self.floor, self.ceiling = floor.astype(np.int64), ceiling.astype(np.int64)
        padded = self.ceiling - self.floor + 2 * LANES
        self.numbers = np.where(self.chosen, padded, 0)
        self.low, self.length, self.start = (np.zeros(game.size, np.int64) for _ in range(3))

    def check(self, numbers: int | np.int64) -> None:
        """Refuse to hold more chances than there is memory for."""
        needed = 8 * int(numbers)
        if needed > MOST_BYTES:
            raise GoalError(
                f"chances of {self.name!r}: found up to {needed / 2**30:,.1f} GB to hold in memory, expected "
                f"at most {MOST_BYTES / 2**30:.0f} GB; start from a card with more boxes filled"
            )

    def levels(self, expected: Floats, progress: Progress | None) -> Iterator[Level]:
        """Work out one level after another, the last but one first, down to that of the card."""
        from .reach_kernels import Range

        game = self.game
        last = int(game.level_start[-2])
        # A finished state has its bonus for certain.
        self.low[last:] = game.final.astype(np.int64) + 1
        self.start[last:] = LANES
        after = np.repeat([1.0, 0.0], LANES)
        ends = Range(self.floor, self.ceiling, np.rint(expected).astype(np.int64))
        total, done = int(self.numbers[:last].sum()), 0
        for level in range(game.scoring.boxes - 1, self.first_level - 1, -1):
            begin, end = game.level_start[level : level + 2].tolist()
            positions = begin + np.flatnonzero(self.chosen[begin:end])
            weight = int(self.numbers[positions].sum())

            def shown(some: int, of: int, done: int = done, weight: int = weight) -> None:
                if progress:
                    progress(done + weight * some // of, total)

            after = self._level(after, positions, ends, shown)
            done += weight
            yield Level(positions, self.start[positions], after)

    def _level(self, after: Floats, positions: Ints, ends: Range, progress: Progress) -> Floats:
        """Return the windows of these states, and note where each lies."""
        from .reach_kernels import Room, Windows, reach_states

        arrays = plan(self.game)
        windows = Windows(self.low, self.length, self.start)
        places = 3 * (len(arrays.rows.points) + arrays.rows.stages * 6 * arrays.rows.boxes)
        longest = int((self.ceiling - self.floor)[positions].max(initial=0)) + 4 * LANES
        found: dict[int, Floats] = {}

        def work(first: int, last: int) -> None:
            room = Room(*work_arrays(arrays), np.zeros(places, np.int64), aligned(longest))
            out = aligned(max(_OUT, longest + 2 * LANES))
            while first < last:
                stop, used = reach_states(
                    after, positions, first, last, arrays, windows, ends, self.cut, room, out
                )
                found[first] = out[:used].copy()
                first = stop

        run_levels(
            [0, len(positions)],
            work,
            threads=self.threads,
            progress=progress,
            pieces_a_thread=_PIECES_A_THREAD,
        )
        firsts = sorted(found)
        sizes = np.array([len(found[first]) for first in firsts])
        counts = np.diff([*firsts, len(positions)])
        self.start[positions] += np.repeat(np.cumsum(sizes) - sizes, counts)
        return np.concatenate([found.pop(first) for first in firsts])


def _following(game: States, card: Scorecard) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which states can follow a card, the card's own included."""
    from .goal_kernels import spread_windows

    low = np.full(game.size, np.iinfo(np.int32).max, np.int64)
    high = np.full(game.size, -1, np.int64)
    here = game.position(card.filled, card.upper_subtotal, int(card.armed))
    low[here] = high[here] = 0
    arrays = plan(game)
    for level in range(card.filled.bit_count(), game.scoring.boxes):
        first, last = game.level_sets[level : level + 2].tolist()
        spread_windows(arrays, first, last, low, high)
    return high >= low
