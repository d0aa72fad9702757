"""Whole games with saved rolls, played turn by turn together under the strategy of a table.

The games of one state are played side by side, whatever they have saved: the chain of rerolls that gives the
values of a state for all numbers of saved rolls gives its decisions as well. Each block of games has random
numbers of its own, so that a seed gives the same games whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .levels import Progress, thread_count
from .plan import Ints, LanePlan, aligned, work_arrays
from .saving import Level, level_plan, most_saved
from .saving_table import SavingTable
from .scorecard import Scorecard
from .states import LANES
from .strategy import inside

SAVED_BLOCK = 1 << 16
"""Games with one stream of random numbers."""
_TILES = 32

Outcomes = tuple[Ints, NDArray[np.uint64], NDArray[np.int16]]


class Played(NamedTuple):
    """Games played to the end: scores without the upper bonus, that bonus, and the counts of ends."""

    scores: NDArray[np.int32]
    bonus: NDArray[np.int32]
    by_row: Ints


def cut_blocks(games: int, size: int, blocks: range) -> list[slice]:
    """Return where the games of some blocks lie among those of all these blocks."""
    first = blocks.start * size
    return [slice(at * size - first, min((at + 1) * size, games) - first) for at in blocks]


def play_saved(
    table: SavingTable,
    card: Scorecard,
    blocks: list[slice],
    streams: list[np.random.Generator],
    outcomes: Outcomes,
    threads: int | None,
    progress: Progress | None,
) -> Played:
    """Play blocks of whole games from a card; `outcomes` as `simulation.outcomes` returns them."""
    game, games = table.states, blocks[-1].stop
    first, boxes = card.filled.bit_count(), game.scoring.boxes
    positions = np.full(games, game.position(card.filled, card.upper_subtotal, int(card.armed)), np.int64)
    saved, scores = np.full(games, card.saved, np.int64), np.full(games, card.boxes_total, np.int64)
    by_row = np.zeros((boxes - first, 2 * len(level_plan(game).rows.points)), np.int64)
    with ThreadPoolExecutor(thread_count(threads)) as pool:
        for level in range(first, boxes):
            after = table.levels[level + 1].all(threads)
            for block, stream in zip(blocks, streams, strict=True):
                rolls = game.scoring.rolls + most_saved(game, level)
                random = stream.integers(0, 1 << 64, (block.stop - block.start, rolls), np.uint64)
                turn = _Turn(table, after, positions[block], saved[block], random, outcomes)
                by_row[level - first] += turn.played(pool)
                positions[block] = turn.places + game.level_start[level + 1]
                scores[block] += turn.gains
            if progress:
                progress(level - first + 1, boxes - first)
    bonus = game.final[positions - game.level_start[-2]]
    return Played(scores.astype(np.int32), bonus.astype(np.int32), by_row)


class _Turn:
    """One turn of some games; `saved` is written to."""

    def __init__(
        self,
        table: SavingTable,
        after: Level,
        positions: Ints,
        saved: Ints,
        random: NDArray[np.uint64],
        outcomes: Outcomes,
    ) -> None:
        self._arrays, self._after, self._saved = level_plan(table.states), after, saved
        self._random, self._outcomes = random, outcomes
        self._order = np.argsort(positions, kind="stable")
        rising = positions[self._order]
        starts = np.flatnonzero(np.diff(rising, prepend=-1))
        sets = self._arrays.sets
        number = np.searchsorted(sets.start, rising[starts], side="right") - 1
        none = np.zeros(0, np.int64)
        self._lanes = LanePlan(
            number, rising[starts] - sets.start[number], np.append(starts, len(rising)), none
        )
        self._inside = inside(table.states)
        self.places, self.gains = np.zeros(len(positions), np.int64), np.zeros(len(positions), np.int64)

    def played(self, pool: ThreadPoolExecutor) -> Ints:
        """Play the turn; return how often each row was its end."""
        tiles = -(-len(self._lanes.set) // LANES)
        none: Ints = np.zeros(2 * len(self._arrays.rows.points), np.int64)
        work: Callable[[int], Ints] = lambda tile: self._tiles(tile, min(tile + _TILES, tiles))  # noqa: E731
        return sum(pool.map(work, range(0, tiles, _TILES)), none)

    def _tiles(self, first: int, last: int) -> Ints:
        from .saving_kernels import play_saved_turns

        by_row = np.zeros(2 * len(self._arrays.rows.points), np.int64)
        rows, keeps = work_arrays(self._arrays)
        chain = self._random.shape[1]
        play_saved_turns(
            self._after.flat,
            self._after.width,
            first,
            last,
            self._arrays,
            self._lanes,
            self._inside,
            self._order,
            self._saved,
            self._random,
            *self._outcomes,
            self.places,
            self.gains,
            by_row,
            rows,
            keeps,
            aligned(len(rows) * chain),
            aligned(len(keeps) * chain),
        )
        return by_row
