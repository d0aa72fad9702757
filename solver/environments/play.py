"""One card under way: what a seat may do, and what its actions bring. Plain numpy, no compiler."""

from __future__ import annotations

import numpy as np

from ..errors import ActionError, CardError
from ..scorecard import Position, Scorecard
from ..simulation import outcomes
from ..turn import Fill, Turn, unasked
from .coding import CARD_NUMBERS, TABLE_NUMBERS, Coding, Mask, Observation, one_line


class IllegalAction(ActionError):
    """An action of the space that the card or the dice do not allow now."""


class Play:
    """One card, the dice on the table while it is on turn, and the rerolls left.

    Parameters
    ----------
    coding
        The numbers of the game.
    """

    def __init__(self, coding: Coding) -> None:
        self._coding = coding
        self.card: Scorecard = Scorecard.empty(coding.ruleset)
        self.over = False
        """Whether no action is expected any more."""
        self._on_turn: tuple[int, int] | None = None

    @property
    def dice(self) -> tuple[int, ...]:
        """The dice on the table, rising; none where this card is not on turn."""
        lattice = self._coding.lattice
        return lattice.keeps[lattice.short + self._on_turn[0]] if self._on_turn else ()

    @property
    def rerolls(self) -> int:
        """Rerolls left this turn; 0 where this card is not on turn."""
        return self._on_turn[1] if self._on_turn else 0

    @property
    def position(self) -> Position:
        """The card with the dice on the table; it must be on turn."""
        return Position(self.card, self.dice, self.rerolls)

    @property
    def points(self) -> int:
        """Points so far; those of the upper bonus come with the last box."""
        return self.card.total if self.card.finished else self.card.boxes_total

    def start(self, card: Scorecard) -> None:
        """Take up a card; no dice are on the table yet.

        Raises
        ------
        CardError
            If the card is full.
        """
        if card.finished:
            raise CardError(f"card '{card}': every box is filled, there is nothing left to decide")
        self.card, self._on_turn, self.over = card, None, False

    def stop(self) -> None:
        """End the game before the card is full."""
        self._on_turn, self.over = None, True

    def throw(self, random: np.random.Generator) -> None:
        """Begin a turn: throw all dice."""
        self._begin(self._thrown(0, random), self.card.rerolls)

    def place(self, position: Position) -> None:
        """Take up a position: a card in the middle of a turn."""
        self.start(position.card)
        self._begin(self._coding.lattice.roll(position.dice), position.rerolls)

    def act(self, action: object, random: np.random.Generator) -> int:
        """Reroll, or fill a box and end the turn; return the points gained.

        Raises
        ------
        IllegalAction
            If the action is not legal; nothing is changed then.
        ActionError
            If it is no action at all, or none is expected; nothing is changed then.
        """
        number = self._legal(action)
        boxes = self._coding.boxes
        if number >= boxes:
            roll = self._thrown(number - boxes, random)
            self._on_turn = roll, self.rerolls - 1
            self._list_fills()
            return 0
        fill, before, rules = self._fills[number], self.points, self._coding.ruleset
        saved = self.rerolls if rules.saves else 0
        self.card = self.card.fill(rules.keys[number], fill.points, fill.bonus > 0, saved)
        self._on_turn, self.over = None, self.card.finished
        return self.points - before

    def mask(self) -> Mask:
        """Return the legal actions; all of them after the end, none while another card is on turn."""
        coding = self._coding
        mask = np.full(coding.actions, self.over, np.int8)
        if self._on_turn:
            roll, rerolls = self._on_turn
            mask[list(self._fills)] = 1
            if rerolls:
                mask[coding.boxes :] = coding.inside[roll]
        return mask

    def card_numbers(self) -> Observation:
        """Return what an observation says of this card; see `coding`."""
        card, boxes = self.card, self._coding.boxes
        numbers = np.empty(self._coding.card_numbers, np.float32)
        numbers[:boxes] = [points is not None for points in card.points]
        numbers[boxes : boxes + CARD_NUMBERS] = (
            min(card.upper_subtotal, self._coding.scoring.cap),
            card.armed,
            self.points,
        )
        numbers[boxes + CARD_NUMBERS :] = card.saved
        return numbers

    def table_numbers(self) -> Observation:
        """Return what an observation says of the dice and rerolls; see `coding`."""
        numbers = np.zeros(TABLE_NUMBERS, np.float32)
        if self._on_turn:
            roll, rerolls = self._on_turn
            numbers[:-1] = self._coding.lattice.counts[self._coding.lattice.short + roll]
            numbers[-1] = rerolls
        return numbers

    def _begin(self, roll: int, rerolls: int) -> None:
        self._turn = Turn(self._coding.game, self.card.filled, int(self.card.armed), unasked)
        self._on_turn = roll, rerolls
        self._list_fills()

    def _list_fills(self) -> None:
        fills = self._turn.fills(*self._on_turn) if self._on_turn else []
        self._fills: dict[int, Fill] = {fill.category: fill for fill in fills}

    def _thrown(self, keep: int, random: np.random.Generator) -> int:
        first, counts, rolls = outcomes(self._coding.scoring.dice)
        drawn = random.integers(0, 1 << 64, dtype=np.uint64) % counts[keep]
        return int(rolls[first[keep] + np.int64(drawn)])

    def _legal(self, action: object) -> int:
        """Return an action's number; refuse what is not legal and say why."""
        coding, number = self._coding, self._coding.number(action)
        if self._on_turn is None:
            if not self.over:
                raise ActionError("no game has begun: expected a reset first")
            raise ActionError(f"action {one_line(action)}: the game is over, expected a reset")
        if number is None:
            last = coding.actions - 1
            raise ActionError(f"action {one_line(action)}: expected a whole number from 0 to {last}")
        given, dice = f"action {number} ({coding.words(number)})", " ".join(map(str, self.dice))
        if number < coding.boxes:
            if number not in self._fills:
                boxes = ", ".join(coding.ruleset.keys[box] for box in self._fills)
                raise IllegalAction(f"{given}: {dice} may go in {boxes}")
            return number
        if not self.rerolls:
            raise IllegalAction(f"{given}: no reroll is left, expected a fill")
        if not coding.inside[self._on_turn[0], number - coding.boxes]:
            raise IllegalAction(f"{given}: expected dice out of {dice}")
        return number
