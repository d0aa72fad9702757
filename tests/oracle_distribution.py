"""How games end under the strategy, in exact fractions: the slow, obvious oracle of the distributions.

It follows every card that a game can come to, one after the other, with all its boxes, and every roll in
every turn. What a move is worth it works out for itself, as `oracle.Exact` does but with the dice sorted, and
which of equals it takes from the sentence that documents it: filling before keeping; boxes in card order;
keeps of more dice first, and of higher dice first among these. Nothing here comes from the product but
`Ruleset`, which is plain data.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

from oracle import Action
from oracle_rules import (
    Dice,
    after_fill,
    legal_fills,
    points,
    proper_keeps,
    upper_bonus,
    yahtzee_bonus,
)

from solver.rules.model import FACES, Ruleset

TIE = Fraction(1, 10**9)
Score = dict[int, Fraction]
State = tuple[int, int, bool]  # filled boxes, real upper subtotal, whether the yahtzee box holds points


class Card(NamedTuple):
    """Points of each box, None where it is open, and the number of bonuses for further Yahtzees."""

    boxes: tuple[int | None, ...]
    bonuses: int = 0


class End(NamedTuple):
    """How a turn ends: the box that is filled, its points, the points of a bonus, and the last roll."""

    box: int
    won: int
    bonus: int
    dice: Dice


@dataclass
class Games:
    """What whole games from some card are like.

    Attributes
    ----------
    scores
        Final score -> probability.
    mean, zero
        For each box its expected points, and the probability that it holds 0.
    turn
        For each box the expected number (from 1) of the turn in which it is filled; None where it was.
    upper
        Points of the upper bonus, if any -> probability.
    bonuses
        Expected number of bonuses for further Yahtzees.
    """

    scores: Score = field(default_factory=lambda: defaultdict(Fraction))
    mean: list[Fraction] = field(default_factory=list)
    zero: list[Fraction] = field(default_factory=list)
    turn: list[Fraction | None] = field(default_factory=list)
    upper: Score = field(default_factory=lambda: defaultdict(Fraction))
    bonuses: Fraction = Fraction(0)


class Turn:
    """What each roll and keep of one turn is worth; a roll and a keep is a rising row of dice."""

    def __init__(self, strategy: Strategy, state: State) -> None:
        self.strategy, self.state = strategy, state
        self._of_roll: dict[tuple[Dice, int], Fraction] = {}
        self._of_keep: dict[tuple[Dice, int], Fraction] = {}

    def options(self, dice: Dice, rerolls: int) -> list[tuple[Action, Fraction]]:
        """Every action with the points that are still to be won, in the order in which ties are broken."""
        rules = self.strategy.ruleset
        found: list[tuple[Action, Fraction]] = []
        first = rerolls == rules.rolls - 1
        for box, won in legal_fills(rules, self.state[0], dice, first, self.state[2]):
            rest = self.strategy.value(after_fill(rules, *self.state, box, won))
            found.append((("fill", rules.keys[box]), won + yahtzee_bonus(rules, self.state[2], dice) + rest))
        if rerolls > 0:
            found += [(("keep", keep), self.of_keep(keep, rerolls)) for keep in in_tie_order(dice)]
        return found

    def of_roll(self, dice: Dice, rerolls: int) -> Fraction:
        """The best that can be made of a roll."""
        if (dice, rerolls) not in self._of_roll:
            self._of_roll[dice, rerolls] = max(value for _, value in self.options(dice, rerolls))
        return self._of_roll[dice, rerolls]

    def of_keep(self, keep: Dice, rerolls: int) -> Fraction:
        """The mean after rerolling all dice but these; `rerolls` counts this reroll too."""
        if (keep, rerolls) not in self._of_keep:
            ways = completed(keep, self.strategy.ruleset.dice)
            values = [count * self.of_roll(dice, rerolls - 1) for dice, count in ways.items()]
            self._of_keep[keep, rerolls] = sum(values, Fraction(0)) / ways.total()
        return self._of_keep[keep, rerolls]


class Strategy:
    """The strategy of a tiny game, and where it leads."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self._values: dict[State, Fraction] = {}
        self._turns: dict[State, Turn] = {}
        self._ends: dict[tuple[State, Dice, int], dict[End, Fraction]] = {}

    def empty(self) -> Card:
        """The card of a game not yet begun."""
        return Card((None,) * len(self.ruleset.categories))

    def state(self, card: Card) -> State:
        """What matters of a card for what is still to come."""
        filled = subtotal = 0
        flag = False
        for box, held in enumerate(card.boxes):
            if held is not None:
                filled, subtotal, flag = after_fill(self.ruleset, filled, subtotal, flag, box, held)
        return filled, subtotal, flag

    def value(self, state: State) -> Fraction:
        """Points still to be won at the start of a turn."""
        if state not in self._values:
            if state[0] == (1 << len(self.ruleset.categories)) - 1:
                self._values[state] = Fraction(upper_bonus(self.ruleset, state[1]))
            else:
                self._values[state] = self.turn(state).of_keep((), self.ruleset.rolls)
        return self._values[state]

    def turn(self, state: State) -> Turn:
        """The turn that begins in this state."""
        return self._turns.setdefault(state, Turn(self, state))

    def choice(self, card: Card, dice: Dice, rerolls: int) -> Action:
        """The action of the strategy, by the tie rule."""
        options = self.turn(self.state(card)).options(tuple(sorted(dice)), rerolls)
        best = max(value for _, value in options)
        return next(action for action, value in options if value > best - TIE)

    def ends_of_roll(self, card: Card, dice: Dice, rerolls: int) -> dict[End, Fraction]:
        """How the turn ends that has come to this roll."""
        kind, what = self.choice(card, dice, rerolls)
        if kind == "keep":
            return self.ends_of_keep(card, what, rerolls)
        dice = tuple(sorted(dice))
        filled, _, flag = self.state(card)
        box = self.ruleset.keys.index(what)
        first = rerolls == self.ruleset.rolls - 1
        won = dict(legal_fills(self.ruleset, filled, dice, first, flag))[box]
        return {End(box, won, yahtzee_bonus(self.ruleset, flag, dice), dice): Fraction(1)}

    def ends_of_keep(self, card: Card, keep: Dice, rerolls: int) -> dict[End, Fraction]:
        """How the turn ends after rerolling all dice but these; `rerolls` counts this reroll too."""
        key = (self.state(card), keep, rerolls)
        if key not in self._ends:
            ends: dict[End, Fraction] = defaultdict(Fraction)
            ways = completed(keep, self.ruleset.dice)
            for dice, count in ways.items():
                for end, probability in self.ends_of_roll(card, dice, rerolls - 1).items():
                    ends[end] += probability * count / ways.total()
            self._ends[key] = ends
        return self._ends[key]

    def games(self, card: Card, dice: Dice | None = None, rerolls: int = 0) -> Games:
        """Every way a game can go on from this card, or from dice on it."""
        games = Games()
        number = len(self.ruleset.categories)
        held = [box is not None for box in card.boxes]
        turns = [Fraction(0)] * number
        cards: dict[Card, Fraction] = {card: Fraction(1)}
        for turn in range(sum(held) + 1, number + 1):
            following: dict[Card, Fraction] = defaultdict(Fraction)
            for before, reached in cards.items():
                if dice is not None and before == card:
                    ends = self.ends_of_roll(card, dice, rerolls)
                else:
                    ends = self.ends_of_keep(before, (), self.ruleset.rolls)
                for end, probability in merged(ends).items():
                    following[filled(before, end)] += reached * probability
                    turns[end.box] += reached * probability * turn
            cards = following
        games.turn = [None if was else mean for was, mean in zip(held, turns, strict=True)]
        games.mean = [Fraction(0)] * number
        games.zero = [Fraction(0)] * number
        each = self.ruleset.yahtzee.bonus if self.ruleset.yahtzee else 0
        for finished, probability in cards.items():
            extra = upper_bonus(self.ruleset, self.state(finished)[1])
            boxes = [won or 0 for won in finished.boxes]
            games.scores[sum(boxes) + extra + each * finished.bonuses] += probability
            for box, won in enumerate(boxes):
                games.mean[box] += probability * won
                games.zero[box] += probability * (won == 0)
            if extra:
                games.upper[extra] += probability
            games.bonuses += probability * finished.bonuses
        return games

    def value_after(self, card: Card, end: End) -> Fraction:
        """Expected points still to be won after a turn that ended so."""
        return self.value(after_fill(self.ruleset, *self.state(card), end.box, end.won))

    def shows(self, box: int, dice: Dice) -> bool:
        """Whether the roll shows what the box asks for, by its own rule."""
        return points(self.ruleset, self.ruleset.categories[box], dice) > 0


