"""Positions drawn at random: from games played by the strategy, from games with slips, or from all states.

Every position is drawn for itself. One out of a game: a turn and a throw are drawn first, each with equal
chances, and the game is played until then; where the turn ended before that throw, the draw is lost. So
every decision of every game has the same chance, and no two positions come from one game. A draw may
also be lost among the states, so that fewer positions may come back than were asked for; drawing again
for the rest leaves every chance as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from .dice import Lattice
from .rules import FACES
from .scoring import Scoring
from .shelf import remembered
from .states import States
from .strategy import Follower
from .turns import Bools, Cards, Fills, Ints, fills, keeps_inside


@dataclass(frozen=True, eq=False)
class Drawn:
    """Positions: cards, the number of the roll on the table and the rerolls left of each."""

    cards: Cards
    rolls: Ints
    rerolls: Ints

    def __len__(self) -> int:
        return len(self.rolls)


def from_games(
    follower: Follower, count: int, random: np.random.Generator, epsilon: float, pool: ThreadPoolExecutor
) -> Drawn:
    """Return positions of games from the empty card, at most `count`.

    Parameters
    ----------
    follower
        Follows the strategy that the games are played by.
    count
        How many games to begin.
    random
        Where the random numbers come from.
    epsilon
        The probability, at each decision, that any legal action is taken instead, each with equal chances.
    pool
        Threads that work out the strategy.
    """
    game = follower.game
    boxes = game.scoring.boxes
    # Where rolls are saved, as many as can be in the last turn.
    rolls = game.scoring.rolls + follower.scope.most(boxes - 1)
    turn_wanted, throw_wanted = np.divmod(random.integers(boxes * rolls, size=count), rolls)
    cards = Cards.empty(game, count)
    met, met_rolls = np.zeros(count, bool), np.zeros(count, np.int64)
    for turn in range(boxes):
        playing = np.flatnonzero(turn_wanted >= turn)
        wanted = np.where(turn_wanted[playing] == turn, throw_wanted[playing], rolls)
        here = _Turn(follower, turn, cards[playing], random, epsilon, pool)
        for throw, moving in enumerate(here.throws()):
            reached = moving[wanted[moving] == throw]
            met[playing[reached]] = True
            met_rolls[playing[reached]] = here.rolls[reached]
        # The card of a position is the one before its turn.
        going_on = turn_wanted[playing] > turn
        cards.points[playing[going_on]] = here.cards.points[going_on]
        cards.bonuses[playing[going_on]] = here.cards.bonuses[going_on]
        cards.saved[playing[going_on]] = here.cards.saved[going_on]
    left = cards.saved[met].astype(np.int64) + game.scoring.rolls - 1 - throw_wanted[met]
    return Drawn(cards[met], met_rolls[met], left)


class _Turn:
    """One turn of many games side by side."""

    def __init__(
        self,
        follower: Follower,
        level: int,
        cards: Cards,
        random: np.random.Generator,
        epsilon: float,
        pool: ThreadPoolExecutor,
    ) -> None:
        self.cards = cards.copy()
        self.rolls = np.zeros(len(cards), np.int64)
        self._before, self._scoring = cards, cards.game.scoring
        self._random, self._epsilon = random, epsilon
        states, self._state = np.unique(cards.positions(), return_inverse=True)
        self._saves = follower.scope.stride > 0
        rerolls = self._scoring.rolls - 1 + follower.scope.most(level)
        self._actions = follower.actions(states, pool, rerolls=rerolls)

    def throws(self) -> Iterator[Ints]:
        """Throw the dice; yield the games that have a decision to make, and make it."""
        boxes, lattice = self._scoring.boxes, self._scoring.lattice
        keeps = np.zeros(len(self.cards), np.int64)
        moving = np.arange(len(self.cards))
        rerolls = self._scoring.rolls - 1 + self.cards.saved.astype(np.int64)
        while len(moving):
            left = rerolls[moving]
            self.rolls[moving] = _completed(lattice, keeps[moving], self._random)
            yield moving
            actions = self._chosen(moving, left)
            fill = actions < boxes
            self._fill(moving[fill], actions[fill], left[fill])
            moving = moving[~fill]
            keeps[moving] = actions[~fill] - boxes
            rerolls[moving] -= 1

    def _chosen(self, moving: Ints, left: Ints) -> Ints:
        """Return the action of each game: the strategy's, or now and then any."""
        actions: Ints = self._actions[self._state[moving], left, self.rolls[moving]].astype(np.int64)
        if self._epsilon:
            slips = np.flatnonzero(self._random.random(len(moving)) < self._epsilon)
            games = moving[slips]
            found = fills(self._before[games], self.rolls[games], left[slips])
            actions[slips] = self._any(found, self.rolls[games], left[slips])
        return actions

    def _any(self, found: Fills, rolls: Ints, left: Ints) -> Ints:
        """Return a legal action of each game, each with equal chances."""
        inside, counts = keeps_inside(self._scoring.lattice)
        boxes = np.count_nonzero(found.legal, axis=1)
        number = self._random.integers(boxes + np.where(left > 0, counts[rolls], 0))
        fill = _nth(found.legal, np.minimum(number, boxes - 1))
        keep = inside[rolls, np.maximum(number - boxes, 0)]
        actions: Ints = np.where(number < boxes, fill, found.legal.shape[1] + keep)
        return actions

    def _fill(self, games: Ints, boxes: Ints, left: Ints) -> None:
        found = fills(self._before[games], self.rolls[games], left)
        self.cards.points[games, boxes] = found.points[np.arange(len(games)), boxes]
        self.cards.bonuses[games] += found.bonus
        if self._saves:
            self.cards.saved[games] = left


