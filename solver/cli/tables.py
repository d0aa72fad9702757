"""`dicewise tables`: the tables that are there, rebuilding the shipped ones, and checking them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import click

from ..errors import RulesError, TableError
from ..files import size
from ..rules import names, names_with_table, ruleset
from ..rules.wording import did_you_mean, listed
from . import Fault
from .choice import FILE, FOLDER, threads_option
from .output import counted, progress_bar, show_line, show_table
from .solve import check_place

_ENTRY_KEYS = {"name", "file", "digest", "bytes", "sha256"}

_DEFAULT = "[default: that of the shipped tables]"


@click.group("tables", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the tables at hand; rebuild or check the shipped ones.

    Tables are looked for in the folder named by DICEWISE_TABLES, among the shipped ones, and in your
    cache folder, where games solved on first use are kept.
    """
    if ctx.invoked_subcommand is None:
        _list()


@command.command("build")
@click.argument("games", nargs=-1, metavar="[NAME]...")
@click.option(
    "--output", "-o", "folder", type=FOLDER, metavar="DIR", help=f"The folder to write to.  {_DEFAULT}"
)
def build(games: tuple[str, ...], folder: Path | None) -> None:
    """Solve the games and write their tables and the manifest.

    All games that come with a table, unless some are named. The same code writes the same bytes, so that
    anyone can rebuild the shipped tables and compare.
    """
    from .. import library

    wanted = _with_table(games)
    place = folder or library.shipped_folder()
    place.mkdir(parents=True, exist_ok=True)
    entries = {} if not games else {entry["name"]: entry for entry in _manifest(place, missing_ok=True)}
    for name in wanted:
        with progress_bar(f"Solving {name}"):
            entries[name] = library.ship(name, place)
        written = entries[name]
        click.echo(f"{written['file']}: {size(written['bytes'])}, expected score {written['value']:.10f}")
    known = [entries[name] for name in names_with_table() if name in entries]
    library.write_manifest(known, place)
    click.echo(f"{place}: {_in_all(known)}")


_file_option = click.option(
    "--output",
    "-o",
    "path",
    type=FILE,
    metavar="FILE",
    help="The file to write.  [default: that of the package]",
)


@command.command("strengths")
@click.argument("games", nargs=-1, metavar="[NAME]...")
@_file_option
def strengths(games: tuple[str, ...], path: Path | None) -> None:
    """Work out what slips cost in the games, so that a strength is found in seconds.

    All games that come with a table, unless some are named; what the file says of others stays. Takes some
    minutes in all.
    """
    from .. import library, strength

    place = path or Path(str(resources.files("solver"))) / strength.KNOWN_FILE
    wanted = _with_table(games)
    _known(place)
    for name in wanted:
        table = library.load(name)
        with progress_bar(f"Slipping in {name}") as progress:
            means = strength.sampled_means(table, progress=progress)
        _put(place, name, {"digest": table.states.scoring.digest, **means._asdict()})
        click.echo(f"{name}: {means.random:.4f} points at random")


@command.command("moments")
@click.argument("games", nargs=-1, metavar="[NAME]...")
@_file_option
@threads_option
def moments(games: tuple[str, ...], path: Path | None, threads: int | None) -> None:
    """Work out mean, deviation and bonuses of the games whose distribution is too large.

    All games that come without a table, unless some are named; what the file says of others stays.
    """
    from .. import deviations

    place = path or Path(str(resources.files("solver"))) / deviations.KNOWN_FILE
    for name in games:
        if name not in names():
            raise RulesError(
                f"tables: found {name!r}, expected games{did_you_mean(name, names())}: {', '.join(names())}"
            )
    _known(place)
    for name in games or [name for name in names() if name not in names_with_table()]:
        rules = ruleset(name)
        with progress_bar(f"Adding up the games of {name}", left=True) as progress:
            one = deviations.worked_out(rules.card(), threads=threads, progress=progress)
        click.echo(f"{name}: {one.mean:.10f} points, deviation {one.standard_deviation:.10f}")
        _put(place, name, deviations.kept(one, rules))


