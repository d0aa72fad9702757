"""`dicewise compare`: rulesets side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..rules import names_with_table
from ..rules.changes import parsed_values
from ..rules.wording import listed
from . import Fault
from .choice import (
    check_picture,
    chosen_changes,
    cluster,
    cluster_option,
    plot_option,
    set_option,
    threads_option,
)
from .goal import Chosen, goal_of, goal_options, heading, number
from .output import or_dash, percent, progress_bar, room, show_json, show_line, show_table

if TYPE_CHECKING:
    from ..comparison import Row

_GAP = 3
_FIRST = 3
"""Columns of the first table where there are two."""
_HEADER = ("Expected", "Difference", "Deviation", "5 %", "Median", "95 %", "Upper bonus", "Top box")


@click.command("compare")
@click.argument("games", nargs=-1, metavar="[NAME|FILE]...")
@set_option
@click.option(
    "--vary",
    "varied",
    multiple=True,
    metavar="KEY=V1,V2,...",
    help="Compare values of a key of the rules, such as rolls=2,3,4; with several keys, all combinations.",
)
@goal_options
@plot_option("the distributions, one over the other,")
@threads_option
@cluster_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    games: tuple[str, ...],
    changes: tuple[str, ...],
    varied: tuple[str, ...],
    chosen: Chosen,
    picture: Path | None,
    threads: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Compare games under optimal play, all that come with a table unless some are named.

    Play is optimal for the expected score, or for a goal, whose value is then the first column.

    Expected score, its difference from the first row, standard deviation and quantiles in points; how
    often the upper bonus is reached, and how often the box that can hold most holds points.

    \b
    dicewise compare
    dicewise compare yacht yacht-sum --plot yacht.png
    dicewise compare yahtzee --vary upper_bonus.points=0,35,50
    dicewise compare yahtzee --vary yahtzee.joker=none,free,forced
    dicewise compare yatzy --vary "upper_bonus=[],[{at=63,points=50}]" --set rolls=4
    dicewise compare yacht yacht-sum --goal 200

    Keys and values are those of --set and of a rules file; values are separated by commas outside
    brackets and quotes. `dicewise rules NAME` lists the keys.
    """  # noqa: D301
    from .. import comparison

    fixed = chosen_changes(changes)
    vary = _varied(varied)
    if twice := [key for key in fixed if key in vary]:
        raise click.UsageError(f"found --set {twice[0]} and --vary {twice[0]}, expected one of them")
    wanted = [
        rules for game in games or names_with_table() for rules in comparison.variants(game, vary, fixed)
    ]
    check_picture(picture)
    if address and chosen.utility:
        # Workers have working folders of their own.
        chosen = chosen._replace(utility=chosen.utility.absolute())
    goal = partial(goal_of, chosen) if chosen.given else None
    shown = f"Comparing {len(wanted)} rulesets"
    with cluster(address, threads) as executor, progress_bar(shown) as progress:
        found = comparison.compare(wanted, goal, threads=threads, executor=executor, progress=progress)
    drawn = [scores for scores in found.distributions if scores is not None]
    missing = [
        row.rules for row, scores in zip(found.rows, found.distributions, strict=True) if scores is None
    ]
    if picture:
        if not drawn:
            why = f"the chance of every score of {listed(missing)} is too much to hold"
            raise Fault(f"--plot {str(picture)!r}: {why}; expected no plot")
        from .. import plot

        plot.overlay(drawn, picture)
    if as_json:
        show_json(found.as_dict())
        return
    first, labels = "Rules", [row.rules for row in found.rows]
    if vary and len(games) == 1:
        # What all rows have in common is said once, at the top.
        (common,) = comparison.variants(games[0], {}, fixed)
        first, known = common.name, len(common.name.removesuffix("]")) + 1
        labels = [label[known:-1] for label in labels]
    figures = [_HEADER, *map(_figures, found.rows)]
    if chosen.given:
        aims = [goal_of(chosen, scores.table) for scores in drawn]
        values = [number(aim, row.value or 0.0) for aim, row in zip(aims, found.rows, strict=True)]
        figures = [(value, *row) for value, row in zip((heading(aims[0]), *values), figures, strict=True)]
    _show((first, *labels), figures)
    if picture:
        show_line(f"\nPlot: {picture}" + (f", without {listed(missing)}" if missing else ""), style="dim")


def _show(labels: Sequence[str], figures: Sequence[Sequence[str]]) -> None:
    """Print the figures, each row after its label; where a line has no room for them, in two tables."""
    width = max(map(len, labels)) + sum(_GAP + max(map(len, column)) for column in zip(*figures, strict=True))
    parts = [slice(None)] if width <= room(width) else [slice(_FIRST), slice(_FIRST, None)]
    for place, part in enumerate(parts):
        if place:
            show_line()
        header, *rows = ((label, *row[part]) for label, row in zip(labels, figures, strict=True))
        show_table(rows, header, right=range(1, len(header)), whole=())


def _varied(texts: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return the keys of --vary with their values."""
    vary: dict[str, list[Any]] = {}
    for text in texts:
        key, values = parsed_values(text, "--vary")
        if key in vary:
            raise click.UsageError(f"--vary: found {key} twice, expected all its values in one list")
        vary[key] = values
    return vary


def _figures(row: Row) -> tuple[str, ...]:
    return (
        f"{row.expected_score:.4f}",
        f"{row.difference:+.4f}",
        or_dash(row.standard_deviation, lambda deviation: f"{deviation:.2f}"),
        or_dash(row.quantile_5, str),
        or_dash(row.median, str),
        or_dash(row.quantile_95, str),
        or_dash(row.upper_bonus, percent),
        or_dash(row.top_box_probability, percent),
    )
