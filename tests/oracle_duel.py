"""Two players by plain recursion over turns: the slow, obvious way that the game for two is compared with.

As in `oracle`, nothing is shared with the product but the `Ruleset`. A position is (boxes filled by the
mover, boxes filled by the other, points the mover is ahead). With fractions it is exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Literal, NamedTuple

from oracle import Action
from oracle_rules import Dice, legal_fills, proper_keeps

from solver.rules.model import FACES, Ruleset

Number = Fraction | float
Policy = Callable[[int, Dice, int], Action]
"""What a player does who looks at the own card alone: called with boxes filled, dice, rerolls."""


class Chances(NamedTuple):
    """The mover's chance, ties counting half, and the least and the greatest of another number.

    The other number is followed along every action that is best for who takes it, whichever of them that is.
    """

    chance: Number
    least: Number
    greatest: Number


class PlainDuel:
    """Both players play for the greatest chance.

    Parameters
    ----------
    ruleset
        A game without upper bonus and bonus for further rolls of all dice alike.
    number
        `Fraction` for exact chances, or `float`.
    policies
        A policy by seat (0 moves first), for a player who in truth does not play for the chance.
    follow
        The other number: the chance of a "tie", or the "chance" of the mover, in the game that is played so.

    Attributes
    ----------
    seen
        Every position met, with its numbers.
    """

    def __init__(
        self,
        ruleset: Ruleset,
        number: Callable[[int], Number] = Fraction,
        policies: dict[int, Policy] | None = None,
        follow: Literal["tie", "chance"] = "tie",
    ) -> None:
        self.ruleset, self.number, self.follow = ruleset, number, follow
        self.policies = policies or {}
        self.seen: dict[tuple[int, int, int], Chances] = {}
        self.full = (1 << len(ruleset.categories)) - 1

    def position(self, own: int, other: int, ahead: int) -> Chances:
        """The numbers at the start of a turn."""
        key = own, other, ahead
        if key not in self.seen:
            self.seen[key] = self._position(*key)
        return self.seen[key]

    def options(self, own: int, other: int, ahead: int, dice: Dice, rerolls: int) -> dict[Action, Chances]:
        """Each legal action and what it leads to."""
        return self._turn(own, other, ahead)[1](dice, rerolls)

    def _position(self, own: int, other: int, ahead: int) -> Chances:
        if own == other == self.full:
            chance = self.number(1) if ahead > 0 else self.number(0) if ahead < 0 else self.number(1) / 2
            tie = self.number(int(ahead == 0))
            followed = tie if self.follow == "tie" else chance
            return Chances(chance, followed, followed)
        return self._mean((), self.ruleset.rolls - 1, self._turn(own, other, ahead)[0])

    def _turn(
        self, own: int, other: int, ahead: int
    ) -> tuple[Callable[[Dice, int], Chances], Callable[[Dice, int], dict[Action, Chances]]]:
        seat = int(own.bit_count() != other.bit_count())
        policy = self.policies.get(seat)

        @cache
        def options(dice: Dice, rerolls: int) -> dict[Action, Chances]:
            found: dict[Action, Chances] = {}
            for box, won in legal_fills(self.ruleset, own, dice, rerolls == self.ruleset.rolls - 1):
                after = self.position(other, own | 1 << box, -(ahead + won))
                followed = (after.least, after.greatest)
                if self.follow == "chance":
                    followed = (1 - after.greatest, 1 - after.least)
                found["fill", self.ruleset.keys[box]] = Chances(1 - after.chance, *followed)
            if rerolls:
                for keep in proper_keeps(dice):
                    found["keep", keep] = mean(keep, rerolls - 1)
            return found

        @cache
        def mean(keep: Dice, rerolls: int) -> Chances:
            return self._mean(keep, rerolls, best)

        @cache
        def best(dice: Dice, rerolls: int) -> Chances:
            found = options(dice, rerolls)
            chance = max(option.chance for option in found.values())
            if policy is not None:
                chosen = found[policy(own, dice, rerolls)]
                return Chances(chance, chosen.least, chosen.greatest)
            equal = [option for option in found.values() if option.chance == chance]
            return Chances(chance, min(o.least for o in equal), max(o.greatest for o in equal))

        return best, options

    def _mean(self, keep: Dice, rerolls: int, best: Callable[[Dice, int], Chances]) -> Chances:
        left = self.ruleset.dice - len(keep)
        results = [(best(dice, rerolls), count) for dice, count in throws(keep, left)]
        ways = FACES**left
        return Chances(*(sum(result[i] * count for result, count in results) / ways for i in range(3)))


@cache
def throws(keep: Dice, left: int) -> list[tuple[Dice, int]]:
    """The dice, sorted, that a keep and some thrown dice can make, and how many ways there are to each."""
    falls = product(range(1, FACES + 1), repeat=left)
    return list(Counter(tuple(sorted((*keep, *fall))) for fall in falls).items())
