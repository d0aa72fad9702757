"""The compiled loop that follows the best choices and carries two more numbers along; see `moments`.

Work goes by tiles as in `kernels`. Every array is a triple: expected points to come, their mean square, and
the chance of an upper bonus. The first decides, the others go along with what it chooses. The work arrays are

    rows     as in `kernels`
    keeps    a row a keep, then a row a roll: the best fill of each roll
    picks    a row a keep: the best keep inside it, by its rank; then a row a roll: the row of `rows` filled.
             That of the empty keep is never written: it is its own rank

The best keep inside a keep is found along the lattice, as the greatest value is. Of two that differ by less
than `TIE` that of the lesser rank is taken, which is that of more dice, then of higher ones, as everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import (
    compiled,
    fill_rows,
    mean_of_rolls,
    means,
    part,
    roll_row,
    row_counted,
    stage_of,
)
from .plan import Floats, Ints, Plan, RowPlan, SetPlan, TurnPlan
from .states import LANES
from .turn import TIE
from .vectors import above, add, greater, load, spread, store

_LOW = -np.inf
_FILL = -1.0
"""The pick of a roll that is filled rather than rerolled."""

Three = tuple[Floats, Floats, Floats]


class Ranks(NamedTuple):
    """In which order ties between keeps are broken.

    `rank` goes by keep, for those of fewer than all dice; `offset` by rank, and is that of the keep's row.
    `requires` goes by row: whether it counts nothing without the flag.
    """

    rank: Floats
    offset: Ints
    requires: NDArray[np.bool_]


@compiled
def moment_tiles(
    now: Three,
    after: Three,
    width: int,
    step: int,
    saved: int,
    level_start: int,
    first: int,
    last: int,
    wanted: NDArray[np.bool_],
    plan: Plan,
    ranks: Ranks,
    rows: Three,
    keeps: Three,
    picks: Floats,
) -> None:
    """Write the three numbers of tiles first .. last-1 of one level, for every number of saved rolls.

    Parameters
    ----------
    now
        As in `saving_kernels.solve_saving_tiles`: rows of `width` for 0 to `saved` saved rolls.
    after
        The same of the level after, in rows of `step`; 0 where no rolls are saved, and there is one row.
    level_start
        Where the level starts among all states.
    wanted
        By tile: whether it is worked on.
    plan
        The game, with `sets.first` counted from the start of the level of the set.
    ranks
        How ties are broken.
    rows, keeps, picks
        Work arrays.
    """
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    for tile in range(first, last):
        base = tile * LANES
        if not wanted[tile]:
            continue
        for rerolls in range(turn.rerolls + saved + 1):
            if rerolls:
                means(turn, keeps[0])
                means(turn, keeps[1])
                means(turn, keeps[2])
            stage = stage_of(turn, row_plan, rerolls)
            if rerolls == 0 or step or stage:
                fill_tile(
                    after,
                    LANES + rerolls * step,
                    base,
                    plan.tile_set[tile],
                    stage,
                    turn,
                    row_plan,
                    sets,
                    ranks,
                    rows,
                    keeps,
                    picks,
                )
            if rerolls:
                choose(turn, ranks, keeps, picks)
            else:
                fill_all(turn, keeps)
            if rerolls >= turn.rerolls:
                at = LANES + (rerolls - turn.rerolls) * width + base - level_start
                store(now[0], at, mean_of_rolls(turn, keeps[0]))
                store(now[1], at, mean_of_rolls(turn, keeps[1]))
                store(now[2], at, mean_of_rolls(turn, keeps[2]))


@part
def fill_tile(
    after: Three,
    start: int,
    base: int,
    first_set: int,
    stage: int,
    turn: TurnPlan,
    plan: RowPlan,
    sets: SetPlan,
    ranks: Ranks,
    rows: Three,
    keeps: Three,
    picks: Floats,
) -> None:
    """Write the best fill of each roll, for the tile of positions from `base` on; see `kernels.roll_values`."""
    number = first_set
    while number < len(sets.start) and sets.start[number] < base + LANES:
        begin = max(sets.start[number], base)
        count = min(sets.start[number] + sets.lanes[number], base + LANES) - begin
        lane, at = begin - sets.start[number], begin - base
        if count > 0:
            fill_rows(after[0][start:], plan, sets, number, lane, count, at, rows[0])
            fill_rows(after[1][start:], plan, sets, number, lane, count, at, rows[1])
            fill_rows(after[2][start:], plan, sets, number, lane, count, at, rows[2])
            choose_fills(turn, plan, sets, number, lane, count, at, stage, ranks, rows, keeps, picks)
            if sets.special[number]:
                choose_special(turn, plan, sets, number, lane, count, at, stage, rows, keeps)
        number += 1


@part
def choose_fills(
    turn: TurnPlan,
    plan: RowPlan,
    sets: SetPlan,
    number: int,
    lane: int,
    count: int,
    at: int,
    stage: int,
    ranks: Ranks,
    rows: Three,
    keeps: Three,
    picks: Floats,
) -> None:
    """Write the value of the best fill of each roll, the first box of equals, and what goes along.

    All rows have the points added once, for they are made by the same loop. Of points g and what follows
    them, v on average and s on average when squared, the mean square is g^2 + 2 g v + s.
    """
    rolls = turn.keeps - turn.short
    first = stage * plan.boxes * rolls
    for roll in range(rolls):
        best, choice = spread(_LOW), spread(0.0)
        for category in range(plan.boxes - 1, -1, -1):
            if sets.available[number] >> category & 1:
                offset = plan.of_roll[first + category * rolls + roll]
                here = load(rows[0], offset)
                # From the last box to the first, the last that is taken is the first within TIE of the best.
                choice = above(here, add(best, spread(-TIE)), spread(float(offset)), choice)
                best = greater(here, best)
        store(rows[0], len(rows[0]) - LANES, best)
        store(picks, (turn.keeps + roll) * LANES, choice)
        to, chosen = (turn.keeps + roll) * LANES, len(rows[0]) - LANES
        for i in range(at, at + count):
            offset = np.uint32(picks[to + i])
            points = plan.points[offset // LANES]
            counted = points
            if ranks.requires[offset // LANES] and lane + i - at < sets.classes[number]:
                counted = 0.0
            value = rows[0][offset + i]
            keeps[0][to + i] = rows[0][chosen + i]
            keeps[1][to + i] = rows[1][offset + i] - counted + counted * (2 * value - counted)
            keeps[2][to + i] = rows[2][offset + i] - counted


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
    rows: Three,
    keeps: Three,
) -> None:
    """Do as `choose_fills` for the rolls of all dice alike once the Yahtzee box is filled."""
    rolls = turn.keeps - turn.short
    for face in range(6):
        to = (turn.keeps + plan.alike[face]) * LANES
        for i in range(count):
            flag = lane + i >= sets.classes[number]
            bonus = plan.bonus if flag else 0.0
            greatest, chosen, counted = _LOW, 0, 0.0
            for category in range(plan.boxes - 1, -1, -1):
                if sets.joker_boxes[number, face] >> category & 1:
                    row = roll_row(plan, sets, number, category, face, rolls, stage)
                    value = rows[0][row * LANES + at + i]
                    if value > greatest - TIE:
                        chosen = row * LANES + at + i
                        counted = plan.points[row_counted(plan, sets, category, row, flag)]
                    greatest = max(value, greatest)
            gain, value = counted + bonus, rows[0][chosen] + bonus
            keeps[0][to + at + i] = greatest + bonus
            keeps[1][to + at + i] = rows[1][chosen] - counted + gain * (2 * value - gain)
            keeps[2][to + at + i] = rows[2][chosen] - counted


@part
def fill_all(turn: TurnPlan, keeps: Three) -> None:
    """Write what each roll is worth where there is no reroll left."""
    rolls = turn.keeps - turn.short
    for to in range(turn.short * LANES, turn.keeps * LANES, LANES):
        fill = to + rolls * LANES
        store(keeps[0], to, load(keeps[0], fill))
        store(keeps[1], to, load(keeps[1], fill))
        store(keeps[2], to, load(keeps[2], fill))


@part
def choose(turn: TurnPlan, ranks: Ranks, keeps: Three, picks: Floats) -> None:
    """Write what each roll is worth by the better of its best fill and the best keep inside it."""
    joint = 0
    for group in range(len(turn.groups)):
        different = turn.groups[group, 0]
        for keep in range(turn.groups[group, 1], turn.groups[group, 2]):
            to = keep * LANES
            is_roll = keep >= turn.short
            best, pick = spread(_LOW), spread(np.inf)
            if not is_roll:
                best, pick = load(keeps[0], to), spread(ranks.rank[keep])
            for _ in range(different):
                at = turn.less[joint]
                here, rank = load(keeps[0], at), load(picks, at)
                margin = above(pick, rank, spread(-TIE), spread(TIE))
                pick = above(here, add(best, margin), rank, pick)
                best = greater(here, best)
                joint += 1
            if not is_roll:
                store(keeps[0], to, best)
                store(picks, to, pick)
                continue
            fill = to + (turn.keeps - turn.short) * LANES
            value = load(keeps[0], fill)
            store(keeps[0], to, greater(value, best))
            store(picks, to, above(value, add(best, spread(-TIE)), spread(_FILL), pick))
            for i in range(LANES):
                chosen = fill + i
                if picks[to + i] >= 0:
                    chosen = ranks.offset[np.int64(picks[to + i])] + i
                keeps[1][to + i] = keeps[1][chosen]
                keeps[2][to + i] = keeps[2][chosen]
