"""What the commands print: tables for people, one line of JSON for programs, a progress bar on a terminal."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import click

from . import Fault

if TYPE_CHECKING:
    from rich.console import Console

    from ..levels import Progress

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_UNBOUNDED = 10_000
"""Width where no terminal sets one: a row stays on its line, for grep and for files."""
_NARROWEST = 72
"""On a narrower terminal the lines of a table break, and no column is lost."""


def check_stdout(command: str) -> None:
    """Refuse a dialogue whose answers would go nowhere."""
    if sys.stdout is None:
        raise Fault(f"{command}: found stdout closed, expected a place for the answers")


def number(count: int) -> str:
    """Return a small number as a word."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def counted(count: int, one: str, many: str) -> str:
    """Return a number as a word with its noun: "one die", "three dice"."""
    return f"{number(count)} {one if count == 1 else many}"


def console(*, stderr: bool = False) -> Console:
    """Return where to print; text is taken literally, brackets in it are no markup."""
    from rich.console import Console

    system: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    made = Console(stderr=stderr, color_system=system, markup=False, emoji=False, highlight=False)
    if not made.is_terminal:
        made.width = _UNBOUNDED
    return made


def room(otherwise: int) -> int:
    """Return how many characters a line may have: those of the terminal, if there is one."""
    made = console()
    return max(made.width, _NARROWEST) if made.is_terminal else otherwise


def percent(share: float) -> str:
    """Return a probability in percent, such that nothing possible looks impossible, or uncertain certain."""
    if 0 < share < 0.0001:
        return f"{100 * share:.1e} %"
    return "> 99.99 %" if 0.99995 <= share < 1 - 1e-12 else f"{100 * share:.2f} %"


def or_dash(number: float | None, written: Callable[[Any], str]) -> str:
    """Return a number as it is written, or a dash for one that is not known."""
    return "-" if number is None else written(number)


def within(bound: float) -> str:
    """Return in words how far off a probability can be, rounded up: "within 0.0021 percentage points"."""
    if not bound:
        return "within rounding"
    digits = 1 - math.floor(math.log10(100 * bound))
    # What float64 makes of a round bound, such as 12.000000000000002, is not rounded up.
    up = math.ceil(100 * bound * 10**digits - 1e-9) / 10**digits
    return f"within {up:.{max(digits, 0)}f} percentage points"


def show_line(text: str = "", *, style: str | None = None) -> None:
    """Print a line of text, in a style where the terminal has it."""
    made = console()
    if made.is_terminal and style:
        made.print(text, style=style, soft_wrap=True)
    else:
        click.echo(text)


def show_table(
    rows: Sequence[Sequence[str]],
    header: Sequence[str] = (),
    *,
    right: Sequence[int] = (),
    whole: Sequence[int] = (0,),
    indent: int = 0,
    widest: int | None = None,
) -> None:
    """Print rows in columns.

    Parameters
    ----------
    rows
        The cells of each row, one row at least; missing ones are empty.
    header
        The names of the columns, if they have any.
    right
        Columns of numbers, aligned to the right.
    whole
        Columns that a narrow terminal must not break.
    indent
        Spaces before each row.
    widest
        Characters after which text in the last column goes on below.
    """
    from rich.box import SIMPLE_HEAD
    from rich.padding import Padding
    from rich.table import Table

    grid = Table(
        box=SIMPLE_HEAD if header else None, show_header=bool(header), show_edge=False, pad_edge=False
    )
    columns = max(map(len, rows))
    for place in range(columns):
        grid.add_column(
            header[place] if header else "",
            justify="right" if place in right else "left",
            no_wrap=place in whole or place in right,
            overflow="fold",
            max_width=widest if place == columns - 1 else None,
        )
    for row in rows:
        grid.add_row(*row)
    made = console()
    made.width = max(made.width, _NARROWEST)
    with made.capture() as captured:
        made.print(Padding(grid, (0, 0, 0, indent), expand=False))
    text = captured.get()
    if not made.is_terminal:
        text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    click.echo(text, nl=False, color=made.is_terminal)


def show_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    click.echo(json.dumps(value, allow_nan=False))


@contextmanager
def progress_bar(task: str, *, left: bool = False) -> Iterator[Progress | None]:
    """Show a progress bar on stderr, where that is a terminal, while the block runs.

    Yields what to call with the work done and in all; None where there is no terminal. With `left` it also
    shows the time left.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        *((TextColumn("left:"), TimeRemainingColumn()) if left else ()),
    )
    with Bar(*columns, console=console(stderr=True), transient=True) as bar:
        # Without a total the bar pulses: the time until the first call may be that of compiling.
        shown = bar.add_task(task, total=None)
        yield lambda done, total: bar.update(shown, completed=done, total=total)
