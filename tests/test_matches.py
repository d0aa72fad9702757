"""Players against each other: shares that add up, the same for a seed, and like exact figures."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from games import solved

import solver
from solver.game import Game
from solver.goals import chance_of_winning
from solver.matches import match
from solver.strength import soften

ERRORS = 4.5


def test_a_match_at_once_is_like_the_exact_figures() -> None:
    table = solved("yacht")
    games = 40_000
    found = match(table, ["optimal", "greedy", "random", "strength:120"], games, seed=3)
    assert [seat.player for seat in found.seats] == ["optimal", "greedy", "random", "strength:120"]
    means = [table.value(), solver.distribution(table.greedy()).mean, soften(table, math.inf).mean, 120]
    for seat, mean, scores in zip(found.seats, means, found.scores, strict=True):
        assert abs(seat.mean - mean) < ERRORS * seat.mean_error + (0.1 if mean == 120 else 0)
        assert seat.mean == scores.mean()
        assert seat.standard_deviation == pytest.approx(scores.std(ddof=1))
        assert seat.mean_error == pytest.approx(seat.standard_deviation / 200)
    assert sum(seat.wins for seat in found.seats) == pytest.approx(1)


def test_wins_are_like_the_exact_chance() -> None:
    table = solved("yacht")
    optimal, greedy = (solver.distribution(one) for one in (table, table.greedy()))
    chance = float(chance_of_winning((greedy,), optimal.scores) @ optimal.probabilities)
    found = match(table, ["optimal", "greedy"], 40_000, seed=9)
    assert abs(found.seats[0].wins - chance) < ERRORS * found.seats[0].wins_error
    assert found.seats[0].wins_error == pytest.approx(math.sqrt(chance * (1 - chance)) / 200, rel=0.02)


def test_alike_players_play_other_games() -> None:
    found = match(solved("yacht"), ["club", "club"], 3000, seed=1)
    assert found.scores[0].tolist() != found.scores[1].tolist()
    assert abs(found.seats[0].wins - 0.5) < ERRORS * found.seats[0].wins_error


def test_ties_are_shared() -> None:
    found = match(solved("yatzy-forced"), ["random", "random", "random"], 4000, seed=2)
    wins = np.zeros(3)
    ties = 0
    for scores in found.scores.T.tolist():
        best = [seat for seat in range(3) if scores[seat] == max(scores)]
        ties += len(best) > 1
        for seat in best:
            wins[seat] += 1 / len(best)
    assert [seat.wins for seat in found.seats] == pytest.approx(wins / 4000)
    assert found.ties == ties / 4000 > 0.01


@pytest.mark.parametrize("players", [["optimal", "expert", "greedy"], ["win", "beginner"]])
def test_a_seed_gives_the_same_match(players: list[str]) -> None:
    table = solved("yatzy-forced")
    games = 6 if "win" in players else 500
    first, second = (match(table, players, games, seed=4, threads=threads) for threads in (1, 3))
    assert first.scores.tolist() == second.scores.tolist()
    assert first.seats == second.seats
    assert first.scores.tolist() != match(table, players, games, seed=5).scores.tolist()


def test_playing_to_win_wins() -> None:
    """With the boxes in the order of the card every move can be worked out: it must not lose by it."""
    table = solved("yatzy-forced")
    found = match(table, ["win", "optimal"], 30, seed=1, seconds=60)
    assert found.seats[0].wins > 0.5 - 2 * found.seats[0].wins_error
    assert found.scores.shape == (2, 30)


def test_seats_take_turns_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one plays to win it sees the cards of the others, so that it matters."""
    new, begun = Game.new, []

    def beginning(rules: solver.Ruleset, seats: int, seed: int, first: int) -> Game:
        begun.append(first)
        return new(rules, seats, seed, first)

    monkeypatch.setattr(Game, "new", beginning)
    match(solved("yatzy-forced"), ["win", "random", "random"], 5, threads=1, seconds=0.01)
    assert begun == [0, 1, 2, 0, 1]


def test_a_player_alone() -> None:
    found = match(solved("yacht"), ["win"], 2)
    assert (found.seats[0].wins, found.ties) == (1, 0)
    single = match(solved("yacht"), ["optimal"], 1)
    seat = single.seats[0]
    assert (seat.wins_error, seat.mean_error, seat.standard_deviation) == (None, None, 0)
    assert single.as_dict()["seats"][0]["player"] == "optimal"


def test_progress_ends_with_all_done() -> None:
    for players, total in ((["random", "optimal"], 2), (["win", "random"], 3)):
        calls: list[tuple[int, int]] = []
        match(
            solved("yatzy-forced"),
            players,
            3,
            progress=lambda done, of, calls=calls: calls.append((done, of)),
        )
        assert calls == [(done, total) for done in range(1, total + 1)]


def test_what_is_refused() -> None:
    table = solved("yacht")
    for games in (0, -1, 1.5, True, 2**31):
        message = f"games {games!r}: expected a whole number from 1 to 2147483647"
        with pytest.raises(solver.ArgumentError, match=f"^{re.escape(message)}$"):
            match(table, ["optimal"], games)  # type: ignore[arg-type]
    with pytest.raises(solver.ArgumentError, match=r"^players: found 0, expected from 1 to 100$"):
        match(table, [], 1)
    with pytest.raises(solver.ArgumentError, match=r"^player 'best': expected one of optimal"):
        match(table, ["optimal", "best"], 1)
    with pytest.raises(solver.ArgumentError, match="seed"):
        match(table, ["optimal"], 1, seed=-1)
