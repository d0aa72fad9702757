"""Many turns side by side in plain numpy: every legal action of many positions and its value.

The same operations in the same order as in `turn`, so that values are equal to the bit; only that each
array has one axis more, the positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .dice import Lattice
from .states import States
from .turn import TIE, maxima, mean_of_six, throw

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SIDE_BY_SIDE = 256
"""Positions worked on at once: their keeps' values stay in the cache of the processor."""
OPEN = -1


@dataclass(frozen=True, eq=False)
class Cards:
    """The cards of many positions.

    Attributes
    ----------
    points : int32 array, shape (n, boxes)
        Points of each box, `OPEN` where it is open.
    bonuses : int32 array, shape (n,)
        How many bonuses for further Yahtzees each holds.
    saved : int32 array, shape (n,)
        How many rolls earlier turns have saved.
    """

    game: States
    points: NDArray[np.int32]
    bonuses: NDArray[np.int32]
    saved: NDArray[np.int32]

    @classmethod
    def empty(cls, game: States, count: int) -> Cards:
        """Return cards of games not yet begun."""
        points = np.full((count, game.scoring.boxes), OPEN, np.int32)
        return cls(game, points, np.zeros(count, np.int32), np.zeros(count, np.int32))

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, which: Ints | Bools | slice) -> Cards:
        return Cards(self.game, self.points[which], self.bonuses[which], self.saved[which])

    def copy(self) -> Cards:
        """Return cards of their own."""
        return Cards(self.game, self.points.copy(), self.bonuses.copy(), self.saved.copy())

    @property
    def is_filled(self) -> Bools:
        """Which boxes are filled, shape (n, boxes)."""
        filled: Bools = self.points != OPEN
        return filled

    @property
    def filled(self) -> Ints:
        """The filled boxes of each, bit c for box c in card order."""
        bits: Ints = self.is_filled @ (1 << np.arange(self.points.shape[1]))
        return bits

    @property
    def subtotal(self) -> Ints:
        """The upper subtotal of each, capped at the highest threshold of the upper bonus."""
        rules = self.game.scoring
        upper: Ints = np.maximum(self.points[:, rules.upper], 0).sum(axis=1, dtype=np.int64)
        return np.minimum(upper, rules.cap)

    @property
    def flag(self) -> Ints:
        """1 where a further Yahtzee brings a bonus, or the box that others require holds points."""
        arming = self.game.arming
        if arming < 0:
            return np.zeros(len(self), np.int64)
        return (self.points[:, arming] > 0).astype(np.int64)

    @property
    def total(self) -> Ints:
        """Points in boxes and bonuses for further Yahtzees, without the upper bonus."""
        boxes: Ints = np.maximum(self.points, 0).sum(axis=1, dtype=np.int64)
        return boxes + self.bonuses.astype(np.int64) * self.game.scoring.bonus

    def positions(self) -> Ints:
        """Return where the value of each card's state lies."""
        return _positions(self.game, self.filled, self.subtotal, self.flag)


@dataclass(frozen=True, eq=False)
class Fills:
    """The boxes that the roll of each position may go in.

    Attributes
    ----------
    legal : bool array, shape (n, boxes)
    points : int32 array, shape (n, boxes)
        What goes into each box, where that is legal.
    bonus : bool array, shape (n,)
        Whether the bonus for a further Yahtzee comes on top.
    """

    legal: Bools
    points: NDArray[np.int32]
    bonus: Bools


@dataclass(frozen=True, eq=False)
class Options:
    """Every legal action of many positions, in the order in which ties are broken.

    The first axis is the position; the second one the boxes in card order, then the keeps.

    Attributes
    ----------
    actions : int16 array
        Category c for a fill, boxes + k for keep k of the lattice; `OPEN` where there is no action.
    values : float64 array
        Expected points still to come, those of the box included; -inf where there is no action.
    best : int64 array, shape (n,)
        The place of the best action, the first of equals by the tie rule of `lookup`.
    """

    actions: NDArray[np.int16]
    values: Floats
    best: Ints


@lru_cache(maxsize=8)
def keeps_inside(lattice: Lattice) -> tuple[NDArray[np.int32], Ints]:
    """Return the keeps inside each roll, in the order of ties, and how many there are.

    The rows of shorter lists end in `OPEN`.
    """
    first, inside = lattice.inside
    counts = np.diff(first).astype(np.int64)
    keeps = np.full((len(counts), int(counts.max())), OPEN, np.int32)
    keeps[np.arange(keeps.shape[1]) < counts[:, None]] = inside
    return keeps, counts


def fills(cards: Cards, rolls: Ints, rerolls: Ints) -> Fills:
    """Return where the roll of each card may go and what it scores there with so many rerolls left."""
    game, rules = cards.game, cards.game.scoring
    filled, first = cards.filled, rerolls == rules.rolls - 1
    boxes = game.available(filled)
    points = np.where(first, rules.served_points[:, rolls], rules.points[:, rolls]).T.copy()
    bonus = np.zeros(len(cards), bool)
    for face, roll in enumerate(rules.lattice.alike.tolist() if rules.special else ()):
        here = np.flatnonzero((rolls == roll) & (filled >> rules.yahtzee & 1 > 0))
        allowed, joker = game.joker_available(filled[here])
        boxes[here] = allowed[:, face]
        scores = joker[:, face]
        on_first = first[here[scores], None]
        served, later = rules.served_joker_points[:, face], rules.joker_points[:, face]
        points[here[scores]] = np.where(on_first, served, later)
        bonus[here] = (cards.flag[here] > 0) & (rules.bonus > 0)
    points[(cards.flag == 0)[:, None] & rules.requires] = 0
    legal = boxes[:, None] >> np.arange(rules.boxes) & 1 > 0
    return Fills(legal, points, bonus)


