"""`dicewise play`: a game in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import GameError, RulesError, shown
from ..rules import ruleset
from .board import HUMAN, seat_names, show_end, show_losses
from .choice import FILE, chosen_rules, seconds_option, set_option
from .dialogue import End, Session
from .output import check_stdout, progress_bar, show_line

if TYPE_CHECKING:
    from ..game import Game
    from ..players import Player


@click.command("play")
@click.argument("name", metavar="[NAME|FILE]", required=False)
@click.option(
    "--seats",
    metavar="PLAYERS",
    help="Who plays, in their order: human, or a player as in `dicewise players`.  [default: human,optimal]",
)
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="S", help="Where the dice start; any unless given."
)
@click.option(
    "--first",
    metavar="SEAT|roll",
    help="Who begins; roll: the highest roll does.  [default: 1]",
)
@click.option(
    "--dice",
    type=click.Choice(["rolled", "typed"]),
    default="rolled",
    show_default=True,
    help="typed: you roll at a real table and type what lies there.",
)
@click.option(
    "--load",
    type=FILE,
    metavar="FILE",
    help="Go on with a game that was saved.",
)
@seconds_option
@set_option
def command(
    name: str | None,
    seats: str | None,
    seed: int | None,
    first: str | None,
    dice: str,
    load: Path | None,
    seconds: float,
    changes: tuple[str, ...],
) -> None:
    """Play a game in the terminal: against the computer, alone, or several of you.

    Type dice to keep them and the name or number of a box to fill it; help says what else.

    \b
    dicewise play yahtzee
    dicewise play yatzy --seats human,club,strength:200 --first roll
    dicewise play yacht --seats human,human --dice typed
    dicewise play --load evening.json

    At the end it says what each of your decisions gave away.
    """  # noqa: D301
    from .. import library
    from ..game import Game
    from ..players import check_player, names_player, player

    check_stdout("play")
    if load is not None:
        if any(given is not None for given in (seats, seed, first)) or changes:
            raise click.UsageError(
                "--load goes on with a game: no --seats, --seed, --first or --set beside it"
            )
        game = _loaded(load, name)
    else:
        rules = chosen_rules(name, changes)
        players = [spec.strip() for spec in (f"{HUMAN},optimal" if seats is None else seats).split(",")]
        game = Game.new(
            rules, len(players), seed, _seat("1" if first is None else first, len(players)), players
        )
    # In a record, whatever names no player of the computer is somebody's name.
    computers = [
        None if spec == HUMAN or (load is not None and not names_player(spec)) else spec
        for spec in game.players or [HUMAN] * game.seats
    ]
    for named in computers:
        if named is not None:
            check_player(named, game.ruleset)
    with progress_bar(f"Solving {game.ruleset.name}") as progress:
        table = library.load(game.ruleset, progress=progress)
    seated: list[Player | None] = []
    with progress_bar("Finding the players"):
        for seed, named in enumerate(computers, game.seed):
            seated.append(None if named is None else player(named, table, seed=seed, seconds=seconds))
    rules = game.ruleset
    show_line(rules.title + (f": {rules.summary}" if rules.summary else ""), style="bold")
    hint = "; help says what to type" if None in seated else ""
    show_line(f"{', '.join(seat_names(game))}; seed {game.seed}{hint}")
    session = Session(game, table, seated, dice == "typed")
    try:
        session.run()
    except End as end:
        show_line(f"\n{end}")
    show_line()
    show_end(game)
    show_losses(game, table)


def _seat(text: str, seats: int) -> int | str:
    """Return who begins, as a game takes it: the number of a seat from 0, or that the dice say."""
    from ..game import HIGHEST

    if text == "roll":
        return HIGHEST
    numbers = [str(number) for number in range(1, seats + 1)]
    if text not in numbers:
        raise GameError(f"--first {shown(text)}: expected a seat from 1 to {seats}, or roll")
    return numbers.index(text)


def _loaded(path: Path, name: str | None) -> Game:
    """Return the game of a file, under the rules given beside it or those of the game that it names."""
    from ..game import Game

    record = path.read_text("utf-8", "replace").strip()
    try:
        return Game.from_record(record, None if name is None else ruleset(name))
    except RulesError as error:
        if name is not None:
            raise
        raise RulesError(f"{error}; or their rules file beside --load") from None
