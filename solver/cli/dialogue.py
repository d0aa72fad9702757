"""A game between people at a terminal and players of the computer: what is asked, typed and shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from ..errors import ActionError, DiceError, ForeignTable, GameError, TableError, short
from ..rules import Ruleset
from .board import in_words, seat_names, show_cards
from .output import counted, show_line, show_table

if TYPE_CHECKING:
    from ..game import Game
    from ..lookup import Table
    from ..players import Player

_ADVISED = 5
_NOTHING = ("none", "nothing", "-")
"""What is typed to keep no dice."""
_LONGEST_RECORD = 10**8
"""Bytes; a file that is longer is no record of a game."""
_HELP = (
    ("?", "the best moves"),
    ("undo", "take back your last decision, until dice are rolled"),
    ("card", "the cards"),
    ("save FILE", "write the game to a file; dicewise play --load FILE goes on with it"),
    ("quit", "stop"),
)


class End(Exception):
    """A game that stops before it is over, since nobody types any more; the text says so."""


class Session:
    """A game under way between people at a terminal and players of the computer.

    Parameters
    ----------
    game, table
        The game, and the table of its rules that advice is taken from.
    seated
        Who decides at each seat; None where a person does.
    typed
        Whether the dice are rolled at a table and typed here.
    """

    def __init__(self, game: Game, table: Table, seated: list[Player | None], typed: bool) -> None:
        self._game, self._table, self._seated, self._typed = game, table, seated, typed
        self._names = seat_names(game)
        self._shown: tuple[int, int] | None = None

    def run(self) -> None:
        """Play until the game is over.

        Raises
        ------
        End
            If a person stops before.
        """
        game = self._game
        while not game.over:
            if game.phase == "start":
                self._roll_for_first()
            elif game.phase == "roll":
                self._roll()
            elif self._seated[game.seat] is None:
                self._ask()
            else:
                self._let_play()

    # ---------------------------------------------------------------- dice

    def _roll_for_first(self) -> None:
        seat = self._game.seat
        rolled = self._thrown(f"{self._names[seat]} for the first turn")
        if rolled:
            show_line(f"{self._names[seat]} for the first turn: {_spaced(rolled)}, {sum(rolled)} points")
            if self._game.phase != "start":
                show_line(f"The first turn: {self._names[self._game.seat]}")

    def _roll(self) -> None:
        game = self._game
        if game.kept is None:
            turn = game.card().filled.bit_count() + 1
            show_line(f"\n{self._names[game.seat]}, turn {turn} of {len(game.ruleset.keys)}", style="bold")
        beside = f" beside {_spaced(game.kept)}" if game.kept else ""
        self._thrown(f"{self._names[game.seat]}{beside}")

    def _thrown(self, who: str) -> tuple[int, ...]:
        """Roll, or read what was rolled; nothing where a decision was taken back instead."""
        if not self._typed:
            return self._game.roll()
        while True:
            line = self._line(f"Dice of {who}: ")
            if self._common(line):
                if self._game.phase not in ("roll", "start"):
                    return ()
                continue
            try:
                return self._game.roll(line)
            except (ActionError, DiceError) as error:
                show_line(str(error))

    # ---------------------------------------------------------------- people

    def _ask(self) -> None:
        """Let a person decide."""
        game = self._game
        assert game.dice is not None
        if self._shown != (turn := (game.seat, game.card().filled)):
            self._shown = turn
            show_cards(game, choices=True)
        left = counted(game.rerolls, "reroll", "rerolls")
        line = self._line(f"{_spaced(game.dice)}   {left} left > ")
        if self._common(line):
            return
        try:
            self._decide(line)
        except (ActionError, DiceError) as error:
            show_line(str(error))
            return
        if game.dice is None:
            self._after_fill()

    def _decide(self, line: str) -> None:
        from ..scorecard import whole_number

        game, keys = self._game, self._game.ruleset.keys
        words = line.lower().split()
        if words[0] in ("keep", "k"):
            game.keep(_kept("".join(words[1:])))
            return
        named = words[0] in ("fill", "f")
        text = " ".join(words[1:] if named else words)
        if text.isascii() and text.isdigit() and (named or not game.rerolls):
            number = whole_number(text) or 0
            if not 1 <= number <= len(keys):
                raise ActionError(f"fill {short(text)}: expected the number of a box, from 1 to {len(keys)}")
            game.fill(keys[number - 1])
        elif text == "-" or (not named and not any(letter.isalpha() for letter in text)):
            game.keep(_kept(text))
        else:
            game.fill(_box(text, game))

    def _after_fill(self) -> None:
        """Say what was scored, and give a chance to take it back."""
        game = self._game
        decision = game.decisions[-1]
        points = game.card(decision.seat).points[game.ruleset.keys.index(decision.move.category or "")]
        said = f"{in_words(game.ruleset, decision.move, None)}: {points} points."
        while game.can_undo and game.decisions[-1:] == (decision,):
            line = self._line(f"{said} Enter goes on, undo takes it back > ", blank=True)
            if not line:
                return
            if not self._common(line):
                show_line("expected Enter, undo, card, save FILE or quit")

    def _common(self, line: str) -> bool:
        """Do what may be typed at any time; return whether it was that."""
        word, _, rest = line.partition(" ")
        word = word.lower()
        actions: dict[str, Callable[[], None]] = {
            "help": lambda: show_table(_help(self._game.ruleset), indent=2),
            "card": lambda: show_cards(self._game, choices=True),
            "?": self._advise,
            "undo": self._undo,
        }
        if word in ("quit", "exit", "q") and not rest:
            raise End("The game stops here.")
        if word == "save":
            self._save(rest.strip())
            return True
        if rest or word not in actions:
            return False
        actions[word]()
        return True

    def _advise(self) -> None:
        position = self._game.position
        if position is None:
            show_line("advice is for dice on the table")
            return
        options = self._table.advise_position(position).options
        from ..players import as_move

        choices = {choice.category: choice for choice in self._game.fills}
        rows = [
            (
                in_words(self._game.ruleset, as_move(option), choices.get(option.category or "")),
                f"{option.value:.2f}",
                f"{option.loss:.2f}",
            )
            for option in options[:_ADVISED]
        ]
        show_table(rows, ("Best", "Value", "Loss"), right=(1, 2), indent=2)

    def _undo(self) -> None:
        try:
            self._game.undo()
        except ActionError as error:
            show_line(str(error))
            return
        self._shown = None

    def _save(self, name: str) -> None:
        from .. import files

        if not name:
            show_line("save: expected the name of a file")
            return
        if not _may_replace(name):
            show_line(f"save {name!r}: found another file there, expected none or a saved game to replace")
            return
        try:
            files.replace(name, f"{self._game}\n".encode())
        except TableError as error:
            show_line(str(error))
            return
        show_line(f"Saved; dicewise play --load {name} goes on with it.")

    def _line(self, prompt: str, blank: bool = False) -> str:
        """Read a line that is not empty, unless it may be."""
        while True:
            try:
                line = input(prompt).strip()
            except EOFError:
                raise End("Nothing more to read: the game stops here.") from None
            if not sys.stdin.isatty():
                click.echo(line)  # What was not typed here is shown, for the output to be read.
            if line or blank:
                return line

    # ---------------------------------------------------------------- the computer

    def _let_play(self) -> None:
        """Let a player of the computer decide."""
        game = self._game
        seated = self._seated[game.seat]
        assert seated is not None and game.dice is not None
        dice, choices = game.dice, {choice.category: choice for choice in game.fills}
        move = seated.move(game.situation())
        said = in_words(game.ruleset, move, choices.get(move.category or ""))
        show_line(f"  {_spaced(dice)}   {said}" + (f"   ({move.note})" if move.note else ""))
        game.play(move)


def _kept(text: str) -> tuple[int, ...]:
    """Return the dice that a text keeps; none only where it says so: it is not to be taken back."""
    from ..scorecard import parse_faces

    if text in _NOTHING:
        return ()
    kept = parse_faces(text.replace("-", ""))
    if not kept:
        raise ActionError(f"keep: expected dice such as keep 3 3, or keep {_NOTHING[0]}")
    return kept


def _may_replace(name: str) -> bool:
    """Whether nothing is there that is no saved game."""
    from .. import files
    from ..records import checked

    try:
        with files.opened(name) as (file, _):
            checked(file.read(_LONGEST_RECORD).decode("utf-8", "replace"))
    except (ForeignTable, GameError):
        return False
    except TableError:
        return not os.path.isfile(name)  # Nothing there, or what the writing says better.
    return True


def _help(rules: Ruleset) -> list[tuple[str, str]]:
    """Return what may be typed, with a box of the game as the example: one of several words if any."""
    boxes = rules.categories
    place = next((place for place, box in enumerate(boxes) if " " in box.title), len(boxes) - 1)
    key, title, number = boxes[place].key, boxes[place].title.lower(), str(place + 1)
    return [
        ("3 3", "keep these dice and reroll the others; keep none, or -, rerolls all"),
        (
            ", ".join(dict.fromkeys((key, title, f"f {number}"))),
            "fill a box: by its key, its title or its number",
        ),
        (number, "the same, where no reroll is left"),
        *_HELP,
    ]


def _spaced(dice: tuple[int, ...] | None) -> str:
    return " ".join(map(str, dice or ()))


def _box(text: str, game: Game) -> str:
    """Return the key of the box that a text means: its key or title, or the beginning of one alone."""
    wanted = "_".join(text.replace("-", " ").split())
    named = {
        category.key: {category.key, "_".join(category.title.lower().replace("-", " ").split())}
        for category in game.ruleset.categories
    }
    for key, spellings in named.items():
        if wanted in spellings:
            return key
    open_keys = [choice.category for choice in game.fills]
    begun = [key for key in open_keys if any(name.startswith(wanted) for name in named[key])]
    if len(begun) > 1:
        raise ActionError(f"fill {text!r}: it may be {' or '.join(begun)}")
    return begun[0] if begun else text
