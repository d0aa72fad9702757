"""The compiled loops for games with saved rolls; see `saving` for the mathematics.

The contract is that of `kernels`: a lane is a state, and its result depends on its own state alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .decision_kernels import best_fill, best_keep
from .kernels import (
    best_fills,
    compiled,
    maxima,
    mean_of_rolls,
    means,
    position_after,
    roll_values,
    row_filled,
    special_rolls,
)
from .plan import DecisionPlan, Floats, Ints, LanePlan, Plan
from .states import LANES
from .turn import TIE
from .vectors import store

_LOW = -np.inf


@compiled
def solve_saving_tiles(
    now: Floats,
    after: Floats,
    width: int,
    width_after: int,
    saved: int,
    level_start: int,
    first: int,
    last: int,
    plan: Plan,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the values of tiles first .. last-1 of one level, for every number of saved rolls.

    Parameters
    ----------
    now
        The level's values: a row of `width` for each number of saved rolls from 0 to `saved`, with `LANES`
        more numbers before the first and after the last.
    after
        The same of the level after, in rows of `width_after`; the numbers around it are finite.
    level_start
        Where the level starts among all states.
    plan
        The game, with `sets.first` counted from the start of the level of the set.
    rows, keeps
        Work arrays.
    """
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    for tile in range(first, last):
        base = tile * LANES
        for rerolls in range(turn.rerolls + saved + 1):
            if rerolls:
                means(turn, keeps)
            reached = after[LANES + rerolls * width_after :]
            roll_values(reached, base, plan.tile_set[tile], turn, row_plan, sets, rows, keeps)
            if rerolls:
                maxima(turn, keeps)
            if rerolls >= turn.rerolls:
                at = LANES + (rerolls - turn.rerolls) * width + base - level_start
                store(now, at, mean_of_rolls(turn, keeps))


@compiled
def play_saved_turns(
    after: Floats,
    width_after: int,
    first: int,
    last: int,
    plan: Plan,
    lanes: LanePlan,
    inside: DecisionPlan,
    games: Ints,
    saved: Ints,
    random: NDArray[np.uint64],
    outcome_first: Ints,
    outcomes: NDArray[np.uint64],
    outcome: NDArray[np.int16],
    places: Ints,
    gains: Ints,
    by_row: Ints,
    rows: Floats,
    keeps: Floats,
    row_history: Floats,
    keep_history: Floats,
) -> None:
    """Play one turn of the games in states LANES x first .. LANES x last - 1 of `lanes`.

    Parameters
    ----------
    after, width_after, plan
        As in `solve_saving_tiles`.
    lanes
        The states, and where the games of each start in `games`, which has their numbers.
    saved
        By game, the rolls saved before the turn; then those saved after it.
    random
        By game, a number for each roll that it can make; `outcome_first` and what follows it as in
        `simulation_kernels.play_turns`.
    places, gains
        By game, written: the position after within the next level, and the points of the turn.
    by_row
        Added to: how often each row was the end, from the number of rows on with the bonus.
    row_history, keep_history
        Work arrays: `rows` and `keeps` for each number of rerolls left.
    """
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    rolls = turn.keeps - turn.short
    row_count = len(row_plan.points)
    for tile in range(first, last):
        base = tile * LANES
        end = min(base + LANES, len(lanes.set))
        most, available = 0, 0
        for state in range(base, end):
            available |= sets.available[lanes.set[state]]
            for place in range(lanes.first[state], lanes.first[state + 1]):
                most = max(most, saved[games[place]])
        for i in range(row_count * LANES):
            rows[i] = _LOW
        for rerolls in range(turn.rerolls + most + 1):
            reached = after[LANES + rerolls * width_after :]
            for state in range(base, end):
                number, lane, column = lanes.set[state], lanes.lane[state], state - base
                for category in range(row_plan.boxes):
                    if sets.available[number] >> category & 1:
                        for row in range(row_plan.first[category], row_plan.first[category + 1]):
                            at = position_after(row_plan, sets, number, lane, category, row)
                            rows[row * LANES + column] = row_plan.points[row] + reached[at]
            if rerolls:
                means(turn, keeps)
                for i in range(turn.short * LANES):
                    keep_history[rerolls * len(keeps) + i] = keeps[i]
            best_fills(turn, row_plan, available, True, 0, rows, keeps)
            for state in range(base, end):
                number, lane, column = lanes.set[state], lanes.lane[state], state - base
                if sets.special[number]:
                    special_rolls(turn, row_plan, sets, number, lane, 1, column, 0, rows, keeps)
            for i in range(row_count * LANES):
                row_history[rerolls * len(rows) + i] = rows[i]
            if rerolls:
                maxima(turn, keeps)
        for state in range(base, end):
            number, lane, column = lanes.set[state], lanes.lane[state], state - base
            flag = bool(lane >= sets.classes[number])
            for place in range(lanes.first[state], lanes.first[state + 1]):
                game = games[place]
                left, throw, keep, roll = int(turn.rerolls + saved[game]), 0, 0, 0
                while True:
                    drawn = random[game, throw] % outcomes[keep]
                    roll = int(outcome[outcome_first[keep] + np.int64(drawn)])
                    action, value = best_fill(
                        row_plan, turn, sets, number, lane, roll, column, 0, row_history[left * len(rows) :]
                    )
                    if not left:
                        break
                    chosen_keep, kept = best_keep(inside, roll, column, keep_history[left * len(keeps) :])
                    if value > max(value, kept) - TIE:
                        break
                    keep = int(chosen_keep)
                    left -= 1
                    throw += 1
                end_row, special = row_filled(row_plan, sets, number, action, roll, rolls, 0, flag)
                bonus = int(special and flag)
                by_row[end_row + bonus * row_count] += 1
                gains[game] = int(row_plan.points[end_row] + bonus * row_plan.bonus)
                places[game] = position_after(row_plan, sets, number, lane, action, end_row)
                saved[game] = left
