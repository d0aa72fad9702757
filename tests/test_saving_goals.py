"""Goals, distributions and games of goals with saved rolls: against plain recursion, and on late cards."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import oracle_goals as plain
import pytest
from games import random_dice
from oracle_distribution import Card, Games
from oracle_saving import Saving, throws
from oracle_saving_games import SavingGames, SavingPlay, SavingSoft
from test_distribution import check
from test_goals import check_advice, exactly, state_of
from test_saving import NAMES, random_card, saving

import solver
from solver.distributions import Distribution, distribution
from solver.goals import Ceiling, Floor, Goal, Reach, Risk, Utility, Win, worth
from solver.players import exact_strengths
from solver.pursuit import pursue
from solver.saving_table import SavingTable, solved_following
from solver.scope import Scope
from solver.scorecard import Position, Scorecard
from solver.scoring import scoring
from solver.simulation import simulate
from solver.situations import Situation
from solver.soft_play import play_games
from solver.states import states
from solver.strength import soften

GAMES = [(NAMES[0], 2), (NAMES[2], 3), (NAMES[7], 2)]
games = pytest.mark.parametrize(("name", "rolls"), GAMES, ids=lambda value: str(value)[-16:])


@cache
def whole(name: str, rolls: int) -> Distribution:
    return distribution(saving(name, rolls))


@cache
def oracle(name: str, rolls: int) -> SavingGames:
    return SavingGames(saving(name, rolls).ruleset)


def games_from(name: str, rolls: int, card: Scorecard) -> Games:
    return oracle(name, rolls).games(Card(card.points, card.bonuses), card.saved)


# ---------------------------------------------------------------- the exact distribution


@games
def test_every_final_score_has_its_probability_in_fractions(name: str, rolls: int) -> None:
    table, random = saving(name, rolls), Random(name)
    expected = games_from(name, rolls, table.ruleset.card())
    found = whole(name, rolls)
    check(found, expected)
    assert found.mean == pytest.approx(table.expected_score, abs=1e-11)
    said = solver.statistics(found)
    for box, mean, zero, turn in zip(said.boxes, expected.mean, expected.zero, expected.turn, strict=True):
        assert box.mean == pytest.approx(float(mean), abs=1e-12)
        assert box.zero == pytest.approx(float(zero), abs=1e-12)
        assert box.turn == pytest.approx(float(turn or 0), abs=1e-12)
    assert said.upper_bonus == pytest.approx(float(sum(expected.upper.values())), abs=1e-12)
    assert said.yahtzee_bonuses == pytest.approx(float(expected.bonuses), abs=1e-12)
    for _ in range(4):
        card = random_card(table, random)
        check(distribution(table, card), games_from(name, rolls, card))
        dice, rerolls = random_dice(table, random), random.randint(0, card.rerolls)
        begun = oracle(name, rolls).games(Card(card.points, card.bonuses), card.saved, dice, rerolls)
        check(distribution(table, card, dice, rerolls), begun)


def test_the_distribution_is_equal_to_the_bit_for_any_number_of_threads() -> None:
    table = saving(*GAMES[2])
    one, three = distribution(table, threads=1), distribution(table, threads=3)
    assert one.probabilities.tobytes() == three.probabilities.tobytes()
    assert one.by_row.tobytes() == three.by_row.tobytes()


# ---------------------------------------------------------------- goals


def goals_of(name: str, rolls: int) -> list[tuple[Goal, plain.Goal, float]]:
    """Goals of every kind whose value is a mean, with the oracle's and how close they must be."""
    own, random = whole(name, rolls), Random(name)
    high = own.greatest + 60
    chances = [plain.chance_of_winning(score, [exactly(own)]) for score in range(high + 1)]
    wild = [random.randint(-999, 999) / 1024 for _ in range(high + 1)]
    cases: list[tuple[Goal, plain.Goal, float]] = [
        (Reach(own.quantile(share)), plain.reach(own.quantile(share)), 1e-12) for share in (0.05, 0.5, 0.95)
    ]
    cases.append((Win((own,)), plain.expect(chances), 1e-12))
    cases.append((Utility(wild), plain.expect(list(map(Fraction, wild))), 1e-12))
    cases.append((Utility(lambda scores: scores), plain.score(), 1e-10))
    return cases + [(Risk(theta), plain.risk(theta), 1e-9) for theta in (-0.5, -0.03, 0.03, 0.5)]


