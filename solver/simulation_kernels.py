"""The compiled loops that play many games turn by turn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .kernels import compiled, position_after, row_filled, stage_of
from .plan import Ints, LanePlan, Plan


@compiled
def bring_together(
    positions: NDArray[np.int32],
    scores: NDArray[np.int32],
    old_positions: NDArray[np.int32],
    old_scores: NDArray[np.int32],
    games: NDArray[np.int32],
    old_games: NDArray[np.int32],
    index: NDArray[np.int32],
    starts: Ints,
) -> None:
    """Reorder games so that those of one state are neighbours; they are alike but for their scores.

    They go from the old arrays to the others, and `games`, the games' numbers unless empty, go along.
    `starts` has a zero for each state, and one more.
    """
    for game in range(len(positions)):
        starts[index[old_positions[game]] + 1] += 1
    for state in range(1, len(starts)):
        starts[state] += starts[state - 1]
    for game in range(len(positions)):
        state = index[old_positions[game]]
        to = starts[state]
        starts[state] += 1
        positions[to], scores[to] = old_positions[game], old_scores[game]
        if len(games):
            games[to] = old_games[game]


@compiled
def play_turns(
    plan: Plan,
    lanes: LanePlan,
    states: Ints,
    actions: NDArray[np.int16],
    random: NDArray[np.uint64],
    outcome_first: Ints,
    outcomes: NDArray[np.uint64],
    outcome: NDArray[np.int16],
    positions: NDArray[np.int32],
    scores: NDArray[np.int32],
    saved: NDArray[np.int32],
    by_row: Ints,
    games: NDArray[np.int32],
    record: NDArray[np.int16],
) -> None:
    """Play one turn of each game: it goes to its next position and score.

    `states` gives the state (in `lanes` and `actions`) of each game, and `random` a number for each game
    and roll. Rerolling keep k has outcomes[k] equally likely outcomes, the rolls from
    outcome_first[k] on in `outcome`. `saved`, unless empty, has the rolls saved before the turn, then those
    saved after it. `record`, unless empty, gets each roll and action by a game's number.
    """
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    rolls = turn.keeps - turn.short
    for game in range(len(positions)):
        state = states[game]
        number, lane = lanes.set[state], lanes.lane[state]
        keep = 0
        roll = 0
        action = 0
        stage = 0
        most = turn.rerolls + (saved[game] if len(saved) else 0)
        for left in range(most, -1, -1):
            throw = most - left
            drawn = random[game, throw] % outcomes[keep]
            roll = outcome[outcome_first[keep] + np.int64(drawn)]
            action = actions[state, left, roll]
            stage = stage_of(turn, row_plan, left)
            if len(record):
                record[games[game], throw, 0] = roll
                record[games[game], throw, 1] = action
            if action < row_plan.boxes:
                if len(saved):
                    saved[game] = left
                break
            keep = action - row_plan.boxes
        flag = lane >= sets.classes[number]
        row, special = row_filled(row_plan, sets, number, action, roll, rolls, stage, flag)
        bonus = int(special and flag and row_plan.bonus > 0.0)
        by_row[row + bonus * len(row_plan.points)] += 1
        scores[game] += int(row_plan.points[row] + bonus * row_plan.bonus)
        positions[game] = position_after(row_plan, sets, number, lane, action, row)
