"""The compiled loops of many learning environments side by side: one step of every game a call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import compiled, part, row_filled
from .plan import Ints, RowPlan, SetPlan

Bytes = NDArray[np.int8]
Bools = NDArray[np.bool_]

_7, _8, _9, _10 = np.uint64(7), np.uint64(8), np.uint64(9), np.uint64(10)


class GamePlan(NamedTuple):
    """What the kernels know of the rules.

    `rows` and `sets` are those of the game's plan. Rerolling keep k has outcomes[k] equally likely
    outcomes, the rolls from outcome_first[k] on in `outcome`; `inside` (roll, keep) says which keeps are
    inside a roll, and `counts` (roll, face) how many dice show a face. `upper` marks the upper boxes, and
    `bonus_of` gives the upper bonus of each subtotal up to the highest threshold; `saves` tells whether rolls
    are saved, beyond the `rerolls` of each turn.
    """

    rows: RowPlan
    sets: SetPlan
    outcome_first: Ints
    outcomes: NDArray[np.uint64]
    outcome: NDArray[np.int16]
    inside: Bytes
    counts: NDArray[np.uint8]
    upper: Bools
    bonus_of: Ints
    rerolls: int
    saves: bool


class Games(NamedTuple):
    """Games under way, an entry a game; `boxes` is the set that its roll may go in, empty after the end.

    `saved` counts the rolls saved before this turn.
    """

    filled: Ints
    subtotal: Ints
    flag: Ints
    total: Ints
    roll: Ints
    rerolls: Ints
    boxes: Ints
    saved: Ints


@compiled
def mark_illegal(plan: GamePlan, games: Games, actions: Ints, skip: Bools, illegal: Bools) -> None:
    """Write which games have an action that is not legal; none of those to skip."""
    boxes = plan.rows.boxes
    for game in range(len(actions)):
        action = actions[game]
        if skip[game]:
            illegal[game] = False
        elif action < 0 or action >= boxes + plan.inside.shape[1]:
            illegal[game] = True
        elif action < boxes:
            illegal[game] = not games.boxes[game] >> action & 1
        else:
            illegal[game] = games.rerolls[game] == 0 or not plan.inside[games.roll[game], action - boxes]


@compiled
def begin(plan: GamePlan, games: Games, which: Bools, random: NDArray[np.uint64]) -> None:
    """Begin some games anew, each with a number of `random` for its first roll."""
    for game in range(len(which)):
        if which[game]:
            begin_one(plan, games, game, random[game])


@compiled
def step(
    plan: GamePlan,
    games: Games,
    actions: Ints,
    restart: Bools,
    stay: Bools,
    random: NDArray[np.uint64],
    rewards: NDArray[np.float64],
    over: Bools,
) -> None:
    """Take a legal action in each game, or begin it anew; write its reward and whether it is over.

    Games that are to stay are left as they are. `random` has a number for each game.
    """
    plan_boxes = plan.rows.boxes
    full = (1 << plan_boxes) - 1
    for game in range(len(actions)):
        rewards[game], over[game] = 0.0, False
        if restart[game]:
            begin_one(plan, games, game, random[game])
            continue
        if stay[game]:
            continue
        action = actions[game]
        if action >= plan_boxes:
            games.rerolls[game] -= 1
            throw(plan, games, game, action - plan_boxes, random[game])
            continue
        points = fill(plan, games, game, action)
        if games.filled[game] == full:
            points += plan.bonus_of[games.subtotal[game]]
            games.rerolls[game], games.boxes[game], over[game] = 0, 0, True
        else:
            games.rerolls[game] = plan.rerolls + games.saved[game]
            throw(plan, games, game, 0, random[game])
        games.total[game] += points
        rewards[game] = points


@compiled
def observe(
    plan: GamePlan, games: Games, which: Bools, observations: NDArray[np.float32], masks: Bytes
) -> None:
    """Write the observations and masks of some games; see `environments.coding`."""
    boxes, keeps = np.uint64(plan.rows.boxes), np.uint64(plan.inside.shape[1])
    for at in range(len(which)):
        if not which[at]:
            continue
        game = np.uint64(at)  # Unsigned, as in `kernels`: the loops below become plain copies.
        allowed, roll, rerolls = games.boxes[game], np.uint64(games.roll[game]), games.rerolls[game]
        over = allowed == 0
        for face in range(np.uint64(6)):
            observations[game, face] = 0 if over else plan.counts[roll, face]
        observations[game, 6] = rerolls
        for box in range(boxes):
            observations[game, _7 + box] = games.filled[game] >> np.int64(box) & 1
            masks[game, box] = over or allowed >> np.int64(box) & 1
        observations[game, _7 + boxes] = games.subtotal[game]
        observations[game, _8 + boxes] = games.flag[game]
        observations[game, _9 + boxes] = games.total[game]
        if plan.saves:
            observations[game, _10 + boxes] = games.saved[game]
        if rerolls > 0:
            for keep in range(keeps):
                masks[game, boxes + keep] = plan.inside[roll, keep]
        else:
            rest = np.int8(over)
            for keep in range(keeps):
                masks[game, boxes + keep] = rest


@part
def begin_one(plan: GamePlan, games: Games, game: int, random: np.uint64) -> None:
    """Begin a game anew and throw its dice."""
    games.filled[game], games.subtotal[game], games.flag[game], games.total[game] = 0, 0, 0, 0
    games.rerolls[game], games.saved[game] = plan.rerolls, 0
    throw(plan, games, game, 0, random)


@part
def throw(plan: GamePlan, games: Games, game: int, keep: int, random: np.uint64) -> None:
    """Throw all dice but those kept, and find the boxes that the roll may go in."""
    sets = plan.sets
    drawn = random % plan.outcomes[keep]
    roll = np.int64(plan.outcome[plan.outcome_first[keep] + np.int64(drawn)])
    number = sets.number[games.filled[game]]
    allowed = sets.available[number]
    if sets.special[number]:
        for face in range(6):
            if plan.rows.alike[face] == roll:
                allowed = sets.joker_boxes[number, face]
    games.roll[game], games.boxes[game] = roll, allowed


@part
def fill(plan: GamePlan, games: Games, game: int, category: int) -> int:
    """Fill a box; return the points gained, without the upper bonus."""
    sets, rows = plan.sets, plan.rows
    number = sets.number[games.filled[game]]
    stage, flag = int(rows.stages > 1 and games.rerolls[game] == plan.rerolls), games.flag[game] > 0
    rolls = plan.inside.shape[0]
    row, special = row_filled(rows, sets, number, category, games.roll[game], rolls, stage, flag)
    points = int(rows.points[row])
    bonus = int(rows.bonus) if special and flag else 0
    if category == sets.arming:
        games.flag[game] = int(points > 0)
    if plan.upper[category]:
        games.subtotal[game] = min(games.subtotal[game] + points, len(plan.bonus_of) - 1)
    games.filled[game] |= np.int64(1) << category
    if plan.saves:
        games.saved[game] = games.rerolls[game]
    return points + bonus
