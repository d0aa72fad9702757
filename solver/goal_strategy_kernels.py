"""The compiled loops that follow a goal's strategy: what it does in any state at any score so far.

Two lattices go side by side through each tile of lanes: the goal's numbers, and the expected points to
come, by which what is equal for the goal is decided. Each has its work arrays `rows` and `keeps`; the
second half of `rows` holds the same rows with the bonus for a further Yahtzee. Besides,

    choices    a row a (rerolls left, roll): the action chosen, category c or boxes + keep, as a float64;
               then two rows a roll for the best fill's number and expected points, and where the first
               roll of a turn scores otherwise as many for its best fill
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .goal_kernels import BlockPlan, extremes
from .kernels import (
    best_fills,
    compiled,
    maxima,
    means,
    part,
    position_after,
    roll_row,
    row_counted,
    stage_of,
)
from .plan import DecisionPlan, Floats, Ints, LanePlan, Plan, RowPlan, SetPlan, TurnPlan
from .states import LANES
from .strategy_kernels import fill_places
from .turn import TIE
from .vectors import above, add, greater, load, spread, store, times

_LOW = -np.inf
_TINY = 1e-300
"""So that 0 equals 0 where ties are a share of the greatest number."""

POINTS, FACTORS, BLOCKS = range(3)
"""What points do to a state's number: they are added; they are a factor exp(theta x points); they move on."""

MEAN, LEAST, GREATEST = range(3)
"""What a die still to be thrown is worth."""


class GoalPlan(NamedTuple):
    """A goal's numbers: what kind they are, and where they lie.

    `values` goes by position, or where points move on (`BLOCKS`) by the places that `blocks` tells.
    `reference` (by position) is what factors are relative to. Numbers closer to the greatest than `points`
    plus `share` of it are equal to it. Where saved rolls make a difference, the values for one more of them
    lie `stride` further on; else that is 0.
    """

    kind: int
    chance: int
    values: Floats
    theta: float
    reference: Floats
    blocks: BlockPlan
    points: float
    share: float
    stride: int


@compiled
def choose_for_goal(
    goal: GoalPlan,
    expected: GoalPlan,
    plan: Plan,
    lanes: LanePlan,
    scores: Ints,
    inside: DecisionPlan,
    actions: NDArray[np.int16],
    rows: Floats,
    keeps: Floats,
    rows_expected: Floats,
    keeps_expected: Floats,
    choices: Floats,
) -> None:
    """Write the strategy's action in each state and score, for rerolls left and roll.

    `actions` has the axes lane, rerolls left and roll; with saved rolls more are left than a turn brings.
    """
    turn, row_plan = plan.turn, plan.rows
    rolls = turn.keeps - turn.short
    saves = expected.stride > 0
    for first in range(0, len(lanes.set), LANES):
        for rerolls in range(actions.shape[1]):
            if rerolls:
                if goal.chance == MEAN:
                    means(turn, keeps)
                else:
                    extremes(turn, goal.chance == GREATEST, keeps)
                means(turn, keeps_expected)
            if rerolls == 0 or saves:
                choose_fills_of_tile(
                    goal,
                    expected,
                    plan,
                    lanes,
                    scores,
                    first,
                    rerolls,
                    rows,
                    keeps,
                    rows_expected,
                    keeps_expected,
                    choices,
                )
            to = 0
            if rerolls:
                # With saved rolls one place serves all: each choice is copied before the next is written.
                stage, to = stage_of(turn, row_plan, rerolls), rolls if saves else rerolls * rolls
                choose_goal_keeps(goal, turn, row_plan, inside, stage, to, choices, keeps, keeps_expected)
                maxima(turn, keeps)
                maxima(turn, keeps_expected)
            for at in range(first, min(first + LANES, len(lanes.set))):
                for roll in range(rolls):
                    actions[at, rerolls, roll] = int(choices[(to + roll) * LANES + at - first])


