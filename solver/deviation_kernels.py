"""The compiled loop that follows the best choices and carries two more numbers along; see `deviations`.

Work goes by tiles as in `kernels`. Every array is a triple: expected points to come, their variance, and
the chance of an upper bonus. The first decides, the others go along with what it chooses. In place of the
variance, work arrays have mean squares, taken from one number for each filled set. The work arrays are

    rows     as in `kernels`
    keeps    a row a keep, then a row a roll: the best fill of each roll. What goes along lies in the order
             of preference, keeps of fewer dice first and of lower dice first among these, and is not
             replaced by that of the best keep inside
    picks    a row a keep: the best keep inside it, as the offset of what goes along with that; for a roll
             also that of its fill; then a row a roll: the row of `rows` that is its fill. That of the empty
             keep, 0, is given

The best keep inside a keep is found along the lattice, as the greatest value is. Of two that differ by less
than `TIE` that with the greater offset is taken: that of more dice, then of higher ones, as everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import compiled, lowest, mean_of_rolls, means, part, roll_row, stage_of
from .plan import Floats, Plan, RowPlan, SetPlan, TurnPlan
from .states import LANES
from .turn import TIE
from .vectors import above, add, alike, chosen, equal, greater, load, spread, store, times

_1, _LANES = np.uint64(1), np.uint64(LANES)
_LOW = -np.inf

Three = tuple[Floats, Floats, Floats]


class Along(NamedTuple):
    """Where what goes along with each keep of fewer than all dice lies: offsets, and the lattice there.

    `typical` has a whole number for each box, near what a roll scores there.
    """

    offset: Floats
    turn: TurnPlan
    typical: Floats


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
    along: Along,
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
    along
        How ties are broken, and what squares are taken from.
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
                means(along.turn, keeps[1])
                means(along.turn, keeps[2])
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
                    along.typical,
                    rows,
                    keeps,
                    picks,
                )
            if rerolls:
                choose(turn, along, keeps, picks)
            else:
                fill_all(turn, keeps)
            if rerolls >= turn.rerolls:
                at = LANES + (rerolls - turn.rerolls) * width + base - level_start
                store(now[0], at, mean_of_rolls(turn, keeps[0]))
                store(now[1], at, mean_of_rolls(turn, keeps[1]))
                store(now[2], at, mean_of_rolls(turn, keeps[2]))
                centre(now, at, after, base, plan.tile_set[tile], sets, along.typical)


@part
def middle(after: Three, sets: SetPlan, number: int, typical: Floats) -> float:
    """Return the number that squares are taken from in a filled set: near the points to come, and whole."""
    box = lowest(sets.available[number])
    return np.rint(after[0][LANES + sets.first[sets.filled[number] | 1 << box]]) + typical[box]  # type: ignore[no-any-return]


@part
def centre(
    now: Three, at: int, after: Three, base: int, first_set: int, sets: SetPlan, typical: Floats
) -> None:
    """Make variances of the mean squares of a tile of states, which lie from `at` on."""
    number = first_set
    while number < len(sets.start) and sets.start[number] < base + LANES:
        begin = max(sets.start[number], base)
        end = min(sets.start[number] + sets.lanes[number], base + LANES)
        if begin < end:
            near = middle(after, sets, number, typical)
            for i in range(at + begin - base, at + end - base):
                now[1][i] -= (now[0][i] - near) ** 2
        number += 1


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
    typical: Floats,
    rows: Three,
    keeps: Three,
    picks: Floats,
) -> None:
    """Write the best fill of each roll, for the tile of positions from `base` on."""
    for row in range(len(plan.points)):
        store(rows[0], row * LANES, spread(_LOW))
    available = 0
    number = first_set
    while number < len(sets.start) and sets.start[number] < base + LANES:
        begin = max(sets.start[number], base)
        end = min(sets.start[number] + sets.lanes[number], base + LANES)
        if begin < end:
            lane, at = begin - sets.start[number], begin - base
            near = middle(after, sets, number, typical)
            write_rows(after, start, near, plan, sets, number, lane, end - begin, at, rows)
            available |= sets.available[number]
        number += 1
    choose_fills(turn, plan, available, stage, rows, keeps, picks)
    number = first_set
    while number < len(sets.start) and sets.start[number] < base + LANES:
        begin = max(sets.start[number], base)
        end = min(sets.start[number] + sets.lanes[number], base + LANES)
        if begin < end and sets.special[number]:
            lane, at = begin - sets.start[number], begin - base
            near = middle(after, sets, number, typical)
            choose_special(near, turn, plan, sets, number, lane, end - begin, at, stage, rows, keeps)
        number += 1


@part
def write_rows(
    after: Three,
    start: int,
    near: float,
    plan: RowPlan,
    sets: SetPlan,
    number: int,
    lane: int,
    count: int,
    at: int,
    rows: Three,
) -> None:
    """Write the rows of each box as `kernels.fill_rows` does, but to no columns of other sets.

    Of points p and what follows them, v on average with variance w, the mean square from `near` is
    (p - near + v)^2 + w.
    """
    filled, upper, classes = sets.filled[number], sets.upper[number], sets.classes[number]
    columns, nothing = chosen(at, at + count), spread(-1.0)
    for category in range(plan.boxes):
        if not sets.available[number] >> category & 1:
            continue
        first = start + sets.first[filled | 1 << category]
        classes_after = sets.upper_classes[upper | sets.upper_bit[category]]
        step = sets.step_first[upper, category]
        for row in range(plan.first[category], plan.first[category + 1]):
            points, to = plan.points[row], row * LANES
            armed = classes_after if category == sets.arming and points > 0 else 0
            if step < 0:
                place = first + armed + lane - at
                value = load(after[0], place)
                gap = add(spread(points - near), value)
                square = add(times(gap, gap), load(after[1], place))
                store(rows[0], to, above(columns, nothing, add(spread(points), value), load(rows[0], to)))
                store(rows[1], to, above(columns, nothing, square, load(rows[1], to)))
                store(rows[2], to, above(columns, nothing, load(after[2], place), load(rows[2], to)))
                continue
            flag = int(lane >= classes)
            before = lane - flag * classes
            for i in range(to + at, to + at + count):
                place = first + armed + flag * classes_after + sets.step[step + before]
                rows[0][i] = points + after[0][place]
                rows[1][i] = (points - near + after[0][place]) ** 2 + after[1][place]
                rows[2][i] = after[2][place]
                before += 1
                if before == classes:
                    before = 0
                    flag += 1
            step += classes
        if sets.requires >> category & 1:
            # Without the flag no points count.
            for row in range(plan.first[category], plan.first[category + 1]):
                for i in range(min(count, classes - lane)):
                    place = first + lane + i
                    rows[0][row * LANES + at + i] = after[0][place]
                    rows[1][row * LANES + at + i] = (after[0][place] - near) ** 2 + after[1][place]
                    rows[2][row * LANES + at + i] = after[2][place]


@part
def choose_fills(
    turn: TurnPlan, plan: RowPlan, available: int, stage: int, rows: Three, keeps: Three, picks: Floats
) -> None:
    """Write the best fill of each roll, the first box of equals, four boxes a pass."""
    of_roll = plan.of_roll
    rolls = np.uint64(turn.keeps - turn.short)
    to_first = np.uint64(turn.keeps) * _LANES
    first = np.uint64(stage) * np.uint64(plan.boxes) * rolls
    below = spread(-TIE)
    left, fresh = available, True
    while left or fresh:
        # From the last box to the first: the last that is taken is the first within TIE of the best.
        a = first + np.uint64(highest(left)) * rolls if left else first
        left ^= left & 1 << highest(left)
        b = first + np.uint64(highest(left)) * rolls if left else a
        left ^= left & 1 << highest(left)
        c = first + np.uint64(highest(left)) * rolls if left else b
        left ^= left & 1 << highest(left)
        d = first + np.uint64(highest(left)) * rolls if left else c
        left ^= left & 1 << highest(left)
        for roll in range(rolls):
            to = to_first + roll * _LANES
            best, choice = spread(_LOW), spread(0.0)
            if not fresh:
                best, choice = load(keeps[0], to), load(picks, to)
            offset = of_roll[a + roll]
            here = load(rows[0], offset)
            choice = above(here, add(best, below), spread(float(offset)), choice)
            best = greater(here, best)
            offset = of_roll[b + roll]
            here = load(rows[0], offset)
            choice = above(here, add(best, below), spread(float(offset)), choice)
            best = greater(here, best)
            offset = of_roll[c + roll]
            here = load(rows[0], offset)
            choice = above(here, add(best, below), spread(float(offset)), choice)
            best = greater(here, best)
            offset = of_roll[d + roll]
            here = load(rows[0], offset)
            choice = above(here, add(best, below), spread(float(offset)), choice)
            best = greater(here, best)
            store(keeps[0], to, best)
            store(picks, to, choice)
        fresh = False
    for roll in range(rolls):
        to = to_first + roll * _LANES
        take(rows, picks, to, keeps, to)


@part
def take(of: Three, picks: Floats, at: np.uint64, to: Three, place: np.uint64) -> None:
    """Write what goes along in each lane: that of the row of `of` whose offset is in `picks` from `at` on.

    Neighbouring states mostly do one of two things, the first and the last one of them.
    """
    pick = load(picks, at)
    first, last = picks[at], picks[at + _LANES - _1]
    if alike(equal(pick, spread(first), spread(last), pick)):
        one, other = np.uint64(first), np.uint64(last)
        bound = spread(first)
        store(to[1], place, equal(pick, bound, load(of[1], one), load(of[1], other)))
        store(to[2], place, equal(pick, bound, load(of[2], one), load(of[2], other)))
        return
    for i in range(_LANES):
        row = np.uint64(picks[at + i]) + i
        to[1][place + i] = of[1][row]
        to[2][place + i] = of[2][row]


@part
def highest(boxes: int) -> int:
    """Return the highest category of a set; 0 of an empty one."""
    category = 0
    while boxes >> category + 1:
        category += 1
    return category


@part
def choose_special(
    near: float,
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
            greatest, place = _LOW, np.int64(0)
            for category in range(plan.boxes - 1, -1, -1):
                if sets.joker_boxes[number, face] >> category & 1:
                    row = roll_row(plan, sets, number, category, face, rolls, stage)
                    value = rows[0][row * LANES + at + i]
                    if value > greatest - TIE:
                        place = row * LANES + at + i
                    greatest = max(value, greatest)
            keeps[0][to + at + i] = greatest + bonus
            keeps[1][to + at + i] = rows[1][place] + bonus * (bonus + 2 * (rows[0][place] - near))
            keeps[2][to + at + i] = rows[2][place]


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
def choose(turn: TurnPlan, along: Along, keeps: Three, picks: Floats) -> None:
    """Write what each roll is worth by the better of its best fill and the best keep inside it."""
    less = turn.less
    rolls = np.uint64(turn.keeps - turn.short)
    joint = np.uint64(0)
    for group in range(len(turn.groups)):
        different = turn.groups[group, 0]
        for keep in range(np.uint64(turn.groups[group, 1]), np.uint64(turn.groups[group, 2])):
            to = keep * _LANES
            is_roll = keep >= np.uint64(turn.short)
            best, pick = spread(_LOW), spread(along.offset[0])
            if not is_roll:
                best, pick = load(keeps[0], to), spread(along.offset[keep])
            for _ in range(different):
                at = less[joint]
                here, there = load(keeps[0], at), load(picks, at)
                margin = above(there, pick, spread(-TIE), spread(TIE))
                pick = above(here, add(best, margin), there, pick)
                best = greater(here, best)
                joint += _1
            if is_roll:
                fill = to + rolls * _LANES
                value = load(keeps[0], fill)
                pick = above(value, add(best, spread(-TIE)), spread(float(fill)), pick)
                best = greater(value, best)
            store(keeps[0], to, best)
            store(picks, to, pick)
            if is_roll:
                take(keeps, picks, to, keeps, to)
