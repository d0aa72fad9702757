"""`dicewise match`: players against each other."""

from __future__ import annotations

import click

from ..rules import names
from . import Fault
from .choice import chosen_rules, seconds_option, seed_option, set_option, threads_option
from .output import or_dash, percent, progress_bar, show_json, show_line, show_table


@click.command("match")
@click.argument("players", nargs=-1, required=True, metavar="PLAYER...")
@click.option(
    "--games", "-n", type=click.IntRange(min=1), required=True, metavar="GAMES", help="How many to play."
)
@click.option(
    "--rules", "name", metavar="NAME|FILE", help=f"The game or a rules file.  [default: {names()[0]}]"
)
@seed_option("games")
@seconds_option
@set_option
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    players: tuple[str, ...],
    games: int,
    name: str | None,
    seed: int,
    seconds: float,
    changes: tuple[str, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Let players play each other, and say how often each wins.

    \b
    dicewise match optimal greedy -n 100000
    dicewise match strength:200 club casual -n 10000 --rules yatzy
    dicewise match win optimal -n 100 --rules yacht

    `dicewise players NAME` lists the players. A tie counts its share: half a win for each of two. Of two
    players, win plays exactly where `dicewise duel` has solved the game.
    """  # noqa: D301
    rules = chosen_rules(name, changes)
    from .. import library
    from ..matches import check_players, match

    check_players(players, rules)
    with progress_bar(f"Solving {rules.name}") as progress:
        table = library.solve(rules, threads=threads, progress=progress)
    try:
        with progress_bar(f"Playing {rules.name}") as progress:
            found = match(
                table, players, games, seed=seed, seconds=seconds, threads=threads, progress=progress
            )
    except MemoryError:
        raise Fault(f"--games {games}: found too little memory for so many games") from None
    if as_json:
        show_json(found.as_dict())
        return
    show_line(rules.title + (f": {rules.summary}" if rules.summary else ""), style="bold")
    rows = [
        (
            seat.player,
            percent(seat.wins),
            or_dash(seat.wins_error, lambda error: f"{100 * error:.2f} %"),
            f"{seat.mean:.2f}",
            or_dash(seat.mean_error, "{:.2f}".format),
            f"{seat.standard_deviation:.2f}",
        )
        for seat in found.seats
    ]
    header = ("Player", "Wins", "Error", "Mean", "Error", "Deviation")
    show_table(rows, header, right=range(1, len(header)), indent=2)
    ties = "" if len(players) == 1 else f"; {percent(found.ties)} of the games are ties, shared"
    played = "1 game" if games == 1 else f"{games:,} games"
    show_line(f"  {played}, seed {seed}{ties}. Error: standard error.", style="dim")
    if found.exact:
        show_line("  win: exact two-player play", style="dim")
