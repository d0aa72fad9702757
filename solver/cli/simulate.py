"""`dicewise simulate`: whole games played under the table's strategy."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import click

from . import Fault
from .choice import chosen_rules, cluster, cluster_option, seed_option, set_option, threads_option
from .figures import show_statistics
from .goal import Chosen, goal_json, goal_options, goal_rows, solved
from .output import or_dash, progress_bar, show_json


@click.command("simulate")
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--games", "-n", type=click.IntRange(min=1), required=True, metavar="GAMES", help="How many to play."
)
@seed_option("games")
@click.option(
    "--card",
    metavar="TEXT",
    help='The boxes filled at the start, such as "ones=3 sixes=24".  [default: an empty card]',
)
@set_option
@goal_options
@threads_option
@cluster_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    name: str,
    games: int,
    seed: int,
    card: str | None,
    changes: tuple[str, ...],
    chosen: Chosen,
    threads: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Play whole games with optimal play and say how they end, beside the exact expected score.

    Play is optimal for the expected score, or for a goal; beside it then stands its exact value.

    \b
    dicewise simulate yahtzee -n 1000000
    dicewise simulate yatzy -n 100000 --seed 7 --json
    dicewise simulate yahtzee -n 10000 --card "yahtzee=50 sixes=18"
    dicewise simulate yacht -n 10000 --goal 200

    In JSON, `scores` are final scores and `probabilities` the share of the games that ended with each.
    """  # noqa: D301
    rules = chosen_rules(name, changes)
    from ..scorecard import Scorecard
    from ..simulation import simulate
    from ..summary import statistics

    held = Scorecard.parse(rules, card or "")
    with cluster(address, threads) as executor:
        optimal = solved(chosen, rules, held, threads)
        started = perf_counter()
        how: dict[str, Any] = {"seed": seed, "card": held, "threads": threads, "executor": executor}
        try:
            with progress_bar(f"Playing {rules.name}") as progress:
                played = simulate(optimal, games, **how, progress=progress)
        except MemoryError:
            raise Fault(f"--games {games}: found too little memory for so many games") from None
    seconds = perf_counter() - started
    scores, value = played.distribution, optimal.value(held)
    found = replace(statistics(scores), standard_deviation=played.standard_deviation)
    if as_json:
        show_json(
            found.as_dict()
            | {
                "games": games,
                "seed": seed,
                "standard_error": played.standard_error,
                "expected_score": None if chosen.given else value,
                "seconds": seconds,
                "games_per_second": games / seconds,
                "scores": scores.scores.tolist(),
                "probabilities": scores.probabilities.tolist(),
            }
            | goal_json(chosen, optimal, scores)
            | ({"value": value} if chosen.given else {})
        )
        return
    error = or_dash(played.standard_error, "{:.4f}".format)
    rows = [
        ("Games", f"{games:,}, seed {seed}"),
        ("Time", f"{seconds:.2f} s, {games / seconds:,.0f} games a second"),
        ("Mean", f"{found.mean:.4f} points, standard error {error}"),
    ]
    if chosen.given:
        rows += goal_rows(optimal, scores)
        rows += [("Exactly", text) for _, text in goal_rows(optimal)]
    else:
        rows.append(("Expected score", f"{value:.10f} points"))
    show_statistics(found, rules, rows)