@games
def test_every_goal_is_worth_what_plain_recursion_says(name: str, rolls: int) -> None:
    table, random = saving(name, rolls), Random(name)
    cases = goals_of(name, rolls)
    fair = SavingPlay(table.ruleset, [goal for _, goal, _ in cases])
    worst, best = (SavingPlay(table.ruleset, [plain.score()], throw) for throw in ("worst", "best"))
    plays = [(goal, within, fair, place) for place, (goal, _, within) in enumerate(cases)]
    plays += [(Floor(), 1e-12, worst, 0), (Ceiling(), 1e-12, best, 0)]
    cards = [table.ruleset.card(), *(random_card(table, random) for _ in range(4))]
    for card in cards:
        position = Position.of(card, random_dice(table, random), random.randint(0, card.rerolls))
        for goal, within, play, place in plays:
            found = pursue(table, goal, card, threads=1)
            with plain.localcontext(prec=plain.DIGITS):
                expected = play.saved_value(state_of(card), card.saved)[place]
                rows = play.saved_options(state_of(card), position.dice, position.rerolls)
            assert found.value() == pytest.approx(expected, rel=0, abs=within), (goal, str(card))
            advice = found.advise_position(position)
            options = {action: row[place] for action, row in rows.items()}
            check_advice(advice, table.advise_position(position), options, within)
            saved = {option.saved for option in advice.options if option.action == "fill"}
            assert saved == {position.rerolls}


@games
def test_the_scores_of_a_goals_strategy_are_worth_what_the_goal_says(name: str, rolls: int) -> None:
    table, random = saving(name, rolls), Random(name)
    for goal in [*(goal for goal, _, _ in goals_of(name, rolls)), Floor(), Ceiling()]:
        found = pursue(table, goal)
        for card in (None, random_card(table, random)):
            scores = distribution(found, card)
            assert scores.probabilities.sum() == pytest.approx(1, abs=1e-12)
            assert worth(goal, scores) == pytest.approx(found.value(card), rel=1e-10, abs=1e-8)
            assert worth(goal, distribution(table, card)) <= found.value(card) + 1e-8


@games
def test_what_is_done_is_what_advice_names(name: str, rolls: int) -> None:
    from solver.strategy import Follower

    table, random = saving(name, rolls), Random(name)
    lattice, boxes = table.states.scoring.lattice, len(table.ruleset.keys)
    for played in (table, *(pursue(table, goal) for goal, _, _ in goals_of(name, rolls))):
        follower = Follower(played, threads=1)
        for _ in range(5):
            card = random_card(table, random)
            place = follower.scope.place(Scorecard(card.ruleset, card.points, card.bonuses))
            actions = follower.actions_here(np.array([place]), np.array([card.boxes_total]), card.rerolls)[0]
            for rerolls in range(card.rerolls + 1):
                roll = random.randrange(len(lattice.rolls))
                best = played.advise_position(Position(card, lattice.rolls[roll], rerolls)).best
                action = int(actions[rerolls, roll])
                named = card.ruleset.keys[action] if action < boxes else lattice.keeps[action - boxes]
                assert named == (best.category or best.dice), (played, str(card), rerolls, roll)


@games
def test_the_chance_of_every_score_is_that_of_each_goal(name: str, rolls: int) -> None:
    table, random = saving(name, rolls), Random(name)
    own = whole(name, rolls)
    for card in (table.ruleset.card(), random_card(table, random), random_card(table, random)):
        chances = solver.reach(table, card)
        assert chances.within == 0
        later = [card]
        if not card.finished:
            position = Position.of(card, random_dice(table, random), random.randint(0, card.rerolls))
            fill = next(o for o in table.advise_position(position).options if o.action == "fill")
            later.append(card.fill(fill.category, fill.points, fill.bonus > 0, fill.saved))
        for held in later:
            scores, best = chances.curve(held)
            assert np.all(np.diff(best) <= 0)
            for target in range(-1, own.greatest + 3, 4):
                expected = pursue(table, Reach(target), held).value()
                assert chances.chance(held, target) == pytest.approx(expected, abs=1e-12)
            assert pursue(table, Reach(int(scores[-1]) + 1), held).value() == 0
    with pytest.raises(solver.ArgumentError, match=r"cut 0\.5: expected a number from 0 to 0\.001"):
        solver.reach(table, cut=0.5)


# ---------------------------------------------------------------- games played


@games
def test_simulated_games_of_a_goal_spread_as_its_exact_distribution(name: str, rolls: int) -> None:
    table, random = saving(name, rolls), Random(name)
    own = whole(name, rolls)
    for goal in (Reach(own.quantile(0.6)), Risk(-0.05)):
        found = pursue(table, goal)
        for card in (table.ruleset.card(), random_card(table, random)):
            played = simulate(found, 40_000, seed=5, card=card, threads=2)
            exact = distribution(found, card)
            for score in range(exact.least, exact.greatest + 1, 5):
                p = exact.at_least(score)
                share = float(np.mean(played.scores >= score))
                assert abs(share - p) <= 5 * (p * (1 - p) / 40_000) ** 0.5 + 1e-12
            again = simulate(found, 40_000, seed=5, card=card, threads=1)
            assert again.scores.tolist() == played.scores.tolist()


