"""The arrays that compiled code works from, built once for a game.

Compiled code knows no rules by name and reads no file: it gets these tuples of flat arrays. Row and
lane numbers are multiplied by `LANES` beforehand where they index an array of lanes.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .dice import Lattice
from .shelf import remembered
from .states import LANES, States, bits, check_subtotals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Offsets = NDArray[np.uint32]

_CACHE_LINE = 64


class TurnPlan(NamedTuple):
    """The keep lattice of a game's dice, as `dice.Lattice` describes it.

    `more` (six entries a keep) and `less` (one a joint) hold offsets of keeps times `LANES`; `groups`
    has a row (different faces, first keep, end) each; the first `short` of `keeps` keeps leave a die to
    reroll.
    """

    more: Offsets
    less: Offsets
    groups: Offsets
    short: int
    keeps: int
    rerolls: int
    probability: Floats


class RowPlan(NamedTuple):
    """The rows of lanes from which the value of a roll is the greatest: one a category and points.

    Row r of category c, for first[c] <= r < first[c + 1], stands for filling c with points[r].
    `of_roll` (stage, category, roll) and `of_joker` (stage, category, face) give offsets of rows times
    `LANES`. There is a stage 1, for the first roll of a turn, where that scores otherwise than later ones.
    """

    boxes: int
    stages: int
    points: Floats
    first: Ints
    of_roll: Offsets
    of_joker: Offsets
    alike: Ints
    bonus: float


class SetPlan(NamedTuple):
    """The filled sets: where their values and those of the sets after them lie; see `states`.

    `first` and `number` go by the filled set itself: where its values start, and its number here.

    `step_first` (upper set, category) says where in `step` the classes after an upper box start, for
    each row of the category and each class before; -1 for a lower box. `special` marks sets for
    which rolls of all dice alike go by `joker_boxes` and `joker_scores`. `requires` is the set of the
    (lower) boxes that score 0 without the flag.
    """

    filled: Ints
    start: Ints
    lanes: Ints
    classes: Ints
    available: Ints
    first: NDArray[np.int32]
    number: NDArray[np.int32]
    upper: Ints
    upper_bit: Ints
    upper_classes: Ints
    step_first: Ints
    step: NDArray[np.int32]
    arming: int
    requires: int
    special: NDArray[np.bool_]
    joker_boxes: Ints
    joker_scores: NDArray[np.bool_]


class LanePlan(NamedTuple):
    """Lanes of any states: filled set, lane within it, and where the decisions of each lane start.

    `of_decision` gives the lane of each decision.
    """

    set: Ints
    lane: Ints
    first: Ints
    of_decision: Ints


class DecisionPlan(NamedTuple):
    """Decisions, by lane: roll and rerolls left; and the keeps inside each roll as in `dice.Lattice`."""

    roll: Ints
    rerolls: Ints
    inside_first: NDArray[np.int32]
    inside: NDArray[np.int32]


class Plan(NamedTuple):
    """All that one game's kernels need, and the first filled set of each tile."""

    turn: TurnPlan
    rows: RowPlan
    sets: SetPlan
    tile_set: Ints


