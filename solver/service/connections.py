"""Connections: who does not ask in time is hung up on, and who comes when too many are there is told so.

uvicorn waits for the head of a request as long as a caller likes, and counts those callers among its
connections: a thousand of them that say nothing would keep everybody else out. Here a head must come in whole
within some seconds, and when there are too many connections, the one that has said nothing for the longest
time makes room.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from .app import BusyError, refusal
from .fields import RequestError

SLOWEST_HEAD = 10.0
"""Seconds in which the head of a request must have come in, from the connection or its first byte on."""


def protocol(most: int, seconds: float = SLOWEST_HEAD) -> type[asyncio.Protocol]:
    """Return the protocol of a server, for `uvicorn.Config`.

    Parameters
    ----------
    most
        Connections at once.
    seconds
        In which the head of a request must have come in.
    """
    silent: dict[Connection, asyncio.TimerHandle] = {}  # those that wait for a head, the first one first

    class Connection(H11Protocol):
        """A connection; see the module."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > most:
                if silent:
                    next(iter(silent))._hang_up()
                else:
                    self.app = _full(most)
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._heard()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                self._wait()
            else:
                self._heard()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.conn.their_state is h11.IDLE:
                self._wait()

        def send_400_response(self, msg: str) -> None:
            body = refusal(RequestError(f"found no request of HTTP ({msg})"))
            headers = [*body.raw_headers, (b"connection", b"close")]
            response = h11.Response(status_code=body.status_code, headers=headers, reason=b"Bad Request")
            for event in (response, h11.Data(data=bytes(body.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

        def _wait(self) -> None:
            """Begin to wait for a head, or go on."""
            if self not in silent:
                silent[self] = self.loop.call_later(seconds, self._hang_up)

        def _heard(self) -> None:
            timer = silent.pop(self, None)
            if timer:
                timer.cancel()

        def _hang_up(self) -> None:
            self._heard()
            self.connections.discard(self)
            self.transport.abort()

    return Connection


def _full(most: int) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        response: Any = refusal(BusyError(f"{most} callers are connected already, try again later"))
        response.headers["connection"] = "close"
        await response(scope, receive, send)

    return answer
