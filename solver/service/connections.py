"""Connections: who keeps the service waiting is hung up on, and who comes when too many are there is told so.

uvicorn waits as long as a caller likes for the head of a request, for the rest of one that is answered
already, and for a caller to read what it has asked for, and counts those callers among its connections: a
thousand of them would keep everybody else out. Here each of these must come about within some seconds, and
when there are too many connections, the one that is waited for since the longest time makes room.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from .app import BusyError, refusal
from .fields import RequestError

PATIENCE = 10.0
"""Seconds that a caller is waited for, however little of it comes in between."""


def protocol(most: int, seconds: float = PATIENCE) -> type[asyncio.Protocol]:
    """Return the protocol of a server, for `uvicorn.Config`.

    Parameters
    ----------
    most
        Connections at once.
    seconds
        That a caller is waited for.
    """
    awaited: dict[Connection, asyncio.TimerHandle] = {}  # in the order in which it began

    class Connection(H11Protocol):
        """A connection; see the module."""

        _unread = False  # Whether so much is not yet read by the caller that nothing more is sent.

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > most:
                if awaited:
                    next(iter(awaited))._hang_up()
                else:
                    self.app = _full(most)
            self._see_whose_turn_it_is()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._see_whose_turn_it_is()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._see_whose_turn_it_is()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._unread = True
            self._see_whose_turn_it_is()

        def resume_writing(self) -> None:
            super().resume_writing()
            self._unread = False
            self._see_whose_turn_it_is()

        def send_400_response(self, msg: str) -> None:
            body = refusal(RequestError(f"found no request of HTTP ({msg})"))
            headers = [*body.raw_headers, (b"connection", b"close")]
            response = h11.Response(status_code=body.status_code, headers=headers, reason=b"Bad Request")
            for event in (response, h11.Data(data=bytes(body.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

        def _see_whose_turn_it_is(self) -> None:
            """Begin to wait for the caller or go on, unless it is for the service to do something."""
            answered = self.cycle is None or self.cycle.response_complete
            asking = self.conn.their_state is h11.IDLE or (
                self.conn.their_state is h11.SEND_BODY and answered
            )
            if not (asking or self._unread or self.transport.is_closing()):
                self._stop_waiting()
            elif self not in awaited:
                awaited[self] = self.loop.call_later(seconds, self._hang_up)

        def _stop_waiting(self) -> None:
            timer = awaited.pop(self, None)
            if timer:
                timer.cancel()

        def _hang_up(self) -> None:
            self._stop_waiting()
            self.connections.discard(self)
            self.transport.abort()

    return Connection


def _full(most: int) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        response: Any = refusal(BusyError(f"{most} callers are connected already, try again later"))
        response.headers["connection"] = "close"
        await response(scope, receive, send)

    return answer