def aligned(length: int) -> NDArray[np.float64]:
    """Return an uninitialised float64 array that starts at a cache line."""
    raw = np.empty(length * 8 + _CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % _CACHE_LINE
    return raw[start : start + length * 8].view(np.float64)


def value_array(game: States) -> Floats:
    """Return zeros for the values of a game, and after them the `LANES` more that kernels may read."""
    values = aligned(game.size + LANES)
    values[:] = 0
    return values


def with_spare(values: Floats) -> Floats:
    """Return a copy of the values of a game with the `LANES` more that kernels may read."""
    copy = aligned(len(values) + LANES)
    copy[: len(values)], copy[len(values) :] = values, 0
    return copy


def work_arrays(arrays: Plan, *, with_bonus: bool = False) -> tuple[Floats, Floats]:
    """Return the arrays `rows` and `keeps` that one piece of work writes to.

    `rows` has a spare row, or with `with_bonus` a second row for each.
    """
    rows, turn = len(arrays.rows.points), arrays.turn
    keeps = turn.keeps + (arrays.rows.stages - 1) * (turn.keeps - turn.short)
    return aligned((2 * rows if with_bonus else rows + 1) * LANES), aligned(keeps * LANES)


def parts(arrays: Plan, game: States) -> dict[Hashable, int]:
    """Return the bytes of each array of a plan and of its game, as a shelf counts them."""
    flat = (part for group in arrays for part in (group if isinstance(group, tuple) else (group,)))
    return game.parts | {id(part): part.nbytes for part in flat if isinstance(part, np.ndarray)}


def bytes_of_steps(game: States) -> int:
    """Return how much memory it takes to say where each class of subtotals goes, box by box."""
    sets, found = np.arange(len(game.upper.count)), 0
    for place, category in enumerate(game.scoring.upper_boxes):
        is_open = sets >> place & 1 == 0
        found += len(game.scoring.distinct[category]) * int(game.upper.count[is_open].sum(dtype=np.int64))
    return found * np.dtype(np.int32).itemsize


@remembered(parts)
def plan(game: States) -> Plan:
    """Return the arrays for the kernels of a game.

    Raises
    ------
    RulesError
        If the subtotals of the upper boxes take more than `states.MOST_BYTES`.
    """
    rules = game.scoring
    check_subtotals(rules, bytes_of_steps(game))
    return Plan(
        _turn_plan(rules.lattice, rules.rolls - 1), _row_plan(game), _set_plan(game), _tile_sets(game)
    )


def _turn_plan(keeps: Lattice, rerolls: int) -> TurnPlan:
    groups = [(group.different, group.first, group.last) for group in keeps.groups]
    return TurnPlan(
        more=(keeps.more.ravel() * LANES).astype(np.uint32),
        less=(keeps.less * LANES).astype(np.uint32),
        groups=np.array(groups, np.uint32),
        short=keeps.short,
        keeps=len(keeps.keeps),
        rerolls=rerolls,
        probability=keeps.probability,
    )


def _row_plan(game: States) -> RowPlan:
    rules = game.scoring
    distinct = rules.distinct
    first = np.concatenate([[0], np.cumsum([len(points) for points in distinct])])
    stages = [(rules.points, rules.joker_points)]
    if rules.serves:
        stages.append((rules.served_points, rules.served_joker_points))

    def offsets(points: NDArray[np.int32]) -> list[NDArray[np.int64]]:
        return [start + np.searchsorted(d, p) for start, d, p in zip(first, distinct, points, strict=False)]

    of_roll = [row for points, _ in stages for row in offsets(points)]
    jokers = [joker if rules.special else points[:, rules.lattice.alike] for points, joker in stages]
    of_joker = [row for points in jokers for row in offsets(points)]
    return RowPlan(
        boxes=rules.boxes,
        stages=len(stages),
        points=np.concatenate(distinct).astype(np.float64),
        first=first.astype(np.int64),
        of_roll=(np.concatenate(of_roll) * LANES).astype(np.uint32),
        of_joker=(np.concatenate(of_joker) * LANES).astype(np.uint32),
        alike=rules.lattice.alike.astype(np.int64),
        bonus=float(rules.bonus),
    )


def _set_plan(game: States) -> SetPlan:
    rules = game.scoring
    upper_bit = np.zeros(rules.boxes, np.int64)
    upper_bit[rules.upper] = 1 << np.arange(np.count_nonzero(rules.upper))
    step_first, step = _steps(game, upper_bit)
    number = np.full(len(game.first), -1, np.int32)
    number[game.filled] = np.arange(len(game.filled))
    special = np.zeros(len(game.filled), bool)
    boxes, scores = np.zeros((0, 6), np.int64), np.zeros((0, 6), bool)
    if rules.special:
        special = game.filled >> rules.yahtzee & 1 > 0
        boxes, scores = game.joker_available(game.filled)
    return SetPlan(
        filled=game.filled,
        start=game.start.astype(np.int64),
        lanes=game.lanes.astype(np.int64),
        classes=game.classes.astype(np.int64),
        available=game.available(game.filled),
        first=game.first,
        number=number,
        upper=game.upper_filled(game.filled),
        upper_bit=upper_bit,
        upper_classes=game.upper.count.astype(np.int64),
        step_first=step_first,
        step=step,
        arming=game.arming,
        requires=bits(np.flatnonzero(rules.requires)),
        special=special,
        joker_boxes=boxes,
        joker_scores=scores,
    )


def _steps(game: States, upper_bit: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Where each class of subtotals goes when an upper box is filled; see `SetPlan`."""
    rules, upper = game.scoring, game.upper
    step_first = np.full((len(upper.count), rules.boxes), -1, np.int64)
    steps: list[NDArray[np.int32]] = []
    length = 0
    for filled, lowest in enumerate(upper.lowest):
        for category in np.flatnonzero(upper_bit).tolist():
            after = filled | int(upper_bit[category])
            if after != filled:
                subtotal = np.minimum(lowest + rules.distinct[category][:, None], rules.cap)
                step_first[filled, category] = length
                steps.append(upper.number[after, subtotal].astype(np.int32).ravel())
                length += steps[-1].size
    return step_first, np.concatenate(steps) if steps else np.zeros(0, np.int32)


def _tile_sets(game: States) -> Ints:
    tiles = np.arange(0, game.size, LANES)
    return np.searchsorted(game.start, tiles, side="right") - 1
