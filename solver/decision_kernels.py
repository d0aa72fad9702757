"""The compiled loop that decides many positions at once; see `batch`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .kernels import best_fills, compiled, fill_rows, maxima, means, part, special_rolls, stage_of
from .plan import DecisionPlan, Floats, LanePlan, Plan, RowPlan, SetPlan, TurnPlan
from .states import LANES
from .turn import TIE

_LOW = -np.inf


@compiled
def decide_tiles(
    values: Floats,
    stride: int,
    first: int,
    last: int,
    plan: Plan,
    lanes: LanePlan,
    decisions: DecisionPlan,
    actions: NDArray[np.int32],
    best: Floats,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the best action and its value for the decisions of lanes LANES x first .. LANES x last - 1.

    Unlike in `solve_tiles`, neighbouring lanes are any states, each with any number of decisions. The values
    for one more saved roll lie `stride` further on; it is 0 where none are saved.
    """
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    for tile in range(first, last):
        base = tile * LANES
        end = min(base + LANES, len(lanes.set))
        most_rerolls = 0
        for decision in range(lanes.first[base], lanes.first[end]):
            most_rerolls = max(most_rerolls, decisions.rerolls[decision])
        for rerolls in range(most_rerolls + 1):
            if rerolls:
                means(turn, keeps)
            if rerolls == 0 or stride:
                reached = values[rerolls * stride :]
                for column in range(end - base):
                    number, lane = lanes.set[base + column], lanes.lane[base + column]
                    fill_rows(reached, row_plan, sets, number, lane, 1, column, rows)
                    best_fills(turn, row_plan, sets.available[number], column == 0, 0, rows, keeps)
                    if sets.special[number]:
                        special_rolls(turn, row_plan, sets, number, lane, 1, column, 0, rows, keeps)
                    # Rows of other columns are overwritten: fills are chosen at once.
                    for decision in range(lanes.first[base + column], lanes.first[base + column + 1]):
                        left = decisions.rerolls[decision]
                        if stride == 0 or left == rerolls:
                            stage, roll = stage_of(turn, row_plan, left), decisions.roll[decision]
                            actions[decision], best[decision] = best_fill(
                                row_plan, turn, sets, number, lane, roll, column, stage, rows
                            )
            if rerolls:
                for decision in range(lanes.first[base], lanes.first[end]):
                    if decisions.rerolls[decision] == rerolls:
                        column = lanes.of_decision[decision] - base
                        keep, value = best_keep(decisions, decisions.roll[decision], column, keeps)
                        if not best[decision] > max(best[decision], value) - TIE:
                            actions[decision], best[decision] = row_plan.boxes + keep, value
                maxima(turn, keeps)


@part
def best_fill(
    plan: RowPlan,
    turn: TurnPlan,
    sets: SetPlan,
    number: int,
    lane: int,
    roll: int,
    column: int,
    stage: int,
    rows: Floats,
) -> tuple[int, float]:
    """Return the category that a roll is best filled in, and the value; the first of equals."""
    allowed, face, joker, bonus = sets.available[number], 0, False, 0.0
    if sets.special[number]:
        for f in range(6):
            if plan.alike[f] == roll:
                allowed, face, joker = sets.joker_boxes[number, f], f, sets.joker_scores[number, f]
                bonus = plan.bonus if lane >= sets.classes[number] else 0.0
    greatest = _LOW
    for again in range(2):
        for category in range(plan.boxes):
            if allowed >> category & 1:
                place = stage * plan.boxes + category
                if joker:
                    row = plan.of_joker[place * 6 + face]
                else:
                    row = plan.of_roll[place * (turn.keeps - turn.short) + roll]
                value = rows[row + column] + bonus
                if again and value > greatest - TIE:
                    return category, value
                greatest = max(value, greatest)
    return -1, greatest


@part
def best_keep(decisions: DecisionPlan, roll: int, column: int, keeps: Floats) -> tuple[int, float]:
    """Return the keep inside a roll, of fewer than all dice, with the best value; the first of equals."""
    places = range(decisions.inside_first[roll], decisions.inside_first[roll + 1])
    greatest = _LOW
    for place in places:
        greatest = max(keeps[decisions.inside[place] * LANES + column], greatest)
    for place in places:
        keep = decisions.inside[place]
        if keeps[keep * LANES + column] > greatest - TIE:
            return keep, keeps[keep * LANES + column]
    return -1, greatest
