"""Simulated games: reproducible, legal, played by the strategy, and like the exact distribution."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import numpy as np
import oracle_rules
import pytest
from games import TINY, random_fill, solved

import solver
from solver import simulation
from solver.batch import action_of
from solver.errors import CardError
from solver.lookup import Table
from solver.scorecard import Position, Scorecard
from solver.simulation import Simulation, simulate
from solver.summary import statistics

DECIDED = ["yahtzee", "yahtzee-free-joker", "yahtzee-upper-first", "yatzy", "yacht", "yatzy-forced"]


# ---------------------------------------------------------------- reproducible


@pytest.mark.parametrize("record", [False, True])
def test_a_seed_gives_the_same_games_for_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, record: bool
) -> None:
    monkeypatch.setattr(simulation, "_BLOCK", 700)
    table = solved("yahtzee")
    alone = simulate(table, 3000, seed=5, threads=1, record=record)
    for threads in (2, 3):
        found = simulate(table, 3000, seed=5, threads=threads, record=record)
        assert found.scores.tobytes() == alone.scores.tobytes()
        assert found.by_row.tobytes() == alone.by_row.tobytes()
        assert found.upper_bonus == alone.upper_bonus
        if record:
            assert found.record is not None
            assert alone.record is not None
            assert found.record.tobytes() == alone.record.tobytes()


def test_recording_the_games_does_not_change_them() -> None:
    table = solved("yacht")
    kept, lost = simulate(table, 500, seed=3, record=True), simulate(table, 500, seed=3)
    assert lost.record is None
    assert kept.scores.tolist() == lost.scores.tolist()
    assert kept.by_row.tolist() == lost.by_row.tolist()


def test_another_seed_gives_other_games() -> None:
    table = solved("yacht")
    assert simulate(table, 100, seed=1).scores.tolist() != simulate(table, 100, seed=2).scores.tolist()
    assert simulate(table, 100).scores.tolist() == simulate(table, 100, seed=0).scores.tolist()


def test_blocks_of_games_are_not_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "_BLOCK", 50)
    scores = simulate(solved("yahtzee"), 100, seed=1).scores
    assert sorted(scores[:50]) != sorted(scores[50:])


# ---------------------------------------------------------------- legal, and as advised


def replay(table: Table, found: Simulation, game: int) -> Scorecard:
    """Play a recorded game again on a card, by the rules of the oracle; check every decision."""
    assert found.record is not None
    rules, card = table.ruleset, found.card
    lattice = table.states.scoring.lattice
    for turn in found.record[game]:
        kept: tuple[int, ...] = ()
        ended = False
        for throw, (roll, action) in enumerate(turn.tolist()):
            if ended:
                assert (roll, action) == (-1, -1)
                continue
            dice = lattice.rolls[roll]
            assert oracle_rules.is_contained(kept, dice)
            position = Position(card, dice, rules.rolls - 1 - throw)
            best = table.advise_position(position).best
            kind, what = action_of(table, action)
            assert (kind, what) == (best.action, best.category or best.dice), str(position)
            if kind == "keep":
                assert position.rerolls > 0
                kept = lattice.keeps[action - len(rules.keys)]
                continue
            legal = oracle_rules.legal_fills(rules, card.filled, dice, throw == 0, card.armed)
            won = dict(legal)[action]
            bonus = oracle_rules.yahtzee_bonus(rules, card.armed, dice)
            card = card.fill(rules.keys[action], won, bonus > 0)
            ended = True
        assert ended
    assert card.finished
    return card


@pytest.mark.parametrize("name", [*DECIDED, *(str(path) for path in TINY)], ids=lambda name: name[-20:])
def test_recorded_games_are_legal_and_follow_the_advice(name: str) -> None:
    table = solved(name)
    games = 8 if name in DECIDED else 30
    found = simulate(table, games, seed=11, record=True)
    assert found.record is not None
    assert found.record.shape == (games, len(table.ruleset.keys), table.ruleset.rolls, 2)
    cards = [replay(table, found, game) for game in range(games)]
    assert found.scores.tolist() == [card.total for card in cards]
    check_rates(found, cards)


def test_recorded_games_from_a_card_go_on_from_it() -> None:
    table, random = solved("yahtzee"), Random(2)
    for _ in range(5):
        card = table.ruleset.card("yahtzee=50 sixes=30 chance=22 bonuses=1")
        for _ in range(random.randrange(6)):
            card = random_fill(table, card, random)
        found = simulate(table, 6, seed=4, card=str(card), record=True)
        assert found.card == card
        cards = [replay(table, found, game) for game in range(6)]
        assert found.scores.tolist() == [done.total for done in cards]
        for done in cards:
            assert {key: points for key, points in done.as_dict().items() if key in card.as_dict()} | {
                "bonuses": card.bonuses
            } == card.as_dict()
        check_rates(found, cards)


def check_rates(found: Simulation, cards: list[Scorecard]) -> None:
    """The statistics of the boxes are those of the cards."""
    reported = statistics(found.distribution)
    for box, of in enumerate(reported.boxes):
        points = [card.points[box] or 0 for card in cards]
        assert of.mean == pytest.approx(np.mean(points))
        assert of.zero == pytest.approx(np.mean([p == 0 for p in points]))
    assert reported.yahtzee_bonuses == pytest.approx(np.mean([card.bonuses for card in cards]))
    assert reported.upper_bonus == pytest.approx(np.mean([card.upper_bonus > 0 for card in cards]))
    assert sum(reported.parts.values()) == pytest.approx(found.mean)


def test_a_full_card_is_a_game_that_is_over() -> None:
    card = "ones=3 twos=6 threes=9 fours=12 fives=15 sixes=18 full_house=0 four_of_a_kind=0"
    card += " little_straight=30 big_straight=0 choice=20 yacht=0"
    found = simulate(solved("yacht"), 4, card=card)
    assert found.scores.tolist() == [113] * 4
    assert found.standard_deviation == 0


def test_no_bonus_is_counted_where_there_is_none() -> None:
    """A joker without a bonus, where the flag says whether a required box holds points."""
    name = next(str(path) for path in TINY if path.stem == "required_pair")
    table = solver.solve(solver.ruleset(name, {"yahtzee.joker": "free", "yahtzee.bonus": 0}))
    ends = solver.simulate(table, 20_000, seed=1).by_row.reshape(len(table.ruleset.keys), 2, -1)
    assert ends.sum(axis=(1, 2)) == pytest.approx(1)
    assert not ends[:, 1].any()


def test_the_simulated_distribution_is_that_of_the_scores() -> None:
    found = simulate(solved("yacht"), 200_000, seed=2026)
    scores = found.distribution
    assert scores.mean == pytest.approx(found.mean)
    assert scores.least == found.scores.min()
    assert scores.greatest == found.scores.max()
    assert scores.probability(167) == np.mean(found.scores == 167)
    assert scores.quantile(0.5) == np.sort(found.scores)[99_999]


# ---------------------------------------------------------------- progress, and what is refused


def test_progress_ends_with_all_done() -> None:
    calls: list[tuple[int, int]] = []
    simulate(solved("yacht"), 10, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(turn, 12) for turn in range(1, 13)]


def test_a_single_game() -> None:
    found = simulate(solved("yacht"), 1)
    assert found.scores.shape == (1,)
    assert (found.standard_deviation, found.standard_error) == (0, None)
    assert found.distribution.quantile(0.5) == found.scores[0]


@pytest.mark.parametrize("games", [0, -1, 1.5, True, "7", None, 2**31, 2**64])
def test_numbers_of_games_that_are_refused(games: Any) -> None:
    with pytest.raises(
        ValueError, match=f"^games {re.escape(repr(games))}: expected a whole number from 1 to 2147483647$"
    ):
        simulate(solved("yacht"), games)


@pytest.mark.parametrize("seed", [-1, 0.5, True, None])
def test_seeds_that_are_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match=f"^seed {re.escape(repr(seed))}: expected a whole number from 0$"):
        simulate(solved("yacht"), 1, seed=seed)


def test_numbers_of_numpy_are_numbers() -> None:
    table = solved("yacht")
    expected = simulate(table, 3, seed=7).scores.tolist()
    assert simulate(table, np.int64(3), seed=np.int64(7)).scores.tolist() == expected  # type: ignore[arg-type]
    assert simulate(table, 3, seed=2**70).scores.shape == (3,)


def test_other_refusals() -> None:
    with pytest.raises(CardError, match="there is no box 'one'"):
        simulate(solved("yacht"), 1, card="one=3")
    with pytest.raises(ValueError, match="threads is 0"):
        simulate(solved("yacht"), 1, threads=0)
    with pytest.raises(ValueError, match="card of 'yatzy': expected one of 'yacht'"):
        simulate(solved("yacht"), 1, card=solver.ruleset("yatzy").card())
