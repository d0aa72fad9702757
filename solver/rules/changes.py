"""Differences: what a file that extends another says, and single keys changed by hand or in a name.

A changed game keeps a name that says everything, such as `game[rolls=4,order=card]`: keys are dotted,
values are written as in TOML (a plain word needs no quotes), and they apply from left to right.
`upper_bonus.at` and `upper_bonus.points` change the only tier of an upper bonus; 0 points are no bonus.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .validate import (
    CATEGORY_KEYS,
    PATTERN_KEYS,
    POINTS_KEYS,
    REQUIRED_CATEGORY_KEYS,
    SETTINGS_KEYS,
    TIER_KEYS,
    YAHTZEE_KEYS,
)
from .wording import MISSING, Spot, did_you_mean, listed, plain, written

Change = tuple[str, Any]

_WORD = re.compile(r"[a-z][a-z0-9_-]*")
_NOT_WORDS = ("true", "false", "inf", "nan")
_WHOLES = {"pattern": PATTERN_KEYS, "points": POINTS_KEYS}
"""Keys of a category whose tables say one thing together: a new table replaces the old one."""


def changed(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with some keys changed; the settings given stay as they are.

    Parameters
    ----------
    settings
        What `settings` or `changed` returned.
    changes
        Dotted keys with their new values, applied in this order: `{"rolls": 4}`,
        `{"categories.full_house.points": 30}`. As in a file that extends another, `False` removes a
        box or the yahtzee table, and a table at `categories.some_new_key` adds a box.

    Raises
    ------
    RulesError
        For a key that does not exist. Values are checked by `build`.
    """
    return applied(settings, changes.items(), "changes")


def applied(settings: Mapping[str, Any], changes: Iterable[Change], file: str) -> dict[str, Any]:
    """Return settings after the changes, one after the other; errors begin with `file`."""
    result: dict[str, Any] = plain(settings, Spot(file))
    for key, value in changes:
        if not isinstance(key, str):
            raise Spot(file).found(f"the key {key!r}", "keys that are text")
        result = merged(result, _difference(result, key, value, file), file)
    return result


def _difference(settings: Mapping[str, Any], key: str, value: Any, file: str) -> dict[str, Any]:
    """Return what a file would say to change one dotted key."""
    spot = Spot(file)
    parts = key.split(".")
    for depth, part in enumerate(parts):
        allowed = _keys_below(settings, parts[:depth])
        if not allowed:
            raise Spot(file, key).found("an unknown key", f"{spot.key}, which has no keys below it")
        spot = spot.at(part)
        adds_box = parts[:-1] == ["categories"] and isinstance(value, Mapping)
        if part not in allowed and not (adds_box and depth == 1):
            raise spot.unknown(allowed)
    value = plain(value, Spot(file, key))
    if parts[0] == "upper_bonus" and len(parts) == 2:
        return {"upper_bonus": _with_tier(settings.get("upper_bonus", []), parts[1], value, Spot(file, key))}
    if len(parts) == 4:
        box, whole, part = parts[1:]
        value = {**_as_table(settings["categories"][box][whole]), part: value}
        parts.pop()
    for part in reversed(parts):
        value = {part: value}
    return dict(value)


def _keys_below(settings: Mapping[str, Any], parts: list[str]) -> tuple[str, ...]:
    """Return the keys that may follow the dotted key `parts`; none where nothing may."""
    match parts:
        case []:
            return (*SETTINGS_KEYS, "box_order")
        case ["yahtzee"]:
            return YAHTZEE_KEYS
        case ["upper_bonus"]:
            return TIER_KEYS
        case ["categories"]:
            boxes = settings.get("categories")
            return tuple(boxes) if isinstance(boxes, dict) else ()
        case ["categories", _]:
            return CATEGORY_KEYS
        case ["categories", box, whole] if whole in _WHOLES:
            category = settings["categories"][box]
            present = category.get(whole) if isinstance(category, dict) else None
            return _WHOLES[whole] if isinstance(present, (str, dict)) else ()
        case _:
            return ()


def _with_tier(tiers: Any, key: str, value: Any, spot: Spot) -> list[Any]:
    """Return the only tier of an upper bonus with one key changed, or none for 0 points."""
    if not isinstance(tiers, list) or len(tiers) != 1 or not isinstance(tiers[0], dict):
        found = f"{len(tiers) if tiers else 'no'} tiers" if isinstance(tiers, list) else written(tiers)
        raise spot.found(found, "one tier to change, or all tiers anew: upper_bonus=[{at=63,points=35}]")
    if key == "points" and value == 0 and not isinstance(value, bool):
        return []
    return [{**tiers[0], key: value}]


def _as_table(points: str | dict[str, Any]) -> dict[str, Any]:
    return {"of": points} if isinstance(points, str) else points


