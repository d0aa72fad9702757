"""The positions of two players at the start of a turn, where only filled boxes and points matter.

A position is (A, B, d): the boxes that the mover and the other player have filled, and how many points the
mover is ahead. Seats take turns, so that the other has filled as many boxes as the mover or one more.
With least and greatest the bounds of the points that can still come, a position is open where

    least(B) - greatest(A) <= d <= greatest(B) - least(A)

Below that the mover has lost whatever happens, above it won. That is width(A) + width(B) + 1 differences,
width = greatest - least. The values of a *level*, the positions in which both have filled k boxes, lie
in blocks, one for each set B of the other, and in each block one run for each set A of the mover:

    B = first set of the level                 | next B ...
    A = first: d = low .. high | next A | ...  |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import GoalError
from .levels import shares
from .plan import Ints, Offsets
from .rules import Ruleset
from .rules.wording import listed
from .scoring import scoring
from .states import LANES, States, states

PIECE_TILES = 1 << 18
"""Tiles of work in a piece of a level: a second or two on one core."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The positions of a game for two, and where their values lie.

    Attributes
    ----------
    states : States
        Of one player; one value a filled set.
    least, greatest, width : int64 arrays, shape (sets,)
        Bounds of the points that can still come from each filled set on, and their difference.
    before : int64 array, shape (sets,)
        Widths of the sets before each one in its level, added up.
    """

    states: States
    least: Ints
    greatest: Ints
    width: Ints
    before: Ints

    @property
    def boxes(self) -> int:
        """Number of boxes on a card; also the level of finished games."""
        return self.states.scoring.boxes

    def sets(self, level: int) -> range:
        """Return the numbers of the filled sets of a level."""
        first, last = self.states.level_sets[level : level + 2].tolist()
        return range(first, last)

    def low(self, mover: int, other: int) -> int:
        """Return the least difference at which a position is open."""
        return int(self.least[other] - self.greatest[mover])

    def length(self, mover: int, other: int) -> int:
        """Return at how many differences a position is open."""
        return int(self.width[mover] + self.width[other] + 1)

    def start(self, mover: int, other: int, level: int) -> int:
        """Return where in its block the run of a mover's set of a level starts."""
        place = mover - self.sets(level).start
        return int(self.before[mover] + place * (self.width[other] + 1))

    def block_length(self, other: int, level: int) -> int:
        """Return the number of values for one set of the other and all of a mover's level."""
        movers = self.sets(level)
        return int(self.width[movers.start : movers.stop].sum() + len(movers) * (self.width[other] + 1))

    @property
    def digest(self) -> str:
        """What tells these rules from others."""
        return self.states.scoring.digest

    def pieces(self, level: int) -> list[range]:
        """Return how a level's sets of the other player are shared out: pieces of about equal work."""
        others = self.sets(level)
        if level == self.boxes:
            return [others]
        return shares(np.array([self._tiles(other, level) for other in others]), PIECE_TILES, others.start)

    def names(self, level: int, items: range) -> list[int]:
        """Return the filled sets with these numbers."""
        sets: list[int] = self.states.filled[items.start : items.stop].tolist()
        return sets

    def lengths(self, level: int, items: range) -> Ints:
        """Return the number of values for each of these sets of the other and all of a mover's level."""
        return np.array([self.block_length(other, level) for other in items], np.int64)

    def work(self, level: int, items: range) -> int:
        """Return the work in a piece, in tiles: the positions before and after the other's turn."""
        return sum(self._tiles(other, level) for other in items) if level < self.boxes else 0

    def _tiles(self, other: int, level: int) -> int:
        movers = self.sets(level).start, self.sets(level + 1).stop
        length = self.width[movers[0] : movers[1]] + self.width[other] + 1
        return int(np.sum(-(-length // LANES)))

    @cached_property
    def kept(self) -> int:
        """Number of values that are kept: of all positions in which both have filled as many boxes."""
        return sizes(self.states, self.width)[2]

    @cached_property
    def positions(self) -> tuple[int, int]:
        """Number of pairs of filled sets, and of positions (A, B, d) that are open."""
        return sizes(self.states, self.width)[:2]


class FillLists(NamedTuple):
    """Where rolls score more than the least in the open boxes of each set of one level.

    A roll that scores the least in a box has the value of that box's first row, and no roll has less
    there; so the best of all first rows is where each roll's maximum starts, and only boxes in which it
    scores more are looked up.

    Where the first roll of a turn scores otherwise, all sets have a second list for it after the others.

    `rolls` (set, place) holds the rolls by the number of such boxes, as offsets in the array of keeps;
    `group` (set, number) where in it each number starts; `entries`, from first[set] on, the offsets of the
    rows, in the same order; `base` the offset of each category's first row.
    """

    rolls: Offsets
    group: Ints
    first: Ints
    entries: Offsets
    base: Ints


class PairPlan(NamedTuple):
    """What the kernels need of the positions of a level: bounds by set as in `Pairs`, and the fills."""

    least: Ints
    greatest: Ints
    width: Ints
    before: Ints
    first: int
    last: int
    after_first: int
    after_last: int
    lists: FillLists


@lru_cache(maxsize=4)
def pairs(ruleset: Ruleset) -> Pairs:
    """Return the positions of two players of a game.

    Raises
    ------
    GoalError
        If more than filled boxes and points matters in it.
    """
    game = states(scoring(ruleset))
    least, greatest = points_to_come(game)
    if not for_two(ruleset):
        raise GoalError(_too_large(ruleset, game, greatest - least))
    width = greatest - least
    before = np.cumsum(width) - width
    before -= np.repeat(before[game.level_sets[:-1]], np.diff(game.level_sets))
    return Pairs(game, least, greatest, width, before)


def for_two(ruleset: Ruleset) -> bool:
    """Whether only filled boxes and points matter in a game, so that it can be solved for two."""
    return not ruleset.saves and bool(np.all(states(scoring(ruleset)).lanes == 1))


def points_to_come(game: States) -> tuple[Ints, Ints]:
    """Return the least and the greatest points that each set's open boxes and the upper bonus may bring."""
    rules, bonus = game.scoring, game.final[: game.lanes[-1]]
    least, greatest = (np.full(len(game.filled), int(end), np.int64) for end in (bonus.min(), bonus.max()))
    for category, points in enumerate(rules.distinct):
        is_open = (game.filled >> category & 1) == 0
        least += is_open * int(points[0])
        greatest += is_open * (int(points[-1]) + rules.bonus)
    return least, greatest


def sizes(game: States, width: Ints) -> tuple[int, int, int]:
    """Return the number of pairs of states, of pairs of states with their differences, and of those kept.

    States that have equal values are counted once, and those with saved rolls once for each number of them.
    Kept are those with as many boxes filled on both sides.
    """
    pairs_of_states = positions = kept = 0
    own = game.scoring.rolls - 1
    count: list[int] = []
    wide: list[int] = []
    for first, last in pairwise(game.level_sets.tolist()):
        lanes = game.lanes[first:last].astype(object) * (game.scoring.saves * own * len(count) + 1)
        count.append(int(lanes.sum()))
        wide.append(int((lanes * width[first:last]).sum()))
    for level in range(len(count)):
        for other in (level, level + 1)[: len(count) - level]:
            both = count[level] * count[other]
            differences = wide[level] * count[other] + count[level] * wide[other] + both
            pairs_of_states += both
            positions += differences
            kept += differences if other == level else 0
    return pairs_of_states, positions, kept


def _too_large(ruleset: Ruleset, game: States, width: Ints) -> str:
    number, positions, kept = sizes(game, width)
    reasons = ["an upper bonus"] * bool(np.any(game.classes > 1)) + [
        "a bonus for further rolls of all dice alike"
        if game.scoring.bonus
        else "a box that requires another to hold points"
    ] * bool(np.any(game.flags > 1))
    reasons += ["saved rolls"] * ruleset.saves
    return (
        f"duel of {ruleset.name!r}: found {listed(reasons, 'and')}, expected a game in which only the filled "
        f"boxes and the points matter; this one has {number:.1e} pairs of states, "
        f"{positions:.1e} with their differences, {8 * kept:.1e} bytes to keep"
    )


@lru_cache(maxsize=2)
def pair_plan(game: Pairs, level: int) -> PairPlan:
    """Return the arrays for the kernels of one level."""
    own, after = game.sets(level), game.sets(level + 1)
    return PairPlan(
        game.least,
        game.greatest,
        game.width,
        game.before,
        own.start,
        own.stop,
        after.start,
        after.stop,
        _fill_lists(game.states, own),
    )


def _fill_lists(game: States, sets: Sequence[int]) -> FillLists:
    from .plan import plan

    rows, turn = plan(game).rows, plan(game).turn
    rolls = turn.keeps - turn.short
    base = rows.first[:-1] * LANES
    order = np.empty((rows.stages * len(sets), rolls), np.uint32)
    group = np.empty((rows.stages * len(sets), rows.boxes + 2), np.int64)
    entries: list[NDArray[np.uint32]] = []
    available = game.available(game.filled[sets[0] : sets[-1] + 1]).tolist()
    of_stage = enumerate(rows.of_roll.reshape(rows.stages, rows.boxes, rolls))
    for place, ((stage, of_roll), boxes) in enumerate(product(of_stage, available)):
        is_open = (boxes >> np.arange(rows.boxes) & 1 > 0)[:, None]
        more = (of_roll > base[:, None]) & is_open
        count = more.sum(axis=0)
        by_count = np.argsort(count, kind="stable")
        order[place] = (turn.short + stage * rolls + by_count) * LANES
        group[place] = np.searchsorted(count[by_count], np.arange(rows.boxes + 2))
        entries.append(of_roll.T[by_count][more.T[by_count]])
    first = np.cumsum([0, *map(len, entries)])[:-1]
    return FillLists(order, group, first.astype(np.int64), np.concatenate(entries), base.astype(np.int64))
