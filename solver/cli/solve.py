"""`dicewise solve`: the expected score of a game, computed now."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from time import perf_counter

import click

from ..errors import ForeignTable, TableError
from . import Fault
from .choice import chosen_rules, set_option
from .output import progress_bar, show_json, show_line, show_table, size


@click.command("solve")
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--output", "-o", metavar="FILE", type=click.Path(path_type=Path), help="Write the table to this file."
)
@click.option(
    "--threads", type=click.IntRange(min=1), metavar="N", help="Threads to use; all cores unless given."
)
@set_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    name: str, output: Path | None, threads: int | None, changes: tuple[str, ...], as_json: bool
) -> None:
    """Solve a game exactly: its expected score under optimal play.

    The result is the same to the bit for any number of threads. Ctrl-C stops and writes nothing.

    \b
    dicewise solve yahtzee
    dicewise solve house.toml --output house.dwt
    dicewise solve yatzy --set rolls=4 --set "upper_bonus=[]"
    """  # noqa: D301
    rules = chosen_rules(name, changes)
    if output:
        _check_output(output)
    from .. import library

    started = perf_counter()
    with progress_bar(f"Solving {rules.name}") as progress:
        table = library.solve(rules, threads=threads, progress=progress)
    seconds = perf_counter() - started
    if output:
        library.save(table, output)
    value, count = table.value(), table.states.count
    if as_json:
        path = str(output) if output else None
        show_json(
            {"rules": rules.name, "expected_score": value, "states": count, "seconds": seconds, "table": path}
        )
        return
    show_line(rules.title + (f": {rules.summary}" if rules.summary else ""), style="bold")
    rows = [
        ("Rules", rules.name),
        ("Expected score", f"{value:.10f} points"),
        ("States", f"{count:,}"),
        ("Time", f"{seconds:.2f} s"),
    ]
    if output:
        rows.append(("Table", f"{output} ({size(output.stat().st_size)})"))
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
    if not path.parent.is_dir():
        raise Fault(f"{quoted}: found no folder {str(path.parent)!r}, expected one that is there")
    try:
        with TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise Fault(f"{quoted}: the folder cannot be written to: {error.strerror}") from None
