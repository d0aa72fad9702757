"""The compiled loops for play that slips: what a softmax over the losses is worth, exactly.

At a temperature T, each option of a roll has the chance exp(-loss / T) over the sum of these. Losses are
those of the guide, whose values stand in one array; the play's own values come about in others. With E(k)
the guide's value of keep k and E'(k) that of the play, a roll r is worth

    sum of exp(E(k) / T) E'(k) over its options k  /  sum of exp(E(k) / T)

and both sums run over all keeps inside r: running sums down the lattice, one face after the other, where the
guide has a running maximum. Five dice take 1,260 additions for a sum instead of one for each of the 4,368
pairs of a roll and a keep inside it.

What stands under an exponential is taken from a reference, lest it leave the range of float64: from the
lane's greatest value where no roll's best is too far below it; else, at low temperatures ("steep"), from
the best value inside the same keep, and sums are scaled on their way from keep to keep. So any temperature
goes, however low, and most tiles need one exponential a row and keep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .kernels import (
    compiled,
    fill_rows,
    maxima,
    mean_of_rolls,
    means,
    part,
    roll_row,
    roll_values,
    stage_of,
    take_first_fills,
)
from .plan import Floats, Offsets, Plan, RowPlan, SetPlan, TurnPlan
from .states import LANES
from .vectors import add, exponential, greater, load, minus, over, spread, store, times

_STEEP = 600.0
"""float64 holds exponentials of as much below 0, with room for sums."""


class SumPlan(NamedTuple):
    """The joints of the lattice for running sums: offsets of keeps times `LANES`, face by face."""

    to: Offsets
    source: Offsets


class SoftWork(NamedTuple):
    """What a tile is worked out in, lane by lane.

    For each row, keep and roll: the guide's value (`rows`, `keeps`), the play's expected points to come
    and their mean square, taken from the guide's value of the state, `near`: of points that are large and
    vary little, squares of their own would lose all that matters. `fills` has the sums over the boxes of
    each roll and `sums` those over all options: of weights, and of weights times the other two. `best`
    has the guide's best fill of each roll. `best` and the sums of `fills` have a second part for the
    first roll of a turn where that scores otherwise. Where a tile is not steep, `chances` has the weight
    of each row, and `greatest` the reference of each lane.
    """

    rows: Floats
    row_points: Floats
    row_squares: Floats
    keeps: Floats
    keep_points: Floats
    keep_squares: Floats
    sums: Floats
    sum_points: Floats
    sum_squares: Floats
    fills: Floats
    fill_points: Floats
    fill_squares: Floats
    best: Floats
    chances: Floats
    greatest: Floats
    near: Floats


@compiled
def soften_tiles(
    guide: Floats,
    points: Floats,
    variances: Floats,
    first: int,
    last: int,
    saved: int,
    stride: int,
    plan: Plan,
    joints: SumPlan,
    cold: float,
    work: SoftWork,
) -> None:
    """Write what the states of tiles first .. last-1 are worth to play at a temperature of 1 / cold.

    `guide` has the values that losses are taken from. `points` and `variances` get the expected points to
    come and their variance; those of later levels are there already. Where rolls are saved there are as
    many as `saved` at the most, and the numbers for one more lie `stride` further on; else both are 0.
    """
    turn, row_plan = plan.turn, plan.rows
    short = turn.short * LANES
    end = turn.keeps * LANES
    for tile in range(first, last):
        base, steep = tile * LANES, False
        store(work.near, 0, load(guide, base))
        for rerolls in range(turn.rerolls + saved + 1):
            if rerolls:
                for lattice in (work.keeps, work.keep_points, work.keep_squares):
                    means(turn, lattice)
            if rerolls == 0 or stride:
                at = rerolls * stride
                steep = soften_fills(
                    guide[at:], points[at:], variances[at:], base, plan.tile_set[tile], plan, cold, work
                )
            if rerolls == 0:
                for i in range(0, end - short, LANES):
                    weight = load(work.fills, i)
                    store(work.keep_points, short + i, over(load(work.fill_points, i), weight))
                    store(work.keep_squares, short + i, over(load(work.fill_squares, i), weight))
            else:
                if rerolls == turn.rerolls:
                    take_first_fills(turn, row_plan, work.keeps)
                weigh_keeps(turn, stage_of(turn, row_plan, rerolls), cold, steep, work)
                run_sums(joints, cold, steep, work)
                for i in range(short, end, LANES):
                    weight = load(work.sums, i)
                    store(work.keep_points, i, over(load(work.sum_points, i), weight))
                    store(work.keep_squares, i, over(load(work.sum_squares, i), weight))
            if rerolls >= turn.rerolls:
                to = base + (rerolls - turn.rerolls) * stride
                mean = mean_of_rolls(turn, work.keep_points)
                gap = minus(mean, load(work.near, 0))
                store(points, to, mean)
                store(variances, to, minus(mean_of_rolls(turn, work.keep_squares), times(gap, gap)))


@part
def soften_fills(
    guide: Floats,
    points: Floats,
    variances: Floats,
    base: int,
    first_set: int,
    plan: Plan,
    cold: float,
    work: SoftWork,
) -> bool:
    """Write the sums over the fills of each roll for the tile from `base` on; return whether it is steep."""
    turn, row_plan, sets = plan.turn, plan.rows, plan.sets
    short = turn.short * LANES
    fills = (turn.keeps * LANES - short) * row_plan.stages
    roll_values(guide, base, first_set, turn, row_plan, sets, work.rows, work.keeps)
    for i in range(0, fills, LANES):
        store(work.best, i, load(work.keeps, short + i))
        store(work.fills, i, spread(0.0))
        store(work.fill_points, i, spread(0.0))
        store(work.fill_squares, i, spread(0.0))
    steep = is_steep(fills, cold, work)
    number = first_set
    while number < len(sets.start) and sets.start[number] < base + LANES:
        start = max(sets.start[number], base)
        count = min(sets.start[number] + sets.lanes[number], base + LANES) - start
        lane, at = start - sets.start[number], start - base
        for values, rows in (guide, work.rows), (points, work.row_points), (variances, work.row_squares):
            fill_rows(values, row_plan, sets, number, lane, count, at, rows)
        square_rows(row_plan, sets, number, lane, at, count, work)
        if not steep:
            weigh_rows(row_plan, sets.available[number], cold, work)
        for stage in range(row_plan.stages):
            sum_fills(turn, row_plan, sets.available[number], stage, cold, steep, work)
            if sets.special[number]:
                sum_special(turn, row_plan, sets, number, lane, at, count, stage, cold, steep, work)
        number += 1
    return steep


@part
def is_steep(end: int, cold: float, work: SoftWork) -> bool:
    """Write the reference of each lane; return whether some roll's best fill is too far below one."""
    greatest = load(work.best, 0)
    for i in range(LANES, end, LANES):
        greatest = greater(greatest, load(work.best, i))
    store(work.greatest, 0, greatest)
    steep = False
    for i in range(end):
        if (work.greatest[i % LANES] - work.best[i]) * cold > _STEEP:
            steep = True
    return steep


