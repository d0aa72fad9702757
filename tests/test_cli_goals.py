"""Advice for a goal on the command line: the library's values, in words and as JSON, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import home, refusal, run, said, tables
from games import TINY, solved

import solver
from solver.goals import worth

__all__ = ["home", "tables"]  # fixtures

LATE = "ones=3 twos=6 threes=9 fours=8 fives=15 full_house=20 choice=22 yacht=0"


def test_a_score_to_reach() -> None:
    table = solved("yacht")
    wanted = solver.pursue(table, solver.Reach(140), LATE).advise(LATE, "66251", 2)
    found = json.loads(said("advise", "66251", "--rules", "yacht", "--card", LATE, "--goal", "140", "--json"))
    assert found == wanted.as_dict() | {"goal": {"kind": "reach", "unit": "probability", "score": 140}}
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
    against = ["sixes=24", "choice=20 | 66612 | 1"]
    assert found == wanted.as_dict() | {"goal": {"kind": "win", "unit": "probability", "against": against}}


def test_a_utility_from_a_file_is_linear_between_its_lines(home: Path) -> None:
    (home / "utility.txt").write_text("\ufeff# score value\n0 0\n100, 50\n\n200 200\n", "utf-8")
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
    ("option", "goal"),
    [
        (("--risk", "-0.1"), solver.Risk(-0.1)),
        (("--floor",), solver.Floor()),
        (("--ceiling",), solver.Ceiling()),
    ],
)
def test_risk_floor_and_ceiling(
    option: tuple[str, ...], goal: solver.Risk | solver.Floor | solver.Ceiling
) -> None:
    wanted = solver.pursue(solved("yacht"), goal).advise(None, "66251", 2)
    found = json.loads(said("advise", "66251", "--rules", "yacht", *option, "--json"))
    assert found == wanted.as_dict() | {
        "goal": {"kind": type(goal).__name__.lower(), "unit": "points"}
        | ({"theta": goal.theta} if isinstance(goal, solver.Risk) else {})
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--goal", "100", "--floor"), "goal: found --goal and --floor, expected one of them"),
        (("--risk", "5"), "risk 5.0: expected a number from 1e-06 to 3, or from -3 to -1e-06"),
        (
            ("--against", "ones=3 | 12345"),
            "--against 'ones=3 | 12345': expected a card, or 'card | dice | rerolls'",
        ),
        (("--against", "ones=9"), "--against 'ones=9': card: ones is 9, expected one of 0, 1, 2, 3, 4, 5"),
        (("--against", "ones=3 | 12345 | ²"), "expected a card, or 'card | dice | rerolls'"),
        (("--against", "ones=3 | 12345 | " + "9" * 5000), "expected a card, or 'card | dice | rerolls'"),
        (
            ("--utility", "large.txt"),
            "large.txt: line 1: found '0 1e308', expected each score once",
        ),
        (("--utility", "nan.txt"), "nan.txt: line 2: found '1 nan', expected each score once, and numbers"),
        (("--utility", "nans.txt"), "nans.txt: line 1: found 'nan 1', expected each score once, and numbers"),
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
    (home / "large.txt").write_text("0 1e308\n")
    (home / "nan.txt").write_text("0 0\n1 nan\n")
    (home / "nans.txt").write_text("nan 1\n")
    result = run("advise", "66251", "--rules", "yacht", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


GOALS: list[tuple[tuple[str, ...], solver.goals.Goal]] = [
    (("--goal", "150"), solver.Reach(150)),
    (("--risk", "0.04"), solver.Risk(0.04)),
    (("--floor",), solver.Floor()),
]
goals = pytest.mark.parametrize(("option", "goal"), GOALS)


@goals
def test_stats_of_play_for_a_goal(option: tuple[str, ...], goal: solver.goals.Goal) -> None:
    table = solved("yacht")
    played = solver.pursue(table, goal, LATE)
    scores = solver.distribution(played, LATE, "66251", 1)
    arguments = ("stats", "yacht", "--card", LATE, "--dice", "66251", "--rerolls", "1", *option)
    found = json.loads(said(*arguments, "--json"))
    assert found["probabilities"] == scores.probabilities.tolist()
    own = {"score": 150} if isinstance(goal, solver.Reach) else {}
    own |= {"theta": goal.theta} if isinstance(goal, solver.Risk) else {}
    kind = {"kind": type(goal).__name__.lower(), "unit": played.unit, "value": worth(goal, scores)}
    assert found["goal"] == kind | own
    text = said(*arguments)
    plain = worth(goal, solver.distribution(table, LATE, "66251", 1))
    shown = f"{100 * plain:.2f} %" if isinstance(goal, solver.Reach) else f"{plain:.2f}"
    assert f"({shown} when playing for points)" in text


@goals
def test_games_played_for_a_goal(option: tuple[str, ...], goal: solver.goals.Goal) -> None:
    played = solver.pursue(solved("yacht"), goal, LATE)
    games = solver.simulate(played, 500, seed=4)
    arguments = ("simulate", "yacht", "-n", "500", "--seed", "4", "--card", LATE, *option)
    found = json.loads(said(*arguments, "--json"))
    assert found["mean"] == games.mean
    assert found["expected_score"] is None
    assert found["value"] == played.value()
    assert found["goal"]["value"] == worth(goal, games.distribution)
    assert "Exactly" in said(*arguments)


@goals
def test_solving_a_goal(option: tuple[str, ...], goal: solver.goals.Goal) -> None:
    played = solver.pursue(solved("yacht"), goal, LATE)
    found = json.loads(said("solve", "yacht", "--card", LATE, *option, "--json"))
    assert found["value"] == played.value()
    assert found["expected_score"] == solved("yacht").value(LATE)
    assert "  Goal " in said("solve", "yacht", "--card", LATE, *option)


@goals
def test_comparing_play_for_a_goal(option: tuple[str, ...], goal: solver.goals.Goal) -> None:
    rules = TINY[0]
    wanted = solver.compare([rules], goal)
    found = json.loads(said("compare", str(rules), *option, "--json"))
    assert found == wanted.as_dict()
    first = said("compare", str(rules), *option).splitlines()[0]
    assert {"--goal": "150 or more", "--risk": "Worth for sure", "--floor": "Certain"}[option[0]] in first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("stats", "yacht", "--goal", "9", "--ceiling"), "goal: found --goal and --ceiling, expected one of"),
        (("simulate", "yacht", "-n", "9", "--risk", "9"), "risk 9.0: expected a number from 1e-06 to 3"),
        (("solve", "yacht", "--card", "ones=3"), "--card goes with a goal"),
        (("solve", "yacht", "--floor", "-o", "x.dwt"), "--output keeps expected scores: expected no --floor"),
        (("compare", "yacht", "yatzy-forced", "--against", "choice=20"), "'choice'"),
    ],
)
def test_goals_that_other_commands_refuse(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("line", "beside"), [("x" * 5000, "a score and its value"), ("1 nan #" + "x" * 5000, "each score once")]
)
def test_a_long_line_of_a_utility_is_cut_short(home: Path, line: str, beside: str) -> None:
    (home / "long.txt").write_text(line, "utf-8")
    message = refusal("advise", "13346", "--rules", "yacht", "--utility", "long.txt")
    assert message.startswith(f"long.txt: line 1: found '{line[:58]}…, expected {beside}")