def _put(place: Path, name: str, known: dict[str, Any]) -> None:
    """Write what is known of a game into a file with what is known of others."""
    from .. import files

    found = _known(place) | {name: known}
    lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in names() if name in found]
    files.replace(place, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def _known(place: Path) -> dict[str, Any]:
    """Return what a file says of games, nothing where it is not there; one that could not stay is a fault."""
    check_place("--output", place)
    if not place.exists():
        return {}
    try:
        found: dict[str, Any] = json.loads(place.read_text("utf-8"))
        if all(isinstance(found[name], dict) and name in names() for name in found):
            return found
    except OSError as error:
        raise Fault(f"--output {str(place)!r}: cannot be read: {error.strerror or error}") from None
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise Fault(f"--output {str(place)!r}: found something else than what this command writes of games")


@command.command("check")
@click.option("--folder", type=FOLDER, metavar="DIR", help=f"The folder to check.  {_DEFAULT}")
def check(folder: Path | None) -> None:
    """Compare the shipped tables with their manifest.

    Sizes, checksums, and whether the tables are those of the rules of today.
    """
    from .. import library

    place = folder or library.shipped_folder()
    entries = _manifest(place)
    wrong = list(_faults(entries, place, complete=folder is None))
    for fault in wrong:
        Fault(fault).show()
    if wrong:
        click.get_current_context().exit(Fault.exit_code)
    click.echo(f"{place}: OK, {_in_all(entries)}, as the manifest says")


def _with_table(games: tuple[str, ...]) -> tuple[str, ...]:
    """Return the games named, each once, or all that come with a table."""
    for name in games:
        if name not in names_with_table():
            close = did_you_mean(name, names_with_table())
            expected = f"games that come with a table{close}: {', '.join(names_with_table())}"
            raise RulesError(f"tables: found {name!r}, expected {expected}")
    return tuple(dict.fromkeys(games or names_with_table()))


def _in_all(entries: list[dict[str, Any]]) -> str:
    total = sum(entry["bytes"] for entry in entries)
    return f"{counted(len(entries), 'table', 'tables')}, {size(total)}"


def _faults(entries: list[dict[str, Any]], folder: Path, *, complete: bool) -> Iterator[str]:
    """Yield each fault; where `complete`, the lack of a table that should be shipped is one."""
    from ..library import SUFFIX
    from ..scoring import scoring

    for entry in entries:
        path = folder / entry["file"]
        if not path.is_file():
            yield f"{str(path)!r}: found no such file, but the manifest lists it"
            continue
        contents = path.read_bytes()
        if len(contents) != entry["bytes"]:
            yield f"{str(path)!r}: found {len(contents)} bytes, expected {entry['bytes']}"
        elif sha256(contents).hexdigest() != entry["sha256"]:
            yield f"{str(path)!r}: found other contents than those of the checksum in the manifest"
        elif entry["name"] not in names() or scoring(ruleset(entry["name"])).digest != entry["digest"]:
            yield f"{str(path)!r}: found a table of other rules than those of {entry['name']} today"
    files = {path.name for path in folder.glob(f"*{SUFFIX}")}
    if unlisted := sorted(files - {entry["file"] for entry in entries}):
        yield f"{str(folder)!r}: found {listed(unlisted)}, which the manifest does not list"
    if complete and (
        missing := [name for name in names_with_table() if name not in {entry["name"] for entry in entries}]
    ):
        yield f"{str(folder)!r}: found no table of {listed(missing)} in the manifest"


def _manifest(folder: Path, *, missing_ok: bool = False) -> list[dict[str, Any]]:
    from ..library import MANIFEST

    path = folder / MANIFEST
    if missing_ok and not path.exists():
        return []
    try:
        entries: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["tables"]
        if all(entry.keys() >= _ENTRY_KEYS for entry in entries):
            return entries
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    raise Fault(f"{str(path)!r}: found something else than the manifest that `tables build` writes")


def _list() -> None:
    from .. import folders, library

    chosen = os.environ.get(library.FOLDER_VARIABLE)
    places = [(library.FOLDER_VARIABLE, Path(chosen))] if chosen else []
    places += [("Shipped", library.shipped_folder()), ("Cache", folders.cache_folder())]
    faults = []
    for label, folder in places:
        show_line(f"{label}: {folder}", style="bold")
        try:
            os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            show_line("  no such folder")
            continue
        except OSError as error:
            faults.append(f"{str(folder)!r} cannot be read: {error.strerror}")
            show_line(f"  cannot be read: {error.strerror}")
            continue
        rows = list(_rows(folder))
        if rows:
            show_table(rows, ("Game", "File", "Size", "Expected score"), right=(2, 3), whole=(0,), indent=2)
        else:
            show_line("  no tables")
    if faults:
        raise Fault("; ".join(faults))


def _rows(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    from ..library import SUFFIX
    from ..saving_files import SUFFIX as LEVELS
    from ..table import read_header

    found = [_row_of_levels(path) for path in folder.glob(f"*{LEVELS}") if path.is_dir()]
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            header = read_header(path)
        except TableError as error:
            found.append(("?", path.name, size(path.stat().st_size), f"({type(error).__name__})"))
        else:
            found.append((header.name, path.name, size(path.stat().st_size), f"{header.root:.10f}"))
    order = {name: place for place, name in enumerate(names())}
    yield from sorted(found, key=lambda row: (order.get(row[0], len(order)), row))


def _row_of_levels(folder: Path) -> tuple[str, str, str, str]:
    """Return the row of a game with saved rolls: a folder with a file for each number of filled boxes."""
    from ..saving_files import level_path, read_header

    files = sorted(folder.glob("level-*.dwl"))
    total = size(sum(path.stat().st_size for path in folder.glob("*.dwl")))
    try:
        header = read_header(files[0] if files else level_path(folder, 0))
    except TableError as error:
        return "?", folder.name, total, f"({type(error).__name__})"
    if header.root is None:
        return header.name, folder.name, total, f"(solved from {counted(header.level, 'box', 'boxes')} on)"
    return header.name, folder.name, total, f"{header.root:.10f}"
