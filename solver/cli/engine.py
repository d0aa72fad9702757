"""`dicewise engine`: one request a line in, one answer a line out."""

from __future__ import annotations

import sys

import click

from .limit import limit_options, limits_of
from .output import check_stdout


@click.command("engine")
@limit_options
def command(work: float, cards: int, body: int) -> None:
    """Answer one JSON request a line, for programs in any language that start this one.

    \b
    echo '{"id": 1, "request": "advise", "dice": "1 3 3 4 6", "top": 1}' | dicewise engine

    The requests are those of `dicewise serve`; `id` comes back with the answer. A line that cannot be read
    gets an error, and the next one works. The end of the input ends the program.
    """  # noqa: D301
    from ..service import Service
    from ..service.lines import serve_lines

    check_stdout("engine")
    service = Service(limits_of(work, cards, body))
    serve_lines(service, sys.stdin.buffer, sys.stdout.buffer)