def in_tie_order(dice: Dice) -> Iterator[Dice]:
    """The keeps of a roll: more dice first; among as many, the higher highest die first, then the next."""
    keeps = proper_keeps(dice)
    for size in range(len(dice) - 1, -1, -1):
        highest_first = sorted((keep[::-1] for keep in keeps if len(keep) == size), reverse=True)
        yield from (keep[::-1] for keep in highest_first)


@cache
def completed(keep: Dice, dice: int) -> Counter[Dice]:
    """How many of the equally likely throws of the dice not kept give each roll."""
    throws = product(range(1, FACES + 1), repeat=dice - len(keep))
    return Counter(tuple(sorted((*keep, *thrown))) for thrown in throws)


def merged(ends: dict[End, Fraction]) -> dict[End, Fraction]:
    """The ends without their last rolls."""
    found: dict[End, Fraction] = defaultdict(Fraction)
    for end, probability in ends.items():
        found[end._replace(dice=())] += probability
    return found


def filled(card: Card, end: End) -> Card:
    """The card after a turn that ended so."""
    boxes = (*card.boxes[: end.box], end.won, *card.boxes[end.box + 1 :])
    return Card(boxes, card.bonuses + (end.bonus > 0))


def quantile(scores: dict[int, float], share: float) -> int:
    """The least score x with P(score <= x) >= share, by adding up; rounding of the sum allowed for."""
    so_far = 0.0
    for score in sorted(scores):
        so_far += scores[score]
        if so_far >= share - 1e-12:
            return score
    raise ValueError(f"share {share} of {so_far}")
