"""The OpenAPI description of the service, made from the shapes of its requests."""

from __future__ import annotations

from typing import Any

from .limits import Limits
from .requests import version
from .shapes import ERROR, SHAPES

_ERRORS = {
    "400": "The request cannot be answered; the message quotes what was given and says what was expected.",
    "403": "A page of another site asked, or the service was called by a foreign name.",
    "413": "The request is too large.",
    "422": "The answer would take too much work.",
    "503": "Too much work is waiting, or too many callers are connected.",
}


def document(limits: Limits) -> dict[str, Any]:
    """Return the description, in OpenAPI 3.1."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "dicewise",
            "version": version(),
            "description": "Exact optimal play for the Yahtzee family of dice games. Every request is a "
            "POST of one JSON object; nothing is kept between requests. Limits: "
            f"{limits.body} bytes and {limits.cards} cards a request, {limits.work:g} s of work.",
        },
        "paths": {f"/api/{name}": _path(name) for name in SHAPES},
        "components": {"schemas": {"Error": dict(ERROR)}},
    }


def _path(name: str) -> dict[str, Any]:
    shape = SHAPES[name]
    responses: dict[str, Any] = {"200": _content("The answer.", dict(shape.answer))}
    for status, text in _ERRORS.items():
        responses[status] = _content(text, {"$ref": "#/components/schemas/Error"})
    words = {"summary": shape.summary, "description": shape.description, "responses": responses}
    post = {
        "operationId": name,
        **words,
        "requestBody": {**_content("The fields.", shape.schema()), "required": bool(shape.fields)},
    }
    if not shape.plain:
        return {"post": post}
    return {"get": {"operationId": f"{name}_all", **words}, "post": post}


def _content(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
