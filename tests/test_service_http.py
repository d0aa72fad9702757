"""The service over HTTP: the same answers, to those who may ask, however many ask at once."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from random import Random
from typing import Any

import httpx
import pytest
import uvicorn
from command_line import environment, process
from games import random_position
from server import running

import solver
from solver.cli.limit import limits_of
from solver.service import Limits, Service, WorkError
from solver.service.app import application
from solver.service.connections import protocol
from solver.service.shapes import SHAPES


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with running("--work-limit", "600") as address, httpx.Client(base_url=address, timeout=60) as made:
        yield made


def asked(method: str, path: str, limits: Limits | None = None, **given: Any) -> httpx.Response:
    """What an application of its own answers, in this process."""
    options = {key: given.pop(key) for key in ("hosts", "origins") if key in given}
    app = application(limits, **options)

    async def ask() -> httpx.Response:
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000") as one,
        ):
            return await one.request(method, path, **given)

    return asyncio.run(ask())


def refusal(response: httpx.Response) -> tuple[int, str, str]:
    found = response.json()
    assert found.keys() == {"error"}
    return response.status_code, found["error"]["kind"], found["error"]["message"]


def test_answers_are_those_of_the_service(client: httpx.Client) -> None:
    service = Service(Limits(work=600))
    for name, shape in SHAPES.items():
        response = client.post(f"/api/{name}", json=dict(shape.example))
        assert response.status_code == 200
        assert response.headers["content-type"] == "application/json"
        assert response.json() == json.loads(json.dumps(service.answer(name, shape.example)))
    assert client.get("/api/rules").json() == service.answer("rules", {})
    assert client.get("/api/health").json()["status"] == "ok"


def test_fifty_at_once_get_each_their_own() -> None:
    """The first fifty requests, in fifty threads, of several games, some with work: each gets its answer."""
    random = Random(1)
    tables = {name: solver.load(name) for name in ("yahtzee", "yatzy", "yacht")}
    asked_for = []
    for number in range(50):
        table = tables[("yahtzee", "yatzy", "yacht")[number % 3]]
        asked_for.append((table, random_position(table, random)))

    def ask(number: int) -> httpx.Response:
        body: dict[str, Any] = {"position": str(asked_for[number][1])}
        if number % 10 == 0:
            body["explain"] = 1
        return client.post("/api/advise", json=body)

    with (
        running() as address,
        httpx.Client(base_url=address, timeout=60) as client,
        ThreadPoolExecutor(50) as pool,
    ):
        answers = list(pool.map(ask, range(50)))
    for (table, where), response in zip(asked_for, answers, strict=True):
        told = json.loads(json.dumps(table.advise_position(where).as_dict()))
        found = response.json()
        assert {key: found[key] for key in told} == told


def test_advice_is_given_while_a_game_is_solved(client: httpx.Client) -> None:
    """Work for one does not hold up another: advice comes while the scores of a game are followed."""
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(client.post, "/api/stats", json={"rules": "yacht-clubhouse"})
        answered = 0
        while not work.done():
            assert client.post("/api/advise", json={"dice": "13346", "top": 1}).status_code == 200
            answered += 1
    assert work.result().status_code == 200
    assert answered > 3


def test_errors_have_the_text_of_the_library(client: httpx.Client) -> None:
    with pytest.raises(solver.CardError) as caught:
        solver.load("yahtzee").advise("ones=7", "13346")
    response = client.post("/api/advise", json={"dice": "13346", "card": "ones=7"})
    assert refusal(response) == (400, "CardError", str(caught.value))


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "message"),
    [
        ("POST", "/api/advise", b"{", 400, "found '{', expected JSON in UTF-8"),
        ("POST", "/api/advise", b"[" * 100_000, 400, "found '[[[["),
        ("POST", "/api/advise", b"\xff", 400, "found '\ufffd', expected JSON in UTF-8"),
        ("POST", "/api/advise", b'{"rerolls": NaN}', 400, "found '{\"rerolls\": NaN}', expected JSON"),
        ("POST", "/api/advise", b"[1]", 400, "advise: found [1], expected an object with fields"),
        ("POST", "/api/advise", b"{}", 400, "advise: found no dice, expected those on the table"),
        ("POST", "/api/nothing", b"{}", 404, "path '/api/nothing': expected one of: /api/rules, "),
        ("GET", "/../../etc/passwd", b"", 404, "path '/etc/passwd': expected one of: /api/rules, "),
        ("GET", "/api/advise", b"", 405, "/api/advise: found GET, expected POST"),
        ("DELETE", "/api/health", b"", 405, "/api/health: found DELETE, expected GET, HEAD or POST"),
        ("PUT", "/", b"{}", 405, "/: found PUT, expected GET or HEAD"),
        ("POST", "/api/openapi.json", b"{}", 405, "/api/openapi.json: found POST, expected GET or HEAD"),
        ("GET", "/api/health/", b"", 404, "path '/api/health/': expected one of: /api/rules, "),
        ("POST", "/api/advise", b'{"rerolls": 1e999}', 400, "found '{\"rerolls\": 1e999}', expected JSON"),
        ("POST", "/api/advise", b'{"dice": "%s"}' % (b"7" * 9999), 400, f"dice '{'7' * 58}…: found '7', "),
        ("POST", "/api/game", b'{"record": {}}', 400, "record: found no key 'dicewise_game', expected the"),
        ("GET", "/api/rules?rules=yacht", b"", 400, "found a query, expected none; POST takes the fields"),
        ("POST", "/api/rules?rules=yacht", b"", 400, "found a query, expected none; POST takes the fields"),
        ("POST", "/api/advise?top=1", b'{"dice": "13346"}', 400, "found a query, expected none; POST takes"),
    ],
)
def test_what_cannot_be_read_is_refused(
    client: httpx.Client, method: str, path: str, content: bytes, status: int, message: str
) -> None:
    found, _, said = refusal(client.request(method, path, content=content))
    assert found == status
    assert said.startswith(message)


def test_what_there_is_is_named_where_nothing_is_found(client: httpx.Client) -> None:
    status, _, message = refusal(client.get("/nothing"))
    named = message.removeprefix("path '/nothing': expected one of: ").split(", ")
    assert (status, len(named)) == (404, len(set(named)))
    assert set(named) == {*(f"/api/{name}" for name in SHAPES), "/api/openapi.json", "/"}
    # Each is there, though some take no GET.
    assert {client.get(path).status_code for path in named} == {200, 405}


def test_callers_that_hang_up_within_a_request_are_passed_over() -> None:
    """The server goes on and has said nothing on stderr when it ends, which `running` asserts."""
    with running() as address:
        host, _, port = address.removeprefix("http://").partition(":")
        for said in (b"", b'{"dice": "13'):
            with socket.create_connection((host, int(port)), 60) as caller:
                head = b"POST /api/advise HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
                caller.sendall(head + said)
                time.sleep(0.2)  # For it to begin to read.
            assert httpx.get(f"{address}/api/health", timeout=60).status_code == 200


def test_large_requests_are_not_read(client: httpx.Client) -> None:
    status, kind, message = refusal(client.post("/api/advise", content=b" " * (256 * 1024 + 1)))
    assert (status, kind) == (413, "TooLarge")
    assert message == "found more than 262144 bytes, expected fewer"
    exact = b'{"dice": "13346", "top": 1}'.ljust(256 * 1024)
    assert client.post("/api/advise", content=exact).status_code == 200
    streamed = client.post("/api/advise", content=(b" " * 9000 for _ in range(100)))
    assert streamed.status_code == 413


def test_texts_that_are_no_unicode_come_back(client: httpx.Client) -> None:
    body = b'{"seats": 1, "seed": 1, "players": ["\\ud800"]}'
    assert client.post("/api/game", content=body).json()["record"]["players"] == ["\ud800"]


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"host": "localhost:8000"}, True),
        ({"host": "[::1]:8000"}, True),
        ({"host": "127.0.0.1"}, True),
        ({"origin": "http://127.0.0.1:8000"}, True),
        ({"host": "evil.example"}, False),
        ({"host": "evil.example:8000"}, False),
        ({"host": "127.0.0.1.evil.example"}, False),
        ({"host": ""}, False),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "http://127.0.0.1:9000"}, False),
        ({"origin": "null"}, False),
        ({"host": "evil.example", "origin": "http://evil.example"}, False),
    ],
)
def test_foreign_pages_and_names_are_refused(headers: dict[str, str], allowed: bool) -> None:
    for path in ("/api/health", "/", "/api/openapi.json"):
        response = asked("GET", path, headers=headers)
        assert response.status_code == (200 if allowed else 403)
        assert not any(name.startswith("access-control") for name in response.headers)
        if not allowed:
            _, kind, message = refusal(response)
            assert kind == "Forbidden"
            assert message.startswith(("Host ", "Origin "))


def test_every_origin_of_a_request_must_be_allowed() -> None:
    own, foreign = ("origin", "http://127.0.0.1:8000"), ("origin", "http://evil.example")
    assert asked("GET", "/api/health", headers=[own, own]).status_code == 200
    for headers in ([own, foreign], [foreign, own], [foreign, foreign]):
        status, kind, message = refusal(asked("GET", "/api/health", headers=headers))
        assert (status, kind) == (403, "Forbidden")
        assert message.startswith("Origin 'http://evil.example': expected this site's own")
    assert asked("GET", "/api/health", headers=[own, foreign], origins=[foreign[1]]).status_code == 200


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://localhost:{port}/api/health", "localhost", 200),
        ("HTTP://127.0.0.1/api/health", "evil.example", 200),
        ("https://localhost/", "localhost", 200),
        ("http://localhost", "localhost", 200),
        ("http://localhost/api/%68ealth", "localhost", 200),
        ("http://localhost/api/health?x=1", "localhost", 400),
        ("http://localhost/nothing", "localhost", 404),
        ("http://evil.example/api/health", "localhost", 403),
        ("http:///api/health", "localhost", 403),
        ("/http://localhost/api/health", "localhost", 404),
    ],
)
def test_a_request_may_say_the_whole_address(
    client: httpx.Client, target: str, host: str, status: int
) -> None:
    """Its name is the one that counts then, whatever the header says."""
    with socket.create_connection(("127.0.0.1", client.base_url.port or 0), 60) as caller:
        line = f"GET {target.format(port=client.base_url.port)} HTTP/1.1\r\nHost: {host}\r\n"
        caller.sendall(f"{line}Connection: close\r\n\r\n".encode())
        head, _, body = caller.makefile("rb").read().partition(b"\r\n\r\n")
    assert int(head.split()[1]) == status
    if status == 404:
        named = "/nothing" if target.endswith("nothing") else target
        assert json.loads(body)["error"]["message"].startswith(f"path '{named}': expected one of: ")
    if target.endswith("health") and status == 200:
        assert json.loads(body)["status"] == "ok"


def test_other_sites_and_names_may_be_allowed() -> None:
    site = "https://games.example"
    response = asked("POST", "/api/health", headers={"origin": site}, origins=[site])
    assert response.headers["access-control-allow-origin"] == site
    ahead = {"origin": site, "access-control-request-method": "POST"}
    assert asked("OPTIONS", "/api/advise", headers=ahead, origins=[site]).status_code == 200
    other = {"origin": "https://other.example"}
    assert asked("POST", "/api/health", headers=other, origins=[site]).status_code == 403
    named = {"host": "dice.lan:80"}
    assert asked("GET", "/api/health", headers=named, hosts=["dice.lan"]).status_code == 200
    assert asked("GET", "/api/health", headers=named, hosts=["*"]).status_code == 200
    assert asked("GET", "/api/health", headers={"host": "other.lan"}, hosts=["dice.lan"]).status_code == 403


def test_any_site_may_be_allowed() -> None:
    site = {"origin": "https://games.example"}
    response = asked("POST", "/api/health", headers=site, origins=["*"])
    assert (response.status_code, response.headers["access-control-allow-origin"]) == (200, "*")
    ahead = site | {"access-control-request-method": "POST"}
    assert asked("OPTIONS", "/api/advise", headers=ahead, origins=["*"]).status_code == 200
    # The name it is called by has to be its own all the same.
    foreign = site | {"host": "games.example"}
    assert asked("POST", "/api/health", headers=foreign, origins=["*"]).status_code == 403


def test_heads_are_those_of_the_answers(client: httpx.Client) -> None:
    for path in ("/", "/app.js", "/api/health", "/api/openapi.json"):
        head, whole = client.head(path), client.get(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == str(len(whole.content))


def test_numbers_that_json_does_not_have_are_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Service, "_health", lambda self, given, work: {"value": float("inf")})
    assert refusal(asked("POST", "/api/health", json={}))[:2] == (500, "InternalError")


@contextmanager
def listening(most: int, seconds: float) -> Iterator[int]:
    """The port of a server in this process that takes few callers, and waits for their requests so long."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        config = uvicorn.Config(
            application(), http=protocol(most, seconds), log_level="critical", lifespan="on", ws="none"
        )
        server = uvicorn.Server(config)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(server.run, [listener])
            try:
                yield listener.getsockname()[1]
            finally:
                server.should_exit = True
                running.result(60)


