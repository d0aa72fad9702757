"""Rules by name or from a file, in two steps: `settings` reads and merges, `build` checks.

Between the two, `changed` gives another value to single keys; `ruleset` does all of it. A name is that
of a shipped game, or the path of a file, and either may end in changes: `game[rolls=4,order=card]`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from ..errors import RulesError, check_kind, shown
from .changes import Change, applied, changed, merged, name_with, parsed
from .model import Ruleset
from .validate import SETTINGS_KEYS, build
from .wording import Spot, did_you_mean, plain, written

__all__ = ["build", "changed", "names", "names_with_table", "ruleset", "settings", "shipped"]

FILE_KEYS: Final = ("extends", *SETTINGS_KEYS, "box_order")
MOST_BYTES: Final = 1_000_000
_LONGEST: Final = 500

_SYNTAX = re.compile(r"(?P<what>.*) \(at (line (?P<line>\d+), column \d+|end of document)\)", re.DOTALL)
_TWICE = ("Cannot overwrite a value", "Cannot declare", "Duplicate inline table key", "Cannot mutate")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where rules come from: a shipped game or, where `path` is given, a file; then the changes."""

    name: str
    path: Path | None
    changes: tuple[Change, ...] = ()

    @property
    def identity(self) -> str:
        """The same for every name of one file."""
        return self.name if self.path is None else os.path.realpath(self.path) + os.sep


def names() -> tuple[str, ...]:
    """Return the names of the shipped games, in the order in which to show them."""
    return tuple(name for name, _ in _listed())


def names_with_table() -> tuple[str, ...]:
    """Return the names of the shipped games that come with a solved table: all but the very large ones.

    What goes through all games without being asked for one by name goes through these.
    """
    return tuple(name for name, note in _listed() if note != "without-table")


@cache
def _listed() -> tuple[tuple[str, str], ...]:
    """Return each line of the list of games: a name, and what follows it."""
    lines = map(str.split, _shipped("games.txt").decode().splitlines())
    return tuple((words[0], " ".join(words[1:])) for words in lines if words and words[0] != "#")


def as_ruleset(rules: Ruleset | str | os.PathLike[str]) -> Ruleset:
    """Return rules that a call was given, or those of the game or file that it named; see `ruleset`."""
    return rules if isinstance(rules, Ruleset) else ruleset(rules)


def ruleset(name_or_path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None) -> Ruleset:
    """Return the rules of a game.

    Parameters
    ----------
    name_or_path
        The name of a shipped game, or the path of a rules file: a text that ends in .toml, contains a
        path separator or names an existing file. A text may end in changes, as the name of a changed
        Ruleset does: `ruleset(rules.name)` gives the same rules again.
    changes
        Dotted keys with new values; see `changed`.

    Raises
    ------
    RulesError
        If there is no such game or file, or something in it is wrong.
    """
    place = _place(name_or_path)
    given = {} if changes is None else changes
    check_kind(given, Mapping, "changes", "dotted keys with new values", RulesError)
    steps = (*place.changes, *given.items())
    name = name_with(place.name, steps)
    return build(applied(_settings(place), steps, name), name, place.path)


@lru_cache(maxsize=256)
def shipped(name: str) -> Ruleset:
    """Return the rules of a shipped game, whose name may end in changes; a file is never opened.

    For names that come from elsewhere, in requests and records.

    Raises
    ------
    RulesError
        If there is no such game, or something in the changes is wrong.
    """
    base, bracket, rest = name.partition("[")
    if base not in names() or len(name) > _LONGEST or (bracket and not rest.endswith("]")):
        close = did_you_mean(base[:_LONGEST], names())
        raise Spot("rules").fault(name, f"a game{close}; the games: {', '.join(names())}")
    # Not by the whole text: a file with that name may lie where this program runs.
    steps: dict[str, Any] = {}
    for key, value in parsed(rest[:-1], shown(name)) if bracket else ():
        steps.pop(key, None)
        steps[key] = value
    return ruleset(base, steps)


