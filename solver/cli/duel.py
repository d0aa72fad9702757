"""`dicewise duel`: two players who both play for the win, exactly; and advice against such a player."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click

from ..errors import CardError
from ..files import size
from .choice import FOLDER, chosen_rules, cluster, cluster_option, set_option, threads_option
from .output import percent, progress_bar, show_json, show_line, show_table

if TYPE_CHECKING:
    from ..duel_evaluation import Evaluation
    from ..lookup import Advice, Option
    from ..rules import Ruleset
    from ..scorecard import Position

_SHOWN = (1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200)


@click.command("duel")
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--folder",
    metavar="DIR",
    type=FOLDER,
    help="Where the values are kept.  [default: in the user's cache folder]",
)
@click.option(
    "--evaluate",
    "evaluated",
    is_flag=True,
    help="Also work out what each gains over a player for the expected score; with the ties in it, takes "
    "about three times as long as solving.",
)
@cluster_option
@set_option
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    name: str,
    folder: Path | None,
    evaluated: bool,
    address: str | None,
    changes: tuple[str, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Solve a game for two players, each playing for the greatest chance to win.

    The chance of the player who moves first, a tie counting half, what a head start is worth, and how often
    the two tie; the ties take up to twice as long as solving. For games whose states are their
    filled boxes: no upper bonus, no bonus for further Yahtzees, no box that requires another. What is worked
    out is kept in files, gigabytes for a whole game; a run that was stopped goes on where it was, and advice
    needs no more than the solved game.

    \b
    dicewise duel yacht
    dicewise duel yacht --evaluate --threads 4
    dicewise duel yacht-sum --cluster tcp://10.0.0.1:8786 --folder /shared/yacht-sum
    dicewise advise 13346 --rules yacht --card "ones=3" --duel "choice=22"
    """  # noqa: D301
    rules = chosen_rules(name, changes)
    from .. import duel
    from ..duel_evaluation import evaluate, found, tie_rate

    place = (folder or duel.duel_folder(rules)).absolute()
    started = perf_counter()
    with cluster(address, threads) as executor:
        with progress_bar(f"Solving {rules.name} for two") as progress:
            solved = duel.solve_duel(rules, place, threads=threads, executor=executor, progress=progress)
        if evaluated:
            with progress_bar(f"Following players of {rules.name}") as progress:
                evaluate(rules, place, threads=threads, executor=executor, progress=progress)
        with progress_bar(f"Following ties of {rules.name}") as progress:
            ties = tie_rate(rules, place, threads=threads, executor=executor, progress=progress)
    seconds = perf_counter() - started
    known = found(solved.files)
    pairs_of_sets, positions = solved.files.game.positions
    starts = solved.head_starts()
    if as_json:
        show_json(
            {
                "rules": rules.name,
                "chance": solved.chance,
                "ties": ties,
                "head_starts": [{"points": points, "chance": chance} for points, chance in starts.items()],
                "evaluation": known.as_dict() if known else None,
                "pairs": pairs_of_sets,
                "positions": positions,
                "folder": str(place),
                "bytes": solved.files.size(),
                "seconds": seconds,
            }
        )
        return
    show_line(f"{rules.title} for two, both playing for the win, a tie counting half", style="bold")
    show_table(
        [
            ("Rules", rules.name),
            ("First to move", f"{solved.chance:.8f}"),
            ("Ties", f"{ties:.8f}"),
            ("Pairs of cards", f"{pairs_of_sets:,}"),
            ("Positions", f"{positions:,}"),
            ("Files", f"{place} ({size(solved.files.size())})"),
            ("Time", f"{seconds:.2f} s"),
        ],
        indent=2,
    )
    show_line()
    shown = [points for points in _SHOWN if points in starts or -points in starts]
    rows = [(str(points), _chance(starts, points), _chance(starts, -points)) for points in shown]
    show_table(rows, ("Points", "First is ahead", "First is behind"), right=range(3), indent=2)
    if known:
        show_line()
        _show_evaluation(known)


def _chance(starts: dict[int, float], points: int) -> str:
    """Return the chance with a head start in words; beyond all that is open, the game is decided."""
    return percent(starts.get(points, 1.0 if points > 0 else 0.0))


def _show_evaluation(known: Evaluation) -> None:
    rows = [
        ("for the win", f"{known.both_optimum:.8f}", f"{known.first_optimum:.8f}"),
        ("for points", f"{known.second_optimum:.8f}", f"{known.neither_optimum:.8f}"),
    ]
    show_table(rows, ("First plays", "Second for the win", "Second for points"), right=(1, 2), indent=2)
    show_line()
    ties = (
        f"{percent(known.tie)} where both play for the win, {percent(known.neither_optimum_tie)} for points"
    )
    show_line(f"  Ties: {ties}")


def show_duel(
    position: Position,
    other: str,
    folder: Path | None,
    top: int | None,
    as_json: bool,
    in_words: Callable[[Option, Ruleset], str],
) -> None:
    """Print the advice for a position against the card of a player who plays for the win too."""
    from ..duel import open_duel

    solved = open_duel(position.card.ruleset, folder)
    try:
        held = solved.table.card(other)
    except CardError as error:
        raise CardError(f"--duel {other!r}: {error}") from None
    advice = solved.advise_position(position, held)
    if as_json:
        goal = {"kind": "duel", "unit": "probability"}
        show_json(advice.as_dict(top) | {"goal": goal, "other": held.as_dict()})
    else:
        _show(advice, 10 if top is None else top, in_words)
        show_line(f"\nPosition: {position}", style="dim")
        show_line(f"Other card: {held}", style="dim")


def _show(advice: Advice, top: int, in_words: Callable[[Option, Ruleset], str]) -> None:
    rules, best = advice.position.card.ruleset, advice.best
    show_line(f"{in_words(best, rules)}: {_worth(best)}", style="bold")
    for_points = max(advice.options, key=lambda option: (option.expected or 0.0, -option.loss))
    if for_points.loss > 0:
        show_line(f"Best for points: {in_words(for_points, rules)}: {_worth(for_points)}")
    shown = advice.options[1:top]
    if shown:
        show_line()
        rows = [(in_words(one, rules), percent(one.value), f"{one.expected or 0:.2f}") for one in shown]
        show_table(rows, ("Otherwise", "Wins", "Expected score"), right=(1, 2), indent=2)
    if more := len(advice.options) - 1 - len(shown):
        show_line(f"  {more} more; --top {len(advice.options)} shows all.", style="dim")


def _worth(option: Option) -> str:
    return f"{percent(option.value)} to win (expected final score {option.expected:.2f})"
