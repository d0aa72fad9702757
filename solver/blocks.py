"""Values by the score so far: a block of neighbouring scores for each state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .errors import GoalError
from .extremes import extreme_points
from .levels import Progress, run_levels
from .plan import Floats, Ints, aligned, plan, work_arrays
from .scope import Scope
from .scorecard import Scorecard
from .shelf import remembered
from .states import LANES, States

if TYPE_CHECKING:
    from .goal_kernels import BlockPlan

MOST_VALUES = 1_000_000_000
"""Values of states and scores that are held in memory at once."""


class Blocks:
    """A value for each state and each score so far, within the scores that can come about.

    Where rolls are saved, there are as many for each number of them, with the same scores.

    Parameters
    ----------
    scope
        The states.
    low, high : int64 arrays, shape (game.size,)
        The scores of each state to work out; none where high < low.
    below, above
        The value of any state at scores under `low` and over `high`.
    """

    def __init__(self, scope: Scope, low: Ints, high: Ints, below: float, above: float) -> None:
        self.scope, self.low = scope, low
        self.length = np.maximum(high - low + 1, 0)
        padded = -(-self.length // LANES) * LANES
        self.start = np.cumsum(padded) - padded
        self.below, self.above = below, above
        self.count = int(self.length.sum()) * scope.rows
        self._stride = int(padded.sum())
        self._size = self._stride * scope.rows
        self._tiles = padded // LANES
        self.values = np.zeros(0)

    def solve(
        self, utility: Callable[[Ints], Floats], threads: int | None = None, progress: Progress | None = None
    ) -> None:
        """Work out all values from what final scores are worth.

        Raises
        ------
        GoalError
            If they are too many to hold in memory.
        """
        if self._size > MOST_VALUES:
            raise GoalError(
                f"goal: found {self.count:,} values of states and scores to work out from this card, "
                f"{8 * self._size / 1e9:,.1f} GB, expected at most {8 * MOST_VALUES / 1e9:.0f} GB; "
                "start from a card with more boxes filled"
            )
        from .goal_kernels import pursue_tiles

        game = self.scope.game
        arrays = plan(game)
        self.values = aligned(self._size + LANES)
        self.values[:] = 0
        rows = self.values[: self._size].reshape(self.scope.rows, -1)
        last = int(game.level_start[-2])
        for position in last + np.flatnonzero(self.length[last:]):
            scores = self.low[position] + np.arange(self.length[position])
            start = self.start[position]
            rows[:, start : start + len(scores)] = utility(scores + int(game.final[position - last]))
        tile_position = np.repeat(np.arange(game.size), self._tiles)
        first = np.cumsum(self._tiles) - self._tiles
        tile_at = (np.arange(len(tile_position)) - first[tile_position]) * LANES
        tile_set = np.searchsorted(game.start, tile_position, side="right") - 1
        starts = np.searchsorted(tile_position, game.level_start[:-1]).tolist()
        blocks = self.plan()

        def work(begin: int, end: int) -> None:
            saved = self.scope.most(int(np.searchsorted(starts, begin, side="right")) - 1)
            tiles = tile_position, tile_at, tile_set, saved
            pursue_tiles(self.values, begin, end, arrays, blocks, *tiles, *work_arrays(arrays))

        run_levels(starts, work, threads=threads, progress=progress)

    def plan(self) -> BlockPlan:
        """Return where the values lie, for compiled code."""
        from .goal_kernels import BlockPlan

        stride = self._stride if self.scope.stride else 0
        return BlockPlan(self.low, self.length, self.start, self.below, self.above, stride)

    def at(self, positions: Ints, scores: Ints, saved: int | Ints = 0) -> Floats:
        """Return the values of states at scores so far, with so many rolls saved."""
        place = scores - self.low[positions]
        length = self.length[positions]
        inside = (place >= 0) & (place < length)
        found = self.values[saved * self._stride + np.where(inside, self.start[positions] + place, 0)]
        return np.where(inside, found, np.where(place < 0, self.below, self.above))


@remembered(lambda points, game: game.parts | {id(points): points.nbytes})
def _greatest_points(game: States) -> Floats:
    return extreme_points(game, True)


def no_blocks() -> BlockPlan:
    """Return blocks for what does not go by the score so far."""
    from .goal_kernels import BlockPlan

    none = np.zeros(0, np.int64)
    return BlockPlan(none, none, none, 0.0, 0.0, 0)


def score_windows(game: States, card: Scorecard) -> tuple[Ints, Ints]:
    """Return the least and the greatest score so far with which each state can follow a card.

    High is below low where a state cannot follow.
    """
    from .goal_kernels import spread_windows

    low = np.full(game.size, np.iinfo(np.int32).max, np.int64)
    high = np.full(game.size, -1, np.int64)
    here = game.position(card.filled, card.upper_subtotal, int(card.armed))
    low[here] = high[here] = card.boxes_total
    arrays = plan(game)
    for level in range(card.filled.bit_count(), game.scoring.boxes):
        first, last = game.level_sets[level : level + 2].tolist()
        spread_windows(arrays, first, last, low, high)
    return low, high


def final_scores(game: States, card: Scorecard) -> tuple[int, int]:
    """Return the least and the greatest final score, whatever play, that can follow a card."""
    game = Scope.of(game, card).game
    low, high = score_windows(game, card)
    ends = slice(int(game.level_start[-2]), game.size)
    can = high[ends] >= low[ends]
    return int((low[ends] + game.final)[can].min()), int((high[ends] + game.final)[can].max())


def blocks_from(scope: Scope, utility: Callable[[Ints], Floats], rising: bool) -> Blocks:
    """Return blocks for all scores that can come about from a card, cut where a rising utility is settled."""
    game = scope.game
    low, high = score_windows(game, scope.card)
    below = above = 0.0
    if rising:
        most = int(high.max()) + int(game.final.max())
        worth = utility(np.arange(most + 1))
        settled_low = int(np.argmax(worth > worth[0])) if worth[-1] > worth[0] else most + 1
        settled_high = int(np.argmax(worth >= worth[-1]))
        below, above = float(worth[0]), float(worth[-1])
        reached = high >= low
        greatest = _greatest_points(game)
        # Below, even the greatest points to come change nothing; above, nothing can change any more.
        low = np.where(reached, np.maximum(low, settled_low - greatest.astype(np.int64)), low)
        high = np.where(reached, np.minimum(high, settled_high - 1), high)
        low = np.where(reached & (high < low), np.minimum(low, settled_high), low)
    return Blocks(scope, low, high, below, above)
