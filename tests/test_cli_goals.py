"""Advice for a goal on the command line: the library's values, in words and as JSON, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import home, run, said, tables
from games import solved

import solver

__all__ = ["home", "tables"]  # fixtures

LATE = "ones=3 twos=6 threes=9 fours=8 fives=15 full_house=20 choice=22 yacht=0"


def test_a_score_to_reach() -> None:
    table = solved("yacht")
    wanted = solver.pursue(table, solver.Reach(140), LATE).advise(LATE, "66251", 2)
    found = json.loads(said("advise", "66251", "--rules", "yacht", "--card", LATE, "--goal", "140", "--json"))
    assert found == wanted.as_dict()
    assert 0 < found["value"] < 1
    assert found["best"]["expected"] <= table.advise(LATE, "66251", 2).value + 1e-9
    text = said("advise", "66251", "--rules", "yacht", "--card", LATE, "--goal", "140")
    assert f"{found['value']:.2%}".replace("%", " %") + " to reach 140 (expected final score" in text


def test_opponents_to_beat() -> None:
    table = solved("yacht")
    others = (
        solver.distribution(table, "sixes=24"),
        solver.distribution(table, "choice=20", "66612", 1),
    )
    wanted = solver.pursue(table, solver.Win(others), LATE).advise(LATE, "66251", 1)
    arguments = ("advise", "66251", "--rules", "yacht", "--card", LATE, "--rerolls", "1")
    found = json.loads(
        said(*arguments, "--against", "sixes=24", "--against", "choice=20 | 66612 | 1", "--json")
    )
    assert found == wanted.as_dict()


def test_a_utility_from_a_file_is_linear_between_its_lines(home: Path) -> None:
    (home / "utility.txt").write_text("# score value\n0 0\n100, 50\n\n200 200\n")
    table = solved("yacht")

    def utility(score: float) -> float:
        return score / 2 if score <= 100 else 50 + 1.5 * (min(score, 200) - 100)

    wanted = solver.pursue(table, solver.Utility(utility), LATE).advise(LATE, "66251", 2)
    arguments = ("advise", "66251", "--rules", "yacht", "--card", LATE, "--utility", "utility.txt", "--json")
    found = json.loads(said(*arguments))
    assert found["value"] == pytest.approx(wanted.value, abs=1e-12)
    assert [option["value"] for option in found["options"]] == pytest.approx(
        [option.value for option in wanted.options], abs=1e-12
    )


@pytest.mark.parametrize(
    ("option", "goal"), [(("--risk", "-0.1"), solver.Risk(-0.1)), (("--floor",), solver.Floor())]
)
def test_risk_and_floor(option: tuple[str, ...], goal: solver.Risk | solver.Floor) -> None:
    wanted = solver.pursue(solved("yacht"), goal).advise(None, "66251", 2)
    found = json.loads(said("advise", "66251", "--rules", "yacht", *option, "--json"))
    assert found == wanted.as_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--goal", "100", "--floor"), "goal: found --goal and --floor, expected one of them"),
        (("--risk", "5"), "risk 5.0: expected a number from -3 to 3, but not 0"),
        (
            ("--against", "ones=3 | 12345"),
            "--against 'ones=3 | 12345': expected a card, or 'card | dice | rerolls'",
        ),
        (("--against", "ones=9"), "card: ones is 9, expected one of 0, 1, 2, 3, 4, 5"),
        (("--utility", "missing.txt"), "missing.txt: No such file or directory"),
        (("--utility", "bad.txt"), "bad.txt: line 2: found 'a b', expected a score and its value"),
        (
            ("--goal", "100", "--explain=2"),
            "--explain follows the expected score: expected no goal beside it",
        ),
    ],
)
def test_what_is_refused(home: Path, arguments: tuple[str, ...], message: str) -> None:
    (home / "bad.txt").write_text("1 2\na b\n")
    result = run("advise", "66251", "--rules", "yacht", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
