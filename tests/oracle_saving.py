"""The slow, obvious solver of games in which rolls that a turn does not use are kept for later turns.

Exact fractions by plain recursion over (filled boxes, real upper subtotal, flag, saved rolls), for games of a
few boxes and dice, or late cards of any game. It shares no code with the product; see `oracle` for the words.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from oracle import Action, Dense, Floats
from oracle_rules import (
    Dice,
    Filled,
    after_fill,
    as_mask,
    legal_fills,
    proper_keeps,
    upper_bonus,
    yahtzee_bonus,
)

from solver.rules.model import FACES, Ruleset


@cache
def throws(dice: int) -> list[tuple[Dice, Fraction]]:
    """Every outcome of throwing so many dice, sorted, with its chance."""
    ways = Counter(tuple(sorted(faces)) for faces in product(range(1, FACES + 1), repeat=dice))
    return [(faces, Fraction(count, FACES**dice)) for faces, count in ways.items()]


class Saving:
    """Exact values of a game with saved rolls; what is met is remembered."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.value = cache(self._value)
        self.best = cache(self._best)
        self.thrown = cache(self._thrown)

    def of(self, filled: Filled = 0, subtotal: int = 0, flag: bool = False, saved: int = 0) -> Fraction:
        """Expected points still to be won at the start of a turn with so many saved rolls."""
        return self.value(as_mask(self.ruleset, filled), subtotal, flag, saved)

    def option_values(
        self, filled: Filled, subtotal: int, flag: bool, dice: Dice, rerolls: int
    ) -> dict[Action, Fraction]:
        """Expected points still to be won with each option; `rerolls` counts this turn's and the saved."""
        return dict(
            self._options((as_mask(self.ruleset, filled), subtotal, flag), tuple(sorted(dice)), rerolls)
        )

    def _value(self, filled: int, subtotal: int, flag: bool, saved: int) -> Fraction:
        if filled == (1 << len(self.ruleset.categories)) - 1:
            return Fraction(upper_bonus(self.ruleset, subtotal))
        # The first roll must be made; the others of the turn and the saved ones may be.
        return self.thrown((filled, subtotal, flag), (), self.ruleset.rolls - 1 + saved)

    def _thrown(self, state: tuple[int, int, bool], kept: Dice, rerolls: int) -> Fraction:
        """The mean after throwing the dice that are not kept, with so many rerolls left after that."""
        outcomes = throws(self.ruleset.dice - len(kept))
        values = (chance * self.best(state, tuple(sorted(kept + dice)), rerolls) for dice, chance in outcomes)
        return sum(values, Fraction(0))

    def _best(self, state: tuple[int, int, bool], dice: Dice, rerolls: int) -> Fraction:
        return max(value for _, value in self._options(state, dice, rerolls))

    def _options(
        self, state: tuple[int, int, bool], dice: Dice, rerolls: int
    ) -> list[tuple[Action, Fraction]]:
        rules = self.ruleset
        filled, _, flag = state
        options: list[tuple[Action, Fraction]] = []
        for box, won in legal_fills(rules, filled, dice):
            rest = self.value(*after_fill(rules, *state, box, won), rerolls)
            options.append((("fill", rules.keys[box]), won + yahtzee_bonus(rules, flag, dice) + rest))
        if rerolls:
            options += [
                (("keep", keep), self.thrown(state, keep, rerolls - 1)) for keep in proper_keeps(dice)
            ]
        return options


class SavingDense(Dense):
    """The same in float64 with full matrices, for larger games or what comes after `from_filled`.

    Attributes
    ----------
    by_saved
        Saved rolls -> filled (int) -> array [capped subtotal, flag] of values, as in `Dense.values`.
    """

    def __init__(self, ruleset: Ruleset, from_filled: Filled = 0) -> None:
        most = (ruleset.rolls - 1) * len(ruleset.categories)
        self.by_saved: list[dict[int, Floats]] = [{} for _ in range(most + 1)]
        super().__init__(ruleset, from_filled)

    def of(self, filled: Filled, subtotal: int, flag: bool, saved: int) -> float:
        """Expected points still to be won at the start of a turn with so many saved rolls."""
        return float(self.by_saved[saved][as_mask(self.ruleset, filled)][min(subtotal, self.cap), int(flag)])

    def option_values(
        self, filled: Filled, subtotal: int, flag: bool, dice: Dice, rerolls: int
    ) -> dict[Action, float]:
        """Expected points still to be won with each option; `rerolls` counts this turn's and the saved."""
        mask = as_mask(self.ruleset, filled)
        lane = np.array([[min(subtotal, self.cap)], [int(flag)]])
        options: dict[Action, float] = {}
        for box, won in legal_fills(self.ruleset, mask, dice):
            rest = self.of(*after_fill(self.ruleset, mask, subtotal, flag, box, won), rerolls)
            options["fill", self.ruleset.keys[box]] = won + yahtzee_bonus(self.ruleset, flag, dice) + rest
        if rerolls:
            after_roll = self._chain(mask, lane, rerolls - 1)[-1]
            keep_values = self._lattice.keep_to_roll @ after_roll
            for keep in proper_keeps(dice):
                options["keep", keep] = float(keep_values[self.keeps.index(keep), 0])
        return options

    def _chain(self, filled: int, lanes: NDArray[np.int64], most: int) -> list[Floats]:
        """Value of each roll [roll, lane] with 0, 1, ..., `most` rerolls left."""
        chain: list[Floats] = []
        for rerolls in range(most + 1):
            self.values = self.by_saved[rerolls]
            stop = self._best_fills(filled, lanes)
            chain.append(self._best_options(chain[-1], stop) if chain else stop)
        return chain

    def _solve_filled(self, filled: int, reached: NDArray[np.bool_]) -> Floats:
        if filled == (1 << len(self.ruleset.categories)) - 1:
            found = super()._solve_filled(filled, reached)
            for values in self.by_saved:
                values[filled] = found
        else:
            lanes = np.array(np.nonzero(reached))
            own = self.ruleset.rolls - 1
            most = own * filled.bit_count()
            chain = self._chain(filled, lanes, own + most)
            for saved in range(most + 1):
                values = np.full(reached.shape, np.nan)
                values[reached] = self._lattice.keep_to_roll[self.keeps.index(())] @ chain[own + saved]
                self.by_saved[saved][filled] = values
        self.values = self.by_saved[0]
        return self.values[filled]
