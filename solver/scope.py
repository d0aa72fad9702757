"""What can follow a card: the states, and where rules save rolls how many may be saved in each.

Values of a scope lie in one array, a row of `game.size` for each number of saved rolls, and `LANES` more
numbers after the last row; games without saved rolls have a single row:

    place of a state with k rolls saved = k * game.size + position

With saved rolls the states are those that follow the card alone, laid out by themselves: of a late card there
are few, however many the game has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .plan import Floats, Ints, aligned
from .scorecard import Scorecard
from .states import LANES, States, following_states

MORE_BOXES = "start from a card with more boxes filled"
"""What helps where too much follows a card."""


@dataclass(frozen=True, eq=False)
class Scope:
    """The states that a card can lead to.

    Attributes
    ----------
    game : States
        The states: of the whole game where it saves no rolls, else those that follow the card.
    card : Scorecard
    """

    game: States
    card: Scorecard

    @classmethod
    def of(cls, game: States, card: Scorecard) -> Scope:
        """Return what follows a card of a game."""
        return cls(following_states(game, card.filled) if card.ruleset.saves else game, card)

    @property
    def stride(self) -> int:
        """How far the values for one more saved roll lie; 0 where none are saved."""
        return self.game.size if self.card.ruleset.saves else 0

    def most(self, level: int) -> int:
        """Return how many rolls can be saved with so many boxes filled."""
        rules = self.card.ruleset
        if not rules.saves:
            return 0
        return self.card.saved + (rules.rolls - 1) * (level - self.card.filled.bit_count())

    @property
    def rows(self) -> int:
        """How many numbers of saved rolls there are, 0 among them."""
        return self.most(self.game.scoring.boxes) + 1

    @property
    def size(self) -> int:
        """Length of an array of values, without the numbers after it."""
        return self.rows * self.game.size

    @property
    def count(self) -> int:
        """Number of pairs of a state and a number of saved rolls, the finished ones included."""
        sets = self.game.level_sets
        before = np.concatenate([[0], np.cumsum(self.game.lanes, dtype=np.int64)])[sets]
        first = self.card.filled.bit_count()
        return sum(
            int(lanes) * (self.most(level) + 1)
            for level, lanes in enumerate(np.diff(before))
            if level >= first
        )

    def place(self, card: Scorecard) -> int:
        """Return the place of the state of a card that follows."""
        position = self.game.position(card.filled, card.upper_subtotal, int(card.armed))
        return card.saved * self.game.size + position

    def chosen(self, level: int, numbers: Floats) -> Ints:
        """Return the places of a level's states at which `numbers` are not 0, neighbours of one state."""
        start, end = self.game.level_start[level : level + 2].tolist()
        position, saved = np.nonzero(numbers[: self.size].reshape(self.rows, -1)[:, start:end].T)
        places: Ints = saved * self.game.size + start + position
        return places

    def split(self, places: Ints) -> tuple[Ints, Ints]:
        """Return the numbers of saved rolls and the positions of places."""
        saved, positions = np.divmod(places, self.game.size)
        return saved, positions

    def zeros(self) -> Floats:
        """Return an array of values that are all 0."""
        values = aligned(self.size + LANES)
        values[:] = 0
        return values
