"""The requests over HTTP, with a page: what FastAPI and uvicorn are needed for.

Look-ups are answered one after the other; work goes to a small pool of threads, so that advice is given
while a game is solved. Other sites' pages may not call the service: a request whose Origin is not its own,
or whose Host is none of its names (a foreign name may be made to point here), is refused unless it was
allowed.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import DicewiseError, short
from ..rules.wording import listed
from .documentation import document
from .fields import RequestError, parsed, shown
from .limits import Limits, WorkError
from .requests import Answer, Service, as_answer
from .shapes import SHAPES

_WORK_THREADS = 2
_SLOWEST_BODY = 20.0
"""Seconds in which a request must have come in whole."""
_ABSOLUTE = re.compile(r"https?://(?P<host>[^/]*)(?P<path>/.*)?", re.IGNORECASE | re.DOTALL)
"""The whole address where the path of a request stands otherwise, as HTTP/1.1 has it of proxies."""
_LOCAL = ("localhost", "127.0.0.1", "[::1]")
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class BusyError(DicewiseError):
    """Too many callers are connected, or too many requests with work ahead of them are waiting."""


class Forbidden(DicewiseError):
    """A request from a page of another site, or to a name that is not this service's."""


class TooLarge(RequestError):
    """A request with more bytes than are read."""


_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (Forbidden, 403),
    (TooLarge, 413),
    (BusyError, 503),
    (WorkError, 422),
    (MemoryError, 422),
    (DicewiseError, 400),
)


def application(
    limits: Limits | None = None,
    *,
    hosts: Iterable[str] = (),
    origins: Iterable[str] = (),
) -> FastAPI:
    """Return the service as an ASGI application.

    Parameters
    ----------
    limits
        What one request may ask for.
    hosts
        Names, besides those of this machine itself, that the service may be called by.
    origins
        Other sites whose pages may call it, such as "https://example.org"; "*" for any.

    Returns
    -------
    FastAPI
        With `state.stop` to call when it is to end soon: what is being worked out is given up.
    """
    limits = limits or Limits()
    service = Service(limits)
    desk = Desk(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan)
    app.state.stop = service.stop
    origins = tuple(origins)
    if origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=["*"]
        )
    app.add_middleware(Gate, hosts=(*_LOCAL, *hosts), origins=origins)
    described = json.dumps(document(limits)).encode()

    def answering(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                body = await _body(request, limits.body)
                return _json(await desk.answer(name, body), 200)
            except Exception as error:
                return refusal(error)

        return answer

    def giving(content: bytes, kind: str) -> Callable[[], Awaitable[Response]]:
        async def give() -> Response:
            return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})

        return give

    understood: dict[str, list[str]] = {}
    for name, shape in SHAPES.items():
        path, methods = f"/api/{name}", ["GET", "HEAD", "POST"] if shape.plain else ["POST"]
        app.add_api_route(path, answering(name), methods=methods, response_model=None)
        understood[path] = methods
    files = {path: giving(content, kind) for path, content, kind in _page()}
    files["/api/openapi.json"] = giving(described, "application/json")
    for path, give in files.items():
        understood[path] = ["GET", "HEAD"]
        app.add_api_route(path, give, methods=understood[path])

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def missing(request: Request, _: Exception) -> Response:
        known = ", ".join([*(f"/api/{name}" for name in SHAPES), "/api/openapi.json", "/"])
        path, found = request.url.path, request.method
        if path in understood:
            expected = listed(understood[path], "or")
            fault = RequestError(f"{path}: found {short(found)}, expected {expected}")
            return refusal(fault, 405, {"Allow": ", ".join(understood[path])})
        return refusal(RequestError(f"path {shown(path)}: expected one of: {known}"), 404)

    return app


class Desk:
    """Answers quick requests where they come in, and hands work to a pool of threads.

    A look-up takes about a millisecond of one interpreter, which several threads cannot share: handed to
    threads, half as many were answered.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._work = ThreadPoolExecutor(_WORK_THREADS, "work")
        self._waiting = 0

    async def answer(self, name: str, body: Any) -> Answer:
        """Answer a request."""
        begun = self._service.begin(name, body)
        if isinstance(begun, dict):
            return begun
        most = self._service.limits.waiting
        if self._waiting >= most:
            raise BusyError(f"{name}: {most} requests are waiting for work to be done, try again later")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._work, begun)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Stop the work under way and end the threads."""
        self._service.stop()
        self._work.shutdown(cancel_futures=True)


class Gate:
    """Refuses requests from foreign pages and under foreign names; adds the headers that keep the page in.

    Parameters
    ----------
    app
        What lies behind it.
    hosts
        Names that the service may be called by, without the port; "*" for any.
    origins
        Other origins that may call it; "*" for any.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], origins: Iterable[str]) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts}
        self._origins = {origin.lower() for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = [(key, value.decode("latin-1").lower()) for key, value in scope["headers"]]
        host = next((value for key, value in given if key == b"host"), "")
        if absolute := _ABSOLUTE.fullmatch(scope["path"]):
            # Its name goes before that of the header.
            host, path = absolute["host"].lower(), absolute["path"] or "/"
            scope = {**scope, "path": path, "raw_path": quote(path).encode()}
        fault = self._fault(host, [value for key, value in given if key == b"origin"])

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(key.lower().encode(), value.encode()) for key, value in _HEADERS.items()]
                message["headers"] = [*message["headers"], *own]
            await send(message)

        if fault:
            await refusal(Forbidden(fault))(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)

    def _fault(self, host: str, origins: Iterable[str]) -> str:
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name not in self._hosts and "*" not in self._hosts:
            known = ", ".join(sorted(self._hosts))
            return f"Host {shown(host)}: expected one of {known}; --allow-host allows another"
        own = {f"http://{host}", f"https://{host}"}
        for origin in origins:
            if origin not in self._origins | own and "*" not in self._origins:
                return f"Origin {shown(origin)}: expected this site's own; --allow-origin allows another"
        return ""


async def _body(request: Request, most: int) -> Any:
    """Return what a request says, read no further than the limit."""
    if request.query_params:
        raise RequestError("found a query, expected none; POST takes the fields as JSON")
    if request.method != "POST":
        return {}
    read = bytearray()
    try:
        async with asyncio.timeout(_SLOWEST_BODY):
            async for piece in request.stream():
                read += piece
                if len(read) > most:
                    raise TooLarge(f"found more than {most} bytes, expected fewer")
    except TimeoutError:
        raise RequestError(f"found no whole request within {_SLOWEST_BODY:g} s") from None
    except ClientDisconnect:
        raise RequestError("found no whole request before the caller hung up") from None
    return parsed(bytes(read))


def refusal(error: Exception, status: int | None = None, headers: dict[str, str] | None = None) -> Response:
    """Return an error as a response; one that is not dicewise's own is logged, and says no more."""
    for kind, its_status in _STATUS:
        if isinstance(error, kind):
            headers = {"Retry-After": "5"} if its_status == 503 else headers
            return _json(as_answer(error), status or its_status, headers)
    return _json(as_answer(error), 500)


def _json(answer: Answer, status: int, headers: dict[str, str] | None = None) -> Response:
    text = json.dumps(answer, allow_nan=False, separators=(",", ":")).encode()
    return Response(text, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def _page() -> Iterator[tuple[str, bytes, str]]:
    """Yield the path, the content and the kind of each file of the page."""
    for file in resources.files(__package__).joinpath("page").iterdir():
        kind = _KINDS["." + file.name.rpartition(".")[2]]
        yield "/" if file.name == "index.html" else f"/{file.name}", file.read_bytes(), kind
