"""The compiled loops that follow the table's strategy: what it chooses, and how a turn ends.

Work goes by tiles of any `LANES` states, given by a `LanePlan`. Besides the work arrays of `kernels`:

    choices    a row a (rerolls left, roll): the action chosen, category c or boxes + keep, as a float64;
               then a row a roll for the value of the chosen fill, and where the first roll of a turn scores
               otherwise as many for that of its fill
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .kernels import (
    best_fills,
    compiled,
    fill_rows,
    maxima,
    means,
    part,
    position_after,
    roll_row,
    row_filled,
    special_rolls,
    stage_of,
)
from .plan import DecisionPlan, Floats, Ints, LanePlan, Plan, RowPlan, SetPlan, TurnPlan
from .states import LANES
from .turn import TIE
from .vectors import above, add, greater, load, spread, store

_LOW = -np.inf


@part
def value_fills(
    values: Floats,
    first: int,
    turn: TurnPlan,
    row_plan: RowPlan,
    sets: SetPlan,
    lanes: LanePlan,
    choices: Floats,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the box chosen for each roll, and the value of each roll then, for the tile from `first`."""
    end = min(first + LANES, len(lanes.set))
    lane = first
    while lane < end:
        number = lanes.set[lane]
        count = 1
        while (
            lane + count < end
            and lanes.set[lane + count] == number
            and (lanes.lane[lane + count] == lanes.lane[lane] + count)
        ):
            count += 1
        fill_rows(values, row_plan, sets, number, lanes.lane[lane], count, lane - first, rows)
        available, at = sets.available[number], lane - first
        best_fills(turn, row_plan, available, lane == first, 0, rows, keeps)
        if sets.special[number]:
            special_rolls(turn, row_plan, sets, number, lanes.lane[lane], count, at, 0, rows, keeps)
        for stage in range(row_plan.stages):
            choose_fills(row_plan, turn, available, lane == first, stage, rows, choices)
            if sets.special[number]:
                choose_special(
                    turn, row_plan, sets, number, lanes.lane[lane], count, at, stage, rows, choices
                )
        lane += count


@part
def choose_fills(
    plan: RowPlan, turn: TurnPlan, available: int, fresh: bool, stage: int, rows: Floats, choices: Floats
) -> None:
    """Write the box chosen for each roll, the first in card order of equals, and its value.

    Those of stage 1 are for the first roll, and lie where its choice will: with all rerolls left.
    """
    rolls = turn.keeps - turn.short
    to, value_rows, of = fill_places(turn, plan, stage, 1)
    for roll in range(rolls):
        best = spread(_LOW)
        for category in range(plan.boxes):
            if available >> category & 1:
                best = greater(load(rows, plan.of_roll[of + category * rolls + roll]), best)
        bound = add(best, spread(-TIE))
        choice, value = spread(-1.0), spread(_LOW)
        if not fresh:
            choice = load(choices, (to + roll) * LANES)
            value = load(choices, (value_rows + roll) * LANES)
        for category in range(plan.boxes - 1, -1, -1):
            if available >> category & 1:
                here = load(rows, plan.of_roll[of + category * rolls + roll])
                choice = above(here, bound, spread(float(category)), choice)
                value = above(here, bound, here, value)
        store(choices, (to + roll) * LANES, choice)
        store(choices, (value_rows + roll) * LANES, value)


@part
def fill_places(turn: TurnPlan, plan: RowPlan, stage: int, spare: int) -> tuple[int, int, int]:
    """Return where a stage's fills lie in `choices`, where their values, and where the stage in `of_roll`.

    A roll has `spare` rows for values.
    """
    rolls = turn.keeps - turn.short
    values = (turn.rerolls + 1 + stage * spare) * rolls
    return stage * turn.rerolls * rolls, values, stage * plan.boxes * rolls


@part
def choose_special(
    turn: TurnPlan,
    plan: RowPlan,
    sets: SetPlan,
    number: int,
    lane: int,
    count: int,
    at: int,
    stage: int,
    rows: Floats,
    choices: Floats,
) -> None:
    """Do as `choose_fills` for the rolls of all dice alike once the Yahtzee box is filled."""
    rolls = turn.keeps - turn.short
    to, value_rows, _ = fill_places(turn, plan, stage, 1)
    for face in range(6):
        allowed = sets.joker_boxes[number, face]
        for i in range(count):
            bonus = plan.bonus if lane + i >= sets.classes[number] else 0.0
            greatest = _LOW
            for category in range(plan.boxes):
                if allowed >> category & 1:
                    row = roll_row(plan, sets, number, category, face, rolls, stage) * LANES
                    greatest = max(rows[row + at + i] + bonus, greatest)
            for category in range(plan.boxes - 1, -1, -1):
                if allowed >> category & 1:
                    row = roll_row(plan, sets, number, category, face, rolls, stage) * LANES
                    value = rows[row + at + i] + bonus
                    if value > greatest - TIE:
                        choices[(to + plan.alike[face]) * LANES + at + i] = category
                        choices[(value_rows + plan.alike[face]) * LANES + at + i] = value


