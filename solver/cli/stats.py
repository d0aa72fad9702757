"""`dicewise stats`: how final scores spread under the table's strategy, exactly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files import size
from . import Fault
from .choice import check_picture, chosen_rules, plot_option, set_option, threads_option
from .figures import show_statistics
from .goal import Chosen, goal_json, goal_options, goal_rows, solved
from .output import percent, progress_bar, show_json, show_line, show_table

if TYPE_CHECKING:
    from ..scorecard import Position, Scorecard


@click.command("stats")
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--card",
    metavar="TEXT",
    help='The boxes filled so far, such as "ones=3 sixes=24".  [default: an empty card]',
)
@click.option("--dice", metavar="TEXT", help='Dice on the table, such as "1 3 3 4 6", within a turn.')
@click.option(
    "--rerolls", type=int, metavar="N", help="Rerolls left then.  [default: as after the first roll]"
)
@set_option
@goal_options
@plot_option("the histogram")
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    name: str,
    card: str | None,
    dice: str | None,
    rerolls: int | None,
    changes: tuple[str, ...],
    chosen: Chosen,
    picture: Path | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say how final scores spread under optimal play: exactly, not by sampling.

    Play is optimal for the expected score, or for a goal.
    Mean, deviation, quantiles, histogram, the chance of each round fifty, and what each box brings.

    \b
    dicewise stats yahtzee
    dicewise stats yatzy --plot yatzy.svg
    dicewise stats yahtzee --card "yahtzee=50 sixes=18" --dice "1 3 3 4 6" --rerolls 1
    dicewise stats yacht --set rolls=2 --json
    dicewise stats yacht --goal 200

    In JSON, `scores` are all final scores and `probabilities` those of each. Where these are too many to
    hold, it is mean, deviation and the chance of an upper bonus alone, as exactly.
    """  # noqa: D301
    if rerolls is not None and dice is None:
        raise click.UsageError("--rerolls goes with --dice, which says what is on the table")
    rules = chosen_rules(name, changes)
    check_picture(picture)
    from ..distributions import MOST_BYTES, bytes_to_hold, check_size, distribution
    from ..scope import Scope
    from ..scorecard import Position, Scorecard, parse_dice
    from ..scoring import scoring
    from ..states import states
    from ..summary import statistics

    held = Scorecard.parse(rules, card or "")
    scope = Scope.of(states(scoring(rules)), held)
    needed = bytes_to_hold(scope)
    left = held.rerolls if rerolls is None else rerolls
    where = None if dice is None else Position(held, parse_dice(rules, dice), left)
    thrown = (None, None) if where is None else (where.dice, where.rerolls)
    if not chosen.given and needed > MOST_BYTES:
        _show_moments(held, where, picture, threads, as_json, needed)
        return
    check_size(scope)
    played = solved(chosen, rules, held, threads, from_card=True)
    with progress_bar(f"Adding up the games of {rules.name}") as progress:
        scores = distribution(played, held, *thrown, threads=threads, progress=progress)
    # What the goal is worth here: from the dice on, where there are some.
    plain = distribution(scores.table, held, *thrown, threads=threads) if chosen.given else None
    found = statistics(scores)
    if picture:
        from .. import plot

        plot.histogram(scores, picture)
    if as_json:
        show_json(
            found.as_dict()
            | {"dice": where and where.dice, "rerolls": where and where.rerolls}
            | goal_json(chosen, played, scores)
            | {"scores": scores.scores.tolist(), "probabilities": scores.probabilities.tolist()}
        )
        return
    rows = [("Mean", f"{found.mean:.10f} points")]
    rows += goal_rows(played, scores, plain)
    show_statistics(found, rules, [*_dice(where), *rows])
    if picture:
        show_line(f"\nPlot: {picture}", style="dim")


def _dice(where: Position | None) -> list[tuple[str, str]]:
    if where is None:
        return []
    return [("Dice", f"{' '.join(map(str, where.dice))}, rerolls left: {where.rerolls}")]


def _show_moments(
    card: Scorecard,
    where: Position | None,
    picture: Path | None,
    threads: int | None,
    as_json: bool,
    needed: int,
) -> None:
    """Print what is known without the chance of every score, which takes so many bytes to hold."""
    from ..deviations import moments

    rules = card.ruleset
    why = f"the chance of every score would take {size(needed)} to hold"
    if picture:
        raise Fault(f"--plot {str(picture)!r}: {why}; expected no plot")
    thrown = (None, None) if where is None else (where.dice, where.rerolls)
    with progress_bar(f"Adding up the games of {rules.name}", left=True) as progress:
        found = moments(rules, card, *thrown, threads=threads, progress=progress)
    if as_json:
        begun = {"dice": where and where.dice, "rerolls": where and where.rerolls}
        show_json(found.as_dict() | begun | {"distribution_bytes": needed})
        return
    rows = [
        ("Rules", found.rules),
        ("Card", found.card),
        *_dice(where),
        ("Mean", f"{found.mean:.10f} points"),
    ]
    rows.append(("Standard deviation", f"{found.standard_deviation:.6f} points"))
    if rules.upper_bonus:
        rows.append(("Upper bonus", percent(found.upper_bonus)))
    show_line(rules.title + (f": {rules.summary}" if rules.summary else ""), style="bold")
    show_table(rows, indent=2)
    show_line(f"\nExact; {why}.", style="dim")
