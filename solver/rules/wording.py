"""How values, keys and faults of rules are put into words: always on one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import index
from typing import Any, Final, SupportsIndex

from ..errors import RulesError, as_text

MISSING: Final = object()
"""Stands for the value of a key that is not given, so that the check of its value reports it."""

_SHOWN = 60
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a rules file: the name of the file and the dotted key, empty for the whole file."""

    file: str
    key: str = ""

    def at(self, key: str | int) -> Spot:
        """Return the place of `key`, or of the item with this number (from 0), below this place."""
        if isinstance(key, int):
            return Spot(self.file, f"{self.key}[{key}]")
        own = key if _BARE_KEY.fullmatch(key) else written(key)
        return Spot(self.file, f"{self.key}.{own}" if self.key else own)

    def fault(self, value: object, expected: str) -> RulesError:
        """Return the error that quotes `value` and says what is expected in its place."""
        text = "nothing" if value is MISSING else written(value)
        return self.found(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…", expected)

    def found(self, found: str, expected: str) -> RulesError:
        """Return the error that says in words what was found here and what is expected."""
        file = self.file if self.file.isprintable() else written(self.file)
        return RulesError(": ".join(filter(None, (file, self.key, f"found {found}, expected {expected}"))))

    def unknown(self, allowed: Iterable[str]) -> RulesError:
        """Return the error for a key that does not exist: it lists the ones that do."""
        allowed = tuple(allowed)
        last = self.key.rpartition(".")[2]
        return self.found("an unknown key", f"one of: {', '.join(allowed)}{did_you_mean(last, allowed)}")


def written(value: object) -> str:
    """Return a value as TOML writes it, on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() if '"' in value and "'" not in value and value.isprintable():
            return f"'{value}'"
        case str():
            return '"' + "".join(map(_escaped, value)) + '"'
        case Mapping():
            pairs = (f"{Spot('').at(str(key)).key} = {written(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(written, value)) + "]"
        case _:
            return as_text(value)


def _escaped(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return ' (did you mean "x"?)' with the names close to `word`, or nothing where none is."""
    from difflib import get_close_matches

    close = get_close_matches(word.casefold(), list(names), n=2)
    return f" (did you mean {' or '.join(map(written, close))}?)" if close else ""


def listed(words: Iterable[str], last: str = "and") -> str:
    """Return words as a list in a sentence: "a", "a and b", "a, b and c"."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def plain(value: Any, spot: Spot, depth: int = 0) -> Any:
    """Return a copy of settings that shares nothing with `value`: tables, lists and single values.

    Depth is limited because no rule is nested deeply, and what follows may then recurse freely.
    """
    if depth > 8:
        raise spot.found("tables or lists more than eight deep", "values as the rules format describes them")
    match value:
        case str() | bool() | int():
            return value
        case Mapping():
            for key in value:
                if not isinstance(key, str):
                    raise spot.found(f"the key {key!r}", "keys that are text")
            return {key: plain(item, spot.at(key), depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [plain(item, spot.at(number), depth + 1) for number, item in enumerate(value)]
        case None:
            raise spot.found("None", "text, a whole number, true, false, a list or a table")
        case SupportsIndex() if not isinstance(value, bool):
            return index(value)
        case _:
            return value
