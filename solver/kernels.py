"""The compiled loops: arrays in, arrays out; see `plan` for the arrays and `dynamic` for the mathematics.

Work goes by tiles: `LANES` neighbouring states of one level, whose values lie side by side in every
row of the two work arrays

    rows     a row a (category, points): the points plus the value of the state after
    keeps    a row a keep: its value; the rows of the last size are the rolls; after them, where the first
             roll of a turn scores otherwise, a row a roll for its best fill then

All loops keep one contract: a vector operation never mixes lanes, and each lane's result depends on
its own state alone, so that results are equal to the bit however tiles are shared out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import njit

from .plan import Floats, Plan, RowPlan, SetPlan, TurnPlan
from .states import LANES
from .vectors import (
    add,
    chosen,
    greater,
    greatest_of_1,
    greatest_of_2,
    greatest_of_3,
    greatest_of_4,
    greatest_of_5,
    greatest_of_6,
    load,
    mean_of_six,
    spread,
    store,
    times,
)

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# Unsigned numbers spare the check for an index that counts from the end.
_1, _6 = np.uint64(1), np.uint64(6)
_LANES = np.uint64(LANES)
_LOW = -np.inf
# Kernels make no arrays, so that numba need not count references to those they get: with that, each use
# of a tuple of arrays in a loop took longer than its work.
_njit: Any = partial(njit, nogil=True, error_model="numpy", _nrt=False)


INLINED = ("pairs", "plan", "states", "turn", "vectors")
"""Modules beside the kernels whose code or constants become part of them."""


def _digest_of_sources() -> bytes:
    """Return a digest of all that may be part of a kernel."""
    here, digest = Path(__file__).parent, hashlib.sha256()
    for path in sorted([*here.glob("*kernels.py"), *(here / f"{name}.py" for name in INLINED)]):
        with suppress(OSError):  # An install without its sources has nothing that could change.
            digest.update(path.read_bytes())
    return digest.digest()


_SOURCES = _digest_of_sources()


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel; kept on disk where some folder can be written, else compiled in memory.

    numba compiles one anew when its own file has changed; here also when another has that parts of it are in.
    """
    try:
        kernel: Any = _njit(cache=True)(function)
    except RuntimeError:
        kernel = _njit()(function)
    with suppress(AttributeError):
        kept = kernel._cache._cache_file
        kept._source_stamp = (kept._source_stamp, _SOURCES)
    made: Kernel = kernel
    return made


def part(function: Kernel) -> Kernel:
    """Mark what only kernels call: it becomes part of its callers, which compile in half the time."""
    kernel: Kernel = _njit(inline="always")(function)
    return kernel


@compiled
def solve_tiles(values: Floats, first: int, last: int, plan: Plan, rows: Floats, keeps: Floats) -> None:
    """Write the values of tiles first .. last-1, whose later levels are in `values` already.

    `values` must be followed by `LANES` more numbers that may be read.
    """
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    for tile in range(first, last):
        base = tile * LANES
        roll_values(values, base, plan.tile_set[tile], turn, row_plan, sets, rows, keeps)
        throws(turn, row_plan, keeps)
        store(values, base, mean_of_rolls(turn, keeps))


@part
def throws(turn: TurnPlan, plan: RowPlan, keeps: Floats) -> None:
    """Go back from the values of rolls when a box must be filled to those of the first roll of the turn."""
    for rerolls in range(1, turn.rerolls + 1):
        means(turn, keeps)
        if rerolls == turn.rerolls:
            take_first_fills(turn, plan, keeps)
        maxima(turn, keeps)


@part
def take_first_fills(turn: TurnPlan, plan: RowPlan, keeps: Floats) -> None:
    """Put the best fills of the first roll, where it scores otherwise, in the place of later rolls' values.

    What is lost is no more than what the keeps inside the roll are worth by now.
    """
    if plan.stages > 1:
        for roll in range(turn.short, turn.keeps):
            store(keeps, roll * LANES, load(keeps, (roll + turn.keeps - turn.short) * LANES))


@part
def stage_of(turn: TurnPlan, plan: RowPlan, rerolls: int | np.int64) -> int:
    """Return 1 where the dice of a turn lie as first thrown and that makes a difference, else 0."""
    return int(plan.stages > 1 and rerolls == turn.rerolls)


