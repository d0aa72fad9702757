"""Advice: every legal action of a position with its value and its loss.

Ties, with values closer than 1e-9, are broken by one rule: filling before keeping; boxes in card order;
keeps of more dice first, and of higher dice first among these. The first option of an advice is the one
that statistics, simulation and players mean by "the table's strategy".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from .dice import lattice as lattice_of
from .errors import ArgumentError, shown
from .plan import Floats, with_spare
from .rules import Ruleset
from .scope import Scope
from .scorecard import Position, Scorecard, card_of, check_position
from .states import States
from .turn import TIE, Fill, Turn, expected_points, first_of_best


@dataclass(frozen=True, slots=True)
class Option:
    """One legal action.

    Attributes
    ----------
    action
        "keep" or "fill".
    dice
        The dice kept, rising; for a fill, all dice.
    category
        The key of the box to fill, or None.
    points
        Points that go into the box, or None.
    bonus
        Points of the bonus for a further Yahtzee that come on top, 0 for a keep.
    value
        Expected final score after the action, the points on the card included.
    loss
        The best value minus this one, in points; 0 for the best and for what ties with it.
    expected
        Expected final score after the action, where `value` is that of another goal.
    saved
        How many rolls are saved after a fill, where rules save rolls.
    """

    action: Literal["keep", "fill"]
    dice: tuple[int, ...]
    category: str | None
    points: int | None
    bonus: int
    value: float
    loss: float
    expected: float | None = None
    saved: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the option as it is written in JSON."""
        worth = {"value": self.value, "loss": self.loss}
        if self.expected is not None:
            worth["expected"] = self.expected
        if self.action == "keep":
            return {"action": "keep", "dice": list(self.dice), **worth}
        fill = {"action": "fill", "category": self.category, "points": self.points}
        saved = {} if self.saved is None else {"saved": self.saved}
        return fill | ({"bonus": self.bonus} if self.bonus else {}) | saved | worth


@dataclass(frozen=True)
class Advice:
    """All legal actions of a position, the best first."""

    position: Position
    options: tuple[Option, ...]

    @property
    def best(self) -> Option:
        """The best action; among equals the one that the tie rule names."""
        return self.options[0]

    @property
    def value(self) -> float:
        """Expected final score of the best action, in points."""
        return self.best.value

    def as_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return the advice as it is written in JSON, with the first `top` options or all."""
        card = self.position.card
        options = [option.as_dict() for option in self.options[:top]]
        return {
            "rules": card.ruleset.name,
            "dice": list(self.position.dice),
            "rerolls": self.position.rerolls,
            "card": card.as_dict(),
            "value": self.value,
            "best": self.best.as_dict(),
            "options": options,
        }


@dataclass(frozen=True, eq=False)
class Table:
    """The value of every state of a game, and what follows from it. Safe to read from many threads.

    Attributes
    ----------
    ruleset : Ruleset
    states : States
        Where each state's value lies in `values`.
    values : float64 array, shape (states.size,)
        Expected points still to come from the start of a turn, the upper bonus included; read-only.
    precision : float
        No value is further than this from the exact one, in points; 0 for a table solved just now.
    """

    ruleset: Ruleset
    states: States = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    precision: float = 0.0
    root: float | None = None
    """The exact expected score from the empty card, where a file brought it along."""

    def __post_init__(self) -> None:
        # Values by state alone say nothing of saved rolls: better no table than a wrong one.
        self.ruleset.refuse_saved_rolls("tables without them")

    def card(self, card: Scorecard | str | None) -> Scorecard:
        """Return a card of this table's rules from a card or its text; None is the empty card."""
        return card_of(self.ruleset, card)

    def value(self, card: Scorecard | str | None = None) -> float:
        """Return the expected final score from the start of a turn with this card, in points.

        Raises
        ------
        CardError
            If the card cannot arise.
        """
        held = self.card(card)
        state = self.states.position(held.filled, held.upper_subtotal, int(held.armed))
        return held.boxes_total + float(self.values[state])

    def advise(
        self, card: Scorecard | str | None, dice: str | Iterable[int | str], rerolls: int | None = None
    ) -> Advice:
        """Return every legal action with its value and loss.

        Parameters
        ----------
        card
            The card, or its text; None is the empty card.
        dice
            The dice on the table, such as "1 3 3 4 6".
        rerolls
            Rerolls left; as after the first roll unless given.

        Raises
        ------
        CardError, DiceError
            If the card, the dice or the rerolls are not possible.
        """
        return self.advise_position(Position.of(self.card(card), dice, rerolls))

    def advise_position(self, position: Position) -> Advice:
        """Return the advice for a position of this table's rules."""
        check_position(position)
        held = self.card(position.card)
        total = held.boxes_total
        return Advice(position, ranked(position, self.turn(held), lambda value: total + value))

    def turn(self, card: Scorecard) -> Turn:
        """Return what a turn from this card is worth, in expected points still to come."""
        flag = int(card.armed)
        worth = expected_points(self.states, self.values, card.filled, card.upper_subtotal, flag)
        return Turn(self.states, card.filled, flag, worth)

    @property
    def nbytes(self) -> int:
        """Bytes of values that are held in memory."""
        return int(self.values.nbytes)

    def greedy(self) -> Table:
        """Return the table of a game in which nothing comes after this turn."""
        values = np.zeros_like(self.values)
        values.flags.writeable = False
        return replace(self, values=values, precision=0.0, root=None)

    def worths(self, card: Scorecard, rerolls: int) -> Worths:
        """Return what a turn from this card is worth where so many rerolls are left, as `turn` does."""
        return self.turn(card)

    def values_in(self, scope: Scope) -> Floats:
        """Return the values of the states of a scope, and the `LANES` more that kernels may read."""
        return with_spare(self.values)

    @cached_property
    def expected_score(self) -> float:
        """The expected final score from the empty card, in points; exact also where values are rounded."""
        return self.value() if self.root is None else self.root


