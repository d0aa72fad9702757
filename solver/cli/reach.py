"""`dicewise reach`: the best chance of every final score."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from ..files import size
from ..rules import Ruleset
from .choice import (
    FOLDER,
    check_picture,
    chosen_rules,
    cluster,
    cluster_option,
    plot_option,
    set_option,
    threads_option,
)
from .goal import solved_from
from .output import percent, progress_bar, show_json, show_line, show_table, within

if TYPE_CHECKING:
    from ..chances import Chances, Curve
    from ..distributions import Distribution
    from ..lookup import Table
    from ..scorecard import Scorecard

_MOST_ROWS = 60
_STEPS = (50, 20, 10, 5, 2, 1)
_ROWS = 5
"""Where a step of fifty would give fewer rows, a smaller one is taken."""


@click.command("reach")
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--card",
    metavar="TEXT",
    help='The boxes filled so far, such as "ones=3 sixes=24".  [default: an empty card]',
)
@click.option(
    "--step",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Points between two lines.  [default: {_STEPS[0]}, or fewer for a few lines at least]",
)
@click.option(
    "--keep",
    is_flag=True,
    help="Keep the chances from every card in a file, in which `advise --goal` then looks them up.",
)
@cluster_option
@click.option(
    "--folder",
    metavar="DIR",
    type=FOLDER,
    help="With --cluster, where the files lie that its workers share, until all is done.  "
    "[default: the cache folder]",
)
@set_option
@plot_option("both chances of every score")
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    name: str,
    card: str | None,
    step: int | None,
    keep: bool,
    address: str | None,
    folder: Path | None,
    changes: tuple[str, ...],
    picture: Path | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say how likely each final score can be made, playing for just that score.

    Best chance: the greatest probability of so many points or more, for each score by its own best play.
    For points: the probability under play for the highest expected score.

    \b
    dicewise reach yacht
    dicewise reach yahtzee --keep
    dicewise reach yahtzee --card "yahtzee=50 sixes=18 chance=24" --step 25 --plot chances.svg
    dicewise reach yatzy --card "sixes=18" --json
    dicewise reach yahtzee --keep --cluster tcp://10.0.0.1:8786 --folder /shared

    An early card of a game with many boxes takes up to a minute; once kept, it is looked up. In JSON,
    `scores` are all final scores between certain and impossible, and both chances are those of each.
    """  # noqa: D301
    rules = chosen_rules(name, changes)
    if folder and not address:
        raise click.UsageError("--folder goes with --cluster, whose workers share it; found no --cluster")
    if keep or address:
        rules.refuse_saved_rolls("files of chances")
    check_picture(picture)
    from ..distributions import distribution
    from ..scorecard import Scorecard

    held = Scorecard.parse(rules, card or "")
    with cluster(address, threads) as executor:
        table = solved_from(rules, held, threads)
        started = perf_counter()
        found = _chances(table, held, keep, threads=threads, executor=executor, folder=folder)
    seconds = perf_counter() - started
    with progress_bar(f"Adding up the games of {rules.name}") as progress:
        usual = distribution(table, held, threads=threads, progress=progress)
    best = found.curve(held)
    if picture:
        from .. import plot

        plot.chances(best, usual, picture)
    path = str(found.path) if found.path else None
    if as_json:
        show_json(
            {"rules": rules.name, "card": held.as_dict(), "within": found.within, "kept": path}
            | {"scores": best.scores.tolist(), "chances": best.chances.tolist()}
            | {"for_points": [usual.at_least(score) for score in best.scores.tolist()]}
        )
        return
    _show(rules, held, best, usual, step)
    show_line(f"\nEach best chance is {within(found.within)} of the exact one.", style="dim")
    if keep and found.path:
        about = f"{size(found.path.stat().st_size)}, {seconds:.1f} s"
        show_line(f"Kept for `dicewise advise --goal`: {path} ({about})", style="dim")
    elif path:
        show_line(f"Looked up in {path}", style="dim")
    if picture:
        show_line(f"Plot: {picture}", style="dim")


def _chances(table: Table, card: Scorecard, keep: bool, **how: Any) -> Chances:
    """Look the chances up where a file is kept, or work them out."""
    from ..chances_file import kept_chances

    found = None if keep else kept_chances(table)
    if found is not None:
        return found
    from ..reaching import keep_chances, reach

    with progress_bar(f"Working out every score of {table.ruleset.name}") as progress:
        if keep:
            return keep_chances(table, **how, progress=progress)
        return reach(table, card, **how, progress=progress)


def _show(rules: Ruleset, card: Scorecard, best: Curve, usual: Distribution, step: int | None) -> None:
    from ..summary import bin_width

    low, high = int(best.scores[0]), int(best.scores[-1])
    if step is None:
        fine = next(step for step in _STEPS if (high - low) // step >= _ROWS or step == 1)
        step = max(fine, bin_width(low, high, _MOST_ROWS))
    scores = [*range((low // step + 1) * step, high + 1, step)] or [low]
    chances = best.chances[[score - low for score in scores]]
    show_line(rules.title + (f": {rules.summary}" if rules.summary else ""), style="bold")
    show_table([("Rules", rules.name), ("Card", str(card))], indent=2)
    show_line()
    rows = [
        (str(score), percent(chance), percent(usual.at_least(score)))
        for score, chance in zip(scores, chances.tolist(), strict=True)
    ]
    show_table(rows, ("Points or more", "Best chance", "For points"), right=(0, 1, 2), indent=2)
