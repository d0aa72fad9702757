"""What goals are worth by plain recursion on cards with their real points: the slow, obvious oracle of goals.

It plays every game to its end and asks only there what the final score is worth. Its values are rows of
numbers, one a goal, and every goal takes what is best for itself: so one recursion answers for all targets.
The numbers are whole, or decimals of many digits. Nothing here comes from the product but `Ruleset`, which is
plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, partial, reduce
from itertools import accumulate, combinations_with_replacement, product
from math import lcm
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from oracle import Action
from oracle_distribution import completed
from oracle_rules import Dice, after_fill, legal_fills, proper_keeps, upper_bonus, yahtzee_bonus

from solver.rules.model import FACES, Ruleset

Number = int | Decimal
Row = NDArray[np.object_]
Throw = Literal["fair", "worst", "best"]
DIGITS = 60


class State(NamedTuple):
    """Boxes filled, real upper subtotal, whether the yahtzee box holds points, and all points so far.

    The points are those in boxes and of bonuses for further Yahtzees; the upper bonus comes at the end.
    """

    filled: int = 0
    subtotal: int = 0
    flag: bool = False
    total: int = 0


def state_of(ruleset: Ruleset, boxes: Sequence[int | None], bonuses: int = 0) -> State:
    """The state of a card with these points in its boxes and this number of bonuses."""
    filled, subtotal, flag, total = State()
    for box, held in enumerate(boxes):
        if held is not None:
            filled, subtotal, flag = after_fill(ruleset, filled, subtotal, flag, box, held)
            total += held
    bonus = ruleset.yahtzee.bonus if ruleset.yahtzee else 0
    return State(filled, subtotal, flag, total + bonuses * bonus)


class Goal(NamedTuple):
    """What a player wants: what each final score is worth, and how the mean of that is shown."""

    worth: Callable[[int], Number]
    shown: Callable[[Any], Any]


class Play:
    """Best play of a tiny game for several goals at once.

    A fair throw is worth the mean over all N ways for the dice to fall. It is left as a sum, N times as big,
    to stay whole, and so is what it is compared with: a value with k throws to come is N**k times too large.
    """

    def __init__(self, ruleset: Ruleset, goals: Sequence[Goal], throw: Throw = "fair") -> None:
        self.ruleset, self.goals, self.throw = ruleset, goals, throw
        self.box_keys = ruleset.keys
        self.served = any(category.served for category in ruleset.categories)
        self.ways = FACES**ruleset.dice if throw == "fair" else 1
        faces, dice = range(1, FACES + 1), ruleset.dice
        self.rolls = list(combinations_with_replacement(faces, dice))
        self.keeps = [keep for size in range(dice) for keep in combinations_with_replacement(faces, size)]
        self.kept_in = [[self.keeps.index(keep) for keep in proper_keeps(roll)] for roll in self.rolls]
        self._kept, self._first_kept = joined(self.kept_in)
        # For each keep the rolls that come of it, and for how many of the N ways.
        ways = [completed(keep, dice) for keep in self.keeps]
        self._thrown, self._first_thrown = joined([[self.rolls.index(roll) for roll in of] for of in ways])
        counts = [count * self.ways // of.total() for of in ways for count in of.values()]
        self._counts = np.array(counts, object)[:, None]
        self.legal_fills = cache(partial(legal_fills, ruleset))
        self._values: dict[State, Row] = {}

    def value(self, state: State) -> list[float]:
        """The value for each goal at the start of a turn."""
        open_boxes = len(self.ruleset.categories) - state.filled.bit_count()
        with localcontext(prec=DIGITS):
            return self._shown(self.scaled(state), open_boxes * self.ruleset.rolls)

    def options(self, state: State, dice: Dice, rerolls: int) -> dict[Action, list[float]]:
        """The value for each goal of each action."""
        later = (len(self.ruleset.categories) - state.filled.bit_count() - 1) * self.ruleset.rolls
        with localcontext(prec=DIGITS):
            first = rerolls == self.ruleset.rolls - 1
            options = {action: self._shown(row, later) for action, row in self._fills(state, dice, first)}
            if rerolls > 0:
                before = self.before(self._best(state, rerolls - 1))
                for keep in proper_keeps(dice):
                    row = before[self.keeps.index(keep)]
                    options["keep", keep] = self._shown(row, later + rerolls)
        return options

    def scaled(self, state: State) -> Row:
        """The values as they are kept: N times as large for each throw to come."""
        if state not in self._values:
            if state.filled == (1 << len(self.ruleset.categories)) - 1:
                final = state.total + upper_bonus(self.ruleset, state.subtotal)
                self._values[state] = np.array([goal.worth(final) for goal in self.goals], object)
            else:
                best = self._best(state, self.ruleset.rolls - 1)
                self._values[state] = self.before(best)[self.keeps.index(())]
        return self._values[state]

    def _best(self, state: State, rerolls: int) -> Row:
        """The best that each goal can make of each roll."""
        last = self.ruleset.rolls - 1

        @cache
        def fills(first: bool) -> Row:
            return np.array([self._best_fill(state, roll, first) for roll in self.rolls], object)

        best = fills(self.served and last == 0)
        for throw in range(1, rerolls + 1):
            kept = np.maximum.reduceat(self.before(best)[self._kept], self._first_kept)
            best = np.maximum(fills(self.served and throw == last) * self.ways**throw, kept)
        return best

    def _best_fill(self, state: State, dice: Dice, first: bool) -> Row:
        return reduce(np.maximum, [row for _, row in self._fills(state, dice, first)])

    def before(self, best: Row) -> Row:
        """The values before all dice but those of each keep are thrown, from those of the rolls."""
        thrown = best[self._thrown]
        if self.throw == "worst":
            return np.minimum.reduceat(thrown, self._first_thrown)
        if self.throw == "best":
            return np.maximum.reduceat(thrown, self._first_thrown)
        return np.add.reduceat(thrown * self._counts, self._first_thrown)

    def _fills(self, state: State, dice: Dice, first: bool) -> list[tuple[Action, Row]]:
        """Each legal fill and its values; `first`: the dice are the first roll of the turn."""
        found: list[tuple[Action, Row]] = []
        filled, subtotal, flag, total = state
        for box, won in self.legal_fills(filled, dice, first, flag):
            after = after_fill(self.ruleset, filled, subtotal, flag, box, won)
            gain = won + yahtzee_bonus(self.ruleset, flag, dice)
            found.append((("fill", self.box_keys[box]), self.scaled(State(*after, total + gain))))
        return found

    def _shown(self, row: Row, throws: int) -> list[float]:
        ways = self.ways**throws
        means = [Fraction(number, ways) if isinstance(number, int) else number / ways for number in row]
        return [float(goal.shown(mean)) for goal, mean in zip(self.goals, means, strict=True)]


def joined(parts: Sequence[list[int]]) -> tuple[list[int], list[int]]:
    """The parts one after the other, and where each begins."""
    return [number for part in parts for number in part], [0, *accumulate(len(part) for part in parts[:-1])]


def reach(target: int) -> Goal:
    """To get at least this score: the probability."""
    return Goal(lambda score: int(score >= target), Fraction)


def expect(worth: Sequence[Fraction]) -> Goal:
    """To get what is worth most on average, given what each score from 0 on is worth."""
    factor = lcm(*(value.denominator for value in worth))
    whole = [int(value * factor) for value in worth]
    return Goal(whole.__getitem__, lambda number: Fraction(number) / factor)


def risk(theta: float) -> Goal:
    """To get the greatest E[exp(theta x score)], the least for theta < 0: the certainty equivalent."""
    exact = Decimal(theta)
    return Goal(lambda score: (exact * score).exp().copy_sign(exact), lambda number: abs(number).ln() / exact)


def score() -> Goal:
    """To get the greatest score; also against the worst dice, or with the best."""
    return Goal(int, Fraction)


def chance_of_winning(score: int, opponents: Sequence[dict[int, Fraction]]) -> Fraction:
    """The share of the win that a score gets, over every way for the opponents' games to end."""
    chance = Fraction(0)
    for games in product(*(opponent.items() for opponent in opponents)):
        scores = [other for other, _ in games]
        if max(scores) <= score:
            share = Fraction(1, 1 + scores.count(score))
            for _, probability in games:
                share *= probability
            chance += share
    return chance
