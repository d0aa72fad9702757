"""Options that several commands have: the rules, with single keys changed by --set, threads, a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..rules import Ruleset, names, ruleset
from ..rules.changes import parsed
from . import Fault

if TYPE_CHECKING:
    from concurrent.futures import Executor

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _refuse_empty(value: Any, option: click.Parameter | None, expected: str) -> None:
    """Refuse an empty text, such as that of a variable that is not set in a script."""
    if value == "":
        raise Fault(f"{max(option.opts, key=len) if option else 'path'} '': expected {expected}")


class _GivenPath(click.Path):
    """A path as a `Path`, which an empty one would make the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        _refuse_empty(value, param, "a path")
        return super().convert(value, param, ctx)


PLACE = _GivenPath(path_type=Path)
FILE = _GivenPath(path_type=Path, dir_okay=False)
FOLDER = _GivenPath(path_type=Path, file_okay=False)


def set_option(command: _Command) -> _Command:
    """Add the option --set, given to the command as `changes`."""
    return click.option(
        "--set",
        "changes",
        multiple=True,
        metavar="KEY=VALUE",
        help="Change one key of the rules, such as rolls=4 or categories.full_house.points=30; may be "
        "repeated. `dicewise rules NAME` lists the keys.",
    )(command)


def threads_option(command: _Command) -> _Command:
    """Add the option --threads."""
    return click.option(
        "--threads", type=click.IntRange(min=1), metavar="N", help="Threads to use; all cores unless given."
    )(command)


def cluster_option(command: _Command) -> _Command:
    """Add the option --cluster, given to the command as `address`; `cluster` connects to it."""
    return click.option(
        "--cluster",
        "address",
        metavar="ADDRESS",
        callback=_address,
        help="Have the workers of a running dask scheduler do the work, such as tcp://10.0.0.1:8786; they "
        "must reach the files by the same paths.",
    )(command)


def _address(_: click.Context, option: click.Parameter, address: str | None) -> str | None:
    _refuse_empty(address, option, "the address of a scheduler")
    return address


@contextmanager
def cluster(address: str | None, threads: int | None) -> Iterator[Executor | None]:
    """Connect to a scheduler where one is named, and yield what has its workers do the work."""
    if address is None:
        yield None
        return
    if threads:
        raise click.UsageError("--threads is for this machine; with --cluster its workers set their own")
    from ..cluster import connected

    with connected(address, quiet=True) as executor:
        yield executor


def seed_option(what: str) -> Callable[[_Command], _Command]:
    """Return what adds the option --seed, which gives the same of these for any number of threads."""
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        metavar="S",
        help=f"Where the random numbers start: a seed gives the same {what} for any number of threads.",
    )


def seconds_option(command: _Command) -> _Command:
    """Add the option --seconds."""
    return click.option(
        "--seconds",
        type=click.FloatRange(min=0, min_open=True),
        default=2.0,
        show_default=True,
        help="How long a move of the player win may take.",
    )(command)


def plot_option(what: str) -> Callable[[_Command], _Command]:
    """Return what adds the option --plot, given to the command as `picture`."""

    def added(command: _Command) -> _Command:
        return click.option(
            "--plot",
            "picture",
            metavar="FILE",
            type=PLACE,
            help=f"Draw {what} to this file, .png or .svg; needs matplotlib.",
        )(command)

    return added


def check_picture(path: Path | None) -> None:
    """Refuse, before the work is done, a file for --plot that cannot be drawn or written."""
    if path is not None:
        from .. import plot
        from .solve import check_place

        plot.check(path)
        check_place("--plot", path)


def chosen_changes(changes: Iterable[str]) -> dict[str, Any]:
    """Return the changes of --set, the later of two for one key last."""
    steps: dict[str, Any] = {}
    for text in changes:
        for key, value in parsed(text, "--set"):
            steps.pop(key, None)
            steps[key] = value
    return steps


def chosen_rules(name: str | None, changes: Iterable[str]) -> Ruleset:
    """Return the rules of a game or file, or of the first game, after the changes of --set."""
    return ruleset(names()[0] if name is None else name, chosen_changes(changes))
