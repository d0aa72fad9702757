"""The windows of all states, level by level; see `reaching` for the mathematics.

Lanes are needs n. Windows of one level lie one after another as the kernels have them, each between `LANES`
ones and `LANES` zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .errors import ArgumentError, shown
from .extremes import extreme_points
from .levels import Progress, run_levels
from .plan import Floats, Ints, aligned, plan, work_arrays
from .scorecard import Scorecard
from .states import LANES, States

if TYPE_CHECKING:
    from .reach_kernels import Range

_PIECES_A_THREAD = 32
_OUT = 1 << 20


class Level(NamedTuple):
    """The windows of the states of one level that were worked on, each between `LANES` ones and zeros."""

    positions: Ints
    start: Ints
    values: Floats


class Task:
    """What one pass works on, and the windows that it finds."""

    def __init__(self, game: States, card: Scorecard, cut: float, threads: int | None) -> None:
        check_cut(cut)
        self.game, self.cut, self.threads = game, float(cut), threads
        self.name = card.ruleset.name
        self.first_level = card.filled.bit_count()
        self.chosen = following(game, card)
        floor, ceiling = (extreme_points(game, greatest, threads=threads) for greatest in (False, True))
        self.floor, self.ceiling = floor.astype(np.int64), ceiling.astype(np.int64)
        padded = self.ceiling - self.floor + 2 * LANES
        self.numbers = np.where(self.chosen, padded, 0)
        self._note_nothing()

    def _note_nothing(self) -> None:
        self.low, self.length, self.start = (np.zeros(self.game.size, np.int64) for _ in range(3))

    def afresh(self) -> Task:
        """Return the same with no windows found yet."""
        task = copy(self)
        task._note_nothing()
        return task

    def levels(self, expected: Floats, progress: Progress | None) -> Iterator[Level]:
        """Work out one level after another, the last but one first, down to that of the card."""
        from .reach_kernels import Range

        game = self.game
        last = int(game.level_start[-2])
        after = self.finished()
        ends = Range(self.floor, self.ceiling, np.rint(expected).astype(np.int64))
        total, done = int(self.numbers[:last].sum()), 0
        for level in range(game.scoring.boxes - 1, self.first_level - 1, -1):
            begin, end = game.level_start[level : level + 2].tolist()
            positions = begin + np.flatnonzero(self.chosen[begin:end])
            weight = int(self.numbers[positions].sum())

            def shown(some: int, of: int, done: int = done, weight: int = weight) -> None:
                if progress:
                    progress(done + weight * some // of, total)

            after = self.windows(after, positions, ends, shown)
            done += weight
            yield Level(positions, self.start[positions], after)

    def finished(self) -> Floats:
        """Return the windows of the finished states, and note where each lies."""
        last = int(self.game.level_start[-2])
        # A finished state has its bonus for certain.
        self.low[last:] = self.game.final.astype(np.int64) + 1
        self.start[last:] = LANES
        return np.repeat([1.0, 0.0], LANES)

    def windows(
        self, after: Floats, positions: Ints, ends: Range, progress: Progress | None = None
    ) -> Floats:
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


def check_cut(cut: float) -> None:
    """Refuse what is not a number from 0 to 0.001."""
    if isinstance(cut, bool) or not isinstance(cut, (int, float)) or not 0 <= cut <= 1e-3:
        raise ArgumentError(f"cut {shown(cut)}: expected a number from 0 to 0.001")


def following(game: States, card: Scorecard) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
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
