"""`dicewise serve`: the service over HTTP, with a page."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
from types import FrameType
from typing import TYPE_CHECKING

import click

from . import Fault
from .limit import limit_options, limits_of

if TYPE_CHECKING:
    from fastapi import FastAPI

_BACKLOG = 256
_MOST_CALLERS = 1000
"""Connections at once; for one more, one that says nothing is closed, or it is told to try again later."""
_LAST_ANSWERS = 5
"""Seconds that answers under way may take when the server ends."""


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Where to listen; 0 takes any that is free.",
)
@limit_options
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name that the server may be called by, besides those of this machine itself; * for any. May be "
    "repeated.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Another site whose pages may call the server, such as https://example.org; * for any. May be "
    "repeated.",
)
def command(
    host: str,
    port: int,
    work: float,
    cards: int,
    body: int,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
) -> None:
    """Answer requests over HTTP, and show a page for advice and play.

    \b
    dicewise serve
    curl -d '{"dice": "1 3 3 4 6", "top": 1}' http://127.0.0.1:8000/api/advise

    The page is at /, the description of all requests at /api/openapi.json. Nothing is kept between
    requests, and no request can name a file. Without --allow-origin, pages of other sites cannot call it.
    Ctrl-C ends it.
    """  # noqa: D301
    try:
        from ..service.app import application
        from ..service.connections import protocol
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("fastapi", "starlette", "uvicorn", "h11"):
            raise
        fault = 'serve needs FastAPI and uvicorn: python3 -m pip install "dicewise[serve]"'
        raise Fault(fault) from error
    names = hosts if host in ("0.0.0.0", "::", "") else (*hosts, f"[{host}]" if ":" in host else host)
    app = application(limits_of(work, cards, body), hosts=names, origins=origins)
    with _listening(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"Serving on http://{shown}:{listener.getsockname()[1]}/ until Ctrl-C.")
        _run(app, listener, protocol(_MOST_CALLERS))
    click.echo("Ended.")


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise Fault(f"--host {host!r}: found no such address ({error})") from None
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            fault = f"--port {port}: another program listens there, expected a free port; 0 takes any"
        else:
            fault = f"--host {host!r} --port {port}: cannot listen there: {error.strerror}"
        raise Fault(fault) from None
    return listener


def _run(app: FastAPI, listener: socket.socket, protocol: type[asyncio.Protocol]) -> None:
    """Serve until a signal says to end; then let the answers under way go out."""
    import uvicorn

    class Server(uvicorn.Server):
        """Gives up what is being worked out as soon as it is told to end."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            app.state.stop()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_LAST_ANSWERS,
        http=protocol,
        lifespan="on",
        ws="none",
    )
    server = Server(config)

    def end(number: int, _: FrameType | None) -> None:
        # uvicorn raises the signal once more when it has ended because of it.
        if not server.should_exit:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        asyncio.run(server.serve(sockets=[listener]))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
