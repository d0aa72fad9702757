"""States at the start of a turn, and where their values lie in one array.

A state is (filled, upper subtotal, flag):

    filled     one bit a box, bit c for category c in card order
    subtotal   upper points so far, capped at the highest threshold of the upper bonus
    flag       1 where the Yahtzee box holds points and further ones bring a bonus, or where the
               box that others require to hold points does

Two subtotals under the same filled upper boxes are one *class* where every way to fill the rest ends
in the same bonus: 30 with only Ones open is as hopeless as 40, and with only Sixes open a need of
7 is a need of 12. Values within a class are equal to the bit, so each class is solved once: 314,880
instead of 536,448 states for the official rules.

The values of all classes lie in one array, level by level (the number of filled boxes), each level
starting at a multiple of `LANES`:

    level 0 | level 1 ....................................... | ... | level n
            | filled set A            | filled set B      |pad|
            | flag 0    | flag 1      | flag 0            |
            | class 0 1 | class 0 1   | class 0 1 2 3     |

    position = first[filled] + flag * classes[filled] + class

so that a tile of `LANES` neighbours never crosses a level, and a filled set's values are contiguous.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .errors import RulesError
from .scoring import Scoring
from .shelf import remembered

LANES = 16
"""Values that one step of the compiled code works on side by side."""

UNREACHABLE = -1

MOST_BYTES = 2_000_000_000
"""Memory that the classes of upper subtotals may take."""
MOST_POSITIONS = 1 << 31
"""Positions that there are numbers for."""
_BYTES_A_SUBTOTAL, _BYTES_A_CLASS, _BYTES_A_SET = 5, 8, 136
"""What the classes take: for each set and subtotal, for each class, and for each set."""


@dataclass(frozen=True, eq=False)
class UpperClasses:
    """The upper subtotals that can arise, and which of them are equal; by set of filled upper boxes.

    Attributes
    ----------
    number : int32 array, shape (2**uppers, cap + 1)
        Class of each subtotal, rising with it; -1 where the subtotal cannot arise.
    count : int32 array, shape (2**uppers,)
        Number of classes.
    reachable : int32 array, shape (2**uppers,)
        Number of subtotals that can arise.
    lowest : list of int arrays
        The least subtotal of each class.
    """

    number: NDArray[np.int32]
    count: NDArray[np.int32]
    reachable: NDArray[np.int32]
    lowest: list[NDArray[np.int64]]

    @cached_property
    def nbytes(self) -> int:
        """Bytes that they take."""
        return self.number.nbytes + sum(_BYTES_A_SET + least.nbytes for least in self.lowest)


@dataclass(frozen=True, eq=False)
class States:
    """All states of a game that its order of filling allows.

    Attributes
    ----------
    scoring : Scoring
    upper : UpperClasses
    filled : int64 array, shape (sets,)
        The filled sets, by level and then rising.
    level_sets : int64 array, shape (boxes + 2,)
        Where each level starts in `filled`.
    level_start : int64 array, shape (boxes + 2,)
        Where each level starts in the array of values.
    start : int64 array, shape (sets,)
        Where the values of each filled set start.
    first : int32 array, shape (2**boxes,)
        The same by the filled set itself; -1 where it cannot arise.
    classes, flags, lanes : int32 arrays, shape (sets,)
        Classes of subtotals, flag values (1 or 2), and their product.
    """

    scoring: Scoring
    upper: UpperClasses
    filled: NDArray[np.int64]
    level_sets: NDArray[np.int64]
    level_start: NDArray[np.int64]
    start: NDArray[np.int64]
    first: NDArray[np.int32]
    classes: NDArray[np.int32]
    flags: NDArray[np.int32]
    lanes: NDArray[np.int32]

    @property
    def size(self) -> int:
        """Length of the array of values, padding included."""
        return int(self.level_start[-1])

    @property
    def parts(self) -> dict[Hashable, int]:
        """Bytes of the arrays, and of the classes, which other states may share; as a shelf counts them."""
        arrays = (self.filled, self.start, self.first, self.classes, self.flags, self.lanes)
        return {id(self): sum(array.nbytes for array in arrays), id(self.upper): self.upper.nbytes}

    @property
    def arming(self) -> int:
        """The category whose points set the flag, or -1."""
        return self.scoring.arming

    @cached_property
    def count(self) -> int:
        """Number of states (filled, subtotal, flag) that can arise, the finished ones included."""
        return int(np.sum(self.upper.reachable[self.upper_filled(self.filled)] * self.flags))

    @cached_property
    def padding(self) -> NDArray[np.int64]:
        """Positions in the array of values that belong to no state."""
        before = np.concatenate([[0], np.cumsum(self.lanes)])[self.level_sets]
        ends = self.level_start[:-1] + np.diff(before)
        gaps = [np.arange(end, after) for end, after in zip(ends, self.level_start[1:], strict=True)]
        return np.concatenate(gaps)

    def following(self, filled: int) -> int:
        """Return how many states have these boxes filled and perhaps more: the work from a card on."""
        return int(self.lanes[self.filled & filled == filled].sum())

    def upper_filled(self, filled: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return filled sets packed to their upper boxes alone, one bit each."""
        return pack(filled, np.flatnonzero(self.scoring.upper))

    def position(self, filled: int, subtotal: int, flag: int) -> int:
        """Return where the value of a state lies.

        Raises
        ------
        LookupError
            Where the state cannot arise.
        """
        first = int(self.first[filled])
        packed = pack_one(filled, self.scoring.upper_boxes)
        number = int(self.upper.number[packed, min(subtotal, self.scoring.cap)])
        armed = self.arming >= 0 and filled >> self.arming & 1
        if first == UNREACHABLE or number == UNREACHABLE or (flag and not armed):
            raise LookupError(f"no state has boxes {filled:b}, subtotal {subtotal} and flag {flag}")
        return first + flag * int(self.upper.count[packed]) + number

    def available(self, filled: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the boxes that the order of filling allows next, as sets like `filled`."""
        open_boxes = ~filled & ((1 << self.scoring.boxes) - 1)
        if self.scoring.order == "card":
            return open_boxes & -open_boxes
        if self.scoring.order == "upper-first":
            upper = open_boxes & bits(np.flatnonzero(self.scoring.upper))
            return np.where(upper > 0, upper, open_boxes)
        return open_boxes

    def joker_available(self, filled: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return, for a roll of all dice alike once the Yahtzee box is filled, what may be filled.

        Returns
        -------
        boxes : int64 array, shape (..., 6)
            Sets of boxes that a roll of face 1..6 may go in.
        joker : bool array, shape (..., 6)
            Whether it scores there as a joker.
        """
        rules = self.scoring
        available = np.repeat(self.available(filled)[..., None], 6, axis=-1)
        if rules.joker == "none":
            return available, np.zeros(available.shape, bool)
        own = np.array([1 << category if category >= 0 else 0 for category in rules.upper_of_face])
        own_open = (~filled[..., None] & own) > 0
        if rules.joker == "free":
            return available, ~own_open
        upper = bits(np.flatnonzero(rules.upper))
        lower = available & ~upper
        own_available = available & own
        boxes = np.where(own_available > 0, own_available, np.where(lower > 0, lower, available))
        return boxes, (own_available == 0) & (lower > 0)

    @cached_property
    def final(self) -> NDArray[np.float64]:
        """The upper bonus of each finished state, in points, shape (level_start[-1] - level_start[-2],)."""
        full = 2 ** int(self.scoring.upper.sum()) - 1
        bonus = np.array(
            [_bonus(self.scoring.tiers, subtotal) for subtotal in self.upper.lowest[full].tolist()]
        )
        values = np.zeros(int(self.level_start[-1] - self.level_start[-2]))
        flags = int(self.flags[-1])
        values[: flags * len(bonus)] = np.tile(bonus, flags)
        return values


def bits(categories: NDArray[np.intp]) -> int:
    """Return a set of categories as an integer with one bit each."""
    return sum(1 << int(category) for category in categories)


def members(boxes: int) -> list[int]:
    """Return the categories of a set of boxes."""
    return [category for category in range(boxes.bit_length()) if boxes >> category & 1]


def pack(filled: NDArray[np.int64], categories: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the bits of `filled` at these categories, moved together."""
    packed = np.zeros_like(filled)
    for place, category in enumerate(categories.tolist()):
        packed |= (filled >> category & 1) << place
    return packed


def pack_one(filled: int, categories: tuple[int, ...]) -> int:
    """Return `pack` of one filled set."""
    packed = 0
    for place, category in enumerate(categories):
        packed |= (filled >> category & 1) << place
    return packed


@remembered(lambda game, _: game.parts)
def states(rules: Scoring) -> States:
    """Return the states of a game and where their values lie.

    Raises
    ------
    RulesError
        If the subtotals of the upper boxes take more than `MOST_BYTES`, or there are `MOST_POSITIONS` states
        or more.
    """
    check_subtotals(rules, bytes_of_classes(rules))
    boxes = rules.boxes
    classes_of = upper_classes([rules.distinct[c].tolist() for c in rules.upper_boxes], rules.tiers)
    filled = _fillable(rules)
    level = sum(filled >> category & 1 for category in range(boxes))
    return _laid_out(rules, classes_of, filled[np.argsort(level, kind="stable")])


@remembered(lambda few, game, _: game.parts | few.parts)
def following_states(game: States, filled: int) -> States:
    """Return the states that have these boxes filled and perhaps more, laid out by themselves.

    Levels with fewer boxes filled are empty. A late card of a game of millions of states has some hundreds.
    """
    return chosen_states(game, game.filled & filled == filled) if filled else game


def chosen_states(game: States, chosen: NDArray[np.bool_]) -> States:
    """Return the states of some filled sets, laid out by themselves; `chosen` goes by a set's number."""
    return _laid_out(game.scoring, game.upper, game.filled[chosen])


def _laid_out(rules: Scoring, classes_of: UpperClasses, filled: NDArray[np.int64]) -> States:
    """Return the states of filled sets, which are given by level."""
    boxes = rules.boxes
    level = sum(filled >> category & 1 for category in range(boxes))
    level_sets = np.searchsorted(level, np.arange(boxes + 2))
    classes = classes_of.count[pack(filled, np.flatnonzero(rules.upper))]
    flags = np.ones(len(filled), np.int32)
    if rules.arming >= 0:
        flags += (filled >> rules.arming & 1).astype(np.int32)
    lanes = classes * flags
    before = np.concatenate([[0], np.cumsum(lanes, dtype=np.int64)])
    level_lanes = np.diff(before[level_sets])
    level_start = np.concatenate([[0], np.cumsum(-(-level_lanes // LANES) * LANES)])
    gaps = level_start[:-1] - before[level_sets[:-1]]
    start = before[:-1] + np.repeat(gaps, np.diff(level_sets))
    if level_start[-1] >= MOST_POSITIONS:
        raise RulesError(
            f"rules with {boxes} boxes and an upper bonus up to {rules.cap:,}: found "
            f"{int(level_start[-1]):,} states, expected fewer than {MOST_POSITIONS:,}"
        )
    first = np.full(1 << boxes, UNREACHABLE, np.int32)
    first[filled] = start
    return States(rules, classes_of, filled, level_sets, level_start, start, first, classes, flags, lanes)


def _fillable(rules: Scoring) -> NDArray[np.int64]:
    """All sets of boxes that the order of filling lets arise, rising."""
    filled = np.arange(1 << rules.boxes, dtype=np.int64)
    if rules.order == "card":
        filled = filled[(filled & (filled + 1)) == 0]
    if rules.order == "upper-first":
        upper = bits(np.flatnonzero(rules.upper))
        filled = filled[((filled & ~upper) == 0) | ((filled & upper) == upper)]
    return filled


def most_subtotals(rules: Scoring) -> NDArray[np.float64]:
    """Return, for each set of upper boxes, how many subtotals there can be at the most.

    There are no more than numbers, those from the cap on being one, nor than ways to fill the boxes.
    """
    most = np.ones(1)
    for box in rules.upper_boxes:
        most = np.append(most, np.minimum(most * len(rules.distinct[box]), rules.cap + 1))
    return most


def bytes_of_classes(rules: Scoring) -> int:
    """Return how much memory the classes of upper subtotals take at the most, before they are worked out."""
    sets = 1 << len(rules.upper_boxes)
    own = sets * ((rules.cap + 1) * _BYTES_A_SUBTOTAL + _BYTES_A_SET)
    return own + _BYTES_A_CLASS * int(most_subtotals(rules).sum())


def check_subtotals(rules: Scoring, needed: int) -> None:
    """Refuse rules whose upper subtotals take too much memory.

    Raises
    ------
    RulesError
        With how much it would take.
    """
    if needed > MOST_BYTES:
        raise RulesError(
            f"rules with {len(rules.upper_boxes)} upper boxes and an upper bonus up to {rules.cap:,}: found "
            f"{needed / 1e9:,.1f} GB of subtotals to hold, expected at most {MOST_BYTES / 1e9:.0f} GB"
        )


def upper_classes(points: Sequence[Sequence[int]], tiers: Sequence[tuple[int, int]]) -> UpperClasses:
    """Return which upper subtotals can arise and which are equal.

    Parameters
    ----------
    points
        For each upper box, the points it can give.
    tiers
        The upper bonus as (subtotal, points), both rising.
    """
    cap = tiers[-1][0] if tiers else 0
    sets = 1 << len(points)
    is_tier = np.zeros(cap + 1, bool)
    is_tier[[at for at, _ in tiers]] = True
    # All sums from the cap on are one.
    sums = np.zeros((sets, cap + 1), bool)
    sums[0, 0] = True
    for filled in range(1, sets):
        box = filled.bit_length() - 1
        before, after = sums[filled ^ 1 << box], sums[filled]
        for p in points[box]:
            step = min(p, cap)
            after[step:] |= before[: cap + 1 - step]
            after[cap] |= before[cap - step :].any()
    number = np.full((sets, cap + 1), UNREACHABLE, np.int32)
    count = np.zeros(sets, np.int32)
    reachable = np.zeros(sets, np.int32)
    lowest = []
    for filled in range(sets):
        subtotals = np.flatnonzero(sums[filled])
        passed = np.searchsorted(_turning_points(is_tier, sums[sets - 1 - filled]), subtotals, side="right")
        starts = np.concatenate([[True], passed[1:] != passed[:-1]])
        number[filled, subtotals] = np.cumsum(starts) - 1
        count[filled] = np.count_nonzero(starts)
        reachable[filled] = len(subtotals)
        lowest.append(subtotals[starts])
    return UpperClasses(number, count, reachable, lowest)


def _turning_points(is_tier: NDArray[np.bool_], rest: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return from which subtotals on a sum of the rest reaches a tier that it did not reach before.

    Two subtotals end in the same bonus, whatever the rest brings, where no such point lies above the lesser
    up to the greater. Either way takes no more memory than there are subtotals.
    """
    found = np.zeros_like(is_tier)
    tiers, sums = np.flatnonzero(is_tier).tolist(), np.flatnonzero(rest).tolist()
    if len(tiers) < len(sums):
        for at in tiers:
            found[: at + 1] |= rest[at::-1]
    else:
        for points in sums:
            found[: len(found) - points] |= is_tier[points:]
    return np.flatnonzero(found)


def _bonus(tiers: Sequence[tuple[int, int]], subtotal: int) -> int:
    return next((points for at, points in reversed(tiers) if subtotal >= at), 0)
