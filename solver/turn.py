"""One state's turn in plain numpy: what each roll, keep and fill is worth. No compiler needed.

The same operations in the same order as the compiled code, so that values are equal to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .dice import Lattice
from .states import States, pack_one

TIE = 1e-9
"""Options whose values are closer than this are equal, in points."""


@dataclass(frozen=True)
class Fill:
    """A box that a roll may go in.

    Attributes
    ----------
    category
        Its number in card order.
    points
        Points that go into the box.
    bonus
        Points of the bonus for a further Yahtzee, on top.
    value
        All of these and the expected points after.
    """

    category: int
    points: int
    bonus: int
    value: float


class Turn:
    """What a turn from one state is worth.

    Parameters
    ----------
    game, values
        The states and the value of each.
    filled, subtotal, flag
        The state; the subtotal need not be capped.

    Raises
    ------
    LookupError
        Where the state cannot arise.
    """

    def __init__(
        self, game: States, values: NDArray[np.float64], filled: int, subtotal: int, flag: int
    ) -> None:
        game.position(filled, subtotal, flag)
        self._game, self._values = game, values
        self._filled, self._subtotal, self._flag = filled, min(subtotal, game.scoring.cap), flag
        sets = np.array([filled])
        rules = game.scoring
        self._available = _members(int(game.available(sets)[0]))
        self._special = rules.special and bool(filled >> rules.yahtzee & 1)
        if self._special:
            boxes, joker = game.joker_available(sets)
            self._joker_boxes = [_members(allowed) for allowed in boxes[0].tolist()]
            self._joker_scores = joker[0].tolist()

    def _after(self, category: int, points: NDArray[np.int32]) -> NDArray[np.float64]:
        """Value of the state after filling a box with these points, the points themselves included."""
        game, rules = self._game, self._game.scoring
        after = self._filled | 1 << category
        packed = pack_one(after, rules.upper)
        subtotal = np.minimum(self._subtotal + points, rules.cap) if rules.upper[category] else self._subtotal
        flag = points > 0 if category == game.arming else self._flag
        classes = int(game.upper.count[packed])
        position = int(game.first[after]) + flag * classes + game.upper.number[packed, subtotal]
        value: NDArray[np.float64] = points + self._values[position]
        return value

    def fills(self, roll: int) -> list[Fill]:
        """Return every box that a roll may go in, in card order."""
        rules = self._game.scoring
        boxes, points, bonus = self._available, rules.points[:, roll], 0
        face = int(np.argmax(rules.lattice.alike == roll))
        if self._special and rules.lattice.alike[face] == roll:
            boxes, bonus = self._joker_boxes[face], rules.bonus * self._flag
            points = rules.joker_points[:, face] if self._joker_scores[face] else points
        return [
            Fill(
                category, int(points[category]), bonus, float(self._after(category, points[category]) + bonus)
            )
            for category in boxes
        ]

    @cached_property
    def rolls(self) -> NDArray[np.float64]:
        """Value of each roll when a box must be filled, shape (rolls,)."""
        rules = self._game.scoring
        best = np.full(rules.points.shape[1], -np.inf)
        for category in self._available:
            np.maximum(best, self._after(category, rules.points[category]), out=best)
        if self._special:
            for roll in rules.lattice.alike.tolist():
                best[roll] = max(fill.value for fill in self.fills(roll))
        return best

    def keeps(self, rerolls: int) -> NDArray[np.float64]:
        """Return the value of each keep of fewer than all dice with `rerolls` (1 or more) left."""
        lattice = self._game.scoring.lattice
        keeps = np.empty(len(lattice.keeps))
        keeps[lattice.short :] = self.rolls
        means(lattice, keeps)
        for _ in range(rerolls - 1):
            maxima(lattice, keeps)
            means(lattice, keeps)
        return keeps[: lattice.short]


def means(lattice: Lattice, keeps: NDArray[np.float64]) -> None:
    """Write the value of each keep before its reroll: the mean over one die more."""
    for first, last in reversed(lattice.sizes[:-1]):
        of = keeps[lattice.more_by_face[:, first:last]]
        keeps[first:last] = (((of[0] + of[1]) + (of[2] + of[3])) + (of[4] + of[5])) * (1 / 6)


def maxima(lattice: Lattice, keeps: NDArray[np.float64]) -> None:
    """Replace the value of each keep by that of the best keep inside it."""
    for (first, last), less in zip(lattice.sizes[1:], lattice.less_or_same, strict=True):
        keeps[first:last] = keeps[less].max(axis=0)


def first_of_best(values: NDArray[np.float64]) -> int:
    """Return the first index whose value equals the greatest, ties allowed for."""
    return int(np.argmax(values > values.max() - TIE))


def _members(boxes: int) -> list[int]:
    return [category for category in range(boxes.bit_length()) if boxes >> category & 1]
