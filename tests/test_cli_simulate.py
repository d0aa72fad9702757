"""The command line on games played and moves explained: simulate, and advise --explain."""

from __future__ import annotations

import json
import re
from typing import Any

import command_line
import pytest
from command_line import TINY, misuse, refusal, said
from games import solved
from test_cli_stats import row

import solver
from solver.simulation import Simulation

home, tables = command_line.home, command_line.tables


# simulate


def test_simulated_games() -> None:
    found = json.loads(said("simulate", "yacht", "-n", "20000", "--seed", "7", "--json"))
    played: Simulation = solver.simulate(solved("yacht"), 20000, seed=7)
    wanted = solver.statistics(played.distribution).as_dict() | {
        "games": 20000,
        "seed": 7,
        "standard_error": played.standard_error,
        "standard_deviation": played.standard_deviation,
        "expected_score": solved("yacht").value(),
        "scores": played.distribution.scores.tolist(),
        "probabilities": played.distribution.probabilities.tolist(),
    }
    assert 0 < found.pop("seconds") < 60
    assert found.pop("games_per_second") > 100
    assert found == json.loads(json.dumps(wanted))
    assert abs(found["mean"] - found["expected_score"]) < 4.5 * found["standard_error"]
    again = json.loads(
        said("simulate", "yacht", "--games", "20000", "--seed", "7", "--threads", "1", "--json")
    )
    assert again["probabilities"] == found["probabilities"]


def test_simulated_games_at_a_glance() -> None:
    card = "ones=3 yacht=50"
    text = said("simulate", "yacht", "-n", "1000", "--card", card, "--set", "rolls=2")
    played = solver.simulate(solver.solve("yacht[rolls=2]"), 1000, card=card)
    assert row(text, "Rules") == ["yacht[rolls=2]"]
    assert row(text, "Games") == ["1,000, seed 0"]
    assert row(text, "Mean") == [f"{played.mean:.4f} points, standard error {played.standard_error:.4f}"]
    assert row(text, "Expected score") == [f"{solver.solve('yacht[rolls=2]').value(card):.10f} points"]
    assert row(text, "Standard deviation") == [f"{played.standard_deviation:.4f} points"]
    assert re.fullmatch(r"[\d.]+ s, [\d,]+ games a second", row(text, "Time")[0])
    assert row(text, "Sum") == [f"{played.mean:.4f}"]


def test_one_game() -> None:
    found = json.loads(said("simulate", str(TINY / "none.toml"), "-n", "1", "--json"))
    assert (found["standard_error"], found["standard_deviation"]) == (None, 0)
    assert found["probabilities"] == [1]
    text = said("simulate", str(TINY / "none.toml"), "-n", "1")
    assert row(text, "Mean") == [f"{found['mean']:.4f} points, standard error -"]


def test_simulation_called_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    assert misuse("simulate", "yacht") == "Error: Missing option '--games' / '-n'."
    assert misuse("simulate", "yacht", "-n", "0").endswith("0 is not in the range x>=1.")
    assert misuse("simulate", "yacht", "-n", "1", "--seed", "-1").endswith("-1 is not in the range x>=0.")

    def too_many(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("solver.simulation.simulate", too_many)
    line = "--games 99: found too little memory for so many games"
    assert refusal("simulate", "yacht", "-n", "99") == line


# advise --explain


def test_an_explanation_at_a_glance() -> None:
    text = said("advise", "13346", "--rules", "yacht", "--top", "1", "--explain")
    table = solver.load("yacht")
    advice = table.advise(None, "13346")
    best, second, _ = solver.explain(table, advice)
    assert [line for line in text.splitlines() if line.startswith("  How the turn ends")] == [
        "  How the turn ends                Keep 6           Keep 3 4           Keep 4 6"
    ]
    threes = next(box for box in best.boxes if box.key == "threes")
    assert row(text, "Threes")[:2] == [f"{100 * threes.probability:.2f} %", f"{threes.points:.2f}"]
    assert row(text, "Points of this turn")[:2] == [f"{best.turn_points:.2f}", f"{second.turn_points:.2f}"]
    assert row(text, "Points after it")[0] == f"{best.after:.2f}"
    assert row(text, "Expected final score")[0] == f"{best.option.value:.2f}"
    assert best.turn_points + best.after == pytest.approx(best.option.value, abs=1e-6)
    shown = text[text.index("The last roll shows") :]
    assert row(shown, "Yacht")[0] == f"{100 * best.patterns['yacht']:.2f} %"
    rare = {box.title for box in best.boxes if box.probability < 0.01}
    assert rare
    assert text.endswith("\n\nPosition: yacht | - | 1 3 3 4 6 | 2\n")


def test_an_explanation_in_json_is_that_of_python() -> None:
    card = "ones=3 yahtzee=50"
    found = json.loads(said("advise", "13346", "--card", card, "--json", "--top", "1", "--explain", "2"))
    table = solver.load("yahtzee")
    advice = table.advise(card, "13346")
    wanted = [one.as_dict() for one in solver.explain(table, advice, 2)]
    assert found.pop("explanations") == json.loads(json.dumps(wanted))
    assert found.pop("boxes_total") == 53
    assert found == advice.as_dict(1)


def test_a_fill_is_explained_too() -> None:
    position = "yahtzee | fives=25 yahtzee=50 bonuses=1 | 5 5 5 5 5 | 0"
    text = said("advise", "--position", position, "--top", "1", "--explain=1")
    assert row(text, "How the turn ends") == ["Fill Large Straight"]
    boxes = text[text.index("Box filled") :]
    assert row(boxes, "Large Straight") == ["100.00 %", "140.00"]
    assert row(boxes, "Points on the card") == ["175.00"]


def test_more_moves_than_fit_go_below() -> None:
    text = said("advise", "13346", "--rules", "yacht", "--top", "1", "--explain", "6")
    heads = [line for line in text.splitlines() if line.startswith("  How the turn ends")]
    assert [line.count("Keep ") + line.count("Reroll all") for line in heads] == [4, 2]


def test_an_explanation_called_wrongly() -> None:
    expected = "Error: found no dice; --explain takes a number after it as its own: put it last"
    assert misuse("advise", "--explain", "13346") == expected
    assert misuse("advise", "13346", "--explain", "0").endswith("0 is not in the range x>=1.")