@compiled
def roll_values(
    values: Floats,
    base: int,
    first_set: int,
    turn: TurnPlan,
    row_plan: RowPlan,
    sets: SetPlan,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the value of each roll when a box must be filled, for the tile of positions from `base` on.

    Compiled by itself, once for all the kernels that begin with it.
    """
    number = first_set
    fresh = True
    while number < len(sets.start) and sets.start[number] < base + LANES:
        start = max(sets.start[number], base)
        end = min(sets.start[number] + sets.lanes[number], base + LANES)
        lane, count, at = start - sets.start[number], end - start, start - base
        fill_rows(values, row_plan, sets, number, lane, count, at, rows)
        for stage in range(row_plan.stages):
            best_fills(turn, row_plan, sets.available[number], fresh, stage, rows, keeps)
            if sets.special[number]:
                special_rolls(turn, row_plan, sets, number, lane, count, at, stage, rows, keeps)
        fresh = False
        number += 1


@part
def fill_rows(
    values: Floats, plan: RowPlan, sets: SetPlan, number: int, lane: int, count: int, at: int, rows: Floats
) -> None:
    """Write the rows of each box that may be filled: points plus the value of the state after.

    The lanes `lane ..` of filled set `number` go to the `count` columns from `at` on; minus infinity
    goes to the other columns.
    """
    filled, upper, classes = sets.filled[number], sets.upper[number], sets.classes[number]
    columns = chosen(at, at + count)
    for category in range(plan.boxes):
        if not sets.available[number] >> category & 1:
            continue
        after = sets.first[filled | 1 << category]
        classes_after = sets.upper_classes[upper | sets.upper_bit[category]]
        step = sets.step_first[upper, category]
        for row in range(plan.first[category], plan.first[category + 1]):
            points = plan.points[row]
            armed = classes_after if category == sets.arming and points > 0 else 0
            if step < 0:
                values_after = add(load(values, after + armed + lane - at), columns)
                store(rows, row * LANES, add(spread(points), values_after))
                continue
            store(rows, row * LANES, columns)
            flag = int(lane >= classes)
            before = lane - flag * classes
            for i in range(row * LANES + at, row * LANES + at + count):
                rows[i] = points + values[after + armed + flag * classes_after + sets.step[step + before]]
                before += 1
                if before == classes:
                    before = 0
                    flag += 1
            step += classes
        if sets.requires >> category & 1:
            # Without the flag no points count.
            for row in range(plan.first[category], plan.first[category + 1]):
                for i in range(min(count, classes - lane)):
                    rows[row * LANES + at + i] = values[after + lane + i]


@part
def best_fills(
    turn: TurnPlan, plan: RowPlan, available: int, fresh: bool, stage: int, rows: Floats, keeps: Floats
) -> None:
    """Write the greatest row of each roll, over the available boxes, up to four boxes a pass."""
    of_roll = plan.of_roll
    rolls = np.uint64(turn.keeps - turn.short)
    short = (np.uint64(turn.short) + np.uint64(stage) * rolls) * _LANES
    first = np.uint64(stage) * np.uint64(plan.boxes) * rolls
    left = available
    while left:
        a = b = c = d = first + np.uint64(lowest(left)) * rolls
        taken = 0
        while left and taken < 4:
            a, b, c, d = b, c, d, first + np.uint64(lowest(left)) * rolls
            left &= left - 1
            taken += 1
        for roll in range(rolls):
            to = short + roll * _LANES
            best = greater(load(rows, of_roll[c + roll]), load(rows, of_roll[d + roll]))
            if taken > 2:
                second = greater(load(rows, of_roll[a + roll]), load(rows, of_roll[b + roll]))
                best = greater(second, best)
            if not fresh:
                best = greater(load(keeps, to), best)
            store(keeps, to, best)
        fresh = False


@part
def lowest(boxes: int) -> int:
    """Return the lowest category of a set that is not empty."""
    category = 0
    while not boxes >> category & 1:
        category += 1
    return category


@part
def special_rolls(
    turn: TurnPlan,
    plan: RowPlan,
    sets: SetPlan,
    number: int,
    lane: int,
    count: int,
    at: int,
    stage: int,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the value of the rolls of all dice alike once the Yahtzee box is filled: joker and bonus."""
    spare = len(rows) - LANES
    rolls = turn.keeps - turn.short
    for face in range(6):
        best = spread(_LOW)
        for category in range(plan.boxes):
            if sets.joker_boxes[number, face] >> category & 1:
                row = roll_row(plan, sets, number, category, face, rolls, stage)
                best = greater(load(rows, row * LANES), best)
        store(rows, spare, best)
        to = (turn.short + stage * rolls + plan.alike[face]) * LANES
        for i in range(count):
            bonus = plan.bonus if lane + i >= sets.classes[number] else 0.0
            keeps[to + at + i] = rows[spare + at + i] + bonus


@part
def means(turn: TurnPlan, keeps: Floats) -> None:
    """Write the value of each keep before its reroll: the mean over one die more, largest keeps first."""
    keep = np.uint64(turn.short)
    for _ in range(turn.short):
        keep -= _1
        store(keeps, keep * _LANES, mean_of_six(keeps, turn.more, keep * _6))


@part
def maxima(turn: TurnPlan, keeps: Floats) -> None:
    """Replace the value of each keep by that of the best keep inside it, smallest keeps first."""
    less = turn.less
    joint = np.uint64(0)
    for group in range(len(turn.groups)):
        different = turn.groups[group, 0]
        for keep in range(np.uint64(turn.groups[group, 1]), np.uint64(turn.groups[group, 2])):
            best = load(keeps, keep * _LANES)
            if different == 1:
                best = greatest_of_1(keeps, less, joint, best)
            elif different == 2:
                best = greatest_of_2(keeps, less, joint, best)
            elif different == 3:
                best = greatest_of_3(keeps, less, joint, best)
            elif different == 4:
                best = greatest_of_4(keeps, less, joint, best)
            elif different == 5:
                best = greatest_of_5(keeps, less, joint, best)
            else:
                best = greatest_of_6(keeps, less, joint, best)
            store(keeps, keep * _LANES, best)
            joint += np.uint64(different)


@part
def mean_of_rolls(turn: TurnPlan, keeps: Floats) -> Any:
    """Return the mean value of the first roll."""
    mean = spread(0.0)
    for roll in range(turn.keeps - turn.short):
        mean = add(mean, times(spread(turn.probability[roll]), load(keeps, (turn.short + roll) * LANES)))
    return mean


@part
def position_after(
    plan: RowPlan, sets: SetPlan, number: int, lane: int, category: int, row: int | np.int64
) -> int:
    """Return the position of the state after filling a box with the points of a row."""
    classes = sets.classes[number]
    flag = np.int64(lane >= classes)
    subclass = lane - flag * classes
    step = sets.step_first[sets.upper[number], category]
    if step >= 0:
        subclass = sets.step[step + (row - plan.first[category]) * classes + subclass]
    if category == sets.arming:
        flag = np.int64(plan.points[row] > 0)
    classes_after = sets.upper_classes[sets.upper[number] | sets.upper_bit[category]]
    first = sets.first[sets.filled[number] | np.int64(1) << category]
    return int(first + flag * classes_after + subclass)


@part
def roll_row(
    plan: RowPlan, sets: SetPlan, number: int, category: int | np.int64, face: int, rolls: int, stage: int
) -> np.int64:
    """Return the row of a category that a roll of one face alone scores by, as a joker where it is one."""
    place = stage * plan.boxes + category
    offset = plan.of_roll[place * rolls + plan.alike[face]]
    if sets.joker_scores[number, face]:
        offset = plan.of_joker[place * 6 + face]
    return np.int64(offset // LANES)


@part
def row_counted(
    plan: RowPlan, sets: SetPlan, category: int | np.int64, row: int | np.int64, flag: bool
) -> np.int64:
    """Return the row by whose points a box is filled: 0 where another box must hold points and does not."""
    if not flag and sets.requires >> category & 1:
        return np.int64(plan.first[category])
    return np.int64(row)


@part
def row_filled(
    plan: RowPlan,
    sets: SetPlan,
    number: int,
    category: int | np.int64,
    roll: int,
    rolls: int,
    stage: int,
    flag: bool,
) -> tuple[np.int64, bool]:
    """Return the row that a roll scores by in a category, and whether rules for further Yahtzees hold."""
    row = np.int64(plan.of_roll[(stage * plan.boxes + category) * rolls + roll] // LANES)
    special = False
    if sets.special[number]:
        for face in range(6):
            if plan.alike[face] == roll:
                row = roll_row(plan, sets, number, category, face, rolls, stage)
                special = True
    return row_counted(plan, sets, category, row, flag), special