@part
def square_rows(
    plan: RowPlan, sets: SetPlan, number: int, lane: int, at: int, count: int, work: SoftWork
) -> None:
    """Make the variance of each row a mean square; write finite numbers to the columns of other sets."""
    for category in range(plan.boxes):
        if sets.available[number] >> category & 1:
            # Points stand on the variance too, but not in lanes that score nothing here.
            scoring = at
            if sets.requires >> category & 1:
                scoring = at + max(0, sets.classes[number] - lane)
            for row in range(plan.first[category], plan.first[category + 1]):
                p = plan.points[row]
                for column in range(LANES):
                    i = row * LANES + column
                    if at <= column < at + count:
                        scored = p if column >= scoring else 0.0
                        gap = work.row_points[i] - work.near[column]
                        work.row_squares[i] += gap * gap - scored
                    else:
                        work.row_points[i] = work.row_squares[i] = 0.0


@part
def weigh_rows(plan: RowPlan, available: int, cold: float, work: SoftWork) -> None:
    """Write the weight of each row of one set's boxes, from the reference of each lane."""
    for category in range(plan.boxes):
        if available >> category & 1:
            for row in range(plan.first[category] * LANES, plan.first[category + 1] * LANES, LANES):
                gap = minus(load(work.rows, row), load(work.greatest, 0))
                store(work.chances, row, exponential(times(gap, spread(cold))))


