"""The compiled loops for goals other than the expected score.

Two kinds of goal, one lattice. Where the score so far does not matter (a guaranteed score, a constant
taste for risk) the states are those of the expected score, and only the rows or the lattice differ.
Where it does (reaching a score, winning, any utility) each state becomes a block of lanes, one a score:

    block of a state    scores low .. low + length - 1, at start ..; `below` and `above` outside

so that filling a box for p points is reading the block of the state after p lanes further on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .kernels import (
    best_fills,
    compiled,
    maxima,
    mean_of_rolls,
    means,
    part,
    position_after,
    roll_row,
    roll_values,
    row_counted,
    special_rolls,
    take_first_fills,
)
from .plan import Floats, Ints, Plan, RowPlan, SetPlan, TurnPlan
from .states import LANES
from .vectors import above, chosen, greater, greatest_of_six, least_of_six, load, spread, store, times

_6 = np.uint64(6)
_LANES = np.uint64(LANES)


class BlockPlan(NamedTuple):
    """A block of scores for each state; see the module. Arrays go by the state's position.

    Where rolls are saved, the values for one more saved roll lie `stride` further on; else that is 0.
    """

    low: Ints
    length: Ints
    start: Ints
    below: float
    above: float
    stride: int


@compiled
def spread_windows(plan: Plan, first_set: int, last_set: int, low: Ints, high: Ints) -> None:
    """Widen the range of scores of each state after these sets' states by every way a turn can end.

    States with high < low are not reached and are passed over.
    """
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    rolls = turn.keeps - turn.short
    for number in range(first_set, last_set):
        for lane in range(sets.lanes[number]):
            here = sets.start[number] + lane
            if high[here] < low[here]:
                continue
            flag = lane >= sets.classes[number]
            for category in range(row_plan.boxes):
                if sets.available[number] >> category & 1:
                    for row in range(row_plan.first[category], row_plan.first[category + 1]):
                        after = position_after(row_plan, sets, number, lane, category, row)
                        gain = np.int64(row_plan.points[row_counted(row_plan, sets, category, row, flag)])
                        low[after] = min(low[after], low[here] + gain)
                        high[after] = max(high[after], high[here] + gain)
            if not (sets.special[number] and flag):
                continue
            for stage in range(row_plan.stages):
                for face in range(6):
                    for category in range(row_plan.boxes):
                        if sets.joker_boxes[number, face] >> category & 1:
                            joker = roll_row(row_plan, sets, number, category, face, rolls, stage)
                            after = position_after(row_plan, sets, number, lane, category, joker)
                            gain = np.int64(row_plan.points[joker] + row_plan.bonus)
                            high[after] = max(high[after], high[here] + gain)


@part
def fetch(
    values: Floats, blocks: BlockPlan, position: int, score: int | np.int64, rows: Floats, spare: int
) -> None:
    """Write to row offset `spare` the values of a state at scores score .. score + LANES - 1."""
    at = score - blocks.low[position]
    length = blocks.length[position]
    if at >= 0 and at + LANES <= length:
        store(rows, spare, load(values, blocks.start[position] + at))
    elif at >= length:
        store(rows, spare, spread(blocks.above))
    elif at + LANES <= 0:
        store(rows, spare, spread(blocks.below))
    else:
        for lane in range(LANES):
            value = blocks.below
            if at + lane >= length:
                value = blocks.above
            elif at + lane >= 0:
                value = values[blocks.start[position] + at + lane]
            rows[spare + lane] = value


@compiled
def pursue_tiles(
    values: Floats,
    first: int,
    last: int,
    plan: Plan,
    blocks: BlockPlan,
    tile_position: Ints,
    tile_at: Ints,
    tile_set: Ints,
    saved: int,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the values of tiles first .. last-1: neighbouring scores of one state each.

    Where rolls are saved there are as many as `saved` at the most; each number of them has values of its own.
    """
    turn, row_plan = plan.turn, plan.rows
    for tile in range(first, last):
        position, number = tile_position[tile], tile_set[tile]
        for rerolls in range(turn.rerolls + saved + 1):
            if rerolls:
                means(turn, keeps)
            if rerolls == 0 or blocks.stride:
                reached = values[rerolls * blocks.stride :]
                score = blocks.low[position] + tile_at[tile]
                pursue_rolls(reached, plan, blocks, position, number, score, rows, keeps)
            if rerolls:
                if rerolls == turn.rerolls:
                    take_first_fills(turn, row_plan, keeps)
                maxima(turn, keeps)
            if rerolls >= turn.rerolls:
                to = (rerolls - turn.rerolls) * blocks.stride + blocks.start[position] + tile_at[tile]
                store(values, to, mean_of_rolls(turn, keeps))


