"""Play that slips, by plain recursion over the oracle's exact values; for tiny games.

At an infinite temperature every weight is 1 and all is in exact fractions; else weights are floats, and so is
what they weigh.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from oracle import Action, Dice, Exact, ExactTurn, ways_to_keep
from oracle_distribution import completed
from oracle_rules import after_fill, legal_fills, yahtzee_bonus

from solver.rules.model import Ruleset

Number = Fraction | float
Moments = tuple[Number, Number]


class Soft:
    """Mean and mean square of the points to come when options are drawn by a softmax over their losses."""

    def __init__(self, ruleset: Ruleset, temperature: float) -> None:
        self.ruleset, self.temperature = ruleset, temperature
        self.best = Exact(ruleset)
        self.value = cache(self._value)

    def chances(self, options: dict[Action, Fraction]) -> dict[Action, Number]:
        if self.temperature == math.inf:
            return dict.fromkeys(options, Fraction(1, len(options)))
        best = max(options.values())
        weights = {a: math.exp(-float(best - value) / self.temperature) for a, value in options.items()}
        return {action: weight / sum(weights.values()) for action, weight in weights.items()}

    def _value(self, filled: int, subtotal: int, flag: bool) -> Moments:
        ruleset = self.ruleset
        if filled == (1 << len(ruleset.categories)) - 1:
            bonus = self.best.value(filled, subtotal, flag)
            return bonus, bonus**2
        guide = ExactTurn(self.best, filled, subtotal, flag)

        @cache
        def on_table(dice: Dice, rerolls: int) -> Moments:
            first = rerolls == ruleset.rolls - 1
            worth = dict(guide.fills(dice, first))
            kept = {tuple(sorted(f for f in way if f)): way for way in ways_to_keep(dice)} if rerolls else {}
            worth |= {("keep", keep): guide.mean_after_keeping(way, rerolls) for keep, way in kept.items()}
            found: dict[Action, Moments] = {("keep", keep): thrown(keep, rerolls - 1) for keep in kept}
            for box, won in legal_fills(ruleset, filled, dice, first, flag):
                gain = won + yahtzee_bonus(ruleset, flag, dice)
                mean, square = self.value(*after_fill(ruleset, filled, subtotal, flag, box, won))
                found["fill", ruleset.keys[box]] = gain + mean, gain**2 + 2 * gain * mean + square
            chances = self.chances(worth)
            return mixed([(chance, found[action]) for action, chance in chances.items()])

        @cache
        def thrown(keep: Dice, rerolls: int) -> Moments:
            ways = completed(keep, ruleset.dice)
            outcomes = [(Fraction(count, ways.total()), dice) for dice, count in ways.items()]
            return mixed([(share, on_table(dice, rerolls)) for share, dice in outcomes])

        return thrown((), ruleset.rolls - 1)


def mixed(parts: list[tuple[Number, Moments]]) -> Moments:
    mean: Number = sum((share * moments[0] for share, moments in parts), Fraction(0))
    return mean, sum((share * moments[1] for share, moments in parts), Fraction(0))