def options(values: Floats, cards: Cards, rolls: Ints, rerolls: Ints, stride: int = 0) -> Options:
    """Return every legal action of many positions with its value.

    Parameters
    ----------
    values
        The value of each state of the game.
    cards, rolls, rerolls
        The card, the number of the roll and the rerolls left of each position.
    stride
        How far on in `values` those for one more saved roll lie; 0 where none are saved.
    """
    boxes, lattice = cards.game.scoring.boxes, cards.game.scoring.lattice
    inside, _ = keeps_inside(lattice)
    keeps = np.where(rerolls[:, None] > 0, inside[rolls], OPEN)
    of_fills = fills(cards, rolls, rerolls)
    actions = np.concatenate(
        [np.where(of_fills.legal, np.arange(boxes), OPEN), np.where(keeps == OPEN, OPEN, boxes + keeps)],
        axis=1,
    ).astype(np.int16)
    found = np.full(actions.shape, -np.inf)
    for first in range(0, len(cards), _SIDE_BY_SIDE):
        piece = slice(first, first + _SIDE_BY_SIDE)
        turns = _Turns(values, cards[piece], stride)
        found[piece, :boxes] = turns.fills(of_fills, piece, rerolls[piece])
        turns.keeps(rerolls[piece], keeps[piece], found[piece, boxes:])
    return Options(actions, found, _best(found, boxes))


class _Turns:
    """Some turns side by side: what each fill, roll and keep is worth, one column a turn."""

    def __init__(self, values: Floats, cards: Cards, stride: int) -> None:
        self._values, self._cards, self._game, self._stride = values, cards, cards.game, stride
        self._filled, self._subtotal, self._flag = cards.filled, cards.subtotal, cards.flag

    def fills(self, found: Fills, piece: slice, rerolls: Ints) -> Floats:
        """Return the value of each fill of the turns' rolls with so many rerolls left, shape (n, boxes).

        It is -inf where the fill is not legal.
        """
        legal, points = found.legal[piece], found.points[piece]
        bonus = found.bonus[piece] * self._game.scoring.bonus
        worth = np.full(legal.shape, -np.inf)
        for box in range(legal.shape[1]):
            here = np.flatnonzero(legal[:, box])
            worth[here, box] = self._worth(box, points[here, box], here, rerolls[here]) + bonus[here]
        return worth

    def keeps(self, rerolls: Ints, wanted: NDArray[np.int32], found: Floats) -> None:
        """Write into `found` the values of the keeps `wanted`, a row a turn."""
        lattice = self._game.scoring.lattice
        most = int(rerolls.max())
        if not most:
            return
        keeps = np.empty((len(lattice.keeps), len(rerolls)))
        keeps[lattice.short :] = self._rolls(0)
        for left in range(1, most + 1):
            throw(lattice, keeps, mean_of_six)
            here = np.flatnonzero(rerolls == left)
            there = wanted[here]
            found[here] = np.where(there == OPEN, -np.inf, keeps[there, here[:, None]])
            if left < most:
                if self._stride:
                    keeps[lattice.short :] = self._rolls(left)
                maxima(lattice, keeps)

    def _rolls(self, rerolls: int) -> Floats:
        """Return the value of each roll when a box must be filled, shape (rolls, n), rerolls being saved."""
        game, rules = self._game, self._game.scoring
        best = np.full((rules.points.shape[1], len(self._filled)), -np.inf)
        available = game.available(self._filled)
        for box in range(rules.boxes):
            here = np.flatnonzero(available >> box & 1)
            if len(here):
                distinct = rules.distinct[box]
                of_points = self._worth(box, distinct[:, None], here, rerolls)
                of_rolls = of_points[rules.of_rolls[box]]
                best[:, here] = np.maximum(best[:, here], of_rolls)
        if rules.special:
            special = np.flatnonzero(self._filled >> rules.yahtzee & 1)
            for roll in rules.lattice.alike.tolist():
                cards = self._cards[special]
                turns = _Turns(self._values, cards, self._stride)
                left = np.full(len(special), rerolls)
                found = fills(cards, np.full(len(special), roll), left)
                best[roll, special] = turns.fills(found, slice(None), left).max(axis=1, initial=-np.inf)
        return best

    def _worth(self, box: int, points: NDArray[np.int32], here: Ints, rerolls: Ints | int) -> Floats:
        """Return the points and the value after filling a box in the turns `here`, the last axis."""
        game, rules = self._game, self._game.scoring
        if rules.requires[box]:
            points = np.where(self._flag[here] > 0, points, np.int32(0))
        subtotal = self._subtotal[here] + points if rules.upper[box] else self._subtotal[here]
        flag = points > 0 if box == game.arming else self._flag[here]
        after = _positions(game, self._filled[here] | 1 << box, np.minimum(subtotal, rules.cap), flag)
        worth: Floats = points + self._values[after + rerolls * self._stride]
        return worth


def _positions(game: States, filled: Ints, subtotal: Ints, flag: Ints | Bools) -> Ints:
    packed = game.upper_filled(filled)
    positions: Ints = (
        game.first[filled] + flag * game.upper.count[packed] + game.upper.number[packed, subtotal]
    )
    return positions


def _best(values: Floats, boxes: int) -> Ints:
    """Return the place of the best option of each row: the first fill or the first keep of equals."""
    rows = np.arange(len(values))
    fill, keep = (
        np.argmax(kind > kind.max(axis=1, keepdims=True, initial=-np.inf) - TIE, axis=1)
        for kind in (values[:, :boxes], values[:, boxes:])
    )
    better = values[rows, fill] > values.max(axis=1) - TIE
    best: Ints = np.where(better, fill, boxes + keep)
    return best
