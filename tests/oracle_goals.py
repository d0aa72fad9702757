"""What goals are worth by plain recursion on cards with their real points: the slow, obvious oracle of goals.

It plays every game to its end and asks only there what the final score is worth. Its values are rows of numbers,
one a goal, and every goal takes what is best for itself: so one recursion answers for all targets at once. The
numbers are whole, or decimals of many digits; nothing here comes from the product but `Ruleset`, plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, partial, reduce
from itertools import product
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

    A fair throw is worth the mean over all N ways for the dice to fall. It is left as a sum, N times as large, to
    stay whole, and so is what it is compared with: with k throws still to come a value is N**k times too large.
    """

    def __init__(self, ruleset: Ruleset, goals: Sequence[Goal], throw: Throw = "fair") -> None:
        self.ruleset, self.goals = ruleset, goals
        self.throw = throw
        self.ways = FACES**ruleset.dice if throw == "fair" else 1
        # What every turn asks for again and again.
        self.legal_fills = cache(partial(legal_fills, ruleset))
        self.keeps = cache(proper_keeps)
        self.completed = cache(partial(completed, dice=ruleset.dice))
        self._values: dict[State, Row] = {}

    def value(self, state: State) -> list[float]:
        """The value for each goal at the start of a turn."""
        open_boxes = len(self.ruleset.categories) - state.filled.bit_count()
        with localcontext(prec=DIGITS):
            return self._divided(self.scaled(state), open_boxes * self.ruleset.rolls)

    def options(self, state: State, dice: Dice, rerolls: int) -> dict[Action, list[float]]:
        """The value for each goal of each action."""
        later = (len(self.ruleset.categories) - state.filled.bit_count() - 1) * self.ruleset.rolls
        turn = Turn(self, state)
        with localcontext(prec=DIGITS):
            options = {action: self._divided(row, later) for action, row in turn.fills(dice)}
            if rerolls > 0:
                for keep in self.keeps(dice):
                    options["keep", keep] = self._divided(turn.of_keep(keep, rerolls), later + rerolls)
        return options

    def scaled(self, state: State) -> Row:
        """The values as they are kept: N times as large for each throw to come."""
        if state not in self._values:
            if state.filled == (1 << len(self.ruleset.categories)) - 1:
                final = state.total + upper_bonus(self.ruleset, state.subtotal)
                self._values[state] = np.array([goal.worth(final) for goal in self.goals], object)
            else:
                self._values[state] = Turn(self, state).of_keep((), self.ruleset.rolls)
        return self._values[state]

    def _divided(self, row: Row, throws: int) -> list[float]:
        ways = self.ways**throws
        means = [Fraction(number, ways) if isinstance(number, int) else number / ways for number in row]
        return [float(goal.shown(mean)) for goal, mean in zip(self.goals, means, strict=True)]


class Turn:
    """One turn: the values of its rolls and keeps, which are rising rows of dice."""

    def __init__(self, play: Play, state: State) -> None:
        self.play, self.state = play, state
        self._of_roll: dict[tuple[Dice, int], Row] = {}
        self._of_keep: dict[tuple[Dice, int], Row] = {}
        self._best_fill: dict[Dice, Row] = {}

    def fills(self, dice: Dice) -> list[tuple[Action, Row]]:
        """Each legal fill and its values."""
        rules, (filled, subtotal, flag, total) = self.play.ruleset, self.state
        found: list[tuple[Action, Row]] = []
        for box, won in self.play.legal_fills(filled, dice):
            after = after_fill(rules, filled, subtotal, flag, box, won)
            state = State(*after, total + won + yahtzee_bonus(rules, flag, dice))
            found.append((("fill", rules.keys[box]), self.play.scaled(state)))
        return found

    def of_roll(self, dice: Dice, rerolls: int) -> Row:
        """The best that each goal can make of a roll."""
        if (dice, rerolls) not in self._of_roll:
            if dice not in self._best_fill:
                self._best_fill[dice] = reduce(np.maximum, [row for _, row in self.fills(dice)])
            best = self._best_fill[dice] * self.play.ways**rerolls
            if rerolls > 0:
                best = reduce(np.maximum, [self.of_keep(keep, rerolls) for keep in self.play.keeps(dice)], best)
            self._of_roll[dice, rerolls] = best
        return self._of_roll[dice, rerolls]

    def of_keep(self, keep: Dice, rerolls: int) -> Row:
        """What it is worth to throw all dice but these; `rerolls` counts this throw too."""
        if (keep, rerolls) not in self._of_keep:
            self._of_keep[keep, rerolls] = self._thrown(keep, rerolls)
        return self._of_keep[keep, rerolls]

    def _thrown(self, keep: Dice, rerolls: int) -> Row:
        ways = self.play.completed(keep)
        rows = [self.of_roll(dice, rerolls - 1) for dice in ways]
        if self.play.throw == "worst":
            return reduce(np.minimum, rows)
        if self.play.throw == "best":
            return reduce(np.maximum, rows)
        each = self.play.ways // ways.total()
        return sum(row * (count * each) for row, count in zip(rows, ways.values(), strict=True))


def reach(target: int) -> Goal:
    """To get at least this score: the probability."""
    return Goal(lambda score: int(score >= target), Fraction)


def expect(worth: Sequence[Fraction]) -> Goal:
    """To get what is worth most on average, given what each score from 0 on is worth."""
    factor = lcm(*(value.denominator for value in worth))
    whole = [int(value * factor) for value in worth]
    return Goal(whole.__getitem__, lambda number: Fraction(number) / factor)


def risk(theta: float) -> Goal:
    """To get the greatest E[exp(theta x score)], the least where theta < 0: its certainty equivalent, in points."""
    exact = Decimal(theta)
    return Goal(
        lambda score: (exact * score).exp().copy_sign(exact), lambda number: abs(number).ln() / exact
    )


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