def test_a_record_says_what_was_rolled_and_done() -> None:
    table = saving(*GAMES[1])
    lattice, boxes = table.states.scoring.lattice, len(table.ruleset.keys)
    played = simulate(table, 200, seed=2, record=True)
    assert played.record is not None
    assert played.record.shape == (200, boxes, 3 + 2 * (boxes - 1), 2)
    longest = 0
    for game, score in zip(played.record.tolist(), played.scores.tolist(), strict=True):
        card = table.ruleset.card()
        for turn in game:
            rerolls = card.rerolls
            for roll, action in turn:
                best = table.advise_position(Position(card, lattice.rolls[roll], rerolls)).best
                if action < boxes:
                    assert best.category == table.ruleset.keys[action]
                    card = card.fill(best.category, int(best.points or 0), best.bonus > 0, rerolls)
                    break
                assert lattice.keeps[action - boxes] == best.dice
                rerolls -= 1
            longest = max(longest, turn.index([-1, -1]) if [-1, -1] in turn else len(turn))
        assert card.total == score
    assert longest > 3


# ---------------------------------------------------------------- players


@pytest.mark.parametrize(
    ("name", "rolls", "temperature"),
    [(*game, degrees) for game, degrees in zip(GAMES, (1.5, 0.002, math.inf), strict=True)],
    ids=("warm", "cold", "random"),
)
def test_slips_are_worth_what_plain_recursion_says(name: str, rolls: int, temperature: float) -> None:
    table, random = saving(name, rolls), Random(name)
    soft, exact = soften(table, temperature), SavingSoft(table.ruleset, temperature)
    mean, square = exact.moments(0, 0, False, 0)
    assert soft.mean == pytest.approx(float(mean), abs=1e-9)
    assert soft.standard_deviation == pytest.approx(float(square - mean**2) ** 0.5, abs=1e-8)
    for _ in range(6):
        card = random_card(table, random)
        place = Scope.of(table.states, table.card(None)).place(card)
        mean, square = exact.moments(card.filled, card.upper_subtotal, card.armed, card.saved)
        assert (soft.points[place], soft.variances[place]) == pytest.approx(
            (float(mean), float(square - mean**2)), abs=1e-8
        )
    played = play_games(table, temperature, 40_000, 3, threads=2)
    assert abs(played.mean() - soft.mean) < 4 * soft.standard_deviation / 200
    assert played.std() == pytest.approx(soft.standard_deviation, rel=0.03)
    assert played.tolist() == play_games(table, temperature, 40_000, 3, threads=1).tolist()


def test_all_players_play_games_with_saved_rolls() -> None:
    table = saving(*GAMES[1])
    strengths = {one.player: one.mean for one in exact_strengths(table)}
    assert strengths["optimal"] == pytest.approx(table.expected_score, abs=1e-9)
    assert strengths["random"] < strengths["beginner"] < strengths["club"] < strengths["optimal"]
    greedy = solver.simulate(table.greedy(), 40_000, seed=2)
    assert abs(greedy.mean - strengths["greedy"]) < 4 * greedy.standard_error
    found = solver.match(table, ["strength:35", "optimal"], 20_000, seed=1)
    assert abs(found.seats[0].mean - 35) < 4 * found.seats[0].mean_error + 0.02
    for spec in ("greedy", "random", "club", "reach:45", "risk:0.05", "win"):
        assert solver.match(table, [spec, "optimal"], 20).games == 20
    with pytest.raises(solver.ArgumentError, match=r"found 1,203,771,152 expected scores to .* 9\.6 GB"):
        solver.player("strength:300", large_in_files())


def large_in_files() -> solver.Table:
    """The large game as if it were kept in files, of which nothing is read."""
    game = states(scoring(LARGE))
    return SavingTable(LARGE, game, (), 5e-7, 496.6)


# ---------------------------------------------------------------- the large game

LARGE = solver.ruleset("maxi-yatzy")
OPEN = ("fives", "full_house", "chance")


def late_card(open_boxes: tuple[str, ...] = OPEN, saved: int = 3) -> Scorecard:
    filled = {key: 20 if key in ("fours", "fives", "chance") else 0 for key in LARGE.keys}
    filled |= {"sixes": 24, "villa": 27, "four_of_a_kind": 20, "saved": saved}
    return Scorecard.of(LARGE, {key: points for key, points in filled.items() if key not in open_boxes})


