"""The slow, obvious oracle of mean squares and bonuses where rolls are saved: fractions, plain recursion.

It follows the choice that `oracle_saving` values highest, taking of equals the one that is documented:
filling before keeping; boxes in card order; keeps of more dice first, of higher dice first among these.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from oracle import Action
from oracle_distribution import TIE, in_tie_order
from oracle_rules import Dice, Filled, after_fill, as_mask, legal_fills, upper_bonus, yahtzee_bonus
from oracle_saving import Saving, throws

from solver.rules.model import Ruleset

Two = tuple[Fraction, Fraction]
State = tuple[int, int, bool]


class SavingMoments(Saving):
    """The mean square of the points to come, and the chance of an upper bonus."""

    def __init__(self, ruleset: Ruleset) -> None:
        super().__init__(ruleset)
        self.two = cache(self._two)
        self.rolled = cache(self._rolled)

    def moments(
        self, filled: Filled = 0, subtotal: int = 0, flag: bool = False, saved: int = 0
    ) -> tuple[Fraction, Fraction, Fraction]:
        """Mean and variance of the points to come from the start of a turn, and the chance of a bonus."""
        state = as_mask(self.ruleset, filled), subtotal, flag
        return self._central(self.of(*state, saved), self.two(*state, saved))

    def moments_from(
        self, filled: Filled, subtotal: int, flag: bool, dice: Dice, rerolls: int
    ) -> tuple[Fraction, Fraction, Fraction]:
        """The same with dice on the table and so many rerolls left, the saved ones among them."""
        state = as_mask(self.ruleset, filled), subtotal, flag
        dice = tuple(sorted(dice))
        return self._central(self.best(state, dice, rerolls), self.rolled(state, dice, rerolls))

    def choice(self, state: State, dice: Dice, rerolls: int) -> Action:
        """What the strategy does."""
        options = dict(self._options(state, dice, rerolls))
        order: list[Action] = [action for action in options if action[0] == "fill"]
        if rerolls:
            order += [("keep", keep) for keep in in_tie_order(dice)]
        assert len(order) == len(options)
        return next(action for action in order if options[action] > max(options.values()) - TIE)

    @staticmethod
    def _central(mean: Fraction, two: Two) -> tuple[Fraction, Fraction, Fraction]:
        return mean, two[0] - mean**2, two[1]

    def _two(self, filled: int, subtotal: int, flag: bool, saved: int) -> Two:
        if filled == (1 << len(self.ruleset.categories)) - 1:
            bonus = Fraction(upper_bonus(self.ruleset, subtotal))
            return bonus**2, Fraction(bonus > 0)
        return self._mean((filled, subtotal, flag), (), self.ruleset.rolls - 1 + saved)

    def _mean(self, state: State, kept: Dice, rerolls: int) -> Two:
        square = bonus = Fraction(0)
        for dice, chance in throws(self.ruleset.dice - len(kept)):
            one, other = self.rolled(state, tuple(sorted(kept + dice)), rerolls)
            square += chance * one
            bonus += chance * other
        return square, bonus

    def _rolled(self, state: State, dice: Dice, rerolls: int) -> Two:
        kind, what = self.choice(state, dice, rerolls)
        rules = self.ruleset
        if kind == "keep":
            assert isinstance(what, tuple)
            return self._mean(state, what, rerolls - 1)
        box, won = next(fill for fill in legal_fills(rules, state[0], dice) if rules.keys[fill[0]] == what)
        gain = won + yahtzee_bonus(rules, state[2], dice)
        after = after_fill(rules, *state, box, won)
        square, bonus = self.two(*after, rerolls)
        return gain**2 + 2 * gain * self.value(*after, rerolls) + square, bonus