@part
def choose_keeps(
    turn: TurnPlan,
    plan: RowPlan,
    inside: DecisionPlan,
    stage: int,
    to: int,
    choices: Floats,
    keeps: Floats,
) -> None:
    """Write the choice for each roll between its best fill and the keeps inside it, from row `to` on."""
    rolls = turn.keeps - turn.short
    fills, value_rows, _ = fill_places(turn, plan, stage, 1)
    for roll in range(rolls):
        best = spread(_LOW)
        for place in range(inside.inside_first[roll], inside.inside_first[roll + 1]):
            best = greater(load(keeps, inside.inside[place] * LANES), best)
        bound = add(best, spread(-TIE))
        choice, value = spread(-1.0), spread(_LOW)
        for place in range(inside.inside_first[roll + 1] - 1, inside.inside_first[roll] - 1, -1):
            keep = inside.inside[place]
            here = load(keeps, keep * LANES)
            choice = above(here, bound, spread(float(plan.boxes + keep)), choice)
            value = above(here, bound, here, value)
        fill = load(choices, (value_rows + roll) * LANES)
        bound = add(greater(fill, value), spread(-TIE))
        filled = load(choices, (fills + roll) * LANES)
        store(choices, (to + roll) * LANES, above(fill, bound, filled, choice))


