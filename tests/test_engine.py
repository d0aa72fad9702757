"""The engine: a line in, a line out, whatever the line."""

from __future__ import annotations

import json
import subprocess
import sys
from io import BytesIO
from typing import Any

import pytest
from command_line import environment, process

import solver
from solver.service import Limits, Service
from solver.service.lines import serve_lines
from solver.service.shapes import SHAPES


def told(*lines: bytes, limits: Limits | None = None) -> list[dict[str, Any]]:
    """What these lines are answered with."""
    given, answers = BytesIO(b"\n".join(lines)), BytesIO()
    serve_lines(Service(limits), given, answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def line(**body: Any) -> bytes:
    return json.dumps(body).encode()


def test_answers_are_those_of_the_service() -> None:
    service = Service()
    lines = [line(id=name, request=name, **shape.example) for name, shape in SHAPES.items()]
    expected = [
        {"id": name, "answer": json.loads(json.dumps(service.answer(name, shape.example)))}
        for name, shape in SHAPES.items()
    ]
    assert told(*lines) == expected


def test_a_program_asks_and_waits_for_each_answer() -> None:
    """Each answer comes before the next line is written; the end of the input is the end, with 0."""
    advice = solver.load("yacht").advise("ones=3", "2 2 5 6 6", 1)
    command = [sys.executable, "-m", "solver", "engine"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as engine:
        assert engine.stdin and engine.stdout and engine.stderr
        for number in range(3):
            asked = line(
                id=number, request="advise", rules="yacht", card="ones=3", dice="22566", rerolls=1, top=1
            )
            engine.stdin.write(asked + b"\n")
            engine.stdin.flush()
            found = json.loads(engine.stdout.readline())
            assert found == {"id": number, "answer": json.loads(json.dumps(advice.as_dict(1)))}
        engine.stdin.close()
        assert engine.stdout.read() == engine.stderr.read() == b""
        assert engine.wait(30) == 0


@pytest.mark.parametrize(
    ("broken", "answer"),
    [
        (b"nonsense", {"kind": "RequestError", "message": "found 'nonsense', expected JSON in UTF-8"}),
        (b"\xff\xfe", {"kind": "RequestError", "message": "found '\ufffd\ufffd', expected JSON in UTF-8"}),
        (
            b"[1, 2]",
            {
                "kind": "RequestError",
                "message": "line: found [1, 2], expected an object with request and its fields",
            },
        ),
        (
            b'{"id": [7], "request": "health"}',
            {"kind": "RequestError", "message": "id is [7], expected text or a number"},
        ),
        (
            b'{"id": true, "request": "health"}',
            {"kind": "RequestError", "message": "id is True, expected text or a number"},
        ),
        (
            b'{"id": null, "request": "health"}',
            {"kind": "RequestError", "message": "id is null, expected text or a number"},
        ),
        (
            b'{"request": 5}',
            {"kind": "RequestError", "message": f"request 5: expected one of: {', '.join(SHAPES)}"},
        ),
        (b"[" * 5000, {"kind": "RequestError", "message": f"found '{'[' * 58}…, expected JSON in UTF-8"}),
    ],
)
def test_the_line_after_a_broken_one_works(broken: bytes, answer: dict[str, str]) -> None:
    first, second = told(broken, line(id=2, request="advise", dice="13346", top=1))
    assert first == {"error": answer}
    assert second["id"] == 2
    assert second["answer"]["best"]["dice"] == [3, 3]


def test_errors_have_the_id_and_the_text_of_the_library() -> None:
    with pytest.raises(solver.DiceError) as caught:
        solver.load("yahtzee").advise(None, "13347")
    (found,) = told(line(id="x", request="advise", dice="13347"))
    assert found == {"id": "x", "error": {"kind": "DiceError", "message": str(caught.value)}}


@pytest.mark.parametrize("number", ["", "x", 0, -3, 2.5, 10**30])
def test_an_id_is_any_text_or_number(number: str | float) -> None:
    (found,) = told(line(id=number, request="health"))
    assert (found["id"], found["answer"]["status"]) == (number, "ok")
    assert type(found["id"]) is type(number)


def test_numbers_are_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = told(b'{"id": 1e999, "request": "health"}')
    assert found["error"]["message"] == 'found \'{"id": 1e999, "request": "health"}\', expected JSON in UTF-8'
    huge = {"utility": [1e308, 1e308, -1e308]}
    (found,) = told(line(request="advise", rules="yacht", card=LATE, dice="13346", goal=huge))
    assert found["error"] == {
        "kind": "GoalError",
        "message": "utility: expected one number from -1e+300 to 1e+300 for each score",
    }
    large = {"utility": [1e300, 1e300, -1e300]}
    (found,) = told(line(request="advise", rules="yacht", card=LATE, dice="13346", goal=large))
    assert found["answer"]["value"] == pytest.approx(-1e300)
    monkeypatch.setattr(Service, "_health", lambda self, given, work: {"value": float("nan")})
    (found,) = told(line(id=3, request="health"))
    assert (found["id"], found["error"]["kind"]) == (3, "InternalError")


LATE = "ones=3 twos=6 threes=9 fours=12 fives=15 sixes=18 yacht=0 full_house=0 four_of_a_kind=0"


def test_long_lines_are_refused_and_passed_over() -> None:
    limits = Limits(body=100)
    long = line(id=1, request="advise", dice="1" * 5000)
    exact = line(id=2, request="health").ljust(100)[:99]
    first, second, third = told(long, exact, line(id=3, request="health"), limits=limits)
    assert first == {
        "error": {"kind": "RequestError", "message": "line: found more than 100 bytes, expected fewer"}
    }
    assert (second["id"], third["id"]) == (2, 3)
    # Also where the long line is the last one and has no end.
    assert len(told(line(id=3, request="health"), long, limits=limits)) == 2


def test_empty_lines_say_nothing() -> None:
    assert told(b"", b"  ", b"\r") == []
    assert len(told(line(request="health"), b"", line(request="health"))) == 2


def test_a_fault_of_its_own_ends_one_answer_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Service, "_rules", lambda self, given, work: {}["a bug"])
    first, second = told(line(id=1, request="rules"), line(id=2, request="health"))
    assert first["error"]["kind"] == "InternalError"
    assert second["answer"]["status"] == "ok"
    assert "KeyError: 'a bug'" in caplog.text


def test_the_engine_needs_neither_the_extra_nor_a_compiler() -> None:
    code = (
        "import io, sys\n"
        "sys.modules.update(dict.fromkeys(['fastapi', 'starlette', 'uvicorn', 'pydantic', 'numba']))\n"
        "sys.argv = ['dicewise', 'engine']\n"
        'asked = b\'{"request": "advise", "dice": "13346", "top": 1}\\n\'\n'
        "sys.stdin = io.TextIOWrapper(io.BytesIO(asked))\n"
        "from solver.cli import main\n"
        "main()"
    )
    done = process(code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["answer"]["best"]["dice"] == [3, 3]