def checked_table(given: object) -> Table:
    """Return a table that a call was given.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    if not isinstance(given, Table):
        raise ArgumentError(f"table {shown(given)}: expected a table, as `solver.load` gives")
    return given


class Worths(Protocol):
    """What a turn is worth: a `Turn`, or what answers like one."""

    def fills(self, roll: int, rerolls: int) -> list[Fill]:
        """Return every box that a roll may go in with so many rerolls left, in card order."""

    def keeps(self, rerolls: int) -> NDArray[np.float64]:
        """Return the value of each keep of fewer than all dice with `rerolls` (1 or more) left."""


def ranked(
    position: Position,
    turn: Worths,
    shown: Callable[[float], float],
    *,
    tie: Callable[[float], float] = lambda greatest: TIE,
    expected: Worths | None = None,
) -> tuple[Option, ...]:
    """Return every legal action of a position, the best by the tie rule first.

    Parameters
    ----------
    position
        Card, dice and rerolls.
    turn
        What the turn is worth, in the numbers to rank by.
    shown
        The value to show for such a number; rising with it.
    tie
        How close to the greatest number another one is equal to it.
    expected
        The same turn in expected points still to come, to show beside.
    """
    card = position.card
    lattice = lattice_of(card.ruleset.dice)
    roll = lattice.roll(position.dice)
    first, inside = lattice.inside
    keeps = inside[first[roll] : first[roll + 1]] if position.rerolls else inside[:0]
    kept = [lattice.keeps[keep] for keep in keeps.tolist()]
    fills = turn.fills(roll, position.rerolls)

    def values(of: Worths, fills: list[Fill]) -> NDArray[np.float64]:
        worth = np.array([fill.value for fill in fills])
        return np.concatenate([worth, of.keeps(position.rerolls)[keeps]]) if position.rerolls else worth

    numbers = values(turn, fills)
    points = None
    if expected:
        points = values(expected, expected.fills(roll, position.rerolls)) + card.boxes_total
    greatest = float(numbers.max())
    margin, best = tie(greatest), shown(greatest)
    keys = card.ruleset.keys
    saved = position.rerolls if card.ruleset.saves else None
    scores = [None] * len(numbers) if points is None else points.tolist()
    options: list[Option] = []
    for place, (number, score) in enumerate(zip(numbers.tolist(), scores, strict=True)):
        value = shown(number)
        loss = 0.0 if number > greatest - margin or number == greatest else max(0.0, best - value)
        if place < len(fills):
            f = fills[place]
            key = keys[f.category]
            options.append(Option("fill", position.dice, key, f.points, f.bonus, value, loss, score, saved))
        else:
            options.append(Option("keep", kept[place - len(fills)], None, None, 0, value, loss, score))
    return tuple(options[place] for place in _order(numbers, len(fills), margin, points))


def _order(
    values: NDArray[np.float64], fills: int, margin: float, points: NDArray[np.float64] | None
) -> list[int]:
    """Return the places of options by falling value, the best by the tie rule first.

    The first `fills` options fill a box; each of the two kinds is in the order in which ties are broken.
    Where expected points are given, the most of them come first among equals.
    """
    kinds = [np.arange(fills), np.arange(fills, len(values))]
    best = np.array([_leader(values, kind, margin, points) for kind in kinds if len(kind)])
    leader = _leader(values, best, margin, points)
    tied = (values > values.max() - margin) | (values == values.max())
    among_tied = 0.0 if points is None else -points
    order = np.lexsort((np.where(tied, among_tied, -values), ~tied)).tolist()
    order.remove(leader)
    return [leader, *order]


def _leader(
    values: NDArray[np.float64],
    places: NDArray[np.int64],
    margin: float,
    points: NDArray[np.float64] | None,
) -> int:
    """Return the first of the places with the best value, among equals that with the most points."""
    of = values[places]
    if points is None:
        return int(places[first_of_best(of, margin)])
    equal = places[(of > of.max() - margin) | (of == of.max())]
    return int(equal[first_of_best(points[equal])])