@part
def follow(
    turn: TurnPlan,
    plan: RowPlan,
    sets: SetPlan,
    number: int,
    lane: int,
    left: int,
    actions: NDArray[np.int16],
    mass: Floats,
    ends: Floats,
    last: Floats,
) -> None:
    """Write the probability of each way a turn can end, from the actions in one state.

    `mass` holds the probability of each keep, to be rerolled, and of each roll, with `left` rerolls left;
    it is used up to zeros. `ends` has an entry a row (category and points), then one a row for the same
    with the bonus for a further Yahtzee; where it is longer, as many again for each number of rerolls that
    are left then, and saved. `last` gets, added, the probability of each roll to be the last.
    """
    rolls = turn.keeps - turn.short
    flag = lane >= sets.classes[number]
    rows = 2 * len(plan.points)
    saves = len(ends) > rows
    for row in range((left + 1) * rows if saves else rows):
        ends[row] = 0.0
    for rerolls in range(left, -1, -1):
        stage = stage_of(turn, plan, rerolls)
        for keep in range(turn.short):
            p = mass[keep] / 6
            if p != 0.0:
                mass[keep] = 0.0
                for joint in range(6 * keep, 6 * keep + 6):
                    mass[turn.more[joint] // LANES] += p
        for roll in range(rolls):
            p = mass[turn.short + roll]
            mass[turn.short + roll] = 0.0
            if p == 0.0:
                continue
            action = np.int64(actions[rerolls, roll])
            if action >= plan.boxes:
                mass[action - plan.boxes] += p
                continue
            end, special = row_filled(plan, sets, number, action, roll, rolls, stage, flag)
            if saves:
                end += rerolls * rows
            ends[end + (len(plan.points) if special and flag and plan.bonus > 0.0 else 0)] += p
            last[roll] += p


@compiled
def turn_ends(
    plan: Plan,
    lanes: LanePlan,
    of_state: Ints,
    actions: NDArray[np.int16],
    start: Floats,
    left: Ints,
    stride: int,
    counts: Ints,
    rows_found: NDArray[np.int32],
    probabilities: Floats,
    after: Ints,
    mass: Floats,
    ends: Floats,
    last: Floats,
) -> int:
    """Write how some turns end: rows, their probabilities, and the states after.

    Turn i is one from state of_state[i] of `lanes` and of `actions`, with the axes state, rerolls left and
    roll. It begins with the probabilities of keeps and rolls in `start`, and left[i] rerolls left. Returns
    how many ends were written; `counts` tells how many belong to each turn. A row from len(points) on stands
    for the row before with the bonus for a further Yahtzee. `last` gets, added over all turns, the
    probability of each roll to be the last. Where rolls are saved, a state with one more of them lies
    `stride` further on; else that is 0.
    """
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    rows = 2 * len(row_plan.points)
    written = 0
    for at in range(len(of_state)):
        for keep in range(turn.keeps):
            mass[keep] = start[keep]
        state = of_state[at]
        number, lane = lanes.set[state], lanes.lane[state]
        follow(turn, row_plan, sets, number, lane, left[at], actions[state], mass, ends, last)
        before = written
        for saved in range(left[at] + 1 if stride else 1):
            for category in range(row_plan.boxes):
                for bonus in range(0, rows, len(row_plan.points)):
                    for row in range(row_plan.first[category], row_plan.first[category + 1]):
                        probability = ends[saved * rows + row + bonus]
                        if probability > 0.0:
                            rows_found[written] = row + bonus
                            probabilities[written] = probability
                            target = position_after(row_plan, sets, number, lane, category, row)
                            after[written] = saved * stride + target
                            written += 1
        counts[at] = written - before
    return written


@compiled
def choose_actions(
    values: Floats,
    stride: int,
    plan: Plan,
    lanes: LanePlan,
    inside: DecisionPlan,
    actions: NDArray[np.int16],
    rows: Floats,
    keeps: Floats,
    choices: Floats,
) -> None:
    """Write the strategy's action in each state: category c, or boxes + keep.

    `actions` has the axes state, rerolls left and roll; with saved rolls more are left than a turn brings.
    The values for one more saved roll lie `stride` further on; it is 0 where none are saved.
    """
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    rolls = turn.keeps - turn.short
    for first in range(0, len(lanes.set), LANES):
        for rerolls in range(actions.shape[1]):
            if rerolls:
                means(turn, keeps)
            if rerolls == 0 or stride:
                reached = values[rerolls * stride :]
                value_fills(reached, first, turn, row_plan, sets, lanes, choices, rows, keeps)
            to = 0
            if rerolls:
                # With saved rolls one place serves all: each choice is copied before the next is written.
                stage, to = stage_of(turn, row_plan, rerolls), rolls if stride else rerolls * rolls
                choose_keeps(turn, row_plan, inside, stage, to, choices, keeps)
                maxima(turn, keeps)
            for lane in range(first, min(first + LANES, len(lanes.set))):
                for roll in range(rolls):
                    actions[lane, rerolls, roll] = int(choices[(to + roll) * LANES + lane - first])


@compiled
def spread_reach(
    reach: Floats,
    counts: Ints,
    found: NDArray[np.int32],
    probabilities: Floats,
    after: Ints,
    to: Floats,
    by_row: Floats,
) -> None:
    """Add the probability of each state to those of the states after, and to that of each row."""
    place = 0
    for state in range(len(reach)):
        for _ in range(counts[state]):
            p = reach[state] * probabilities[place]
            to[after[place]] += p
            by_row[found[place]] += p
            place += 1


@compiled
def spread_scores(
    node: Ints,
    scores: Ints,
    reached: Floats,
    first: Ints,
    found: NDArray[np.int32],
    probabilities: Floats,
    after: Ints,
    gains: Ints,
    origin: Ints,
    step: int,
    to: Floats,
    by_row: Floats,
) -> None:
    """Add the probability of each state and score to those that its turn may lead to, and to each row.

    Entry i ends as number node[i] does, whose ends start at first[node[i]]. A state's score s lies in `to`
    at origin + s x step, by the place of the state.
    """
    for entry in range(len(scores)):
        for place in range(first[node[entry]], first[node[entry] + 1]):
            p = reached[entry] * probabilities[place]
            to[origin[after[place]] + (scores[entry] + gains[place]) * step] += p
            by_row[found[place]] += p


@compiled
def convolve(
    first: int,
    last: int,
    ends_first: Ints,
    after: Ints,
    gains: Ints,
    probabilities: Floats,
    low: Ints,
    start: Ints,
    scores: Floats,
    low_after: Ints,
    start_after: Ints,
    scores_after: Floats,
) -> None:
    """Write the distribution of the points still to come for states first .. last-1 of one level.

    State i has the scores low[i] .. in scores[start[i] : start[i + 1]]; likewise for the level after.
    """
    for state in range(first, last):
        own = scores[start[state] : start[state + 1]]
        for i in range(len(own)):
            own[i] = 0.0
        for place in range(ends_first[state], ends_first[state + 1]):
            target = after[place]
            p = probabilities[place]
            there = scores_after[start_after[target] : start_after[target + 1]]
            shift = gains[place] + low_after[target] - low[state]
            here = own[shift : shift + len(there)]
            for i in range(len(there)):
                here[i] += p * there[i]
