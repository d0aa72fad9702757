"""The record of a game: the format, and whether something is one.

A record is one object of JSON, written on one line:

    dicewise_game  1, the version of the format
    rules, digest  the name of the rules, and of the values that their scores lead to
    seats, first   how many, and the seat of the first turn, from 0, or "highest roll"
    seed           where the random numbers start
    players        who sits where, a text a seat; left out where nobody said
    events         ["roll", [dice]] drawn from the seed, ["given", [dice]] from outside, all dice of the
                   roll each; ["keep", [dice]]; ["fill", "box"]
    totals         points on each card at the end of the events, the upper bonus where it is reached

Whoever reads one plays all of it again: an event that is not legal, dice that the seed does not give, other
rules or other totals are refused. So a record that ends early goes on with the same dice as the game it was
made of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from .errors import ArgumentError, DicewiseError, GameError, shown

KEY = "dicewise_game"
VERSION = 1
MOST_DIGITS = 1000
"""Of a seed or a score: longer numbers could not be printed, or read from a record."""
_PARTS: dict[str, type | tuple[type, ...]] = {
    "rules": str,
    "digest": str,
    "seats": int,
    "first": (int, str),
    "seed": int,
    "events": list,
    "totals": list,
}


def checked(record: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """Return a record, or that of a line of JSON, whose parts are there and of the right kind.

    Raises
    ------
    GameError
        If it is none.
    """
    held = _read(record) if isinstance(record, str) else record
    if not isinstance(held, Mapping) or KEY not in held:
        raise GameError(f"record: found no key {KEY!r}, expected the record of a game")
    if not whole(held[KEY]) or held[KEY] != VERSION:
        raise GameError(f"record: version {shown(held[KEY])}, expected {VERSION}")
    for key, kind in _PARTS.items():
        if not isinstance(held.get(key), kind) or isinstance(held[key], bool):
            raise GameError(f"record: {key} is {shown(held.get(key))}, expected what `Game.as_record` gives")
    unknown = [key for key in held if key not in {*_PARTS, KEY, "players"}]
    if unknown:
        raise GameError(f"record: found an unknown key {shown(unknown[0])}")
    if not isinstance(held.get("players", []), list):
        raise GameError(f"record: players is {shown(held['players'])}, expected a list of texts")
    if not all(whole(points) for points in held["totals"]):
        raise GameError(f"record: totals are {shown(held['totals'])}, expected a whole number for each seat")
    return held


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise GameError(f"record {shown(text)}: expected one object of JSON") from None


def event_parts(event: Any) -> tuple[str, Any]:
    """Return the kind of an event and its box or dice.

    Raises
    ------
    GameError
        If it is no event.
    """
    kind, what = event if isinstance(event, list) and len(event) == 2 else ("", None)
    faces = isinstance(what, list) and all(whole(face) for face in what)
    if (kind == "fill" and isinstance(what, str)) or (kind in ("roll", "given", "keep") and faces):
        return str(kind), what
    raise GameError(
        f'found {shown(event)}, expected one of ["roll", dice], ["given", dice], '
        '["keep", dice] and ["fill", box]'
    )


def whole(number: Any) -> bool:
    """Return whether something is a whole number."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def check_seed(seed: Any, error: type[DicewiseError] = ArgumentError) -> None:
    """Refuse what is not a whole number from 0, or is too long to be written down.

    Raises
    ------
    DicewiseError
        Of the class given.
    """
    if not whole(seed) or seed < 0:
        raise error(f"seed {shown(seed)}: expected a whole number from 0")
    if int(seed) >= 10**MOST_DIGITS:
        raise error(f"seed {shown(seed)}: expected a whole number of at most {MOST_DIGITS} digits")
