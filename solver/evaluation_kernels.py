"""The compiled loops that follow what two players do: along the best play for the chance, and along a policy.

As in `duel_kernels`. One or two more numbers go through every step beside the chance, along the choice that
has the greatest chance; among equals the first stays: the first box on the card, no reroll, more dice kept.
Where it is one, `both` is false and the third of three arrays is neither read nor written.
"""

from __future__ import annotations

import numpy as np

from .duel_kernels import fetch
from .kernels import compiled, mean_of_rolls, means, part, roll_row, take_first_fills
from .pairs import FillLists, PairPlan
from .plan import Floats, Ints, Plan, RowPlan, SetPlan, TurnPlan
from .states import LANES
from .vectors import above, add, greater, load, spread, store, times

Three = tuple[Floats, Floats, Floats]


@part
def reachable(pairs: PairPlan, own: int, other: int, low: int) -> bool:
    """Whether any of the differences low .. low + LANES - 1 can come about from empty cards."""
    least = pairs.least[0] - pairs.least[own] - (pairs.greatest[0] - pairs.greatest[other])
    greatest = pairs.greatest[0] - pairs.greatest[own] - (pairs.least[0] - pairs.least[other])
    return bool(low <= greatest and low + LANES > least)


@part
def best_rows(
    plan: RowPlan,
    lists: FillLists,
    place: int,
    available: int,
    rows: Three,
    keeps: Three,
    both: bool,
) -> None:
    """Write the best row of each roll, with what goes along."""
    value, a, b = spread(-np.inf), spread(0.0), spread(0.0)
    for category in range(plan.boxes):
        if available >> category & 1:
            at = plan.first[category] * LANES
            here = load(rows[0], at)
            a = above(here, value, load(rows[1], at), a)
            if both:
                b = above(here, value, load(rows[2], at), b)
            value = greater(here, value)
    entry = lists.first[place]
    for count in range(lists.group.shape[1] - 1):
        for number in range(lists.group[place, count], lists.group[place, count + 1]):
            best, along, beside = value, a, b
            for _ in range(count):
                at = lists.entries[entry]
                here = load(rows[0], at)
                along = above(here, best, load(rows[1], at), along)
                if both:
                    beside = above(here, best, load(rows[2], at), beside)
                best = greater(here, best)
                entry += 1
            to = lists.rolls[place, number]
            store(keeps[0], to, best)
            store(keeps[1], to, along)
            if both:
                store(keeps[2], to, beside)


@part
def best_jokers(
    turn: TurnPlan,
    plan: RowPlan,
    sets: SetPlan,
    player: int,
    stage: int,
    rows: Three,
    keeps: Three,
    both: bool,
) -> None:
    """Do as `best_rows` for the rolls of all dice alike once the Yahtzee box is filled."""
    rolls = turn.keeps - turn.short
    for face in range(6):
        best, along, beside = spread(-np.inf), spread(0.0), spread(0.0)
        for category in range(plan.boxes):
            if sets.joker_boxes[player, face] >> category & 1:
                at = roll_row(plan, sets, player, category, face, rolls, stage) * LANES
                here = load(rows[0], at)
                along = above(here, best, load(rows[1], at), along)
                if both:
                    beside = above(here, best, load(rows[2], at), beside)
                best = greater(here, best)
        to = (turn.short + stage * rolls + plan.alike[face]) * LANES
        store(keeps[0], to, best)
        store(keeps[1], to, along)
        if both:
            store(keeps[2], to, beside)


@part
def best_keeps(turn: TurnPlan, keeps: Three, both: bool) -> None:
    """Replace the value of each keep by that of the best keep inside it, with what goes along."""
    joint = 0
    for group in range(len(turn.groups)):
        different = turn.groups[group, 0]
        for keep in range(turn.groups[group, 1], turn.groups[group, 2]):
            to = keep * LANES
            best, along, beside = load(keeps[0], to), load(keeps[1], to), load(keeps[1 + both], to)
            for _ in range(different):
                at = turn.less[joint]
                here = load(keeps[0], at)
                along = above(here, best, load(keeps[1], at), along)
                if both:
                    beside = above(here, best, load(keeps[2], at), beside)
                best = greater(here, best)
                joint += 1
            store(keeps[0], to, best)
            store(keeps[1], to, along)
            if both:
                store(keeps[2], to, beside)


