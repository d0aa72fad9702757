"""Goals: against plain recursion on cards with their real points, and as a whole on real games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import oracle_goals as plain
import pytest
from games import NAMES, TINY, random_fill, random_position, solved, spread

import solver
from solver.distributions import Distribution, distribution
from solver.goals import Ceiling, Floor, Goal, Reach, Risk, Utility, Win, chance_of_winning
from solver.lookup import Advice, Option, Table
from solver.pursuit import pursue
from solver.rules import build, settings
from solver.scorecard import Scorecard

THETAS = (-3.0, -0.5, -0.05, -0.001, 0.001, 0.05, 0.5, 3.0)
FORCED = settings(Path(__file__).parent / "tiny" / "forced.toml")
BOXES = FORCED["categories"]
TWICE = {"title": "Twice", "section": "upper", "pattern": {"alike": 2}, "points": {"of": "sum", "times": 3}}
CHANCE = {"title": "Chance", "section": "lower", "pattern": {}, "points": "sum"}
BUILT = {
    # One die and one box: the least game with something to decide.
    "lone": {
        "title": "Lone",
        "summary": "",
        "dice": 1,
        "rolls": 3,
        "upper_bonus": [],
        "categories": {"chance": CHANCE},
    },
    # The first box arms a bonus so great that a poor move's exp(theta x score) is no number at all.
    "armed": FORCED
    | {"rolls": 2, "yahtzee": {"category": "pair", "bonus": 130, "joker": "free"}}
    | {"categories": {key: BOXES[key] for key in ("pair", "sixes", "run")} | {"twice": TWICE}},
    # Boxes in card order, with no choice but what to keep: that poor move has to be made.
    "led": FORCED
    | {"order": "card", "yahtzee": {"category": "pair", "bonus": 130, "joker": "forced"}}
    | {"categories": {key: BOXES[key] for key in ("pair", "sixes", "run")} | {"chance": CHANCE}},
}
GAMES = [*(path.stem for path in TINY), *BUILT]
games = pytest.mark.parametrize("name", GAMES)


@dataclass(frozen=True)
class Case:
    """A tiny game with all goals to look at, each with its tolerance, and plain play for all of them."""

    table: Table
    low: int
    high: int
    goals: Sequence[Goal]
    within: Sequence[float]
    play: plain.Play

    def cards(self) -> list[Scorecard]:
        """The empty card, one with each number of boxes filled, the full one included."""
        random = Random(self.table.ruleset.title)
        cards = [self.table.ruleset.card()]
        for filled in range(1, len(self.table.ruleset.keys) + 1):
            card = cards[0]
            for _ in range(filled):
                card = random_fill(self.table, card, random)
            cards.append(card)
        return cards


@cache
def table_of(name: str) -> Table:
    if name in BUILT:
        return solver.solve(build(BUILT[name], name))
    return solver.solve(Path(__file__).parent / "tiny" / f"{name}.toml")


def state_of(card: Scorecard) -> plain.State:
    return plain.state_of(card.ruleset, card.points, card.bonuses)


@cache
def case(name: str) -> Case:
    table, random = table_of(name), Random(name)
    rules = table.ruleset
    low, high = (int(extreme(name, throw).value(plain.State())[0]) for throw in ("worst", "best"))
    cases: list[tuple[Goal, plain.Goal, float]] = []
    for target in range(low - 2, high + 3, 1 + high // 200):
        cases.append((Reach(target), plain.reach(target), 1e-12))
    others = [distribution(table), some_distribution(random, high), some_distribution(random, high)]
    for opponents in (others[:1], others[1:2], others[1:], [*others[1:], others[1]]):
        exact = [exactly(opponent) for opponent in opponents]
        chances = [plain.chance_of_winning(score, exact) for score in range(high + 1)]
        cases.append((Win(tuple(opponents)), plain.expect(chances), 1e-12))
    for theta in THETAS:
        cases.append((Risk(theta), plain.risk(theta), 1e-9))
    for _ in range(2):
        worth = [random.randint(-999, 999) / 1024 for _ in range(high + 1)]
        cases.append((Utility(worth), plain.expect(list(map(Fraction, worth))), 1e-12))
    cases.append((Utility(lambda scores: scores), plain.score(), 1e-12 * max(1, high)))
    goals, oracles, within = zip(*cases, strict=True)
    return Case(table, low, high, goals, within, plain.Play(rules, oracles))


@cache
def extreme(name: str, throw: plain.Throw) -> plain.Play:
    return plain.Play(table_of(name).ruleset, [plain.score()], throw)


def some_distribution(random: Random, high: int) -> Distribution:
    """A distribution of an opponent: a few neighbouring scores, of probabilities in 64ths."""
    first, count = random.randint(0, high), random.randint(2, 6)
    cuts = sorted([0, 64, *(random.randint(0, 64) for _ in range(count - 1))])
    probabilities = np.diff(cuts) / 64
    return replace(
        distribution(table_of("lone")), scores=first + np.arange(count), probabilities=probabilities
    )


def exactly(opponent: Distribution) -> dict[int, Fraction]:
    given = zip(opponent.scores.tolist(), opponent.probabilities.tolist(), strict=True)
    return {score: Fraction(probability) for score, probability in given if probability}


def check_advice(advice: Advice, points: Advice, expected: dict[plain.Action, float], within: float) -> None:
    """Every legal action has its value, its loss and its expected score, and the best is first."""
    shown = {action_of(option): option.value for option in points.options}
    best = max(expected.values())
    tie = max(within, 1e-9 * max(1, abs(best)))
    assert len(advice.options) == len(expected) == len(shown)
    for option in advice.options:
        action = action_of(option)
        assert option.value == pytest.approx(expected[action], rel=0, abs=within), action
        assert option.loss == pytest.approx(best - expected[action], rel=0, abs=within + tie), action
        assert option.expected == pytest.approx(shown[action], abs=1e-12)
    assert expected[action_of(advice.best)] >= best - within - tie
    assert advice.best.loss == 0
    values = [option.value for option in advice.options]
    assert all(before >= after - within - tie for before, after in pairwise(values))


def action_of(option: Option) -> plain.Action:
    return (option.action, option.category or option.dice)


# ---------------------------------------------------------------- tiny games, by plain recursion


@games
def test_every_goal_is_worth_what_plain_recursion_says(name: str) -> None:
    game, random = case(name), Random(name)
    table = game.table
    for card in game.cards():
        places = range(len(game.goals))
        if card.filled:
            # Every target only from the empty card.
            places = sorted({*random.sample(places, 16), *places[-14:]})
        values = game.play.value(state_of(card))
        positions = [] if card.finished else [random_position(table, random, card) for _ in range(2)]
        points = [table.advise_position(position) for position in positions]
        options = [game.play.options(state_of(p.card), p.dice, p.rerolls) for p in positions]
        for place in places:
            goal, within = game.goals[place], game.within[place]
            pursuit = pursue(table, goal, card, threads=1)
            assert pursuit.value() == pytest.approx(values[place], rel=0, abs=within), (goal, str(card))
            for position, usual, rows in zip(positions, points, options, strict=True):
                expected = {action: row[place] for action, row in rows.items()}
                advice = pursuit.advise(position.card, position.dice, position.rerolls)
                check_advice(advice, usual, expected, within)


@pytest.mark.parametrize("name", ["armed", "led"])
@pytest.mark.parametrize("theta", [-3.0, 3.0])
def test_a_poor_move_has_its_value_by_a_strong_taste_for_risk(name: str, theta: float) -> None:
    game = case(name)
    place = game.goals.index(Risk(theta))
    for rerolls in range(game.table.ruleset.rolls):
        advice = pursue(game.table, Risk(theta)).advise(None, "24", rerolls)
        options = game.play.options(plain.State(), (2, 4), rerolls)
        expected = {action: row[place] for action, row in options.items()}
        assert theta * (game.high - expected["fill", "pair"]) > 750 or theta < 0
        check_advice(advice, game.table.advise(None, "24", rerolls), expected, 1e-9)


@games
def test_reach_falls_with_the_score_and_is_no_less_than_by_the_strategy_for_points(name: str) -> None:
    table, card = table_of(name), case(name).cards()[1]
    games = distribution(table, card)
    floor, ceiling = (int(pursue(table, goal, card).value()) for goal in (Floor(), Ceiling()))
    targets = [-1, *range(floor, ceiling + 2)]
    chances = [pursue(table, Reach(target), card, threads=1).value() for target in targets]
    assert chances[0] == 1
    assert chances[1] == pytest.approx(1, rel=0, abs=1e-15)
    assert max(chances) <= 1
    assert chances[2] < 1 or floor == ceiling
    assert chances[-2] > 0
    assert chances[-1] == 0
    assert all(before >= after - 1e-15 for before, after in pairwise(chances))
    assert all(
        chance >= games.at_least(target) - 1e-15 for target, chance in zip(targets, chances, strict=True)
    )


@games
@pytest.mark.parametrize(
    ("goal", "throw"), [(Floor(), "worst"), (Ceiling(), "best")], ids=["floor", "ceiling"]
)
def test_guaranteed_and_greatest_score_by_plain_recursion(name: str, goal: Goal, throw: plain.Throw) -> None:
    game, random = case(name), Random(name)
    table, play = game.table, extreme(name, throw)
    pursuit = pursue(table, goal)
    assert pursuit.unit == "points"
    for card in game.cards():
        assert pursuit.value(card) == play.value(state_of(card))[0]
        assert pursuit.value(card) == pursue(table, goal, card).value()
        if not card.finished:
            for _ in range(3):
                position = random_position(table, random, card)
                options = play.options(state_of(position.card), position.dice, position.rerolls)
                expected = {action: row[0] for action, row in options.items()}
                check_advice(pursuit.advise_position(position), table.advise_position(position), expected, 0)


@games
def test_a_linear_utility_is_the_expected_score(name: str) -> None:
    game, random = case(name), Random(name)
    table = game.table
    for utility in (lambda scores: 3 * scores - 7, np.arange(game.high + 1) * 3 - 7):
        pursuit = pursue(table, Utility(utility))
        assert pursuit.unit == "utility"
        assert pursuit.value() == pytest.approx(3 * table.value() - 7, abs=1e-11)
        for _ in range(5):
            position = random_position(table, random)
            advice, usual = pursuit.advise_position(position), table.advise_position(position)
            values = {action_of(option): option for option in advice.options}
            assert action_of(advice.best) == action_of(usual.best)
            for option in usual.options:
                found = values[action_of(option)]
                assert found.value == pytest.approx(3 * option.value - 7, abs=1e-11)
                assert found.loss == pytest.approx(3 * option.loss, abs=4e-9)
                assert found.expected == option.value


# ---------------------------------------------------------------- the chance of winning


@pytest.mark.parametrize("number", [1, 2, 3])
def test_chance_of_winning_against_every_way_for_the_opponents_to_end(number: int) -> None:
    random = Random(number)
    for _ in range(5):
        opponents = tuple(some_distribution(random, 6) for _ in range(number))
        scores = np.arange(15)
        found = chance_of_winning(opponents, scores)
        exact = [exactly(opponent) for opponent in opponents]
        expected = [float(plain.chance_of_winning(score, exact)) for score in scores.tolist()]
        assert found == pytest.approx(expected, abs=1e-15)
        assert found[-1] == 1


@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_every_player_of_equals_wins_as_often(number: int) -> None:
    games = spread("yacht")
    chances = chance_of_winning((games,) * number, games.scores)
    assert chances @ games.probabilities == pytest.approx(1 / (number + 1), abs=1e-12)


def test_an_opponent_who_has_finished_is_a_score_to_beat() -> None:
    table, start = table_of("tiers"), "fours=8"
    done = distribution(table, "fours=12 fives=10 ten=12 double_chance=21")
    assert done.scores.tolist() == [12 + 10 + 12 + 21 + 20]
    found = pursue(table, Win((done,)), start).value()
    above, level = (pursue(table, Reach(75 + more), start).value() for more in (1, 0))
    assert 0 < above <= found <= (above + level) / 2 + 1e-12


# ---------------------------------------------------------------- whole games


FLOORS = {"yahtzee": 18, "yahtzee-free-joker": 18, "kniffel": 18, "yahtzee-upper-first": 12, "yatzy": 21}
CEILINGS = {"yahtzee": 1575, "yahtzee-free-joker": 1575, "kniffel": 375, "yahtzee-upper-first": 975}
CEILINGS |= {"yahtzee-no-joker": 1480, "yatzy": 374, "yatzy-forced": 374, "yacht": 297, "yacht-sum": 303}


@pytest.mark.parametrize("name", NAMES)
def test_guaranteed_and_greatest_score(name: str) -> None:
    table = solved(name)
    floor, ceiling = pursue(table, Floor()).value(), pursue(table, Ceiling()).value()
    assert floor == FLOORS.get(name, floor)
    assert ceiling == CEILINGS.get(name, ceiling)
    if table.states.size < 20_000:
        assert spread(name).least <= floor < table.value() < spread(name).greatest <= ceiling


def certainty(games: Distribution, theta: float) -> float:
    """The sure score worth as much as these games, in points; from one end, so that nothing overflows."""
    end = games.greatest if theta > 0 else games.least
    return end + float(np.log(games.probabilities @ np.exp(theta * (games.scores - end)))) / theta


@pytest.mark.parametrize("theta", [-0.001, 0.001])
@pytest.mark.parametrize(("name", "deviation"), [("yahtzee", 59.608), ("yatzy", 38.496), ("yacht", 34.982)])
def test_a_taste_for_risk_near_none_is_the_expected_score(name: str, deviation: float, theta: float) -> None:
    table = solved(name)
    certain = pursue(table, Risk(theta)).value()
    assert (certain > table.value()) == (theta > 0)
    assert certain - table.value() == pytest.approx(theta * deviation**2 / 2, rel=0.05)
    if name != "yatzy":
        # No less than the strategy for points has by the same taste, and more by the second order alone.
        usual = certainty(spread(name), theta)
        assert usual - 1e-9 <= certain <= usual + 6000 * theta**2


def test_a_taste_for_risk_keeps_its_precision_however_strong() -> None:
    table, games, random = solved("yahtzee"), spread("yahtzee"), Random(3)
    values = []
    for theta in THETAS:
        pursuit = pursue(table, Risk(theta))
        values.append(pursuit.value())
        assert values[-1] >= certainty(games, theta) - 1e-9
        for position in (random_position(table, random) for _ in range(8)):
            for option in pursuit.advise_position(position).options:
                assert 0 <= option.value <= 1575
                assert 0 <= option.loss <= 1575
    assert all(before < after for before, after in pairwise(values))
    assert 18 < values[0] < values[-1] < 1575


def test_a_whole_number_is_as_good_a_taste_for_risk() -> None:
    table = solved("yacht")
    assert pursue(table, Risk(1)).value() == pursue(table, Risk(1.0)).value()


def test_playing_for_a_score_on_a_late_card_of_a_whole_game() -> None:
    table = solved("yahtzee")
    card = table.card("ones=3 twos=6 fours=12 fives=15 sixes=18 three_of_a_kind=22 full_house=25 yahtzee=50")
    games = distribution(table, card)
    chances = {}
    for target in range(250, 600, 50):
        chances[target] = pursue(table, Reach(target), card).value()
        assert games.at_least(target) - 1e-15 <= chances[target] <= 1
    assert all(before >= after for before, after in pairwise(chances.values()))
    assert any(chance > games.at_least(target) + 0.001 for target, chance in chances.items())


@pytest.mark.parametrize(
    "goal",
    [Reach(200), Win((spread("yacht"),) * 2), Utility(np.sqrt), Risk(0.1), Risk(-3.0), Floor(), Ceiling()],
    ids=lambda goal: type(goal).__name__.lower(),
)
def test_any_number_of_threads_gives_the_same_to_the_bit(goal: Goal) -> None:
    table, random = solved("yacht"), Random(5)
    positions = [random_position(table, random) for _ in range(60)]
    found = []
    for threads in (1, 2, 3):
        pursuit = pursue(table, goal, threads=threads)
        advice = [pursuit.advise_position(position).options for position in positions]
        found.append((pursuit.value(), [pursuit.value(p.card) for p in positions], advice))
    assert found[0] == found[1] == found[2]


def test_progress_comes_to_its_end() -> None:
    for goal in (Reach(150), Risk(0.1), Floor()):
        seen: list[tuple[int, int]] = []
        pursue(solved("yacht"), goal, progress=lambda done, total, seen=seen: seen.append((done, total)))
        assert seen == sorted(seen)
        assert seen[-1][0] == seen[-1][1] > 0


def test_a_rounded_table_gives_what_the_exact_one_gives() -> None:
    exact = table_of("tiers")
    rounded = replace(exact, values=np.round(exact.values, 1), precision=0.05)
    position = random_position(exact, Random(8))
    for goal in (Reach(50), Risk(0.1)):
        one, other = pursue(exact, goal), pursue(rounded, goal)
        assert one.value() == other.value()
        assert one.advise_position(position) == other.advise_position(position)