def merged(base: Mapping[str, Any], difference: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Return the settings `base` with what a file that extends them says; neither is changed.

    The tables of the game, of the yahtzee rule and of each category are merged key by key; every
    other value, a pattern and a table of points among them, replaces the one before.
    """
    spot = Spot(file)
    result = dict(base)
    for key, value in difference.items():
        before = base.get(key)
        if key in ("extends", "box_order"):
            continue
        if key == "yahtzee" and value is False:
            result.pop(key, None)
        elif key == "yahtzee" and isinstance(value, dict) and isinstance(before, dict):
            result[key] = {**before, **value}
        elif key == "categories" and isinstance(value, dict):
            result[key] = _merged_boxes(before if isinstance(before, dict) else {}, value, spot.at(key))
        else:
            result[key] = value
    if "box_order" in difference and isinstance(result.get("categories"), dict):
        boxes = result["categories"]
        order = _box_order(difference["box_order"], tuple(boxes), spot.at("box_order"))
        result["categories"] = {key: boxes[key] for key in order}
    return result


def _merged_boxes(base: dict[str, Any], difference: dict[str, Any], spot: Spot) -> dict[str, Any]:
    boxes = dict(base)
    for key, value in difference.items():
        here = spot.at(key)
        if value is False:
            if key not in base:
                raise here.fault(value, f"a box to remove: {_among(key, base)}")
            del boxes[key]
        elif key in base and isinstance(value, dict) and isinstance(base[key], dict):
            boxes[key] = {**base[key], **value}
        else:
            if base and key not in base and isinstance(value, dict):
                _refuse_partial(key, value, base, here)
            boxes[key] = value
    return boxes


def _refuse_partial(key: str, value: dict[str, Any], base: dict[str, Any], spot: Spot) -> None:
    """Refuse a new box with keys missing: most likely its key is that of another box, misspelt."""
    if missing := [name for name in REQUIRED_CATEGORY_KEYS if name not in value]:
        expected = f"a new box with {listed(REQUIRED_CATEGORY_KEYS)}, or {_among(key, base)}"
        raise spot.found(f"a box without {listed(missing, 'or')}", expected)


def _among(key: str, boxes: dict[str, Any]) -> str:
    if not boxes:
        return "one of the game that the file extends"
    return f"one of: {', '.join(boxes)}{did_you_mean(key, boxes)}"


def _box_order(value: Any, boxes: tuple[str, ...], spot: Spot) -> list[str]:
    if not isinstance(value, list):
        raise spot.fault(value, "a list of the keys of all boxes")
    for number, key in enumerate(value):
        if key not in boxes:
            raise spot.at(number).fault(key, f"one of: {', '.join(boxes)}{did_you_mean(str(key), boxes)}")
        if key in value[:number]:
            raise spot.at(number).fault(key, "every box once")
    if missing := [key for key in boxes if key not in value]:
        raise spot.found(f"no {listed(missing, 'or')}", "every box once")
    return value


def name_with(name: str, changes: Iterable[Change]) -> str:
    """Return the name of the rules `name` after the changes; `parsed` reads the part in brackets."""
    texts = []
    for key, value in changes:
        bare = isinstance(value, str) and _WORD.fullmatch(value) and value not in _NOT_WORDS
        texts.append(f"{key}={value if bare else written(value)}")
    return f"{name}[{','.join(texts)}]" if texts else name


def parsed(text: str, file: str) -> list[Change]:
    """Return the changes of a text such as `rolls=4,order=card`; errors begin with `file`."""
    changes = []
    for piece in _split(text):
        key, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or not key:
            raise Spot(file).fault(piece.strip(), "changes such as rolls=4, with commas between them")
        changes.append((key, _value(value, Spot(file, key))))
    return changes


def parsed_values(text: str, file: str) -> tuple[str, list[Any]]:
    """Return the key and the values of a text such as `rolls=2,3,4`; errors begin with `file`."""
    key, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not key:
        raise Spot(file).fault(text.strip(), "a key with its values, such as rolls=2,3,4")
    return key, [_value(value.strip(), Spot(file, key)) for value in _split(values)]


def _value(text: str, spot: Spot) -> Any:
    if _WORD.fullmatch(text) and text not in _NOT_WORDS:
        return text
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        table = {}
    if list(table) != ["value"]:
        raise spot.fault(text or MISSING, 'a word or a value as in TOML, such as 50, "text" or [1, 2]')
    return table["value"]


def _split(text: str) -> Iterator[str]:
    """Yield the pieces between commas that are in no bracket and no quotes."""
    start = depth = 0
    quote = ""
    escaped = False
    for place, letter in enumerate(text):
        if quote:
            if letter == quote and not escaped:
                quote = ""
            escaped = letter == "\\" and quote == '"' and not escaped
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == "," and not depth:
            yield text[start:place]
            start = place + 1
    yield text[start:]
