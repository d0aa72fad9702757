"""One request a line in, one answer a line out: the service for programs that start it themselves.

    {"id": 1, "request": "advise", "rules": "yacht", "dice": "1 3 3 4 6"}
    {"id": 1, "answer": {...}}    or    {"id": 1, "error": {"kind": ..., "message": ...}}

The id is any text or number, or left out; the answer has the same. A line that cannot be read gets an
error, and the next one works.
"""

from __future__ import annotations

import json
from typing import Any, BinaryIO

from .fields import RequestError, check_type, parsed, shown
from .requests import Service, as_answer
from .shapes import SHAPES


def serve_lines(service: Service, given: BinaryIO, answers: BinaryIO) -> None:
    """Answer each line, until there are no more.

    Parameters
    ----------
    service
        What answers.
    given
        Where lines come from.
    answers
        Where answers go; flushed after each.
    """
    most = service.limits.body
    while line := given.readline(most + 1):
        if len(line) > most:
            _skip_line(given, line, most)
            reply = as_answer(RequestError(f"line: found more than {most} bytes, expected fewer"))
        elif not line.strip():
            continue
        else:
            reply = _reply(service, line)
        answers.write(_line(reply) + b"\n")
        answers.flush()


def _reply(service: Service, line: bytes) -> dict[str, Any]:
    try:
        body = parsed(line)
        if not isinstance(body, dict):
            raise RequestError(f"line: found {shown(body)}, expected an object with request and its fields")
    except RequestError as error:
        return as_answer(error)
    told = {"id": body.pop("id")} if "id" in body else {}
    try:
        for key, value in told.items():
            check_type(key, value, ("string", "number"))
    except RequestError as error:
        return as_answer(error)
    request = body.pop("request", None)
    if not isinstance(request, str):
        return told | as_answer(
            RequestError(f"request {shown(request)}: expected one of: {', '.join(SHAPES)}")
        )
    found = service.respond(request, body)
    return told | (found if "error" in found else {"answer": found})


def _line(reply: dict[str, Any]) -> bytes:
    try:
        return json.dumps(reply, allow_nan=False).encode()
    except ValueError as error:
        told = {"id": reply["id"]} if "id" in reply else {}
        return json.dumps(told | as_answer(error)).encode()


def _skip_line(given: BinaryIO, line: bytes, piece: int) -> None:
    while line and not line.endswith(b"\n"):
        line = given.readline(piece)