@compiled
def follow_turns(
    plan: Plan,
    pairs: PairPlan,
    other: int,
    movers: bool,
    values: Three,
    first: Ints,
    results: Three,
    rows: Three,
    keeps: Three,
    both: bool,
) -> None:
    """Write blocks as `duel_kernels.duel_turns` does, of two numbers, or of three for `both`.

    The first is the chance; then the chance of a tie, and the chance in another game, all of the player
    whose chance the first is. Differences that cannot come about from empty cards are left as they are.
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
            if not reachable(pairs, own, other, low + at):
                continue
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
                    value = fetch(values[0], start, length_after, there, 1.0)
                    store(rows[0], row * LANES, times(value, spread(sign)))
                    store(rows[1], row * LANES, fetch(values[1], start, length_after, there, 0.0))
                    if both:
                        store(rows[2], row * LANES, fetch(values[2], start, length_after, there, 1.0))
            for stage in range(row_plan.stages):
                place = stage * (pairs.last - pairs.first) + player - pairs.first
                best_rows(row_plan, pairs.lists, place, available, rows, keeps, both)
                if sets.special[player]:
                    best_jokers(turn, row_plan, sets, player, stage, rows, keeps, both)
            for rerolls in range(1, turn.rerolls + 1):
                means(turn, keeps[0])
                means(turn, keeps[1])
                if both:
                    means(turn, keeps[2])
                if rerolls == turn.rerolls:
                    take_first_fills(turn, row_plan, keeps[0])
                    take_first_fills(turn, row_plan, keeps[1])
                    if both:
                        take_first_fills(turn, row_plan, keeps[2])
                best_keeps(turn, keeps, both)
            value = times(mean_of_rolls(turn, keeps[0]), spread(sign))
            store(results[0], to + at, add(value, spread(0.0)))
            store(results[1], to + at, mean_of_rolls(turn, keeps[1]))
            if both:
                store(results[2], to + at, mean_of_rolls(turn, keeps[2]))
        to += length


@compiled
def average_turns(
    plan: Plan,
    pairs: PairPlan,
    other: int,
    movers: bool,
    ends: Floats,
    values: Floats,
    first: Ints,
    results: Floats,
) -> None:
    """Write a block for a player who ends a turn in each row with a given probability.

    `ends` has the axes set and row of the row plan; the rest is as for `follow_turns`.
    """
    row_plan, sets = plan.rows, plan.sets
    begin = pairs.first if movers else pairs.after_first
    end = pairs.last if movers else pairs.after_last
    to = LANES
    for own in range(begin, end):
        player = own if movers else other
        length = pairs.width[own] + pairs.width[other] + 1
        low = pairs.least[other] - pairs.greatest[own]
        for at in range(0, length, LANES):
            if not reachable(pairs, own, other, low + at):
                continue
            mean = spread(0.0)
            for category in range(row_plan.boxes):
                if not sets.available[player] >> category & 1:
                    continue
                after = sets.number[sets.filled[player] | 1 << category]
                a, b = (after, other) if movers else (own, after)
                start = first[category] + pairs.before[a] + (a - pairs.after_first) * (pairs.width[b] + 1)
                length_after = pairs.width[a] + pairs.width[b] + 1
                place = low + at - pairs.least[b] + pairs.greatest[a]
                for row in range(row_plan.first[category], row_plan.first[category + 1]):
                    probability = ends[player, row]
                    if probability > 0.0:
                        points = np.int64(row_plan.points[row])
                        there = place + points if movers else place - points
                        value = fetch(values, start, length_after, there, 1.0)
                        mean = add(mean, times(spread(probability), value))
            store(results, to + at, mean)
        to += length