@part
def sum_fills(
    turn: TurnPlan, plan: RowPlan, available: int, stage: int, cold: float, steep: bool, work: SoftWork
) -> None:
    """Add the boxes of one set to the sums over the fills of each roll."""
    rolls = turn.keeps - turn.short
    for roll in range(rolls):
        to = (stage * rolls + roll) * LANES
        best = load(work.best, to)
        weights, points = load(work.fills, to), load(work.fill_points, to)
        squares = load(work.fill_squares, to)
        for category in range(plan.boxes):
            if available >> category & 1:
                row = plan.of_roll[(stage * plan.boxes + category) * rolls + roll]
                if steep:
                    weight = exponential(times(minus(load(work.rows, row), best), spread(cold)))
                else:
                    weight = load(work.chances, row)
                weights = add(weights, weight)
                points = add(points, times(weight, load(work.row_points, row)))
                squares = add(squares, times(weight, load(work.row_squares, row)))
        store(work.fills, to, weights)
        store(work.fill_points, to, points)
        store(work.fill_squares, to, squares)


@part
def sum_special(
    turn: TurnPlan,
    plan: RowPlan,
    sets: SetPlan,
    number: int,
    lane: int,
    at: int,
    count: int,
    stage: int,
    cold: float,
    steep: bool,
    work: SoftWork,
) -> None:
    """Write the sums of the rolls of all dice alike once the Yahtzee box is filled: joker and bonus."""
    rolls = turn.keeps - turn.short
    for face in range(6):
        for column in range(at, at + count):
            to = (stage * rolls + plan.alike[face]) * LANES + column
            bonus = plan.bonus if lane + column - at >= sets.classes[number] else 0.0
            reference = work.best[to] if steep else work.greatest[column]
            weights = points = squares = 0.0
            for category in range(plan.boxes):
                if sets.joker_boxes[number, face] >> category & 1:
                    i = roll_row(plan, sets, number, category, face, rolls, stage) * LANES + column
                    weight = np.exp((work.rows[i] + bonus - reference) * cold)
                    weights += weight
                    points += weight * (work.row_points[i] + bonus)
                    gap = work.row_points[i] - work.near[column]
                    squares += weight * (work.row_squares[i] + bonus * (2 * gap + bonus))
            work.fills[to], work.fill_points[to], work.fill_squares[to] = weights, points, squares


@part
def weigh_keeps(turn: TurnPlan, stage: int, cold: float, steep: bool, work: SoftWork) -> None:
    """Write what each keep and the fills of each roll add to the sums; leave the best keeps in `keeps`."""
    short = turn.short * LANES
    for i in range(0, short, LANES):
        store(work.sums, i, load(work.keeps, i))
    maxima(turn, work.keeps)
    for i in range(0, short, LANES):
        reference = load(work.greatest, 0)
        if steep:
            reference = load(work.keeps, i)
        weight = exponential(times(minus(load(work.sums, i), reference), spread(cold)))
        store(work.sums, i, weight)
        store(work.sum_points, i, times(weight, load(work.keep_points, i)))
        store(work.sum_squares, i, times(weight, load(work.keep_squares, i)))
    fills = stage * (turn.keeps - turn.short) * LANES
    for i in range(0, (turn.keeps - turn.short) * LANES, LANES):
        scale = spread(1.0)
        if steep:
            gap = minus(load(work.best, fills + i), load(work.keeps, short + i))
            scale = exponential(times(gap, spread(cold)))
        store(work.sums, short + i, times(scale, load(work.fills, fills + i)))
        store(work.sum_points, short + i, times(scale, load(work.fill_points, fills + i)))
        store(work.sum_squares, short + i, times(scale, load(work.fill_squares, fills + i)))


@part
def run_sums(joints: SumPlan, cold: float, steep: bool, work: SoftWork) -> None:
    """Add to each keep, and to the fills of each roll, all keeps inside it."""
    for joint in range(len(joints.to)):
        to, source = joints.to[joint], joints.source[joint]
        scale = spread(1.0)
        if steep:
            gap = minus(load(work.keeps, source), load(work.keeps, to))
            scale = exponential(times(gap, spread(cold)))
        store(work.sums, to, add(load(work.sums, to), times(scale, load(work.sums, source))))
        more = times(scale, load(work.sum_points, source))
        store(work.sum_points, to, add(load(work.sum_points, to), more))
        more = times(scale, load(work.sum_squares, source))
        store(work.sum_squares, to, add(load(work.sum_squares, to), more))
