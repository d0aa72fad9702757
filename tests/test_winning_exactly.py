"""`win` in games of two that were solved: the best move by plain recursion, wherever the player is asked."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from command_line import TINY, environment, home, refusal, said, tables
from games import random_dice, random_fill
from oracle import Action
from oracle_duel import PlainDuel

import solver
from solver import folders, library
from solver.duel import Duel, duel_folder
from solver.game import Game
from solver.lookup import Table
from solver.matches import match
from solver.players import player
from solver.rules import ruleset
from solver.scorecard import Position, Scorecard
from solver.service import Limits, Service
from solver.service.lines import serve_lines
from solver.situations import Move, Situation

__all__ = ["home", "tables"]  # fixtures

SMALL = TINY / "joker_alone.toml"


@pytest.fixture(scope="module")
def table() -> Table:
    return solver.solve(SMALL)


@pytest.fixture
def duel(home: Path) -> Duel:
    """The game of two, solved where it is looked for."""
    return solver.solve_duel(SMALL)


def random_situation(table: Table, random: Random, most_open: int = 99) -> Situation:
    """A position of either seat of two, and of whoever moves first or second."""
    boxes = len(table.ruleset.keys)
    filled = boxes - random.randint(1, min(most_open, boxes))
    ahead = random.randint(0, 1)
    cards = [Scorecard.empty(table.ruleset)] * 2
    for place, wanted in enumerate((filled, filled + ahead)):
        while cards[place].filled.bit_count() < wanted:
            cards[place] = random_fill(table, cards[place], random)
    position = Position(cards[0], random_dice(table, random), random.randrange(table.ruleset.rolls))
    seat = random.randint(0, 1)
    return Situation(position, tuple(cards if seat == 0 else cards[::-1]), seat)


def as_action(move: Move) -> Action:
    return ("keep", move.dice) if move.action == "keep" else ("fill", str(move.category))


def chances(recursion: PlainDuel, at: Situation) -> dict[Action, float]:
    """The chance of each legal action by plain recursion."""
    own, (other,) = at.position.card, at.others
    lead = own.boxes_total - other.boxes_total
    options = recursion.options(own.filled, other.filled, lead, at.position.dice, at.position.rerolls)
    return {action: float(option.chance) for action, option in options.items()}


@pytest.mark.parametrize(("name", "most_open", "times"), [("joker_alone", 3, 120), ("thirteen", 2, 40)])
def test_every_move_is_a_best_one_of_plain_recursion(
    name: str, most_open: int, times: int, home: Path
) -> None:
    path = TINY / f"{name}.toml"
    known, random, recursion = solver.solve(path), Random(name), PlainDuel(ruleset(path), float)
    solver.solve_duel(path)
    one, lost, met = player("win", known), 0, set()
    for _ in range(times):
        at = random_situation(known, random, most_open)
        wanted, move = chances(recursion, at), one.move(at)
        best = max(wanted.values())
        assert wanted[as_action(move)] == pytest.approx(best, abs=1e-13)
        assert move.note == f"exact two-player play: {100 * best:.2f} % to win"
        for_points = known.advise_position(at.position).best
        lost += wanted[for_points.action, for_points.category or for_points.dice] < best - 1e-9
        met.add((at.seat, at.others[0].filled.bit_count() - at.position.card.filled.bit_count()))
    assert lost > times / 50
    assert len(met) == 4


@pytest.mark.usefixtures("duel")
def test_every_decision_of_a_game_is_looked_up(table: Table) -> None:
    game = Game.new(table.ruleset, 2, 5, 1)
    seated = [player("win", table).alone(1), player("win", table)]
    notes = []
    while not game.over:
        if game.phase == "decide":
            move = seated[game.seat].move(game.situation())
            notes.append(move.note)
            game.play(move)
        else:
            game.roll()
    assert len(notes) > 6
    assert not [note for note in notes if not note.startswith("exact two-player play: ")]


def test_other_seats_and_games_not_solved_play_as_before(table: Table, home: Path) -> None:
    card = table.ruleset.card
    position = Position.of(card("pair=10"), "36", 1)
    two = Situation(position, (position.card, card("run=8")))
    before = player("win", table)
    note = before.move(two).note
    assert note.startswith("played to win: ")
    solved = solver.solve_duel(SMALL)
    assert before.move(two).note.startswith("exact two-player play: ")
    for others in ((), (card("run=8"), card("run=8")), (card(),), (card("sixes=12 run=8 pair=0"),)):
        found = before.move(Situation(position, (position.card, *others))).note
        assert found.startswith("played to win: " if others else "played for the expected score: nobody")
    (solved.files.path / "level-00-000.dwd").unlink()
    assert player("win", table).move(two).note == note
    clubhouse = solver.load("yacht")
    empty = Scorecard.empty(clubhouse.ruleset)
    far = Situation(Position.of(empty, "13346"), (empty, empty))
    assert player("win", clubhouse, seconds=0.01).move(far).note.startswith("played for the expected score")


@pytest.mark.usefixtures("duel")
def test_a_match_is_won_as_often_as_the_evaluation_says(table: Table) -> None:
    games = 600
    found = match(table, ["win", "optimal"], games, seed=3)
    between = solver.evaluate(SMALL)
    # The seats take turns at beginning.
    wanted = (between.first_optimum + 1 - between.second_optimum) / 2
    assert abs(found.seats[0].wins - wanted) < 4.5 * found.seats[0].wins_error
    assert found.exact and found.as_dict()["exact"]
    assert match(table, ["win", "optimal"], 4, seed=3, threads=1).scores.tolist() == (
        found.scores[:, :4].tolist()
    )
    assert not match(table, ["win", "optimal", "win"], 2).exact
    assert not match(table, ["greedy", "optimal"], 2).exact


def test_services_look_up_without_solving_anything(table: Table, duel: Duel, home: Path) -> None:
    library.save(table, folders.cache_folder() / f"{table.states.scoring.digest[:32]}.dwt")
    rules = tomllib.loads(SMALL.read_text("utf-8"))
    service, random = Service(Limits(work=1e-3)), Random(2)
    for _ in range(20):
        at = random_situation(table, random)
        cards = [str(card) for card in at.cards]
        dice = "".join(map(str, at.position.dice))
        body = {"rules": rules, "cards": cards, "turn": at.seat, "dice": dice, "player": "win"}
        body["rerolls"] = at.position.rerolls
        told = player("win", table).move(at)
        wanted = {"player": "win", "seat": at.seat, "action": told.action, "dice": list(told.dice)}
        wanted |= {"category": told.category} if told.category else {}
        wanted["note"] = told.note
        assert service.answer("move", body) == wanted
        assert told.note.startswith("exact two-player play: ")
        answers = BytesIO()
        serve_lines(service, BytesIO(json.dumps({"id": 1, "request": "move", **body}).encode()), answers)
        assert json.loads(answers.getvalue()) == {"id": 1, "answer": wanted}
    damage(duel)
    error = Service().respond("move", body)["error"]
    assert error["kind"] == "DamagedTable"
    assert "values do not match their checksum" in error["message"]


def damage(duel: Duel) -> None:
    for path in duel.files.path.glob("level-*"):
        sound = path.read_bytes()
        path.write_bytes(sound[:-5] + bytes([sound[-5] ^ 1]) + sound[-4:])


def test_damaged_files_are_refused(table: Table, duel: Duel) -> None:
    one = player("win", table)
    at = random_situation(table, Random(4))
    one.move(at)
    damage(duel)
    with pytest.raises(solver.DamagedTable, match="values do not match their checksum"):
        one.move(at)
    (duel.files.path / "level-00-000.dwd").write_bytes(b"")
    with pytest.raises(solver.TruncatedTable, match="ends within its header"):
        player("win", table).move(at)
    with pytest.raises(solver.TruncatedTable, match="ends within its header"):
        match(table, ["win", "optimal"], 2)
    assert "ends within its header" in refusal("match", "win", "optimal", "-n", "2", "--rules", str(SMALL))


def test_the_commands_say_that_play_is_exact(home: Path) -> None:
    play = ("play", str(SMALL), "--seats", "win,win", "--seed", "2")
    matched = ("match", "win", "optimal", "-n", "4", "--rules", str(SMALL))
    assert "exact two-player play" not in said(*play) + said(*matched)
    solver.solve_duel(SMALL)
    assert said(*play).count("(exact two-player play: ") > 5
    assert said(*matched).endswith("win: exact two-player play\n")
    assert json.loads(said(*matched, "--json"))["exact"] is True


def test_looking_up_needs_no_compiler(table: Table, duel: Duel, tmp_path: Path) -> None:
    solver.save(table, tmp_path / f"{table.states.scoring.digest[:32]}.dwt")
    code = """
import sys
import solver, solver.cli.play
from solver import folders
from solver.situations import Situation
from solver.scorecard import Position
folders.cache_folder = lambda: __import__("pathlib").Path(sys.argv[2])
table = solver.load(sys.argv[1])
card = table.card("pair=10")
at = Situation(Position.of(card, "36", 1), (card, table.card("run=8")))
print(solver.player("win", table).move(at).note[:21])
from solver.service import Service
print(*sorted({"numba", "llvmlite", "distributed"} & set(sys.modules)))
"""
    command = [sys.executable, "-c", code, str(SMALL), str(folders.cache_folder())]
    described = environment() | {library.FOLDER_VARIABLE: str(tmp_path)}
    done = subprocess.run(command, env=described, capture_output=True, text=True, check=True)
    assert done.stdout == "exact two-player play\n\n"
    assert duel_folder(table.ruleset) == duel.files.path