@part
def choose_fills_of_tile(
    goal: GoalPlan,
    expected: GoalPlan,
    plan: Plan,
    lanes: LanePlan,
    scores: Ints,
    first: int,
    rerolls: int,
    rows: Floats,
    keeps: Floats,
    rows_expected: Floats,
    keeps_expected: Floats,
    choices: Floats,
) -> None:
    """Write the boxes chosen for each roll, and the values of rolls when a box must be filled."""
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    end = min(first + LANES, len(lanes.set))
    lane = first
    while lane < end:
        number = lanes.set[lane]
        last = lane + 1
        while last < end and lanes.set[last] == number:
            last += 1
        fill_worth(goal, row_plan, sets, lanes, scores, lane, last, first, rerolls, rows)
        fill_worth(expected, row_plan, sets, lanes, scores, lane, last, first, rerolls, rows_expected)
        available, fresh = sets.available[number], lane == first
        for stage in range(row_plan.stages):
            best_fills(turn, row_plan, available, fresh, stage, rows, keeps)
            best_fills(turn, row_plan, available, fresh, stage, rows_expected, keeps_expected)
            choose_goal_fills(goal, row_plan, turn, available, fresh, stage, rows, rows_expected, choices)
            if not sets.special[number]:
                continue
            for column in range(lane - first, last - first):
                armed = lanes.lane[first + column] >= sets.classes[number]
                choose_joker(
                    goal,
                    turn,
                    row_plan,
                    sets,
                    number,
                    armed,
                    column,
                    stage,
                    rows,
                    keeps,
                    rows_expected,
                    keeps_expected,
                    choices,
                )
        lane = last


@compiled
def fill_worth(
    goal: GoalPlan,
    plan: RowPlan,
    sets: SetPlan,
    lanes: LanePlan,
    scores: Ints,
    first: int,
    last: int,
    base: int,
    rerolls: int,
    rows: Floats,
) -> None:
    """Write the rows of each box that may be filled, for lanes first .. last-1 of one filled set.

    Lane `base` goes to column 0; minus infinity goes to the columns of other lanes. `rerolls` are left, and
    saved where rules save rolls.
    """
    number, saved = lanes.set[first], rerolls * goal.stride
    with_bonus = len(plan.points)
    for category in range(plan.boxes):
        if not sets.available[number] >> category & 1:
            continue
        for row in range(plan.first[category], plan.first[category + 1]):
            store(rows, row * LANES, spread(_LOW))
            store(rows, (with_bonus + row) * LANES, spread(_LOW))
            before, after = np.int64(-1), 0
            for lane in range(first, last):
                if lanes.lane[lane] != before:
                    before = lanes.lane[lane]
                    after = position_after(plan, sets, number, before, category, row)
                to = row * LANES + lane - base
                here = sets.start[number] + before
                flag = before >= sets.classes[number]
                gain = plan.points[row_counted(plan, sets, category, row, flag)]
                rows[to] = worth_of(goal, here, scores[lane], after, saved, gain)
                if sets.special[number] and flag:
                    gain += plan.bonus
                    rows[to + with_bonus * LANES] = worth_of(goal, here, scores[lane], after, saved, gain)


@part
def worth_of(goal: GoalPlan, here: int, score: int, after: int, saved: int, gain: float) -> float:
    """Return the goal's number for getting points at a score and going on from the state after.

    The values for the rolls saved then begin at `saved`.
    """
    if goal.kind == POINTS:
        return float(goal.values[saved + after] + gain)
    if goal.kind == FACTORS:
        factor = np.exp(goal.theta * (gain + goal.reference[after] - goal.reference[here]))
        return float(factor * goal.values[saved + after])
    at = score + np.int64(gain) - goal.blocks.low[after]
    if at < 0:
        return goal.blocks.below
    if at >= goal.blocks.length[after]:
        return goal.blocks.above
    return float(goal.values[saved + goal.blocks.start[after] + at])


@part
def bound_of(goal: GoalPlan, best: object) -> object:
    """Return, lane by lane, what a number must be above to equal the best."""
    less = times(best, spread(1.0 - goal.share))
    more = times(best, spread(1.0 + goal.share))
    return add(above(best, spread(0.0), less, more), spread(-goal.points - _TINY))


@part
def choose_goal_fills(
    goal: GoalPlan,
    plan: RowPlan,
    turn: TurnPlan,
    available: int,
    fresh: bool,
    stage: int,
    rows: Floats,
    rows_expected: Floats,
    choices: Floats,
) -> None:
    """Write the box chosen for each roll, the goal's best number and the chosen box's expected points."""
    rolls = turn.keeps - turn.short
    to, best_rows, of = fill_places(turn, plan, stage, 2)
    for roll in range(rolls):
        best = spread(_LOW)
        for category in range(plan.boxes):
            if available >> category & 1:
                best = greater(load(rows, plan.of_roll[of + category * rolls + roll]), best)
        bound, points = bound_of(goal, best), spread(_LOW)
        for category in range(plan.boxes):
            if available >> category & 1:
                row = plan.of_roll[of + category * rolls + roll]
                equal = above(load(rows, row), bound, load(rows_expected, row), spread(_LOW))
                points = greater(equal, points)
        least = add(points, spread(-TIE))
        choice = spread(-1.0)
        if not fresh:
            choice = load(choices, (to + roll) * LANES)
            best = greater(load(choices, (best_rows + roll) * LANES), best)
            points = greater(load(choices, (best_rows + rolls + roll) * LANES), points)
        for category in range(plan.boxes - 1, -1, -1):
            if available >> category & 1:
                row = plan.of_roll[of + category * rolls + roll]
                equal = above(load(rows, row), bound, load(rows_expected, row), spread(_LOW))
                choice = above(equal, least, spread(float(category)), choice)
        store(choices, (to + roll) * LANES, choice)
        store(choices, (best_rows + roll) * LANES, best)
        store(choices, (best_rows + rolls + roll) * LANES, points)