def _completed(lattice: Lattice, keeps: Ints, random: np.random.Generator) -> Ints:
    """Return the rolls after throwing all dice that are not kept, one after the other."""
    held = keeps.copy()
    for _ in range(lattice.dice):
        short = np.flatnonzero(held < lattice.short)
        held[short] = lattice.more[held[short], random.integers(FACES, size=len(short))]
    return held - lattice.short


def from_states(game: States, count: int, random: np.random.Generator) -> Drawn:
    """Return positions from all states with a box open, each with equal chances, at most `count`.

    Roll and rerolls are drawn as well, each with equal chances: no roll is rarer than another. The card is
    one that has the boxes filled, the upper subtotal (capped) and the flag of its state; any points that a
    box can hold have a chance to stand in it, and no bonus for further Yahtzees. Where rolls are saved, those
    that a turn itself does not bring are.
    """
    rules = game.scoring
    cards, possible = _cards_of_states(game, count, random)
    rolls = random.integers(len(rules.lattice.rolls), size=count)
    own = rules.rolls - 1
    turns = cards.is_filled.sum(axis=1) + 1 if rules.saves else 1
    rerolls = random.integers(own * turns + 1, size=count)
    cards.saved[:] = np.maximum(rerolls - own, 0)
    return Drawn(cards[possible], rolls[possible], rerolls[possible])


def _cards_of_states(game: States, count: int, random: np.random.Generator) -> tuple[Cards, Bools]:
    """Return a card for each of many states, and whether there is one.

    There is none where the box that sets the flag counts for the subtotal and the two do not fit.
    """
    rules, upper = game.scoring, game.upper
    unfinished = game.filled[:-1]
    uppers = game.upper_filled(unfinished)
    weight = (upper.reachable[uppers] * game.flags[:-1]).astype(np.int64)
    ends = np.cumsum(weight)
    drawn = random.integers(ends[-1], size=count)
    number = np.searchsorted(ends, drawn, side="right")
    rest = drawn - (ends - weight)[number]
    flag, nth = np.divmod(rest, upper.reachable[uppers[number]])
    subtotal = _nth(upper.number[uppers[number]] >= 0, nth)
    filled = unfinished[number]

    cards, possible = Cards.empty(game, count), np.ones(count, bool)
    sums = _upper_sums(rules)
    rest_of_uppers, missing = uppers[number], subtotal.copy()
    # The box that sets the flag first, as that says what it holds; then in card order.
    for box in sorted(range(rules.boxes), key=lambda box: box != game.arming):
        here = np.flatnonzero(filled >> box & 1)
        choices = rules.own[box].astype(np.int64)
        fits = np.ones((len(here), len(choices)), bool)
        if box == game.arming:
            fits &= (choices > 0) == (flag[here, None] > 0)
        if rules.requires[box]:
            fits &= (choices == 0) | (flag[here, None] > 0)
        if rules.upper[box]:
            rest_of_uppers[here] &= ~sums.bit[box]
            left = missing[here, None] - choices
            fits &= sums.possible(rest_of_uppers[here, None], left, subtotal[here, None] == rules.cap)
        possible[here] &= fits.any(axis=1)
        chosen = choices[np.argmax(fits * (1 + random.random(fits.shape)), axis=1)]
        cards.points[here, box] = chosen
        if rules.upper[box]:
            missing[here] -= chosen
    return cards, possible


@dataclass(frozen=True, eq=False)
class _UpperSums:
    """What the boxes of each set of upper boxes can hold together, by their own rules.

    Attributes
    ----------
    bit : int64 array, shape (boxes,)
        The bit of each upper box in a set of them.
    exact : bool array, shape (sets, cap + 1)
        Whether a set can hold so many points.
    most : int64 array, shape (sets,)
        The most that a set can hold.
    """

    bit: Ints
    exact: Bools
    most: Ints

    def possible(self, uppers: Ints, points: Ints, or_more: Bools) -> Bools:
        """Return whether sets of upper boxes can hold these points, or that many where `or_more`."""
        within = (points >= 0) & (points < self.exact.shape[1])
        exactly = within & self.exact[uppers, np.where(within, points, 0)]
        enough: Bools = np.where(or_more, points <= self.most[uppers], exactly)
        return enough


@remembered(lambda sums, _: sums.exact.nbytes)
def _upper_sums(rules: Scoring) -> _UpperSums:
    uppers = np.flatnonzero(rules.upper).tolist()
    bit = np.zeros(rules.boxes, np.int64)
    bit[uppers] = 1 << np.arange(len(uppers))
    exact = np.zeros((1 << len(uppers), rules.cap + 1), bool)
    exact[0, 0] = True
    most = np.zeros(len(exact), np.int64)
    for filled in range(1, len(exact)):
        place = filled.bit_length() - 1
        before = filled ^ 1 << place
        points = rules.own[uppers[place]].tolist()
        most[filled] = most[before] + points[-1]
        for p in points:
            if p <= rules.cap:
                exact[filled, p:] |= exact[before, : rules.cap + 1 - p]
    return _UpperSums(bit, exact, most)


def _nth(chosen: Bools, number: Ints) -> Ints:
    """Return the place of the true entry with this number, from 0, in each row."""
    place: Ints = np.argmax(np.cumsum(chosen, axis=1) > number[:, None], axis=1)
    return place