def test_late_cards_of_the_large_game_take_the_states_that_follow_alone() -> None:
    card = late_card()
    table = solved_following(LARGE, card)
    assert table.states.size < 2000
    scores = distribution(table, card)
    assert scores.mean == pytest.approx(table.value(card), abs=1e-9)
    target = scores.quantile(0.5) + 5
    goals = [Reach(target), Win((scores,)), Risk(0.05), Floor(), Ceiling(), Utility(lambda s: s**2)]
    for goal in goals:
        found = pursue(table, goal, card)
        mine = worth(goal, distribution(found))
        assert mine == pytest.approx(found.value(), rel=1e-9)
        assert mine >= worth(goal, scores) - 1e-9
    more = late_card(saved=9)
    assert solver.solve(LARGE, Reach(target), more).value() > solver.solve(LARGE, Reach(target), card).value()


def test_the_last_box_of_the_large_game_with_saved_rolls_by_hand() -> None:
    """Maxi Yatzy alone is open: the best chance of six alike in 3 + s throws, keeping the most."""
    card = late_card(("maxi_yatzy",), saved=2)
    alike = [Fraction(0)] * 6 + [Fraction(1)]  # by how many are alike, with no throw left
    for _ in range(5):
        before = alike
        alike = [Fraction(0)] * 7
        for held in range(7):
            for thrown, chance in throws(6 - held):
                # Those held show a one; another face is better where more of it were thrown.
                counts = [thrown.count(face) for face in range(1, 7)]
                alike[held] += chance * before[max(held + counts[0], *counts)]
    found = solver.solve(LARGE, Reach(card.total + 100), card)
    assert found.value() == pytest.approx(float(alike[0]), abs=1e-12)
    assert distribution(found).at_least(card.total + 100) == pytest.approx(float(alike[0]), abs=1e-12)


def test_the_empty_card_of_the_large_game_is_refused_by_its_size() -> None:
    refused = r"found 617,351,616 expected scores to hold in memory, 4\.9 GB, expected at"
    for attempt in (
        lambda: solver.solve(LARGE, Reach(500)),
        lambda: solver.solve(LARGE, Risk(0.1)),
        lambda: solver.solve(LARGE, Floor()),
    ):
        with pytest.raises(solver.ArgumentError, match=refused):
            attempt()
    with pytest.raises(solver.ArgumentError, match=r"found up to 3,707\.8 GB to hold, expected at"):
        solver.compare(["maxi-yatzy", "yacht"], Floor())


def test_cards_that_cannot_follow_are_refused() -> None:
    card = late_card()
    found = solver.solve(LARGE, Floor(), card)
    filled = {key: points for key, points in card.as_dict().items() if key != "saved"} | {"chance": 20}
    assert found.value(Scorecard.of(LARGE, filled | {"saved": 5})) > 0
    with pytest.raises(solver.CardError, match="expected one that can follow"):
        found.value(Scorecard.of(LARGE, filled | {"saved": 6}))


def test_a_player_with_a_goal_goes_on_from_more_saved_rolls_than_it_has_solved_for() -> None:
    table = saving(*GAMES[0])
    box, dice = table.ruleset.keys[0], "1" * table.ruleset.dice
    for kind in ("reach:20", "risk:0.02"):
        asked = solver.player(kind, table)
        for saved in (0, 1):
            position = Position.of(Scorecard.of(table.ruleset, {box: 0, "saved": saved}), dice)
            at = Situation(position, (position.card,))
            assert asked.move(at) == solver.player(kind, table).move(at)


def test_comparing_rules_with_and_without_saved_rolls() -> None:
    name = GAMES[1][0]
    with_and_without = solver.variants(name, {"save_rolls": [False, True]})
    rows = solver.compare(with_and_without).rows
    exact = [float(Saving(with_and_without[1]).of()), solver.solve(with_and_without[0]).expected_score]
    assert rows[1].expected_score == pytest.approx(exact[0], abs=1e-12)
    assert rows[1].difference == pytest.approx(exact[0] - exact[1], abs=1e-12)
    assert rows[1].standard_deviation == pytest.approx(whole(*GAMES[1]).standard_deviation, abs=1e-12)
    reached = solver.compare(with_and_without, Reach(45)).rows
    assert 0 < (reached[0].value or 0) < (reached[1].value or 0) < 1


def test_a_game_too_large_is_compared_by_its_kept_score_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver.library, "expected_score", lambda rules: 496.6)
    variant = solver.ruleset("maxi-yatzy", {"upper_bonus.points": 60})  # Of which the package knows nothing.
    found = solver.compare([variant, GAMES[1][0]])
    large, tiny = found.rows
    assert large.expected_score == 496.6
    assert (large.standard_deviation, large.median, large.top_box) == (None, None, None)
    assert found.distributions[0] is None
    assert tiny.difference == pytest.approx(tiny.expected_score - 496.6)
    with pytest.raises(solver.ArgumentError, match=r"distribution of 'maxi-yatzy\["):
        solver.compare([variant], Floor())
