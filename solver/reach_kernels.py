"""The compiled loops for the chance of every number of points at once; see `reaching` for the mathematics.

Each state has a window of needs, the numbers of points still wanted: below it the chance counts as 1, beyond
it as 0. The windows of one level lie one after another, each between `LANES` ones and `LANES` zeros,

    1 1 ... 1 | R(x, low) ... R(x, low + length - 1) | 0 0 ... 0

so that sixteen neighbouring needs of any state after, wherever they lie, are one load.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .kernels import (
    best_fills,
    compiled,
    mean_of_rolls,
    part,
    position_after,
    roll_row,
    row_counted,
    throws,
)
from .plan import Floats, Ints, Plan, RowPlan, SetPlan
from .states import LANES
from .vectors import greater, load, spread, store


class Windows(NamedTuple):
    """Each state's window, by its position: its first need, its length, and where its first chance lies."""

    low: Ints
    length: Ints
    start: Ints


class Range(NamedTuple):
    """What each state's window is looked for in, by its position.

    The needs above `floor` up to `ceiling` are those neither certain nor impossible; the search begins at
    the need `middle`.
    """

    floor: Ints
    ceiling: Ints
    middle: Ints


class Room(NamedTuple):
    """Arrays that one piece of work writes to.

    `rows` and `keeps` are those of `kernels`. `places` has for each row, and for each (stage, face, category)
    of a joker, the start of the window after, its first need plus the points, and its length. `tiles` has
    room for the chances of the longest window.
    """

    rows: Floats
    keeps: Floats
    places: Ints
    tiles: Floats


@compiled
def reach_states(
    after: Floats,
    positions: Ints,
    first: int,
    last: int,
    plan: Plan,
    windows: Windows,
    ends: Range,
    cut: float,
    room: Room,
    out: Floats,
) -> tuple[int, int]:
    """Write to `out` the windows of the states at positions[first .. last-1], as many as there is room for.

    Parameters
    ----------
    after
        The windows of the level after.
    windows
        Those of the states after are read, those of these states written, with starts in `out`.
    cut
        Chances below it count as 0, those above 1 - cut as 1.

    Returns
    -------
    The number of the first state that was not written, and how much of `out` was used.
    """
    sets, turn, tiles = plan.sets, plan.turn, room.tiles
    used, number = 0, 0
    for state in range(first, last):
        position = positions[state]
        while number + 1 < len(sets.start) and sets.start[number + 1] <= position:
            number += 1
        lane = position - sets.start[number]
        place_rows(plan.rows, sets, number, lane, turn.keeps - turn.short, windows, room.places)
        low, high = ends.floor[position] + 1, ends.ceiling[position]
        middle = max(low, min(ends.middle[position], high))
        # Chances fall with the need, to the bit: beyond a tile that ends below the cut all are below it.
        start, end, upwards = middle, middle, True
        while True:
            if upwards and (end > high or (end > middle and tiles[end - 1 - low + LANES] < cut)):
                upwards = False
            if not upwards and (start <= low or (start < middle and tiles[start - low + LANES] > 1 - cut)):
                break
            need = end if upwards else start - LANES
            reach_tile(after, plan, number, lane, need, room)
            store(tiles, need - low + LANES, mean_of_rolls(turn, room.keeps))
            if upwards:
                end += LANES
            else:
                start -= LANES
        start, end = max(start, low), min(end, high + 1)
        while end > start and tiles[end - 1 - low + LANES] < cut:
            end -= 1
        while start < end and tiles[start - low + LANES] > 1 - cut:
            start += 1
        length = max(end - start, 0)
        if used + length + 2 * LANES > len(out):
            return state, used
        store(out, used, spread(1.0))
        used += LANES
        for i in range(length):
            out[used + i] = tiles[start - low + LANES + i]
        windows.low[position], windows.length[position], windows.start[position] = start, length, used
        used += length
        store(out, used, spread(0.0))
        used += LANES
    return last, used


@part
def place_rows(
    plan: RowPlan, sets: SetPlan, number: int, lane: int, rolls: int, windows: Windows, places: Ints
) -> None:
    """Write where the chances after each row of a state lie, and after each joker that brings a bonus."""
    flag = lane >= sets.classes[number]
    for category in range(plan.boxes):
        if sets.available[number] >> category & 1:
            for row in range(plan.first[category], plan.first[category + 1]):
                after = position_after(plan, sets, number, lane, category, row)
                places[3 * row] = windows.start[after]
                points = plan.points[row_counted(plan, sets, category, row, flag)]
                places[3 * row + 1] = windows.low[after] + np.int64(points)
                places[3 * row + 2] = windows.length[after]
    if not (sets.special[number] and flag):
        return
    for stage in range(plan.stages):
        for face in range(6):
            for category in range(plan.boxes):
                if sets.joker_boxes[number, face] >> category & 1:
                    joker = roll_row(plan, sets, number, category, face, rolls, stage)
                    after = position_after(plan, sets, number, lane, category, joker)
                    at = 3 * (len(plan.points) + (stage * 6 + face) * plan.boxes + category)
                    places[at] = windows.start[after]
                    places[at + 1] = windows.low[after] + np.int64(plan.points[joker] + plan.bonus)
                    places[at + 2] = windows.length[after]


@part
def place_of(places: Ints, row: int, need: int) -> int:
    """Return where the chances of needs need .. need + LANES - 1 before a row lie."""
    inside = min(max(need - places[3 * row + 1], -LANES), places[3 * row + 2])
    return int(places[3 * row] + inside)


@part
def reach_tile(after: Floats, plan: Plan, number: int, lane: int, need: int, room: Room) -> None:
    """Write to `keeps` the chances of needs need .. need + LANES - 1 of a state, after the first roll."""
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    rows, keeps = room.rows, room.keeps
    rolls = turn.keeps - turn.short
    for category in range(row_plan.boxes):
        if sets.available[number] >> category & 1:
            for row in range(row_plan.first[category], row_plan.first[category + 1]):
                store(rows, row * LANES, load(after, place_of(room.places, row, need)))
    for stage in range(row_plan.stages):
        best_fills(turn, row_plan, sets.available[number], True, stage, rows, keeps)
        if not sets.special[number]:
            continue
        bonus = lane >= sets.classes[number]
        for face in range(6):
            best = spread(0.0)
            for category in range(row_plan.boxes):
                if sets.joker_boxes[number, face] >> category & 1:
                    if bonus:
                        row = len(row_plan.points) + (stage * 6 + face) * row_plan.boxes + category
                        best = greater(load(after, place_of(room.places, row, need)), best)
                    else:
                        joker = roll_row(row_plan, sets, number, category, face, rolls, stage)
                        best = greater(load(rows, joker * LANES), best)
            store(keeps, (turn.short + stage * rolls + row_plan.alike[face]) * LANES, best)
    throws(turn, row_plan, keeps)
