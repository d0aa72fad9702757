"""The compiled loops for two players; see `duel` for the mathematics and `pairs` for where values lie.

Lanes are neighbouring differences of one pair of filled sets. Both kinds of turn are one loop: a turn of
the mover from (A, B, d) reads what the mover has after it, at d + p; a turn of the other player, seen from
the side of the mover whose turn has just ended, reads at d - p, and the other makes the best of the
negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernels import compiled, mean_of_rolls, part, special_rolls, throws
from .pairs import FillLists, PairPlan
from .plan import Floats, Ints, Plan
from .states import LANES
from .vectors import (
    above,
    add,
    chosen,
    greater,
    greatest_of_1,
    greatest_of_2,
    greatest_of_3,
    greatest_of_4,
    greatest_of_5,
    greatest_of_6,
    load,
    spread,
    store,
    times,
)

_6 = np.uint64(6)


@part
def fetch(values: Floats, start: int, length: int, at: int, beyond: float) -> Any:
    """Return the lanes from place `at` of a run of values on: 0 before the run, `beyond` after it.

    `LANES` numbers before and after each run must be such that they may be read.
    """
    value = spread(0.0)
    if at >= length:
        value = spread(beyond)
    elif at > -LANES:
        value = load(values, start + at)
        if at < 0:
            value = above(chosen(-at, LANES), spread(-1.0), value, spread(0.0))
        if at + LANES > length:
            value = above(chosen(0, length - at), spread(-1.0), value, spread(beyond))
    return value


@part
def fills(lists: FillLists, place: int, base: Any, rows: Floats, keeps: Floats) -> None:
    """Write the best row of each roll: `base` or one of its rows above the least."""
    entries = lists.entries
    at = np.uint64(lists.first[place])
    for count in range(lists.group.shape[1] - 1):
        sixes, rest = count // 6, count % 6
        for number in range(lists.group[place, count], lists.group[place, count + 1]):
            best = base
            for _ in range(sixes):
                best = greatest_of_6(rows, entries, at, best)
                at += _6
            if rest == 1:
                best = greatest_of_1(rows, entries, at, best)
            elif rest == 2:
                best = greatest_of_2(rows, entries, at, best)
            elif rest == 3:
                best = greatest_of_3(rows, entries, at, best)
            elif rest == 4:
                best = greatest_of_4(rows, entries, at, best)
            elif rest == 5:
                best = greatest_of_5(rows, entries, at, best)
            at += np.uint64(rest)
            store(keeps, lists.rolls[place, number], best)


@compiled
def duel_turns(
    plan: Plan,
    pairs: PairPlan,
    other: int,
    movers: bool,
    values: Floats,
    first: Ints,
    results: Floats,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the block of one set of the other player.

    Parameters
    ----------
    plan, pairs
        Arrays of the game and the level.
    other
        Number of the set B of the other player.
    movers
        Whether the mover is to play, from each set A of this level; otherwise it is the other, after the
        mover has come to each set A of the next level.
    values, first
        Blocks of the positions after the turn, and where in them the block of each category starts; all the
        same one where `movers`.
    results
        The block, from place `LANES` on, and room for `LANES` numbers after it.
    """
    turn, row_plan, sets = plan.turn, plan.rows, plan.sets
    begin = pairs.first if movers else pairs.after_first
    end = pairs.last if movers else pairs.after_last
    sign = 1.0 if movers else -1.0
    to = LANES
    for own in range(begin, end):
        player = own if movers else other
        available = sets.available[player]
        length = pairs.width[own] + pairs.width[other] + 1
        low = pairs.least[other] - pairs.greatest[own]
        for at in range(0, length, LANES):
            base = spread(-np.inf)
            for category in range(row_plan.boxes):
                if not available >> category & 1:
                    continue
                after = sets.number[sets.filled[player] | 1 << category]
                a, b = (after, other) if movers else (own, after)
                start = first[category] + pairs.before[a] + (a - pairs.after_first) * (pairs.width[b] + 1)
                length_after = pairs.width[a] + pairs.width[b] + 1
                place = low + at - pairs.least[b] + pairs.greatest[a]
                for row in range(row_plan.first[category], row_plan.first[category + 1]):
                    points = np.int64(row_plan.points[row])
                    there = place + points if movers else place - points
                    value = fetch(values, start, length_after, there, 1.0)
                    store(rows, row * LANES, times(value, spread(sign)))
                base = greater(load(rows, row_plan.first[category] * LANES), base)
            for stage in range(row_plan.stages):
                place = stage * (pairs.last - pairs.first) + player - pairs.first
                fills(pairs.lists, place, base, rows, keeps)
                if sets.special[player]:
                    special_rolls(turn, row_plan, sets, player, 0, LANES, 0, stage, rows, keeps)
            throws(turn, row_plan, keeps)
            # Zero is added for the negative of nothing to be plain nothing.
            store(results, to + at, add(times(mean_of_rolls(turn, keeps), spread(sign)), spread(0.0)))
        to += length
