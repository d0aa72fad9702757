"""Following a goal's strategy: what it does, how its scores spread, and games played by it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from random import Random

import numpy as np
import pytest
from games import TINY, random_position, solved
from test_goals import GAMES, case, table_of

import solver
from solver.distributions import distribution
from solver.errors import ArgumentError, CardError
from solver.goals import Ceiling, Floor, Goal, Reach, Risk, Utility, Win, worth
from solver.pursuit import Pursuit, pursue
from solver.scorecard import Position
from solver.simulation import simulate
from solver.strategy import Follower

games = pytest.mark.parametrize("name", GAMES)


def some_goals(name: str) -> list[Goal]:
    """Goals of every kind: targets that are hard, even and easy, and the extremes of risk."""
    table = table_of(name)
    own = distribution(table)
    targets = sorted({own.quantile(share) for share in (0.05, 0.5, 0.95)})
    random = np.random.default_rng(len(name))
    wild = Utility(random.normal(size=case(name).high + 1))
    goals: list[Goal] = [Reach(target) for target in targets]
    return [*goals, Win((own, own)), wild, Risk(-0.3), Risk(0.001), Risk(0.3), Floor(), Ceiling()]


@cache
def pursued(name: str) -> list[Pursuit]:
    return [pursue(table_of(name), goal) for goal in some_goals(name)]


def same(found: Pursuit, value: float) -> object:
    return pytest.approx(value, rel=1e-10, abs=1e-10 if found.unit == "probability" else 1e-8)


@games
def test_the_scores_of_a_goals_strategy_are_worth_what_the_goal_says(name: str) -> None:
    for found in pursued(name):
        scores = distribution(found)
        assert scores.probabilities.sum() == pytest.approx(1, abs=1e-12)
        assert worth(found.goal, scores) == same(found, found.value())


@games
def test_what_is_done_is_what_advice_names(name: str) -> None:
    random = Random(name)
    for found in pursued(name):
        follower = Follower(found, threads=1)
        game, lattice = found.table.states, found.table.states.scoring.lattice
        boxes = game.scoring.boxes
        for _ in range(6):
            card = random_position(found.table, random).card
            place = game.position(card.filled, card.upper_subtotal, int(card.armed))
            with ThreadPoolExecutor(1) as pool:
                actions = follower.actions(np.array([place]), pool, np.array([card.boxes_total]))[0]
            for rerolls in range(card.ruleset.rolls):
                for roll in random.sample(range(len(lattice.rolls)), min(4, len(lattice.rolls))):
                    dice = lattice.rolls[roll]
                    best = found.advise_position(Position(card, dice, rerolls)).best
                    action = int(actions[rerolls, roll])
                    if best.action == "fill":
                        assert card.ruleset.keys[action] == best.category, (found.goal, card, dice, rerolls)
                    else:
                        assert lattice.keeps[action - boxes] == best.dice, (found.goal, card, dice, rerolls)


@games
def test_among_equals_the_expected_score_decides(name: str) -> None:
    random = Random(name)
    for found in pursued(name):
        for _ in range(12):
            options = found.advise_position(random_position(found.table, random)).options
            equal = [option.expected or 0.0 for option in options if option.loss == 0]
            assert equal[0] == pytest.approx(max(equal), abs=2e-9)


@games
def test_a_game_that_is_decided_goes_on_by_the_expected_score(name: str) -> None:
    table = table_of(name)
    for target in (-5, 0, case(name).high + 1):
        scores, own = distribution(pursue(table, Reach(target))), distribution(table)
        assert scores.mean == pytest.approx(own.mean, rel=1e-12)
        assert scores.standard_deviation == pytest.approx(own.standard_deviation, rel=1e-10, abs=1e-9)


@games
def test_a_linear_utility_is_played_as_the_expected_score(name: str) -> None:
    table = table_of(name)
    scores, own = distribution(pursue(table, Utility(lambda score: 3 * score - 7))), distribution(table)
    assert scores.mean == pytest.approx(own.mean, rel=1e-11)


@games
def test_statistics_by_box_add_up_under_every_goal(name: str) -> None:
    for found in pursued(name):
        scores = distribution(found)
        made = solver.statistics(scores)
        assert sum(made.parts.values()) == pytest.approx(scores.mean, rel=1e-10, abs=1e-9)
        assert [one.turn is not None for one in made.boxes] == [True] * len(made.boxes)


@games
def test_within_a_turn_the_scores_are_worth_the_best_move(name: str) -> None:
    random = Random(name)
    for found in pursued(name):
        for _ in range(4):
            where = random_position(found.table, random)
            scores = distribution(found, where.card, where.dice, where.rerolls)
            assert worth(found.goal, scores) == same(found, found.advise_position(where).value)


@pytest.mark.parametrize("name", ["forced", "armed", "tiers"])
def test_games_played_for_a_goal_meet_its_distribution(name: str) -> None:
    for found in pursued(name):
        scores, played = distribution(found), simulate(found, 40_000, seed=3)
        error = scores.standard_deviation / 200
        assert played.mean == pytest.approx(scores.mean, abs=4.5 * error + 1e-9)
        for target in {scores.quantile(share) for share in (0.1, 0.5, 0.9)}:
            chance = scores.at_least(target)
            spread = (chance * (1 - chance) / 40_000) ** 0.5
            assert np.mean(played.scores >= target) == pytest.approx(chance, abs=4.5 * spread + 1e-9)


def test_results_are_equal_to_the_bit_for_any_number_of_threads() -> None:
    for found in pursued("forced"):
        one, two = (distribution(found, threads=threads) for threads in (1, 3))
        assert np.array_equal(one.probabilities, two.probabilities)
        assert np.array_equal(one.by_row, two.by_row)
        first, second = (simulate(found, 5000, seed=8, threads=threads, record=True) for threads in (1, 3))
        assert np.array_equal(first.scores, second.scores)
        assert first.record is not None and second.record is not None
        assert np.array_equal(first.record, second.record)


def test_recorded_games_follow_the_advice_of_their_own_scores() -> None:
    table = table_of("forced")
    found = pursue(table, Reach(distribution(table).quantile(0.7)))
    played = simulate(found, 300, seed=5, record=True)
    rules, lattice = table.ruleset, table.states.scoring.lattice
    assert played.record is not None
    for score, turns in zip(played.scores.tolist(), played.record.tolist(), strict=True):
        card = rules.card()
        for turn in turns:
            for throw, (roll, action) in enumerate(turn):
                if roll < 0:
                    break
                where = Position(card, lattice.rolls[roll], rules.rolls - 1 - throw)
                best = found.advise_position(where).best
                if best.action == "fill":
                    assert rules.keys[action] == best.category
                    assert best.points is not None
                    card = card.fill(str(best.category), best.points, best.bonus > 0)
                    break
                assert lattice.keeps[action - len(rules.keys)] == best.dice
        assert card.total == score


# Erik Weitnauer's risk-sensitive Yatzy players, a million games each: theta, mean, standard deviation.
PUBLISHED = [
    (-0.1, 239.2, 35.8),
    (-0.05, 245.1, 35.7),
    (0.05, 244.5, 43.2),
    (0.1, 235.9, 46.9),
    (0.2, 223.8, 48.4),
]


@pytest.mark.parametrize(("theta", "mean", "deviation"), PUBLISHED)
def test_risk_sensitive_yatzy_players_score_as_published(theta: float, mean: float, deviation: float) -> None:
    scores = distribution(pursue(solved("yatzy"), Risk(theta)))
    # Printed to a tenth, from a million games: 0.05 and some standard errors of 0.05 and 0.03.
    assert scores.mean == pytest.approx(mean, abs=0.2)
    assert scores.standard_deviation == pytest.approx(deviation, abs=0.15)


@pytest.mark.parametrize("target", [120, 170, 220])
def test_yacht_for_a_score_beats_play_for_points(target: int) -> None:
    table = solved("yacht")
    found = pursue(table, Reach(target))
    scores = distribution(found)
    assert scores.at_least(target) == pytest.approx(found.value(), rel=1e-10)
    assert scores.at_least(target) > distribution(table).at_least(target) + 0.002
    assert scores.mean < table.value()


def test_late_yahtzee_for_a_goal() -> None:
    table = solved("yahtzee")
    text = "ones=3 twos=6 threes=9 fours=20 yahtzee=50 chance=22 bonuses=1"
    opponent = distribution(table, "ones=2 yahtzee=0 twos=4 threes=9 fives=20 sixes=18 four_of_a_kind=24")
    for goal in (Reach(330), Win((opponent,)), Risk(0.02), Floor()):
        found = pursue(table, goal, text)
        scores = distribution(found)
        assert scores.card == table.card(text)
        assert worth(goal, scores) == same(found, found.value())
        assert worth(goal, scores) >= worth(goal, distribution(table, text)) - 1e-12
        played = simulate(found, 20_000, seed=1)
        assert played.mean == pytest.approx(scores.mean, abs=4.5 * scores.standard_deviation / 141)


def test_solve_takes_a_goal() -> None:
    found = solver.solve("yacht", Risk(0.02))
    assert isinstance(found, Pursuit)
    assert found.value() == pursue(solved("yacht"), Risk(0.02)).value()
    late = solver.solve("yacht", Reach(200), "yacht=50 sixes=24 fives=20 choice=25")
    assert late.card == solved("yacht").card("yacht=50 sixes=24 fives=20 choice=25")
    with pytest.raises(ArgumentError, match="found no goal, expected one to solve from a card"):
        solver.solve("yacht", card="ones=3")  # type: ignore[call-overload]


def test_a_card_that_the_goal_was_not_solved_from_is_refused() -> None:
    found = pursue(solved("yacht"), Reach(200), "yacht=50")
    for ask in (distribution, lambda *given: simulate(given[0], 10, card=given[1])):
        with pytest.raises(CardError, match="expected one that can follow"):
            ask(found, "ones=3")


def test_compare_takes_a_goal_for_all_or_for_each() -> None:
    paths = [str(path) for path in TINY[:2]]
    plain = solver.compare(paths)
    assert [row.value for row in plain.rows] == [None, None]
    cautious = solver.compare(paths, Risk(-0.2))
    for row, path in zip(cautious.rows, paths, strict=True):
        found = solver.solve(path, Risk(-0.2))
        assert row.value == found.value()
        assert row.expected_score == distribution(found).mean
    twice = solver.compare(paths, lambda table: Win((distribution(table),)))
    for row, path in zip(twice.rows, paths, strict=True):
        table = solver.solve(path)
        assert row.value == pursue(table, Win((distribution(table),))).value()


def test_worth_of_scores_by_hand() -> None:
    table = table_of("lone")
    # One die, three rolls: keep 5 and 6, then 4 to 6, gives 14/3 on average.
    scores = distribution(table)
    chances = dict(zip(scores.scores.tolist(), scores.probabilities.tolist(), strict=True))
    assert worth(Reach(5), scores) == pytest.approx(chances[5] + chances[6])
    assert (worth(Floor(), scores), worth(Ceiling(), scores)) == (1, 6)
    assert worth(Utility(lambda score: score), scores) == pytest.approx(14 / 3)
    by_hand = np.log(sum(p * np.exp(0.5 * s) for s, p in chances.items())) / 0.5
    assert worth(Risk(0.5), scores) == pytest.approx(by_hand)
    assert worth(Win((scores,)), scores) == pytest.approx(0.5)


def test_a_full_card_is_worth_its_score() -> None:
    table = solved("yacht")
    scores = distribution(
        pursue(
            table, Reach(1), " ".join(f"{key}=0" for key in table.ruleset.keys[:-2]) + " choice=20 yacht=50"
        )
    )
    assert (scores.mean, scores.probabilities.tolist()) == (70, [1.0])