def settings(name_or_path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the keys and values of a game, with `extends` resolved but the values not yet checked.

    Raises
    ------
    RulesError
        If there is no such game or file, it is not TOML, or what it says about the game it extends
        does not fit that game.
    """
    place = _place(name_or_path)
    return applied(_settings(place), place.changes, name_with(place.name, place.changes))


def _settings(place: _Place, chain: tuple[_Place, ...] = ()) -> dict[str, Any]:
    """Read a file and those it extends; `chain` holds the files that led here, the first one first."""
    spot = Spot(place.name)
    own: dict[str, Any] = plain(_parsed_toml(_read(place), spot), spot)
    for key in own:
        if key not in FILE_KEYS:
            raise spot.at(key).unknown(FILE_KEYS)
    base: dict[str, Any] = {}
    if "extends" in own:
        chain = (*chain, place)
        parent = _parent(own["extends"], place, spot.at("extends"))
        if parent.identity in {one.identity for one in chain}:
            route = " → ".join(one.name for one in (*chain, parent))
            raise spot.at("extends").fault(own["extends"], f"a game that does not lead back here ({route})")
        base = _settings(parent, chain)
        # A fault of the other file is reported under the name of that file, not of this one.
        build(base, parent.name, parent.path)
    return merged(base, own, place.name)


def _parent(value: object, place: _Place, spot: Spot) -> _Place:
    if not isinstance(value, str) or not value:
        raise spot.fault(value, f"a game or the path of a rules file; the games: {', '.join(names())}")
    if value in names():
        return _Place(value, None)
    folder = place.path.parent if place.path else Path()
    path = folder / value
    if not (_looks_like_path(value) or os.path.isfile(path)):
        raise spot.fault(value, _games(value))
    if not os.path.exists(path):
        raise spot.fault(value, f"a game or the path of a file that is there: {path} is not")
    return _Place(str(path), path)


def _place(name_or_path: str | os.PathLike[str]) -> _Place:
    try:
        name = os.fsdecode(name_or_path)
    except TypeError:
        expected = "the name of a game or the path of a rules file"
        raise Spot("rules").found(shown(name_or_path), expected) from None
    if not isinstance(name_or_path, str):
        # A file beside the program may have the name of a shipped game; a Path means the file.
        return _Place(os.path.join(os.curdir, name) if name in names() else name, Path(name))
    if base := _plain_place(name):
        return base
    for start in (place for place, letter in enumerate(name) if letter == "["):
        if base := _plain_place(name[:start]):
            if not name.endswith("]"):
                raise Spot("rules").fault(name, f"the changes to end in ], as in {base.name}[rolls=4]")
            return _Place(base.name, base.path, tuple(parsed(name[start + 1 : -1], name)))
    if ".toml[" in name:
        name = name[: name.index(".toml[") + len(".toml")]
    if _looks_like_path(name):
        return _Place(name, Path(name))
    raise Spot("rules").fault(name, _games(name.partition("[")[0]))


def _plain_place(name: str) -> _Place | None:
    """Return the place of a shipped game, or of a file that is there."""
    if name in names():
        return _Place(name, None)
    return _Place(name, Path(name)) if os.path.isfile(name) else None


def _looks_like_path(name: str) -> bool:
    return name.endswith(".toml") or any(separator in name for separator in ("/", "\\", os.sep))


def _games(name: str) -> str:
    close = did_you_mean(name, names())
    return f"a game or the path of a .toml file{close}; the games: {', '.join(names())}"


def _read(place: _Place) -> bytes:
    if place.path is None:
        return _shipped(f"{place.name}.toml")
    spot = Spot(place.name)
    expected = "a rules file (.toml)"
    if os.path.isdir(place.path):
        raise spot.found("a folder", expected)
    try:
        with place.path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise spot.found("no such file", expected) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise spot.found(f"a file that cannot be read ({reason})", expected) from None
    if len(data) > MOST_BYTES:
        raise spot.found(f"more than {MOST_BYTES} bytes", expected)
    return data


def _shipped(file: str) -> bytes:
    return resources.files(__package__).joinpath(file).read_bytes()


def _parsed_toml(data: bytes, spot: Spot) -> dict[str, Any]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = Spot(spot.file, f"line {data[: error.start].count(10) + 1}")
        raise line.found(f"byte 0x{data[error.start]:02x}", "text in UTF-8") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), text, spot) from None
    except (ValueError, RecursionError):
        raise spot.found("a number or a nest of lists too large to read", "rules as TOML") from None


def _syntax_error(message: str, text: str, spot: Spot) -> RulesError:
    match = _SYNTAX.fullmatch(message)
    what = match["what"] if match else message
    lines = text.rstrip().split("\n")
    number = min(int(match["line"] or len(lines)) if match else len(lines), len(lines))
    line = Spot(spot.file, f"line {number}")
    written_there = lines[number - 1].strip()
    if what.startswith(_TWICE):
        return line.fault(written_there, "every key once in its table")
    return line.fault(written_there, f"TOML ({what})" if what.isprintable() else f"TOML ({written(what)})")
