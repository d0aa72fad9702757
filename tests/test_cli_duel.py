"""`dicewise duel` and `advise --duel`: the library's numbers, in words and as JSON, and what is refused."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest
from command_line import TINY, home, misuse, refusal, said, tables

import solver
from solver import folders
from solver.duel import duel_folder

__all__ = ["home", "tables"]  # fixtures


@pytest.fixture
def game(home: Path) -> str:
    shutil.copy(TINY / "joker_alone.toml", home / "small.toml")
    return "small.toml"


def test_a_game_for_two_in_words(game: str, home: Path) -> None:
    solved = solver.solve_duel(game, home / "there")
    starts = solved.head_starts()
    text = said("duel", game, "--folder", "there", "--threads", "1")
    lines = [line.split() for line in text.splitlines()]
    assert ["First", "to", "move", f"{solved.chance:.8f}"] in lines
    assert ["Ties", f"{solver.tie_rate(game, home / 'there'):.8f}"] in lines
    assert ["Pairs", "of", "cards", "35"] in lines
    assert ["Positions", "1,190"] in lines
    for points in (1, 5, 20):
        ahead, behind = f"{starts[points]:.2%}"[:-1], f"{starts[-points]:.2%}"[:-1]
        assert [str(points), ahead, "%", behind, "%"] in lines
    assert "Second for points" not in text
    evaluated = said("duel", game, "--folder", "there", "--evaluate")
    found = solver.evaluate(game, home / "there")
    assert f"for the win           {found.both_optimum:.8f}          {found.first_optimum:.8f}" in evaluated
    assert (
        f"for points            {found.second_optimum:.8f}          {found.neither_optimum:.8f}" in evaluated
    )
    assert f"Ties: {found.tie:.2%}".replace("%", " %") in evaluated
    assert (
        said("duel", game, "--folder", "there").split("Time")[1].split("\n", 1)[1]
        == (evaluated.split("Time")[1].split("\n", 1)[1])
    )


def test_a_game_for_two_as_json(game: str, home: Path) -> None:
    found = json.loads(said("duel", game, "--json"))
    solved = solver.open_duel(game)
    place = duel_folder(solver.ruleset(game))
    assert place.is_relative_to(folders.cache_folder())
    assert found.pop("seconds") > 0
    assert found == {
        "rules": game,
        "chance": solved.chance,
        "ties": solver.tie_rate(game),
        "head_starts": [{"points": p, "chance": chance} for p, chance in solved.head_starts().items()],
        "evaluation": None,
        "pairs": 35,
        "positions": 1190,
        "folder": str(place),
        "bytes": sum(file.stat().st_size for file in place.glob("*.dwd")),
    }
    evaluated = json.loads(said("duel", game, "--evaluate", "--json"))["evaluation"]
    assert evaluated == solver.evaluate(game).as_dict()
    assert evaluated["both_optimum"] == solved.chance
    assert evaluated["tie"] == found["ties"]


def test_advice_against_a_player_who_plays_for_the_win(game: str, home: Path) -> None:
    solved = solver.solve_duel(game, home / "there")
    advice = solved.advise("run=8", "66", 1, other="pair=10")
    arguments = ("advise", "66", "--rules", game, "--card", "run=8", "--duel", "pair=10", "--folder", "there")
    found = json.loads(said(*arguments, "--json"))
    goal = {"kind": "duel", "unit": "probability"}
    assert found == advice.as_dict() | {"goal": goal, "other": {"pair": 10}}
    text = said(*arguments, "--top", "2")
    chance = f"{advice.best.value:.2%}".replace("%", " %")
    assert text.startswith(
        {"pair": "Fill Pair for 10", "sixes": "Fill Sixes for 12"}[str(advice.best.category)]
    )
    assert f"{chance} to win (expected final score {advice.best.expected:.2f})" in text.splitlines()[0]
    assert f"{len(advice.options) - 2} more; --top {len(advice.options)} shows all." in text
    assert text.endswith(f"\nPosition: {game} | run=8 | 6 6 | 1\nOther card: pair=10\n")


def test_the_best_move_for_points_is_named_where_it_is_another(game: str, home: Path) -> None:
    solved = solver.solve_duel(game, home / "there")
    named = []
    for dice in ("66", "55", "12", "16", "36", "56"):
        for other in ("pair=10", "sixes=12", "run=8", "pair=0"):
            advice = solved.advise("", dice, 1, other=other)
            arguments = ("advise", dice, "--rules", game, "--duel", other, "--folder", "there")
            text = said(*arguments)
            best = max(advice.options, key=lambda option: option.expected or 0)
            named.append("Best for points" in text)
            assert named[-1] == (best.loss > 0)
    assert {True, False} == set(named)


def test_what_is_refused(game: str, home: Path) -> None:
    line = refusal("duel", "yacht-clubhouse")
    assert line.startswith("duel of 'yacht-clubhouse': found an upper bonus, expected a game in which only")
    line = refusal("advise", "66", "--rules", game, "--duel", "-")
    assert line.startswith("duel of 'small.toml': found no solved game in ")
    assert line.endswith("expected one; `dicewise duel small.toml` solves it")
    asked = ("advise", "66", "--rules", game, "--set", "rolls=2", "--duel", "-", "--folder", "a place")
    line = refusal(*asked)
    assert line.endswith("; `dicewise duel 'small.toml[rolls=2]' --folder 'a place'` solves it")
    said(*shlex.split(line.split("`")[1])[1:])
    assert " to win (expected final score " in said(*asked)
    solver.solve_duel(game)
    line = refusal("advise", "66", "--rules", game, "--duel", "pair=9")
    assert line == "--duel 'pair=9': card: pair is 9, expected one of 0, 10"
    line = refusal("advise", "66", "--rules", game, "--duel", "pair=10 run=8")
    assert line == (
        "card 'pair=10 run=8' of the other player: found 2 boxes filled, "
        "expected 0 or 1 where the player to move has filled 0"
    )
    assert refusal("advise", "66", "--rules", game, "--duel", "-", "--goal", "20") == (
        "goal: found --duel and another one, expected one of them"
    )
    assert "expected no --duel beside it" in misuse(
        "advise", "66", "--rules", game, "--duel", "-", "--explain=1"
    )
    assert "--folder goes with --duel" in misuse("advise", "66", "--rules", game, "--folder", "there")
    assert "--threads is for this machine" in misuse("duel", game, "--cluster", "tcp://x:1", "--threads", "2")
    (home / "file").write_text("")
    for arguments in (("duel", game), ("advise", "66", "--rules", game, "--duel", "-"), ("reach", game)):
        assert "Directory 'file' is a file." in misuse(*arguments, "--folder", "file")
    line = refusal("duel", game, "--folder", "file/below")
    assert line.startswith(f"{str(home / 'file' / 'below' / 'level-03-000.dwd')!r} cannot be written")
