"""Goals and whole games with saved rolls, by plain recursion: the slow, obvious oracle of both.

As in `oracle_saving`, nothing comes from the product but `Ruleset`, which is plain data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from oracle import Action
from oracle_distribution import TIE, Card, Games, in_tie_order
from oracle_goals import Goal, Play, Row, State, Throw
from oracle_rules import Dice, after_fill, legal_fills, proper_keeps, upper_bonus, yahtzee_bonus
from oracle_saving import Saving, throws
from oracle_soft import Moments, Soft, mixed

from solver.rules.model import Ruleset


class SavingPlay(Play):
    """Best play for several goals at once, rolls being saved.

    A value with k throws to come, those saved among them, is N**k times too large: then a fill that saves j
    rolls and a reroll with j left are compared at the same scale.
    """

    def __init__(self, ruleset: Ruleset, goals: Sequence[Goal], throw: Throw = "fair") -> None:
        super().__init__(ruleset, goals, throw)
        self._rows: dict[tuple[State, int], Row] = {}
        self._chain = cache(self._worked_chain)

    def saved_value(self, state: State, saved: int) -> list[float]:
        """The value for each goal at the start of a turn with so many saved rolls."""
        open_boxes = len(self.ruleset.categories) - state.filled.bit_count()
        return self._shown(self.row(state, saved), open_boxes * self.ruleset.rolls + saved)

    def saved_options(self, state: State, dice: Dice, rerolls: int) -> dict[Action, list[float]]:
        """The value for each goal of each action; `rerolls` counts those saved."""
        later = (len(self.ruleset.categories) - state.filled.bit_count() - 1) * self.ruleset.rolls + rerolls
        rows = dict(self._saving_fills(state, dice, rerolls))
        if rerolls:
            before = self.before(self._chain(state, rerolls - 1))
            rows |= {("keep", keep): before[self.keeps.index(keep)] for keep in proper_keeps(dice)}
        return {action: self._shown(row, later) for action, row in rows.items()}

    def row(self, state: State, saved: int) -> Row:
        if (state, saved) not in self._rows:
            if state.filled == (1 << len(self.ruleset.categories)) - 1:
                final = state.total + upper_bonus(self.ruleset, state.subtotal)
                worth = [goal.worth(final) * self.ways**saved for goal in self.goals]
                self._rows[state, saved] = np.array(worth, object)
            else:
                best = self._chain(state, self.ruleset.rolls - 1 + saved)
                self._rows[state, saved] = self.before(best)[self.keeps.index(())]
        return self._rows[state, saved]

    def _worked_chain(self, state: State, rerolls: int) -> Row:
        """The best that each goal can make of each roll with so many rerolls left."""
        fills = [[row for _, row in self._saving_fills(state, roll, rerolls)] for roll in self.rolls]
        if rerolls:
            before = self._chain(state, rerolls - 1)
            keeps = self.before(before)
            for options, inside in zip(fills, self.kept_in, strict=True):
                options += [keeps[keep] for keep in inside]
        return np.array([np.maximum.reduce(options) for options in fills], object)

    def _saving_fills(self, state: State, dice: Dice, rerolls: int) -> list[tuple[Action, Row]]:
        found: list[tuple[Action, Row]] = []
        for box, won in self.legal_fills(state.filled, dice):
            after = after_fill(self.ruleset, state.filled, state.subtotal, state.flag, box, won)
            gain = won + yahtzee_bonus(self.ruleset, state.flag, dice)
            key = self.ruleset.keys[box]
            found.append((("fill", key), self.row(State(*after, state.total + gain), rerolls)))
        return found


class SavingSoft(Soft):
    """Play that slips, rolls being saved."""

    def __init__(self, ruleset: Ruleset, temperature: float) -> None:
        super().__init__(ruleset, temperature)
        self.exact = Saving(ruleset)
        self.moments = cache(self._moments)
        self.on_table = cache(self._on_table)

    def _moments(self, filled: int, subtotal: int, flag: bool, saved: int) -> Moments:
        """Mean and mean square of the points to come at the start of a turn."""
        if filled == (1 << len(self.ruleset.categories)) - 1:
            bonus = Fraction(upper_bonus(self.ruleset, subtotal))
            return bonus, bonus**2
        return self._thrown((filled, subtotal, flag), (), self.ruleset.rolls - 1 + saved)

    def _on_table(self, state: tuple[int, int, bool], dice: Dice, rerolls: int) -> Moments:
        rules = self.ruleset
        worth = self.exact.option_values(*state, dice, rerolls)
        found: dict[Action, Moments] = {}
        for box, won in legal_fills(rules, state[0], dice):
            gain = won + yahtzee_bonus(rules, state[2], dice)
            mean, square = self.moments(*after_fill(rules, *state, box, won), rerolls)
            found["fill", rules.keys[box]] = gain + mean, gain**2 + 2 * gain * mean + square
        for keep in proper_keeps(dice) if rerolls else ():
            found["keep", keep] = self._thrown(state, keep, rerolls - 1)
        return mixed([(chance, found[action]) for action, chance in self.chances(worth).items()])

    def _thrown(self, state: tuple[int, int, bool], keep: Dice, rerolls: int) -> Moments:
        outcomes = throws(self.ruleset.dice - len(keep))
        return mixed([(p, self.on_table(state, tuple(sorted(keep + more)), rerolls)) for more, p in outcomes])


class SavedEnd(NamedTuple):
    """How a turn ends: the box, its points, the points of a bonus, and the rolls left over."""

    box: int
    won: int
    bonus: int
    saved: int


class SavingGames:
    """How games go on under the strategy for points, in exact fractions, card by card."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset, self.exact = ruleset, Saving(ruleset)
        self._of_roll = cache(self._ends_of_roll)
        self._of_keep = cache(self._ends_of_keep)

    def state(self, card: Card) -> tuple[int, int, bool]:
        filled, subtotal, flag = 0, 0, False
        for box, held in enumerate(card.boxes):
            if held is not None:
                filled, subtotal, flag = after_fill(self.ruleset, filled, subtotal, flag, box, held)
        return filled, subtotal, flag

    def games(self, card: Card, saved: int, dice: Dice | None = None, rerolls: int = 0) -> Games:
        """Every way a game can go on from this card, or from dice on it."""
        rules, games = self.ruleset, Games()
        number = len(rules.categories)
        cards: dict[tuple[Card, int], Fraction] = {(card, saved): Fraction(1)}
        games.turn = [None if box is not None else Fraction(0) for box in card.boxes]
        first = sum(box is not None for box in card.boxes) + 1
        for turn in range(first, number + 1):
            following: dict[tuple[Card, int], Fraction] = defaultdict(Fraction)
            for (before, left), reached in cards.items():
                state = self.state(before)
                if dice is not None and turn == first:
                    ends = self._of_roll(state, tuple(sorted(dice)), rerolls)
                else:
                    ends = self._of_keep(state, (), rules.rolls - 1 + left)
                for end, probability in ends.items():
                    boxes = (*before.boxes[: end.box], end.won, *before.boxes[end.box + 1 :])
                    after = Card(boxes, before.bonuses + (end.bonus > 0))
                    following[after, end.saved] += reached * probability
                    games.turn[end.box] += reached * probability * turn  # type: ignore[operator]
            cards = following
        games.mean, games.zero = [Fraction(0)] * number, [Fraction(0)] * number
        each = rules.yahtzee.bonus if rules.yahtzee else 0
        for (finished, _), probability in cards.items():
            extra = upper_bonus(rules, self.state(finished)[1])
            boxes = [won or 0 for won in finished.boxes]
            games.scores[sum(boxes) + extra + each * finished.bonuses] += probability
            for box, won in enumerate(boxes):
                games.mean[box] += probability * won
                games.zero[box] += probability * (won == 0)
            if extra:
                games.upper[extra] += probability
            games.bonuses += probability * finished.bonuses
        return games

    def _ends_of_keep(self, state: tuple[int, int, bool], keep: Dice, left: int) -> dict[SavedEnd, Fraction]:
        """How the turn ends once the dice not kept are thrown, with so many rerolls left after that."""
        ends: dict[SavedEnd, Fraction] = defaultdict(Fraction)
        for thrown, chance in throws(self.ruleset.dice - len(keep)):
            for end, probability in self._of_roll(state, tuple(sorted(keep + thrown)), left).items():
                ends[end] += chance * probability
        return ends

    def _ends_of_roll(self, state: tuple[int, int, bool], dice: Dice, left: int) -> dict[SavedEnd, Fraction]:
        values = self.exact.option_values(*state, dice, left)
        fills = [("fill", self.ruleset.keys[box]) for box, _ in legal_fills(self.ruleset, state[0], dice)]
        keeps = [("keep", keep) for keep in in_tie_order(dice)] if left else []
        best = max(values.values())
        kind, what = next(action for action in (*fills, *keeps) if values[action] > best - TIE)
        if kind == "keep":
            return self._of_keep(state, what, left - 1)
        box = self.ruleset.keys.index(what)
        won = dict(legal_fills(self.ruleset, state[0], dice))[box]
        return {SavedEnd(box, won, yahtzee_bonus(self.ruleset, state[2], dice), left): Fraction(1)}
