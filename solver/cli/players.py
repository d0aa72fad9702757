"""`dicewise players`: who there is to play, and how well each plays a game."""

from __future__ import annotations

from math import inf

import click

from .choice import chosen_rules, set_option, threads_option
from .goal import solved_from
from .output import progress_bar, show_json, show_line, show_table

_OTHERS = (
    ("reach:N", "the best chance of N points or more"),
    ("risk:THETA", "seeks risk for THETA above 0, avoids it below"),
    ("win", "looks at all cards, for the best chance to win"),
)


@click.command("players")
@click.argument("name", metavar="NAME|FILE")
@set_option
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(name: str, changes: tuple[str, ...], threads: int | None, as_json: bool) -> None:
    """List the players of a game, with the mean and the deviation of their scores: exact, not sampled.

    \b
    dicewise players yahtzee
    dicewise players yatzy --json

    Levels slip like people, small losses often and large ones seldom; strength:M slips so much that it
    averages M points.
    """  # noqa: D301
    rules = chosen_rules(name, changes)
    from ..players import exact_strengths

    table = solved_from(rules, None, threads)
    with progress_bar(f"Following the players of {rules.name}") as progress:
        found = exact_strengths(table, threads=threads, progress=progress)
    if as_json:
        players = [one._asdict() for one in found]
        for one in players:
            if one["temperature"] == inf:  # JSON has no infinity; `about` says that it is play at random.
                one["temperature"] = None
        show_json({"rules": rules.name, "players": players})
        return
    show_line(rules.title + (f": {rules.summary}" if rules.summary else ""), style="bold")
    rows = [(one.player, f"{one.mean:.2f}", f"{one.standard_deviation:.2f}", one.about) for one in found]
    show_table(rows, ("Player", "Mean", "Deviation", ""), right=(1, 2), indent=2)
    low, high = found[0].mean, found[-1].mean
    strength = ("strength:M", f"averages M points, from {low:.2f} to {high:.2f}")
    show_line()
    show_table([strength, *_OTHERS], indent=2)