def health(port: int) -> int:
    return httpx.get(f"http://127.0.0.1:{port}/api/health", timeout=60).status_code


def test_callers_that_say_nothing_make_room() -> None:
    with listening(5, 600) as port, ExitStack() as held:
        callers = [held.enter_context(socket.create_connection(("127.0.0.1", port), 60)) for _ in range(12)]
        for caller in callers:
            with suppress(ConnectionError):
                caller.sendall(b"GET /api/health HTTP/1.1\r\nHost: local")
        assert health(port) == 200
        with suppress(ConnectionError):
            assert callers[0].recv(1) == b""
        # The last to come is still there.
        callers[-1].sendall(b"host\r\n\r\n")
        assert callers[-1].recv(4096).startswith(b"HTTP/1.1 200 ")


def test_too_many_callers_at_once_are_told_so() -> None:
    with listening(2, 600) as port, ExitStack() as held:
        head = b"POST /api/health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"
        callers = [held.enter_context(socket.create_connection(("127.0.0.1", port), 60)) for _ in range(2)]
        for caller in callers:
            caller.sendall(head + b"{")
        found = httpx.get(f"http://127.0.0.1:{port}/api/health", timeout=60)
        while found.status_code == 200:  # The two may not have been heard yet.
            found = httpx.get(f"http://127.0.0.1:{port}/api/health", timeout=60)
        said = "2 callers are connected already, try again later"
        assert refusal(found) == (503, "BusyError", said)
        assert found.headers["retry-after"] == "5"
        for caller in callers:
            caller.sendall(b"}")
            assert caller.recv(4096).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("said", [b"", b"GET /api/health HTTP/1.1\r\nHost:"])
