"""Tables by name: found among the shipped ones and in the user's cache, or solved and kept there."""

from __future__ import annotations

import json
import os
from concurrent.futures import Executor
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from . import folders
from . import table as table_file
from .errors import ArgumentError, DamagedTable, TableError, TableNotFound
from .files import as_path, replace
from .levels import Progress
from .lookup import Table, checked_table
from .rules import Ruleset, as_ruleset
from .saving import values_in_all
from .saving_files import SUFFIX as LEVELS
from .saving_files import level_path
from .saving_files import read_header as read_level_header
from .saving_table import (
    MOST_IN_MEMORY,
    SavingTable,
    complete,
    opened_files,
    save_files,
    solved_and_kept,
    solved_following,
    solved_in_files,
    solved_in_memory,
)
from .scoring import Scoring, scoring
from .states import States, states

if TYPE_CHECKING:
    from .goals import Goal
    from .pursuit import Pursuit
    from .scorecard import Scorecard

FOLDER_VARIABLE = "DICEWISE_TABLES"
"""The environment variable that names a folder of tables to look in first."""

MANIFEST = "manifest.json"
SUFFIX = ".dwt"


@overload
def solve(
    rules: Ruleset | str | os.PathLike[str],
    goal: None = None,
    card: None = None,
    *,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Table: ...


@overload
def solve(
    rules: Ruleset | str | os.PathLike[str],
    goal: Goal,
    card: Scorecard | str | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Pursuit: ...


def solve(
    rules: Ruleset | str | os.PathLike[str],
    goal: Goal | None = None,
    card: Scorecard | str | None = None,
    *,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Table | Pursuit:
    """Solve a game, in memory and exactly; needs numba.

    A game with saved rolls whose values take more than 1 GB is solved level by level into files of the cache
    folder, where values are kept to a millionth of a point; if that was stopped, it goes on from there.

    Parameters
    ----------
    rules
        The rules, the name of a game, or the path of a rules file.
    goal
        What is wanted; the highest expected score unless given.
    card
        The card to solve a goal from; the empty card unless given.
    threads
        All usable cores unless given; the result is equal to the bit.
    executor
        What solves a game with saved rolls instead of threads, always into files of the cache folder, which
        its workers must reach by the same path.
    progress
        Called now and then with the work done and in all.

    Returns
    -------
    Table or Pursuit
        The expected scores; or what the goal is worth, which asks alike.

    Raises
    ------
    RulesError, CardError, GoalError
        If the rules, the card or the goal is not possible.
    """
    from .dynamic import solve_values

    given = as_ruleset(rules)
    if goal is None and card is not None:
        raise ArgumentError(f"card {str(card)!r}: found no goal, expected one to solve from a card")
    if executor is not None and (goal is not None or not given.saves):
        found = "a goal" if goal is not None else repr(given.name)
        raise ArgumentError(f"executor: found {found}, expected rules with saved rolls for it to solve")
    if executor is not None:
        return solved_in_files(given, executor=executor, progress=progress)
    if given.saves and goal is not None:
        from .pursuit import pursue

        return pursue(
            solved_following(given, card, threads=threads), goal, card, threads=threads, progress=progress
        )
    if given.saves:
        small = 8 * values_in_all(states(scoring(given))) <= MOST_IN_MEMORY
        return (solved_in_memory if small else solved_in_files)(given, threads=threads, progress=progress)
    game, values = solve_values(given, threads=threads, progress=progress if goal is None else None)
    values.flags.writeable = False
    table = Table(given, game, values)
    if goal is None:
        return table
    from .pursuit import pursue

    return pursue(table, goal, card, threads=threads, progress=progress, exact=True)


def load(
    rules: Ruleset | str | os.PathLike[str],
    *,
    path: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Table:
    """Open the table of a game, or solve the game and keep the table in the user's cache folder.

    Looked for in this order: `path`, where given; the folder named by DICEWISE_TABLES; the shipped
    tables; the cache folder. Tables are found by what their values depend on, so that a renamed box or
    another file with the same rules finds the same table.

    Raises
    ------
    TableError
        If the table at `path`, or a shipped one, cannot be read.
    """
    given = as_ruleset(rules)
    game = states(scoring(given))
    if path is not None:
        place = as_path(path, "path")
        return opened_files(given, place) if given.saves else _opened(given, game, place)
    if given.saves:
        return _load_saving(given, game, threads, progress)
    digest = game.scoring.digest
    for place in _places(digest):
        if place.exists():
            return _opened(given, game, place)
    kept = folders.cache_folder() / _file_name(digest)
    if kept.exists():
        try:
            return _opened(given, game, kept)
        except TableError:
            pass  # What lies in a cache may be made again.
    solved = solve(given, threads=threads, progress=progress)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        save(solved, kept)
    except (OSError, TableError):
        return solved  # A cache that cannot be written costs time, not the answer.
    return _opened(given, game, kept)


def get(rules: Ruleset | str | os.PathLike[str], default: Any = None) -> Table | Any:
    """Open the table of a game if there is one already, without solving; return `default` otherwise."""
    given = as_ruleset(rules)
    game = states(scoring(given))
    digest = game.scoring.digest
    if given.saves:
        return _get_saving(given, game, default)
    for place in _places(digest):
        if place.exists():
            return _opened(given, game, place)
    try:
        return _opened(given, game, folders.cache_folder() / _file_name(digest))
    except TableError:
        return default


def _load_saving(rules: Ruleset, game: States, threads: int | None, progress: Progress | None) -> SavingTable:
    found: SavingTable | None = _get_saving(rules, game, None)
    if found is not None:
        return found
    return solved_and_kept(rules, threads=threads, progress=progress)


def _get_saving(rules: Ruleset, game: States, default: Any) -> SavingTable | Any:
    folder = _level_folder(game.scoring)
    if folder is None:
        return default
    try:
        return opened_files(rules, folder)
    except TableError:
        if folder.parent != folders.cache_folder():
            raise
        return default


def _level_folder(rules: Scoring) -> Path | None:
    """Return the folder with all level files of a game with saved rolls, if there is one."""
    name = f"{rules.digest[:32]}{LEVELS}"
    places = [*_chosen_folder(), folders.cache_folder()]
    return next((at / name for at in places if complete(at / name, rules.boxes)), None)


def save(table: Table, path: str | os.PathLike[str]) -> table_file.Header | None:
    """Write a table to a file: whole, or not at all; one with saved rolls into a folder, a file a level."""
    place = as_path(path, "path")
    if isinstance(table, SavingTable):
        save_files(table, place)
        return None
    return table_file.write(place, checked_table(table).ruleset, table.states, table.values)


def shipped_folder() -> Path:
    """Return the folder of the shipped tables: in the package, or beside it in a checkout."""
    package = Path(str(resources.files(__package__)))
    beside = package.parent / "tables"
    inside = package / "tables"
    return beside if not inside.is_dir() and (package.parent / "pyproject.toml").is_file() else inside


@cache
def manifest(folder: Path | None = None) -> dict[str, dict[str, Any]]:
    """Return what the manifest of a folder of tables (the shipped ones) says, by name of the game."""
    path = (folder or shipped_folder()) / MANIFEST
    try:
        entries = json.loads(path.read_text("utf-8"))["tables"]
        return {
            entry["name"]: {"file": entry["file"], "digest": entry["digest"], **entry} for entry in entries
        }
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise TableError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedTable(f"{str(path)!r}: found no manifest of tables, expected one or none") from error


def expected_score(rules: Ruleset) -> float | None:
    """Return the expected score of a game that is known, or whose table is at hand, without opening it."""
    from .deviations import known  # What opens tables by name does without it.

    digest = scoring(rules).digest
    if (moments := known(rules)) is not None:
        return moments.mean
    if rules.saves:
        folder = _level_folder(scoring(rules))
        try:
            return None if folder is None else read_level_header(level_path(folder, 0)).root
        except TableError:
            return None
    for entry in manifest().values():
        if entry["digest"] == digest:
            return float(entry["value"])
    for place in (*_places(digest), folders.cache_folder() / _file_name(digest)):
        try:
            return table_file.read_header(place).root
        except (TableError, OSError):
            continue
    return None


def ship(name: str, folder: Path) -> dict[str, Any]:
    """Solve a game, write its table into `folder`, and return its entry for the manifest."""
    path = folder / f"{name}{SUFFIX}"
    save(solve(name), path)
    return table_file.manifest_entry(path)


def write_manifest(entries: list[dict[str, Any]], folder: Path) -> None:
    """Write the manifest of a folder of shipped tables."""
    text = json.dumps({"tables": entries}, indent=2, ensure_ascii=False)
    replace(folder / MANIFEST, f"{text}\n".encode())


def _opened(rules: Ruleset, game: States, path: Path) -> Table:
    header, values = table_file.read(path, game, name=rules.name)
    return Table(rules, game, values, precision=header.scale / 2 if header.scale else 0.0, root=header.root)


def _places(digest: str) -> list[Path]:
    folders = [
        folder / name
        for folder in _chosen_folder()
        for name in (_file_name(digest), *_listed(folder, digest))
    ]
    shipped = shipped_folder()
    return folders + [shipped / name for name in _listed(shipped, digest)]


def _chosen_folder() -> list[Path]:
    """Return the folder that the environment names, if it names one."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen and not Path(chosen).is_dir():
        raise TableNotFound(f"{FOLDER_VARIABLE} is {chosen!r}: expected a folder of tables")
    return [Path(chosen)] if chosen else []


def _listed(folder: Path, digest: str) -> list[str]:
    """Return the files of a folder's manifest that hold the values with this digest."""
    return [entry["file"] for entry in manifest(folder).values() if entry["digest"] == digest]


def _file_name(digest: str) -> str:
    return f"{digest[:32]}{SUFFIX}"
