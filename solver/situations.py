"""What a player sees who has to decide, and what it can do: the least that a player needs of a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from .dice import lattice
from .scorecard import Position, Scorecard
from .scoring import scoring
from .states import states
from .turn import Turn, unasked


@dataclass(frozen=True, slots=True)
class Move:
    """What a player does: keep dice and reroll the others, or fill a box.

    Attributes
    ----------
    action
        "keep" or "fill".
    dice
        The dice kept; all dice for a fill.
    category
        The key of the box to fill, or None.
    note
        What the player says about it; often nothing.
    """

    action: Literal["keep", "fill"]
    dice: tuple[int, ...]
    category: str | None = None
    note: str = ""


class Choice(NamedTuple):
    """A box that the dice on the table may go in, with the points and the bonus for a further Yahtzee."""

    category: str
    points: int
    bonus: int


class Situation(NamedTuple):
    """What a player sees: the position to decide in, and the card of each seat, its own among them."""

    position: Position
    cards: tuple[Scorecard, ...]
    seat: int = 0

    @property
    def others(self) -> tuple[Scorecard, ...]:
        """The cards of the other seats."""
        return tuple(card for seat, card in enumerate(self.cards) if seat != self.seat)


class Decision(NamedTuple):
    """A decision that was made: by which seat, where, and what."""

    seat: int
    position: Position
    move: Move


def legal_fills(position: Position) -> tuple[Choice, ...]:
    """Return every box that the dice may go in, in card order, with what it scores."""
    card, rules = position.card, position.card.ruleset
    turn = Turn(states(scoring(rules)), card.filled, int(card.armed), unasked)
    fills = turn.fills(lattice(rules.dice).roll(position.dice), position.rerolls)
    return tuple(Choice(rules.keys[fill.category], fill.points, fill.bonus) for fill in fills)
