"""The greatest chance of every number of points at once, looked up; no compiler needed.

R(x, n), the greatest probability of n points or more still to come from the start of a turn in state x, is
held for a window of needs n in each state. Below the window it counts as 1, beyond it as 0:

    n <  low(x)              1
    n =  low(x) + i          the i-th of the window's chances, 0 <= i < length(x)
    n >= low(x) + length(x)  0

`reaching` works the windows out and says how far from the exact chances that can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .errors import ArgumentError, CardError, shown
from .lookup import Table
from .plan import Floats, Ints
from .scope import Scope
from .scorecard import Scorecard
from .states import States
from .turn import Worth, positions_after


class Curve(NamedTuple):
    """The greatest chance of each final score.

    `scores` rise without gaps, int64 array of shape (n,), from the last that counts as certain (the least
    score held, at worst) to the last that does not count as impossible; `chances[i]` is the greatest
    probability of scores[i] points or more.
    """

    scores: Ints
    chances: Floats


class Store(Protocol):
    """Where the chances of all windows lie."""

    def take(self, positions: Ints, offsets: Ints) -> Floats:
        """Return the chance at an offset into the window of each of these states."""


@dataclass(frozen=True, eq=False)
class Chances:
    """The greatest chance of every score, from a card on. Safe to read from many threads.

    Attributes
    ----------
    table : Table
        The game.
    card : Scorecard
        The card from which on the chances are known.
    cut : float
        Chances below it were counted as 0, those above 1 - cut as 1, in each state.
    within : float
        No chance is further than this from the exact one, rounding of float64 left aside.
    low, length : int64 arrays, shape (scope.size,)
        The window of each state; see the module.
    path : Path or None
        The file that they were read from, if any.
    """

    table: Table
    card: Scorecard
    cut: float
    within: float
    low: Ints
    length: Ints
    store: Store
    path: Path | None = None

    @cached_property
    def scope(self) -> Scope:
        """Where each state's window lies; where rolls are saved, one for each number of them."""
        return Scope.of(self.table.states, self.card)

    def at(self, positions: Ints, needs: Ints) -> Floats:
        """Return the chance of each of these needs in the state at each of these positions."""
        positions, needs = np.broadcast_arrays(positions, needs)
        places = needs - self.low[positions]
        inside = (places >= 0) & (places < self.length[positions])
        found = np.where(places < 0, 1.0, 0.0)
        if inside.any():
            found[inside] = self.store.take(positions[inside], places[inside])
        return found

    def chance(self, card: Scorecard | str | None, score: int) -> float:
        """Return the greatest probability of a final score of at least `score`.

        Parameters
        ----------
        card
            The card at the start of a turn, one that can follow `self.card`; that card itself unless given.
        score
            The score to reach, in points, with everything on the card and all bonuses.

        Raises
        ------
        CardError
            If the card cannot arise, or does not follow.
        ArgumentError
            If the score is no whole number.
        """
        if isinstance(score, bool) or not isinstance(score, (int, np.integer)):
            raise ArgumentError(f"score {shown(score)}: expected a whole number of points")
        held = self.held(card)
        need = int(score) - held.boxes_total
        return float(self.at(np.array(self.scope.place(held)), np.array(need)))

    def curve(self, card: Scorecard | str | None = None) -> Curve:
        """Return the greatest chance of every final score.

        Raises
        ------
        CardError
            If the card cannot arise, or does not follow `self.card`.
        """
        held = self.held(card)
        position = self.scope.place(held)
        needs = int(self.low[position]) - 1 + np.arange(int(self.length[position]) + 1)
        return Curve(needs + held.boxes_total, self.at(np.array(position), needs))

    def worth(self, card: Scorecard, score: int, saved: int = 0) -> Worth:
        """Return what filling a box of this card is worth: the chance of a final score of `score` or more.

        So many rolls are saved then.
        """
        state, need = (card.filled, card.upper_subtotal, int(card.armed)), score - card.boxes_total

        def of(category: int, points: NDArray[np.int32], bonus: int) -> Floats:
            positions = positions_after(self.scope.game, *state, category, points)
            places = np.asarray(positions) + saved * self.scope.stride
            return self.at(places, need - bonus - points.astype(np.int64))

        return of

    def held(self, card: Scorecard | str | None) -> Scorecard:
        """Return a card that the chances are known for; the one they start from unless given.

        Raises
        ------
        CardError
            If the card cannot arise, or does not follow `self.card`.
        """
        return (
            self.card if card is None else follows(self.table.card(card), self.card, "the chances are known")
        )


def follows(held: Scorecard, start: Scorecard, what: str) -> Scorecard:
    """Return a card if it can follow another one, which `what` says the use of.

    Raises
    ------
    CardError
        If not.
    """
    agrees = all(p is None or p == q for p, q in zip(start.points, held.points, strict=True))
    # Each box filled since has brought one bonus at the most, and the one that arms it none.
    turns = (held.filled & ~start.filled).bit_count()
    most = turns - (held.armed and not start.armed)
    saved = held.saved <= start.saved + turns * (start.ruleset.rolls - 1)
    if not agrees or not saved or not 0 <= held.bonuses - start.bonuses <= most:
        raise CardError(f"card '{held}': expected one that can follow '{start}', which {what} from")
    return held


def bound(boxes: int, cut: float, step: float = 0.0) -> float:
    """Return how far chances can be from the exact ones; see `reaching`.

    Parameters
    ----------
    boxes
        How many boxes are open.
    cut
        As in `Chances`.
    step
        The distance of two chances that can be told apart where they are kept.
    """
    return boxes * cut + step / 2


class Windows:
    """A `Store` in memory: for each level, where each state's window starts and all windows.

    Parameters
    ----------
    game
        The states.
    start
        Where the window of each state starts, in its level's array.
    levels
        The arrays of the levels, by level.
    """

    def __init__(self, game: States, start: Ints, levels: Iterable[Floats]) -> None:
        self._game, self._start, self._levels = game, start, tuple(levels)

    def take(self, positions: Ints, offsets: Ints) -> Floats:
        """Return the chance at an offset into the window of each of these states."""
        levels = np.searchsorted(self._game.level_start, positions, side="right") - 1
        found = np.zeros(len(positions))
        for level in np.unique(levels).tolist():
            of = levels == level
            found[of] = self._levels[level][self._start[positions[of]] + offsets[of]]
        return found