@compiled
def choose_joker(
    goal: GoalPlan,
    turn: TurnPlan,
    plan: RowPlan,
    sets: SetPlan,
    number: int,
    armed: bool,
    column: int,
    stage: int,
    rows: Floats,
    keeps: Floats,
    rows_expected: Floats,
    keeps_expected: Floats,
    choices: Floats,
) -> None:
    """Do as `choose_goal_fills` and `kernels.best_fills` for one lane's rolls of all dice alike."""
    rolls = turn.keeps - turn.short
    to, best_rows, _ = fill_places(turn, plan, stage, 2)
    bonus = len(plan.points) if armed else 0
    for face in range(6):
        allowed, roll = sets.joker_boxes[number, face], plan.alike[face]
        best, most = _LOW, _LOW
        for category in range(plan.boxes):
            if allowed >> category & 1:
                row = (roll_row(plan, sets, number, category, face, rolls, stage) + bonus) * LANES + column
                best, most = max(best, rows[row]), max(most, rows_expected[row])
        margin = goal.share * abs(best) + goal.points + _TINY
        points = _LOW
        for category in range(plan.boxes):
            if allowed >> category & 1:
                row = (roll_row(plan, sets, number, category, face, rolls, stage) + bonus) * LANES + column
                if rows[row] > best - margin:
                    points = max(points, rows_expected[row])
        for category in range(plan.boxes - 1, -1, -1):
            if allowed >> category & 1:
                row = (roll_row(plan, sets, number, category, face, rolls, stage) + bonus) * LANES + column
                if rows[row] > best - margin and rows_expected[row] > points - TIE:
                    choices[(to + roll) * LANES + column] = category
        choices[(best_rows + roll) * LANES + column] = best
        choices[(best_rows + rolls + roll) * LANES + column] = points
        keep = turn.short + stage * rolls + roll
        keeps[keep * LANES + column] = best
        keeps_expected[keep * LANES + column] = most


@part
def choose_goal_keeps(
    goal: GoalPlan,
    turn: TurnPlan,
    plan: RowPlan,
    inside: DecisionPlan,
    stage: int,
    to: int,
    choices: Floats,
    keeps: Floats,
    keeps_expected: Floats,
) -> None:
    """Write the choice for each roll between its best fill and the keeps inside it, from row `to` on."""
    rolls = turn.keeps - turn.short
    fills, best_rows, _ = fill_places(turn, plan, stage, 2)
    for roll in range(rolls):
        places = range(inside.inside_first[roll], inside.inside_first[roll + 1])
        best = spread(_LOW)
        for place in places:
            best = greater(load(keeps, inside.inside[place] * LANES), best)
        bound, points = bound_of(goal, best), spread(_LOW)
        for place in places:
            keep = inside.inside[place] * LANES
            equal = above(load(keeps, keep), bound, load(keeps_expected, keep), spread(_LOW))
            points = greater(equal, points)
        least = add(points, spread(-TIE))
        choice = spread(-1.0)
        for place in range(inside.inside_first[roll + 1] - 1, inside.inside_first[roll] - 1, -1):
            keep = inside.inside[place]
            equal = above(load(keeps, keep * LANES), bound, load(keeps_expected, keep * LANES), spread(_LOW))
            choice = above(equal, least, spread(float(plan.boxes + keep)), choice)
        fill = load(choices, (best_rows + roll) * LANES)
        bound = bound_of(goal, greater(fill, best))
        filled = above(fill, bound, load(choices, (best_rows + rolls + roll) * LANES), spread(_LOW))
        kept = above(best, bound, points, spread(_LOW))
        least = add(greater(filled, kept), spread(-TIE))
        choice = above(filled, least, load(choices, (fills + roll) * LANES), choice)
        store(choices, (to + roll) * LANES, choice)
