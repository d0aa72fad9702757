"""`dicewise solve`: the expected score of a game, computed now."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile
from time import perf_counter

import click

from ..errors import ForeignTable, TableError
from ..files import size
from ..rules import Ruleset
from . import Fault
from .choice import PLACE, chosen_rules, cluster, cluster_option, set_option, threads_option
from .goal import Chosen, goal_json, goal_options, goal_rows, solved
from .output import counted, progress_bar, show_json, show_line, show_table


@click.command("solve")
@click.argument("name", metavar="NAME|FILE")
@click.option("--output", "-o", metavar="FILE", type=PLACE, help="Write the table to this file.")
@threads_option
@cluster_option
@set_option
@click.option("--card", metavar="TEXT", help="The boxes filled so far, to solve a goal from there on.")
@goal_options
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    name: str,
    output: Path | None,
    threads: int | None,
    address: str | None,
    changes: tuple[str, ...],
    card: str | None,
    chosen: Chosen,
    as_json: bool,
) -> None:
    """Solve a game exactly: its expected score under optimal play, or what a goal is worth.

    The result is the same to the bit for any number of threads. Ctrl-C stops and writes nothing; a game with
    saved rolls is solved into files, in your cache folder or in the folder --output, and goes on from there
    when it is started again. With --cluster the workers must reach that folder.

    \b
    dicewise solve yahtzee
    dicewise solve house.toml --output house.dwt
    dicewise solve yatzy --set rolls=4 --set "upper_bonus=[]"
    dicewise solve yatzy --risk 0.05
    dicewise solve maxi-yatzy --cluster tcp://10.0.0.1:8786 --output /shared/maxi-yatzy
    dicewise solve yahtzee --card "yahtzee=50 sixes=24 ones=3 twos=6 chance=25" --goal 300
    """  # noqa: D301
    if output and chosen.given:
        raise click.UsageError(f"--output keeps expected scores: expected no {chosen.named[0]} beside it")
    if card is not None and not chosen.given:
        raise click.UsageError("--card goes with a goal, which is solved from there on; found no goal")
    rules = chosen_rules(name, changes)
    if rules.saves and not chosen.given:
        _solve_saving(rules, output, threads, address, as_json)
        return
    if address:
        found = "a goal" if chosen.given else f"{rules.name}, which needs none"
        raise click.UsageError(f"--cluster: found {found}; expected a game with saved rolls")
    if output:
        _check_output(output)
    from .. import library
    from ..pursuit import Pursuit
    from ..scorecard import Scorecard

    held = Scorecard.parse(rules, card or "")
    started = perf_counter()
    played = solved(chosen, rules, held, threads)
    seconds = perf_counter() - started
    table = played.table if isinstance(played, Pursuit) else played
    if output:
        library.save(table, output)
    value, count = table.value(held), table.states.count
    if as_json:
        path = str(output) if output else None
        show_json(
            {"rules": rules.name, "expected_score": value, "states": count, "seconds": seconds, "table": path}
            | goal_json(chosen, played)
            | ({"value": played.value()} if chosen.given else {})
        )
        return
    show_line(rules.title + (f": {rules.summary}" if rules.summary else ""), style="bold")
    rows = [
        ("Rules", rules.name),
        ("Expected score", f"{value:.10f} points"),
        *goal_rows(played),
        ("States", f"{count:,}" + (", without the saved rolls" if rules.saves else "")),
        ("Time", f"{seconds:.2f} s"),
    ]
    if output:
        rows.append(("Table", f"{output} ({size(output.stat().st_size)})"))
    show_table(rows, indent=2)


def _solve_saving(
    rules: Ruleset, folder: Path | None, threads: int | None, address: str | None, as_json: bool
) -> None:
    """Solve a game with saved rolls into files, going on from where an earlier run was stopped."""
    if folder is not None and folder.exists() and not folder.is_dir():
        expected = "a folder: rules with saved rolls take a file for each number of filled boxes"
        raise Fault(f"--output {str(folder)!r}: found a file, expected {expected}")
    from ..folders import cache_folder
    from ..saving_table import solved_and_kept, solved_in_files

    started = perf_counter()
    with cluster(address, threads) as executor, progress_bar(f"Solving {rules.name}", left=True) as progress:
        if folder is None and executor is None:
            table = solved_and_kept(rules, threads=threads, progress=progress)
        else:
            table = solved_in_files(rules, folder, threads=threads, executor=executor, progress=progress)
    seconds = perf_counter() - started
    place = table.folder
    stored = sum(path.stat().st_size for path in place.glob("*.dwl")) if place else 0
    value, states = table.expected_score, table.states.count
    if as_json:
        answer = {"rules": rules.name, "expected_score": value, "states": states, "values": table.count}
        answer |= {
            "seconds": seconds,
            "table": place and str(place),
            "bytes": stored,
            "resumed": table.resumed,
        }
        show_json(answer)
        return
    show_line(rules.title + (f": {rules.summary}" if rules.summary else ""), style="bold")
    rows = [
        ("Rules", rules.name),
        ("Expected score", f"{value:.10f} points"),
        ("States", f"{states:,}, without the saved rolls"),
        ("Values", f"{table.count:,}"),
        ("Time", f"{seconds:.2f} s"),
        ("Tables", f"{place} ({size(stored)})" if place else f"could not be kept in {cache_folder()}"),
    ]
    if table.resumed is not None:
        rows.append(("Went on from", f"{counted(table.resumed, 'box', 'boxes')} filled"))
    show_table(rows, indent=2)


def _check_output(path: Path) -> None:
    """Refuse, before the work is done, a file that cannot be written or must not be replaced."""
    from .. import table as table_file

    check_place("--output", path)
    try:
        table_file.read_header(path)
    except ForeignTable:
        fault = "found another file there, expected none or a table to replace"
        raise Fault(f"--output {str(path)!r}: {fault}") from None
    except TableError:
        pass  # No file yet, or a table of another version or a broken one, which may be replaced.


def check_place(option: str, path: Path) -> None:
    """Refuse, before the work is done, a path given for an option where no file can be written."""
    quoted = f"{option} {str(path)!r}"
    if path.is_dir():
        raise Fault(f"{quoted}: found a folder, expected the path of a file")
    if path.exists() and not path.is_file():
        raise Fault(f"{quoted}: found something that is no regular file, expected a file or nothing")
    folder = Path(os.path.realpath(path) if path.is_symlink() else path).parent
    if not folder.is_dir():
        raise Fault(f"{quoted}: found no folder {str(folder)!r}, expected one that is there")
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Fault(f"{quoted}: the folder cannot be written to: {error.strerror}") from None
