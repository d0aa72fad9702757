"""`dicewise export`: labelled positions for learning, as a file."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click

from ..files import size
from .choice import PLACE, chosen_rules, seed_option, set_option, threads_option
from .goal import solved_from
from .output import progress_bar, show_json, show_line

if TYPE_CHECKING:
    from ..labels import Source

SOURCES: tuple[Source, ...] = ("optimal", "perturbed", "uniform")
EPSILON = 0.2
"""As in `solver.export`, which the help of this command does without."""


@click.command("export")
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--positions",
    "-n",
    "count",
    type=click.IntRange(min=1),
    required=True,
    metavar="N",
    help="How many positions.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    required=True,
    type=PLACE,
    help="Where to write them, .jsonl or .parquet (needs pyarrow); a file that is there is replaced.",
)
@click.option(
    "--source",
    type=click.Choice(SOURCES),
    default=SOURCES[0],
    show_default=True,
    help="Draw from games of optimal play, from such games with random moves in between, or from all states "
    "with equal chances.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(0, 1),
    metavar="P",
    help=f"Probability of a random move at each decision of a perturbed game.  [default: {EPSILON}]",
)
@seed_option("positions")
@set_option
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    name: str,
    count: int,
    output: Path,
    source: Source,
    epsilon: float | None,
    seed: int,
    changes: tuple[str, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Write positions with the value of every legal move and the best one, as data for learning.

    \b
    dicewise export yahtzee -n 100000 --output positions.jsonl
    dicewise export yatzy -n 1000000 --seed 7 --source perturbed --output positions.parquet

    Each position is drawn for itself. A record holds it as text and as numbers, the value and the loss of
    every legal move, and the best; the documentation of the Python module `solver.export` lists the fields.
    The file is written whole or not at all.
    """  # noqa: D301
    if epsilon is not None and source != "perturbed":
        raise click.UsageError("--epsilon is for --source perturbed")
    rules = chosen_rules(name, changes)
    from .. import export
    from .solve import check_place

    export.check(output)
    check_place("--output", output)
    table = solved_from(rules, None, threads)
    started = perf_counter()
    slips = EPSILON if epsilon is None else epsilon
    with progress_bar(f"Writing positions of {rules.name}") as progress:
        export.export(
            table,
            output,
            count,
            seed=seed,
            source=source,
            epsilon=slips,
            threads=threads,
            progress=progress,
        )
    seconds, length = perf_counter() - started, output.stat().st_size
    if as_json:
        show_json(
            {
                "rules": rules.name,
                "positions": count,
                "source": source,
                "epsilon": slips if source == "perturbed" else None,
                "seed": seed,
                "output": str(output),
                "bytes": length,
                "seconds": seconds,
            }
        )
        return
    noun = "position" if count == 1 else "positions"
    show_line(f"Wrote {count:,} {noun} of {rules.name} to {output} ({size(length)}) in {seconds:.1f} s.")
