"""A game at the table: one or more seats, each with a card, taking turns until every box is filled.

A `Game` changes with each step, and a step that the rules do not allow is refused and changes nothing:

    start    each seat rolls all dice for the first turn, where the game was set up so
    roll     the seat whose turn it is must roll, all dice or those not kept
    decide   dice are on the table: keep some and reroll the rest, or fill a box
    over     every card is full

Dice come from numpy's PCG64DXSM, six outcomes from each number by its remainder, or from outside, as at a
real table. A decision may be taken back until dice are rolled.

The whole game goes into a record and comes back from it; see `records`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

import numpy as np

from .errors import ActionError, DicewiseError, GameError, as_text, short, shown
from .records import KEY, VERSION, check_seed, checked, event_parts, whole
from .rules import FACES, Ruleset, as_ruleset, shipped
from .scorecard import Position, Scorecard, parse_dice, parse_faces
from .scoring import scoring
from .situations import Choice, Decision, Move, Situation, legal_fills

MOST_SEATS = 100
HIGHEST = "highest roll"
_SEED_BITS = 53
"""Of a seed that nobody chose: a whole number that programs in any language read from JSON exactly."""

Phase = Literal["start", "roll", "decide", "over"]
Event = tuple[str, tuple[int, ...] | str]


class _Before(NamedTuple):
    """How things stood before a decision."""

    seat: int
    card: Scorecard
    dice: tuple[int, ...]
    rerolls: int
    kept: tuple[int, ...] | None


class Game:
    """A game under way; see the module. Make one with `Game.new` or `Game.from_record`.

    Attributes
    ----------
    ruleset : Ruleset
    seats : int
        How many there are; seats are numbered from 0.
    seed : int
        Where the random numbers start.
    first : int or "highest roll"
        How the game was set up.
    players : tuple of str, or None
        Who sits where, for records and for people; the game makes nothing of it.
    seat : int
        Whose turn it is; in the start, who rolls next.
    dice : tuple of int, or None
        The dice on the table, rising; None before a turn's first roll.
    kept : tuple of int, or None
        The dice kept of them where a reroll is to come.
    rerolls : int
        Rerolls left, the one to come after a keep not counted.
    """

    def __init__(
        self,
        rules: Ruleset,
        seats: int,
        seed: int,
        first: int | str,
        players: tuple[str, ...] | None,
    ) -> None:
        self.ruleset, self.seats, self.seed, self.first, self.players = rules, seats, seed, first, players
        self.seat = first if isinstance(first, int) else 0
        self.dice: tuple[int, ...] | None = None
        self.kept: tuple[int, ...] | None = None
        self.rerolls = 0
        self._cards = [Scorecard.empty(rules)] * seats
        self._events: list[Event] = []
        self._decisions: list[Decision] = []
        self._before: _Before | None = None
        # Seats that may still be first, and what they have rolled for it.
        self._contenders = list(range(seats)) if first == HIGHEST else []
        self._rolled: list[int] = []
        self._random = np.random.PCG64DXSM(np.random.SeedSequence(seed))

    @classmethod
    def new(
        cls,
        rules: Ruleset | str | os.PathLike[str],
        seats: int = 2,
        seed: int | None = None,
        first: int | str = 0,
        players: Sequence[str] | None = None,
    ) -> Game:
        """Return a game not yet begun.

        Parameters
        ----------
        rules
            The rules, the name of a game, or the path of a rules file.
        seats
            How many, 1 or more.
        seed
            The same seed gives the same dice to the same decisions; any seed unless given.
        first
            The seat of the first turn, or "highest roll": each seat rolls all dice, the highest sum begins,
            and those who tie for it roll again.
        players
            Who sits where, a text a seat.

        Raises
        ------
        GameError
            If one of these cannot be.
        """
        if not whole(seats) or not 1 <= seats <= MOST_SEATS:
            raise GameError(f"seats {shown(seats)}: expected a whole number from 1 to {MOST_SEATS}")
        if first != HIGHEST and not (whole(first) and 0 <= int(first) < seats):
            raise GameError(f"first {shown(first)}: expected a seat from 0 to {seats - 1} or {HIGHEST!r}")
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> (64 - _SEED_BITS)
        check_seed(seed, GameError)
        several = isinstance(players, Sequence) and not isinstance(players, str)
        named = tuple(players) if several and players is not None else None
        if players is not None and not (
            named and len(named) == seats and all(isinstance(name, str) for name in named)
        ):
            raise GameError(f"players {shown(players)}: expected a text for each of {seats} seats")
        return cls(_rules(rules), int(seats), int(seed), HIGHEST if first == HIGHEST else int(first), named)

    # ---------------------------------------------------------------- how things stand

    @property
    def phase(self) -> Phase:
        """What comes next: "start", "roll", "decide" or "over"; see the module."""
        if self.over:
            return "over"
        if self._contenders:
            return "start"
        return "decide" if self.dice is not None and self.kept is None else "roll"

    @property
    def over(self) -> bool:
        """Whether every card is full."""
        return all(card.finished for card in self._cards)

    def card(self, seat: int | None = None) -> Scorecard:
        """Return the card of a seat; of the one whose turn it is unless given.

        Raises
        ------
        GameError
            If there is no such seat.
        """
        if seat is not None and not (whole(seat) and 0 <= seat < self.seats):
            raise GameError(f"seat {shown(seat)}: expected a seat from 0 to {self.seats - 1}")
        return self._cards[self.seat if seat is None else seat]

    @property
    def cards(self) -> tuple[Scorecard, ...]:
        """The card of each seat."""
        return tuple(self._cards)

    @property
    def totals(self) -> tuple[int, ...]:
        """Points on each card, the upper bonus where it is reached."""
        return tuple(card.total for card in self._cards)

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats with the most points once the game is over, several where they tie; none before."""
        totals = self.totals
        return tuple(seat for seat, total in enumerate(totals) if self.over and total == max(totals))

    @property
    def position(self) -> Position | None:
        """Card, dice and rerolls where a decision is to be made; None where it is not."""
        if self.dice is None or self.phase != "decide":
            return None
        return Position(self.card(), self.dice, self.rerolls)

    def situation(self, step: str = "move") -> Situation:
        """Return what a player sees who has to decide.

        Raises
        ------
        ActionError
            If there is nothing to decide; `step` is what the message begins with.
        """
        position = self.position
        if position is None:
            raise ActionError(f"{step}: {self._instead()}")
        return Situation(position, self.cards, self.seat)

    @property
    def fills(self) -> tuple[Choice, ...]:
        """Every box that the dice on the table may go in, with its points; none before a decision."""
        position = self.position
        return () if position is None else legal_fills(position)

    @property
    def events(self) -> tuple[Event, ...]:
        """All that has happened, as in a record; what was taken back is not among it."""
        return tuple(self._events)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Every decision so far; what was taken back is not among them."""
        return tuple(self._decisions)

    @property
    def can_undo(self) -> bool:
        """Whether the last decision may be taken back: no dice were rolled since."""
        return self._before is not None

    @property
    def contenders(self) -> tuple[int, ...]:
        """The seats that roll for the first turn; none once it has begun."""
        return tuple(self._contenders)

    # ---------------------------------------------------------------- steps

    def roll(self, dice: str | Iterable[int | str] | None = None) -> tuple[int, ...]:
        """Roll, or take the dice as they were rolled at a table; return all dice, rising.

        Parameters
        ----------
        dice
            All dice, those kept among them, or only the ones rolled; drawn from the seed unless given.

        Raises
        ------
        ActionError
            If it is not time to roll, or the dice given leave out a kept one.
        DiceError
            For anything but the right number of faces.
        """
        if self.phase not in ("start", "roll"):
            raise ActionError(f"roll: {self._instead()}")
        kept = self.kept or ()
        if dice is None:
            thrown = self._random.random_raw(self.ruleset.dice - len(kept)) % np.uint64(FACES) + np.uint64(1)
            rolled, kind = tuple(sorted([*kept, *thrown.tolist()])), "roll"
        else:
            rolled, kind = _given(self.ruleset, kept, dice), "given"
        self._events.append((kind, rolled))
        self._before = None
        if self._contenders:
            self._first_turn(rolled)
        else:
            self.rerolls = self.card().rerolls if self.kept is None else self.rerolls
            self.dice, self.kept = rolled, None
        return rolled

    def keep(self, dice: str | Iterable[int | str]) -> None:
        """Keep some of the dice on the table; the others are rerolled by the next `roll`.

        Raises
        ------
        ActionError
            If there is nothing to decide, no reroll is left, or the dice are not some of those on the table.
        """
        position = self.situation("keep").position
        on_table = position.dice
        kept = parse_faces(dice)
        said = " ".join(map(str, kept)) or "nothing"
        if not self.rerolls:
            raise ActionError(f"keep {said}: no reroll is left, expected a box to fill")
        if any(kept.count(face) > on_table.count(face) for face in kept):
            raise ActionError(f"keep {said}: expected some of the dice {' '.join(map(str, on_table))}")
        if len(kept) == len(on_table):
            raise ActionError(f"keep {said}: expected fewer than all dice, or a box to fill")
        self._remember(position, Move("keep", kept))
        self.kept = kept
        self.rerolls -= 1
        self._events.append(("keep", kept))

    def fill(self, category: str) -> Choice:
        """Fill a box, by its key, with the dice on the table; return what it scored.

        Raises
        ------
        ActionError
            If there is nothing to decide, or the dice may not go in that box.
        """
        position = self.situation(f"fill {short(as_text(category))}").position
        keys = self.ruleset.keys
        if category not in keys:
            close = get_close_matches(as_text(category), keys, 1)
            meant = f", did you mean {close[0]}" if close else ""
            raise ActionError(
                f"fill {shown(category)}: there is no such box{meant}; expected {self._boxes()}"
            )
        if self.card().points[keys.index(category)] is not None:
            raise ActionError(f"fill {category}: it is filled already, expected {self._boxes()}")
        choice = next((choice for choice in self.fills if choice.category == category), None)
        if choice is None:
            raise ActionError(f"fill {category}: these rules allow only {self._boxes()} with these dice")
        self._remember(position, Move("fill", position.dice, category))
        saved = position.rerolls if self.ruleset.saves else 0
        self._cards[self.seat] = position.card.fill(category, choice.points, choice.bonus > 0, saved)
        self._events.append(("fill", category))
        self.dice = self.kept = None
        self.rerolls = 0
        if not self.over:
            self.seat = (self.seat + 1) % self.seats
        return choice

    def play(self, move: Move) -> None:
        """Do what a player has decided; see `keep` and `fill`."""
        if move.action == "keep":
            self.keep(move.dice)
        else:
            self.fill(move.category or "")

    def undo(self) -> None:
        """Take back the last decision.

        Raises
        ------
        ActionError
            If there is none, or dice were rolled since.
        """
        if self._before is None:
            raise ActionError("undo: expected a decision after which no dice were rolled")
        before, self._before = self._before, None
        self.seat, card, self.dice, self.rerolls, self.kept = before
        self._cards[self.seat] = card
        self._events.pop()
        self._decisions.pop()

    def _remember(self, position: Position, move: Move) -> None:
        self._before = _Before(self.seat, position.card, position.dice, position.rerolls, self.kept)
        self._decisions.append(Decision(self.seat, position, move))

    def _first_turn(self, rolled: tuple[int, ...]) -> None:
        """Take down a roll for the first turn; begin, or let those roll again who tie."""
        self._rolled.append(sum(rolled))
        if len(self._rolled) == len(self._contenders):
            most = max(self._rolled)
            tied = [seat for seat, sum_ in zip(self._contenders, self._rolled, strict=True) if sum_ == most]
            self._contenders, self._rolled = (tied if len(tied) > 1 else []), []
            self.seat = tied[0]
        else:
            self.seat = self._contenders[len(self._rolled)]

    def _boxes(self) -> str:
        return ", ".join(choice.category for choice in self.fills)

    def _instead(self) -> str:
        """Return what is wrong with a step in this phase."""
        return {
            "over": "the game is over",
            "start": "the seats roll for the first turn, expected a roll",
            "roll": "the dice are to be rolled first, expected a roll",
            "decide": "the dice lie on the table, expected dice to keep or a box to fill",
        }[self.phase]

    # ---------------------------------------------------------------- records

    def as_record(self) -> dict[str, Any]:
        """Return the whole game as it is written in JSON; see `records`."""
        events = [[kind, what if isinstance(what, str) else list(what)] for kind, what in self._events]
        return {
            KEY: VERSION,
            "rules": self.ruleset.name,
            "digest": scoring(self.ruleset).digest,
            "seats": self.seats,
            "first": self.first,
            "seed": self.seed,
            **({"players": list(self.players)} if self.players is not None else {}),
            "events": events,
            "totals": list(self.totals),
        }

    def __str__(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(self.as_record())

    @classmethod
    def from_record(cls, record: Mapping[str, Any] | str, rules: Ruleset | None = None) -> Game:
        """Play a record again; return the game at its end, to look at or to go on with.

        Parameters
        ----------
        record
            What `as_record` gives, or its line of JSON.
        rules
            The rules; unless given, those of the shipped game, perhaps changed, that the record names.

        Raises
        ------
        GameError
            If it is no record, or does not replay.
        RulesError
            If its rules are not those of a shipped game: a record opens no file.
        """
        held = checked(record)
        found = shipped(held["rules"]) if rules is None else _rules(rules)
        if scoring(found).digest != held["digest"]:
            raise GameError(f"record: the rules {found.name!r} are not those that it was made with")
        game = cls.new(found, held["seats"], held["seed"], held["first"], held.get("players"))
        for number, event in enumerate(held["events"]):
            try:
                game._replay(event)
            except DicewiseError as error:
                raise GameError(f"record: event {number}: {error}") from error
        if list(game.totals) != held["totals"]:
            raise GameError(f"record: totals are {shown(held['totals'])}, expected {list(game.totals)!r}")
        return game

    def _replay(self, event: Any) -> None:
        kind, what = event_parts(event)
        if kind == "fill":
            self.fill(str(what))
        elif kind == "keep":
            self.keep(what)
        elif kind == "given":
            self.roll(parse_dice(self.ruleset, what))
        elif (rolled := self.roll()) != tuple(what):
            raise GameError(f"dice are {shown(what)}, expected {list(rolled)!r} of the seed {self.seed}")


def _rules(given: Ruleset | str | os.PathLike[str]) -> Ruleset:
    if not isinstance(given, (Ruleset, str, os.PathLike)):
        raise GameError(f"rules {shown(given)}: expected the name of a game, a rules file or its rules")
    return as_ruleset(given)


def _given(rules: Ruleset, kept: tuple[int, ...], dice: str | Iterable[int | str]) -> tuple[int, ...]:
    """Return all dice of a roll from all of them, or from the ones rolled alone."""
    faces = parse_faces(dice)
    if kept and len(faces) == rules.dice - len(kept):
        return tuple(sorted(kept + faces))
    all_dice = parse_dice(rules, faces)
    if any(kept.count(face) > all_dice.count(face) for face in kept):
        shown = " ".join(map(str, all_dice))
        raise ActionError(f"roll {shown}: expected the kept {' '.join(map(str, kept))} among the dice")
    return all_dice
