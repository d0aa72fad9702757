"""The example learns: from the environments alone, and more from more games."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from games import solved

from solver.environments.example import main, play, train


@pytest.mark.parametrize(("rules", "least"), [("yacht", 0.8), ("yahtzee", 0.8)])
def test_it_learns_most_of_optimal_play(rules: str, least: float) -> None:
    optimal = solved(rules).value()
    untaught = play(train(rules, 1, seed=1), rules, 1000, seed=2).mean()
    taught = play(train(rules, 300, seed=1), rules, 1000, seed=2).mean()
    assert untaught < 0.6 * optimal
    assert least * optimal < taught < optimal


def test_it_prints_its_mean_beside_that_of_optimal_play() -> None:
    arguments = ["--rules", "yacht", "--steps", "20", "--games", "100"]
    done = CliRunner().invoke(main, arguments)
    lines = [line.split("  ") for line in done.output.splitlines()]
    assert [line[0] for line in lines] == ["Learned from", "Mean score", "Optimal play"]
    assert lines[0][-1].strip() == "40,960 actions"
    mean = play(train("yacht", 20, seed=1), "yacht", 100, seed=2).mean()
    assert lines[1][-1].strip() == f"{mean:.1f} in 100 games"
    assert lines[2][-1].strip() == f"{solved('yacht').value():.1f}"
    assert CliRunner().invoke(main, arguments).output == done.output


def test_it_refuses_rules_that_are_not_there() -> None:
    done = CliRunner().invoke(main, ["--rules", "no-such-game"])
    assert done.exit_code == 2
    assert 'found "no-such-game", expected a game' in done.output