def test_who_does_not_ask_in_time_is_hung_up_on(said: bytes) -> None:
    with listening(5, 0.2) as port, socket.create_connection(("127.0.0.1", port), 60) as caller:
        caller.sendall(said)
        with suppress(ConnectionError):
            assert caller.recv(1) == b""
        # Also after an answer.
        with socket.create_connection(("127.0.0.1", port), 60) as other:
            other.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n" + said)
            with suppress(ConnectionError):
                assert other.makefile("rb").read().startswith(b"HTTP/1.1 200 ")


def test_who_does_not_send_the_rest_in_time_is_hung_up_on() -> None:
    """The request is answered before its body is whole; a byte now and then is not enough to go on."""
    with listening(5, 0.2) as port, socket.create_connection(("127.0.0.1", port), 60) as caller:
        head = b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n{"
        caller.sendall(head)
        assert caller.recv(4096).startswith(b"HTTP/1.1 404 ")
        with suppress(ConnectionError):
            caller.sendall(b"x")
            while caller.recv(4096):
                pass


def test_who_does_not_read_is_hung_up_on() -> None:
    with listening(5, 0.2) as port, socket.create_connection(("127.0.0.1", port), 60) as caller:
        with pytest.raises(ConnectionError):
            while True:
                caller.sendall(b"GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert health(port) == 200


def test_what_is_no_http_is_answered_in_json() -> None:
    with listening(5, 60) as port, socket.create_connection(("127.0.0.1", port), 60) as caller:
        caller.sendall(b"nonsense\r\n\r\n")
        head, _, body = caller.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    said = "found no request of HTTP (Invalid HTTP request received.)"
    assert json.loads(body) == {"error": {"kind": "RequestError", "message": said}}


def test_work_beyond_the_limit_is_refused_with_its_estimate() -> None:
    body = {"rules": "yahtzee"}
    status, kind, message = refusal(asked("POST", "/api/stats", Limits(work=0.05), json=body))
    assert (status, kind) == (422, "WorkError")
    assert "would take about" in message
    assert message.endswith("expected 0.05 s at the most")


def test_no_more_wait_for_work_than_are_let_in() -> None:
    app = application(Limits(waiting=2))

    async def ask() -> list[httpx.Response]:
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as one,
        ):
            body = {"rules": "yacht[rolls=4]", "dice": "13346", "top": 1}
            return await asyncio.gather(*(one.post("/api/advise", json=body, timeout=60) for _ in range(6)))

    answers = asyncio.run(ask())
    assert sorted(response.status_code for response in answers) == [200] * 2 + [503] * 4
    refused = next(response for response in answers if response.status_code == 503)
    assert refusal(refused)[1:] == (
        "BusyError",
        "advise: 2 requests are waiting for work to be done, try again later",
    )
    assert refused.headers["retry-after"] == "5"


def test_a_fault_of_the_service_says_no_more_than_that(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Service, "_health", lambda self, given, work: {}[given["secret"]])
    status, kind, message = refusal(asked("POST", "/api/health", json={}))
    assert (status, kind) == (500, "InternalError")
    assert message == "the service failed at this request; its log says more"
    assert "KeyError: 'secret'" in caplog.text


def test_openapi_lists_every_request(client: httpx.Client) -> None:
    found = client.get("/api/openapi.json").json()
    assert found["openapi"].startswith("3.1")
    assert found["paths"].keys() == {f"/api/{name}" for name in SHAPES}
    for name, shape in SHAPES.items():
        post = found["paths"][f"/api/{name}"]["post"]
        schema = post["requestBody"]["content"]["application/json"]["schema"]
        assert schema["properties"].keys() == {field.name for field in shape.fields}
        assert all(one.get("description") for one in schema["properties"].values())
        assert post["responses"].keys() >= {"200", "400", "403", "422", "503"}
    assert "Error" in found["components"]["schemas"]


def test_the_page_loads_nothing_from_elsewhere(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    for path in ("/app.js", "/advice.js", "/play.js", "/draw.js", "/style.css", "/icon.svg"):
        text = client.get(path).text
        assert "http://" not in text.replace("http://www.w3.org/", "")
        assert "https://" not in text
    assert client.get("/nothing.js").status_code == 404


def test_importing_the_server_needs_no_compiler() -> None:
    code = (
        "import asyncio, sys, httpx\n"
        "from solver.service.app import application\n"
        "async def ask():\n"
        "    one = httpx.AsyncClient(transport=httpx.ASGITransport(application()), base_url='http://localhost')\n"
        "    async with one:\n"
        "        for name in ('advise', 'move'):\n"
        "            body = {'dice': '13346', **({'player': 'optimal'} if name == 'move' else {})}\n"
        "            assert (await one.post(f'/api/{name}', json=body)).status_code == 200\n"
        "asyncio.run(ask())\n"
        "print(*sorted({'numba', 'llvmlite'} & set(sys.modules)))"
    )
    done = process(code=code)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_a_port_in_use_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = process("serve", "--port", str(port))
    assert (done.returncode, done.stdout) == (2, "")
    said = f"--port {port}: another program listens there, expected a free port; 0 takes any"
    assert done.stderr == f"dicewise: error: {said}\n"
    done = process("serve", "--host", "nowhere.invalid")
    assert done.returncode == 2
    assert done.stderr.startswith("dicewise: error: --host 'nowhere.invalid': found no such address")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn"])
def test_without_the_extra_one_line_says_what_to_install(missing: str) -> None:
    code = (
        "import sys\n"
        f"sys.modules[{missing!r}] = None\n"
        "sys.argv = ['dicewise', 'serve']\n"
        "from solver.cli import main\n"
        "main()"
    )
    done = process(code=code)
    assert (done.returncode, done.stdout) == (2, "")
    said = 'serve needs FastAPI and uvicorn: python3 -m pip install "dicewise[serve]"'
    assert done.stderr == f"dicewise: error: {said}\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_told_even_at_work(number: signal.Signals) -> None:
    line = [sys.executable, "-m", "solver", "serve", "--port", "0", "--work-limit", "600"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as server:
        assert server.stdout and server.stderr
        port = int(server.stdout.readline().rpartition(b":")[2].split(b"/")[0])
        with socket.create_connection(("127.0.0.1", port)) as caller:
            body = b'{"dice": "13346", "goal": {"reach": 300}}'
            head = f"POST /api/advise HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            caller.sendall(head.encode() + body)
            time.sleep(0.3)
            server.send_signal(number)
            answer = b""
            with suppress(ConnectionResetError):  # It may end before it has read the question.
                answer = caller.makefile("rb").read()
        rest, said = server.communicate(timeout=60)
    assert (server.returncode, rest, said) == (0, b"Ended.\n", b"")
    assert answer == b"" or answer.endswith(b'since the service ends"}}')


def test_limits_of_the_command_line() -> None:
    assert limits_of(2.5, 4, 8) == Limits(work=2.5, cards=4, body=8192)
    with running("--work-limit", "0.05", "--card-limit", "2", "--size-limit", "1") as address:
        limits = httpx.get(f"{address}/api/health").json()["limits"]
        assert limits == {"work": 0.05, "cards": 2, "body": 1024}
        assert httpx.post(f"{address}/api/advise", content=b" " * 1025).status_code == 413
    for number in ("nan", "inf", "0", "-1"):
        done = process("engine", "--work-limit", number)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--work-limit" in done.stderr
    for seconds in (float("nan"), float("inf"), 0.0):
        with pytest.raises(solver.ArgumentError, match=r"^work .*: expected a finite number of seconds"):
            Limits(work=seconds)
    with pytest.raises(WorkError):
        Service(Limits(work=0.05)).answer("stats", {"rules": "yahtzee"})
