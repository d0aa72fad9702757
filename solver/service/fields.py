"""The fields of requests: one description, for the check of what comes in and for the documentation.

A field's schema is JSON Schema. Its type is checked here; what the value means is checked by the
library where it is used, so that its errors read the same everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from .. import errors
from ..errors import DicewiseError
from ..rules.wording import did_you_mean, listed

_SHOWN = 60
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (Mapping,),
    "null": (type(None),),
}
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


class RequestError(DicewiseError, ValueError):
    """A request that cannot be read: no such request or field, or a value of another type."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a request.

    Attributes
    ----------
    name
        Its key.
    schema
        JSON Schema of its value, with a description.
    required
        Whether it must be given.
    """

    name: str
    schema: Mapping[str, Any]
    required: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """The JSON types its value may have."""
        kinds = self.schema["type"]
        return (kinds,) if isinstance(kinds, str) else tuple(kinds)


@dataclass(frozen=True, slots=True)
class Shape:
    """What one request takes and gives.

    Attributes
    ----------
    name
        Of the request.
    summary, description
        What it is for, in a line and in full.
    fields
        What it takes.
    answer
        JSON Schema of the answer.
    example
        A request that works.
    plain
        Whether it says something without any field, so that GET will do.
    """

    name: str
    summary: str
    description: str
    fields: tuple[Field, ...]
    answer: Mapping[str, Any]
    example: Mapping[str, Any] = field(default_factory=dict)
    plain: bool = False

    def schema(self) -> dict[str, Any]:
        """Return JSON Schema of the request."""
        properties = {one.name: dict(one.schema) for one in self.fields}
        required = [one.name for one in self.fields if one.required]
        found: dict[str, Any] = {
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
            "example": dict(self.example),
        }
        return found | ({"required": required} if required else {})

    def read(self, body: object) -> dict[str, Any]:
        """Return the fields that a request gives; one that is null is not given.

        Raises
        ------
        RequestError
            For the first field that is unknown, of another type, or missing.
        """
        if not isinstance(body, Mapping):
            raise RequestError(f"{self.name}: found {shown(body)}, expected an object with fields")
        known = {one.name: one for one in self.fields}
        for key in body:
            if key not in known:
                expected = f"one of: {', '.join(known)}" if known else "no fields"
                raise RequestError(
                    f"{self.name}: found an unknown field {shown(key)}, expected {expected}"
                    f"{did_you_mean(str(key)[:_SHOWN], known)}"
                )
        given = {key: value for key, value in body.items() if value is not None}
        for key, value in given.items():
            check_type(f"{self.name}: {key}", value, known[key].kinds)
        for one in self.fields:
            if one.required and one.name not in given:
                raise RequestError(f"{self.name}: found no {one.name}, expected one")
        return given


def parsed(text: bytes) -> Any:
    """Return what a piece of JSON says.

    Raises
    ------
    RequestError
        If it is none.
    """
    try:
        return json.loads(text or b"{}", parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        quoted = shown(text.strip()[:_SHOWN].decode("utf-8", "replace"))
        raise RequestError(f"found {quoted}, expected JSON in UTF-8") from None


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _no_number(text)


def _no_number(name: str) -> float:
    raise ValueError(name)


def check_type(place: str, value: object, kinds: tuple[str, ...]) -> None:
    """Refuse a value that is of none of these JSON types.

    Raises
    ------
    RequestError
        With the place, the value and what was expected.
    """
    for kind in kinds:
        if isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool)):
            return
    expected = listed((_WORDS[kind] for kind in kinds), "or")
    raise RequestError(f"{place} is {shown(value)}, expected {expected}")


def shown(value: object) -> str:
    """Return a value as it is quoted in a message, as JSON has it: nothing is null."""
    return "null" if value is None else errors.shown(value)
