"""The compiled loop that plays many games with slips, each decision drawn by a softmax over the losses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import (
    best_fills,
    compiled,
    maxima,
    means,
    part,
    position_after,
    roll_row,
    row_counted,
    row_filled,
    stage_of,
)
from .plan import DecisionPlan, Floats, Ints, LanePlan, Plan, RowPlan, SetPlan, TurnPlan
from .states import LANES

_LOW = -np.inf
_FACES = np.uint64(6)


class PlayWork(NamedTuple):
    """What a tile of games is worked out in.

    `rows` and `keeps` are those of `kernels`, the rows once more for each reroll that can be left where rolls
    are saved; `kept` has the value of each keep with 1, 2, ... rerolls left, and `options` and `weights` have
    room for the options of one decision.
    """

    rows: Floats
    keeps: Floats
    kept: Floats
    options: Ints
    weights: Floats


@compiled
def play_softly(
    values: Floats,
    stride: int,
    plan: Plan,
    lanes: LanePlan,
    inside: DecisionPlan,
    cold: float,
    random: NDArray[np.uint64],
    positions: Ints,
    scores: Ints,
    saved: Ints,
    work: PlayWork,
) -> None:
    """Play one turn of each game at a temperature of 1 / cold: it goes to its next position and score.

    `random` has, for each game and roll, a number for the dice and one for the decision. `saved` has the
    rolls that each game has saved before the turn, then after it; the values for one more of them lie
    `stride` further on, or where rules save none that is 0.
    """
    turn, row_plan, sets = plan.turn, plan.rows, plan.sets
    size = (len(row_plan.points) + 1) * LANES
    for first in range(0, len(positions), LANES):
        last = min(first + LANES, len(positions))
        most = 0
        for game in range(first, last):
            most = max(most, saved[game])
        for rerolls in range(turn.rerolls + most + 1):
            if rerolls:
                means(turn, work.keeps)
                for i in range(turn.short * LANES):
                    work.kept[(rerolls - 1) * turn.short * LANES + i] = work.keeps[i]
            if rerolls == 0 or stride:
                rows = work.rows[rerolls * size if stride else 0 :]
                reached = values[rerolls * stride :]
                value_rolls(reached, first, last, turn, row_plan, sets, lanes, rows, work.keeps)
            if rerolls:
                maxima(turn, work.keeps)
        for game in range(first, last):
            number, lane, column = lanes.set[game], lanes.lane[game], game - first
            keep = 0
            all_left = turn.rerolls + saved[game]
            for left in range(all_left, -1, -1):
                throw = all_left - left
                roll = thrown(turn, keep, random[game, throw, 0])
                rows = work.rows[left * size if stride else 0 :]
                count = weigh(
                    row_plan, turn, sets, number, lane, inside, roll, left, column, cold, rows, work
                )
                action = drawn(work, count, random[game, throw, 1])
                if action >= row_plan.boxes:
                    keep = action - row_plan.boxes
                    continue
                stage, flag = stage_of(turn, row_plan, left), lane >= sets.classes[number]
                rolls = turn.keeps - turn.short
                row, special = row_filled(row_plan, sets, number, action, roll, rolls, stage, flag)
                bonus = row_plan.bonus if special and flag else 0.0
                scores[game] += np.int64(row_plan.points[row] + bonus)
                positions[game] = position_after(row_plan, sets, number, lane, action, row)
                if stride:
                    saved[game] = left
                break


@part
def value_rolls(
    values: Floats,
    first: int,
    last: int,
    turn: TurnPlan,
    plan: RowPlan,
    sets: SetPlan,
    lanes: LanePlan,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the value of each row, and the best fill of each later roll, for the games first .. last-1."""
    rolls = turn.keeps - turn.short
    for game in range(first, last):
        number, lane, column = lanes.set[game], lanes.lane[game], game - first
        flag = lane >= sets.classes[number]
        for category in range(plan.boxes):
            available = sets.available[number] >> category & 1
            for row in range(plan.first[category], plan.first[category + 1]):
                value = _LOW
                if available:
                    after = position_after(plan, sets, number, lane, category, row)
                    value = plan.points[row_counted(plan, sets, category, row, flag)] + values[after]
                rows[row * LANES + column] = value
    best_fills(turn, plan, (1 << plan.boxes) - 1, True, 0, rows, keeps)
    for game in range(first, last):
        number, lane, column = lanes.set[game], lanes.lane[game], game - first
        if sets.special[number]:
            bonus = plan.bonus if lane >= sets.classes[number] else 0.0
            for face in range(6):
                best = _LOW
                for category in range(plan.boxes):
                    if sets.joker_boxes[number, face] >> category & 1:
                        joker = roll_row(plan, sets, number, category, face, rolls, 0)
                        best = max(rows[joker * LANES + column], best)
                keeps[(turn.short + plan.alike[face]) * LANES + column] = best + bonus


@part
def thrown(turn: TurnPlan, keep: int, number: np.uint64) -> int:
    """Return the roll that a keep becomes, one die after the other, six outcomes from a number."""
    held = keep
    rest = number
    while held < turn.short:
        held = int(turn.more[6 * held + int(rest % _FACES)]) // LANES
        rest //= _FACES
    return held - turn.short


@part
def face_alike(plan: RowPlan, sets: SetPlan, number: int, roll: int) -> int:
    """Return which face, from 0, a roll for which special rules hold shows alone; -1 for other rolls."""
    if sets.special[number]:
        for face in range(6):
            if plan.alike[face] == roll:
                return face
    return -1


@part
def weigh(
    plan: RowPlan,
    turn: TurnPlan,
    sets: SetPlan,
    number: int,
    lane: int,
    inside: DecisionPlan,
    roll: int,
    left: int,
    column: int,
    cold: float,
    rows: Floats,
    work: PlayWork,
) -> int:
    """Write the options of a roll and their weights; return how many there are."""
    rolls, stage = turn.keeps - turn.short, stage_of(turn, plan, left)
    face = face_alike(plan, sets, number, roll)
    allowed, bonus = sets.available[number], 0.0
    if face >= 0:
        allowed = sets.joker_boxes[number, face]
        bonus = plan.bonus if lane >= sets.classes[number] else 0.0
    count = 0
    greatest = _LOW
    for category in range(plan.boxes):
        if allowed >> category & 1:
            row = np.int64(plan.of_roll[(stage * plan.boxes + category) * rolls + roll] // LANES)
            if face >= 0:
                row = roll_row(plan, sets, number, category, face, rolls, stage)
            work.options[count] = category
            work.weights[count] = rows[row * LANES + column] + bonus
            greatest = max(work.weights[count], greatest)
            count += 1
    if left:
        for place in range(inside.inside_first[roll], inside.inside_first[roll + 1]):
            keep = inside.inside[place]
            work.options[count] = plan.boxes + keep
            work.weights[count] = work.kept[((left - 1) * turn.short + keep) * LANES + column]
            greatest = max(work.weights[count], greatest)
            count += 1
    for option in range(count):
        work.weights[option] = np.exp((work.weights[option] - greatest) * cold)
    return count


@part
def drawn(work: PlayWork, count: int, number: np.uint64) -> int:
    """Return one of the options, each with a chance in proportion to its weight."""
    total = 0.0
    for option in range(count):
        total += work.weights[option]
    rest = np.float64(number >> np.uint64(11)) * 2.0**-53 * total
    chosen = 0
    for option in range(count):
        if work.weights[option] > 0.0:
            chosen = option
        rest -= work.weights[option]
        if rest < 0.0:
            break
    return int(work.options[chosen])