@part
def pursue_rolls(
    values: Floats,
    plan: Plan,
    blocks: BlockPlan,
    position: int,
    number: int,
    score: int,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the value of each roll when a box must be filled, at scores score .. score + LANES - 1."""
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    rolls = turn.keeps - turn.short
    spare = len(rows) - LANES
    lane = position - sets.start[number]
    flag = lane >= sets.classes[number]
    for category in range(row_plan.boxes):
        if sets.available[number] >> category & 1:
            for row in range(row_plan.first[category], row_plan.first[category + 1]):
                after = position_after(row_plan, sets, number, lane, category, row)
                gain = np.int64(row_plan.points[row_counted(row_plan, sets, category, row, flag)])
                fetch(values, blocks, after, score + gain, rows, row * LANES)
    for stage in range(row_plan.stages):
        best_fills(turn, row_plan, sets.available[number], True, stage, rows, keeps)
        if not sets.special[number]:
            continue
        bonus = np.int64(row_plan.bonus if flag else 0.0)
        for face in range(6):
            best = spread(-np.inf)
            for category in range(row_plan.boxes):
                if sets.joker_boxes[number, face] >> category & 1:
                    joker = roll_row(row_plan, sets, number, category, face, rolls, stage)
                    if bonus:
                        after = position_after(row_plan, sets, number, lane, category, joker)
                        gain = np.int64(row_plan.points[joker]) + bonus
                        fetch(values, blocks, after, score + gain, rows, spare)
                        best = greater(load(rows, spare), best)
                    else:
                        best = greater(load(rows, joker * LANES), best)
            store(keeps, (turn.short + stage * rolls + row_plan.alike[face]) * LANES, best)


@compiled
def extreme_tiles(
    values: Floats, first: int, last: int, plan: Plan, greatest: bool, rows: Floats, keeps: Floats
) -> None:
    """Do as `kernels.solve_tiles` with dice that do their worst, or their best where `greatest`."""
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    for tile in range(first, last):
        base = tile * LANES
        roll_values(values, base, plan.tile_set[tile], turn, row_plan, sets, rows, keeps)
        for rerolls in range(1, turn.rerolls + 1):
            extremes(turn, greatest, keeps)
            if rerolls == turn.rerolls:
                take_first_fills(turn, row_plan, keeps)
            maxima(turn, keeps)
        for column in range(LANES):
            extreme = keeps[turn.short * LANES + column]
            for roll in range(turn.short + 1, turn.keeps):
                value = keeps[roll * LANES + column]
                extreme = max(extreme, value) if greatest else min(extreme, value)
            values[base + column] = extreme


@part
def extremes(turn: TurnPlan, greatest: bool, keeps: Floats) -> None:
    """Do as `kernels.means` with the die that is best, or worst, for the player."""
    keep = np.uint64(turn.short)
    for _ in range(turn.short):
        keep -= np.uint64(1)
        if greatest:
            store(keeps, keep * _LANES, greatest_of_six(keeps, turn.more, keep * _6))
        else:
            store(keeps, keep * _LANES, least_of_six(keeps, turn.more, keep * _6))


@compiled
def risk_tiles(
    values: Floats,
    first: int,
    last: int,
    plan: Plan,
    theta: float,
    reference: Floats,
    saved: int,
    stride: int,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Do as `kernels.solve_tiles` for values of plus or minus E[exp(theta (points to come - reference))].

    `reference` has, for each filled set, one for each flag; work goes by set and flag. Where rolls are saved
    there are as many as `saved` at the most; the values for one more lie `stride` further on.
    """
    turn, row_plan = plan.turn, plan.rows
    for tile in range(first, last):
        base = tile * LANES
        for rerolls in range(turn.rerolls + saved + 1):
            if rerolls:
                means(turn, keeps)
            if rerolls == 0 or stride:
                reached = values[rerolls * stride :]
                risk_rolls(reached, base, plan.tile_set[tile], plan, theta, reference, rows, keeps)
            if rerolls:
                if rerolls == turn.rerolls:
                    take_first_fills(turn, row_plan, keeps)
                maxima(turn, keeps)
            if rerolls >= turn.rerolls:
                store(values, (rerolls - turn.rerolls) * stride + base, mean_of_rolls(turn, keeps))


@part
def risk_rolls(
    values: Floats,
    base: int,
    first_set: int,
    plan: Plan,
    theta: float,
    reference: Floats,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the value of each roll when a box must be filled, for the tile of positions from `base` on."""
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    number = first_set
    fresh = True
    while number < len(sets.start) and sets.start[number] < base + LANES:
        classes = sets.classes[number]
        for flag in range(sets.lanes[number] // classes):
            start = max(sets.start[number] + flag * classes, base)
            end = min(sets.start[number] + (flag + 1) * classes, base + LANES)
            if start >= end:
                continue
            subclass, at = start - sets.start[number] - flag * classes, start - base
            fill_risk_rows(
                values, row_plan, sets, number, flag, subclass, end - start, at, theta, reference, rows
            )
            for stage in range(row_plan.stages):
                best_fills(turn, row_plan, sets.available[number], fresh, stage, rows, keeps)
                if not sets.special[number]:
                    continue
                bonus = np.exp(theta * row_plan.bonus) if flag else 1.0
                # As if without the flag, for no bonus to be added: it is a factor here.
                special_rolls(turn, row_plan, sets, number, subclass, end - start, at, stage, rows, keeps)
                for face in range(6):
                    roll = stage * (turn.keeps - turn.short) + row_plan.alike[face]
                    to = (turn.short + roll) * LANES + at
                    for i in range(to, to + end - start):
                        keeps[i] *= bonus
            fresh = False
        number += 1


@part
def fill_risk_rows(
    values: Floats,
    plan: RowPlan,
    sets: SetPlan,
    number: int,
    flag: int,
    subclass: int,
    count: int,
    at: int,
    theta: float,
    reference: Floats,
    rows: Floats,
) -> None:
    """Do as `kernels.fill_rows` where points are a factor; for lanes of one flag."""
    upper, classes = sets.upper[number], sets.classes[number]
    columns = chosen(at, at + count)
    for category in range(plan.boxes):
        if not sets.available[number] >> category & 1:
            continue
        after = sets.first[sets.filled[number] | 1 << category]
        classes_after = sets.upper_classes[upper | sets.upper_bit[category]]
        step = sets.step_first[upper, category]
        set_after = sets.number[sets.filled[number] | 1 << category]
        for row in range(plan.first[category], plan.first[category + 1]):
            points = plan.points[row_counted(plan, sets, category, row, flag > 0)]
            armed = int(points > 0) if category == sets.arming else flag
            gain = points + reference[set_after, armed] - reference[number, flag]
            factor = np.exp(theta * gain)
            start = after + armed * classes_after
            if step < 0:
                # Chosen, not added: where other states' values are no numbers, neither is a sum with them.
                value = times(load(values, start + subclass - at), spread(factor))
                store(rows, row * LANES, above(columns, spread(-1.0), value, columns))
                continue
            store(rows, row * LANES, columns)
            for i in range(count):
                place = start + sets.step[step + subclass + i]
                rows[row * LANES + at + i] = factor * values[place]
            step += classes
