"""One state's turn in plain numpy: what each roll, keep and fill is worth. No compiler needed.

The same operations in the same order as the compiled code, so that values are equal to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .dice import Lattice
from .states import States, members, pack_one

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


Worth = Callable[[int, NDArray[np.int32], int], NDArray[np.float64]]
"""What filling a box is worth: called with the category, its points (an array), and the bonus on top."""

Chance = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""What six equally likely values, along the first axis, are worth before the die is thrown."""


def mean_of_six(of: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean along the first axis, added in the order of the compiled code."""
    mean: NDArray[np.float64] = (((of[0] + of[1]) + (of[2] + of[3])) + (of[4] + of[5])) * (1 / 6)
    return mean


class Turn:
    """What a turn from one state is worth.

    Parameters
    ----------
    game
        The states.
    filled, flag
        Boxes filled, and whether a further Yahtzee brings a bonus or a required box holds points.
    worth
        What filling a box is worth from there.
    chance
        What a die still to be thrown is worth: the mean, unless a goal says otherwise.
    """

    def __init__(
        self, game: States, filled: int, flag: int, worth: Worth, chance: Chance = mean_of_six
    ) -> None:
        self._game, self._worth, self._chance = game, worth, chance
        rules = game.scoring
        sets = np.array([filled])
        self._bonus = rules.bonus * flag
        self._available = members(int(game.available(sets)[0]))
        self._scoreless = rules.requires & (flag == 0)
        self._rows: dict[tuple[int, int], NDArray[np.float64]] = {}
        self._special = rules.special and bool(filled >> rules.yahtzee & 1)
        if self._special:
            boxes, joker = game.joker_available(sets)
            self._joker_boxes = [members(allowed) for allowed in boxes[0].tolist()]
            self._joker_scores = joker[0].tolist()

    def fills(self, roll: int, rerolls: int) -> list[Fill]:
        """Return every box that a roll may go in with so many rerolls left, in card order."""
        rules = self._game.scoring
        first = rerolls == rules.rolls - 1
        boxes, points, bonus = self._available, (rules.served_points if first else rules.points)[:, roll], 0
        face = int(np.argmax(rules.lattice.alike == roll))
        if self._special and rules.lattice.alike[face] == roll:
            boxes, bonus = self._joker_boxes[face], self._bonus
            if self._joker_scores[face]:
                points = (rules.served_joker_points if first else rules.joker_points)[:, face]
        found = []
        for box, own in zip(boxes, points[boxes].tolist(), strict=True):
            worth = float(self._row(box, bonus)[rules.distinct[box].searchsorted(own)])
            found.append(Fill(box, 0 if self._scoreless[box] else own, bonus, worth))
        return found

    def _row(self, category: int, bonus: int) -> NDArray[np.float64]:
        """Return what filling a box is worth for each of its different points."""
        row = self._rows.get((category, bonus))
        if row is None:
            distinct = self._game.scoring.distinct[category]
            points = np.zeros_like(distinct) if self._scoreless[category] else distinct
            row = self._rows[category, bonus] = self._worth(category, points, bonus)
        return row

    @cached_property
    def rolls(self) -> NDArray[np.float64]:
        """Value of each roll when a box must be filled with no reroll left, shape (rolls,)."""
        rules = self._game.scoring
        best = np.full(rules.points.shape[1], -np.inf)
        for category in self._available:
            np.maximum(best, self._row(category, 0)[rules.of_rolls[category]], out=best)
        if self._special:
            for roll in rules.lattice.alike.tolist():
                best[roll] = max(fill.value for fill in self.fills(roll, 0))
        return best

    def keeps(self, rerolls: int) -> NDArray[np.float64]:
        """Return the value of each keep of fewer than all dice with `rerolls` (1 or more) left."""
        lattice = self._game.scoring.lattice
        keeps = np.empty(len(lattice.keeps))
        keeps[lattice.short :] = self.rolls
        throw(lattice, keeps, self._chance)
        for _ in range(rerolls - 1):
            maxima(lattice, keeps)
            throw(lattice, keeps, self._chance)
        return keeps[: lattice.short]


class SavedTurn:
    """What a turn is worth with a number of rerolls left; of `turns`, one for each number that may be saved.

    It answers as a `Turn` does, for that number of rerolls. `chance` is that of the turns.
    """

    def __init__(self, lattice: Lattice, turns: list[Turn], chance: Chance = mean_of_six) -> None:
        self._lattice, self._turns, self._chance = lattice, turns, chance

    def fills(self, roll: int, rerolls: int) -> list[Fill]:
        """Return every box that a roll may go in, in card order, all rerolls being saved."""
        return self._turns[-1].fills(roll, rerolls)

    def fills_with(self, roll: int, rerolls: int) -> list[Fill]:
        """Return the same for another number of rerolls left, up to that of this turn."""
        return self._turns[rerolls].fills(roll, rerolls)

    def keeps(self, rerolls: int) -> NDArray[np.float64]:
        """Return the value of each keep of fewer than all dice with all rerolls left (1 or more)."""
        return self.chain[rerolls][: self._lattice.short]

    @cached_property
    def chain(self) -> list[NDArray[np.float64]]:
        """For each number of rerolls left, the value of each keep before a reroll, and of each roll.

        That of a keep of fewer than all dice is what rerolling the others brings, none for 0 rerolls.
        """
        lattice = self._lattice
        best = np.full(len(lattice.keeps), -np.inf)
        best[lattice.short :] = self._turns[0].rolls
        chain = [best.copy()]
        for turn in self._turns[1:]:
            throw(lattice, best, self._chance)
            before = best[: lattice.short].copy()
            best[lattice.short :] = turn.rolls
            maxima(lattice, best)
            chain.append(np.concatenate([before, best[lattice.short :]]))
        return chain


def expected_points(
    game: States, values: NDArray[np.float64], filled: int, subtotal: int, flag: int
) -> Worth:
    """Return what filling a box is worth in expected points still to come, the box's own included.

    Raises
    ------
    LookupError
        Where the state cannot arise.
    """
    game.position(filled, subtotal, flag)

    def worth(category: int, points: NDArray[np.int32], bonus: int) -> NDArray[np.float64]:
        value: NDArray[np.float64] = (
            points + values[positions_after(game, filled, subtotal, flag, category, points)] + bonus
        )
        return value

    return worth


def unasked(category: int, points: NDArray[np.int32], bonus: int) -> NDArray[np.float64]:
    """Stand for what a fill is worth: what is legal and what it scores does not depend on it."""
    return np.zeros(points.shape)


def positions_after(
    game: States, filled: int, subtotal: int, flag: int, category: int, points: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the positions of the states after filling a box with each of these points."""
    rules = game.scoring
    after = filled | 1 << category
    packed = pack_one(after, rules.upper_boxes)
    number = game.upper.number[packed]
    if category in rules.upper_boxes:
        number = number[np.minimum(subtotal + points, rules.cap)]
    else:
        number = np.full(points.shape, number[min(subtotal, rules.cap)])
    flags = points > 0 if category == game.arming else flag
    positions: NDArray[np.int64] = int(game.first[after]) + flags * int(game.upper.count[packed]) + number
    return positions


def throw(lattice: Lattice, keeps: NDArray[np.float64], chance: Chance) -> None:
    """Write the value of each keep before its reroll: what one die more makes of it."""
    for first, last in reversed(lattice.sizes[:-1]):
        keeps[first:last] = chance(keeps[lattice.more_by_face[:, first:last]])


def maxima(lattice: Lattice, keeps: NDArray[np.float64]) -> None:
    """Replace the value of each keep by that of the best keep inside it."""
    for (first, last), less in zip(lattice.sizes[1:], lattice.less_or_same, strict=True):
        keeps[first:last] = keeps[less].max(axis=0)


def first_of_best(values: NDArray[np.float64], margin: float = TIE) -> int:
    """Return the first index whose value equals the greatest: closer to it than the margin."""
    greatest = values.max()
    return int(np.argmax((values > greatest - margin) | (values == greatest)))
