"""Goals: against plain recursion on cards with their real points for tiny games, and as a whole on real ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import oracle_goals as plain
import pytest
from games import TINY, random_fill, random_position, solved, spread
from oracle import Exact

import solver
from solver.distribution import Distribution, distribution
from solver.errors import CardError, GoalError
from solver.goals import Ceiling, Floor, Goal, Reach, Risk, Utility, Win, chance_of_winning
from solver.lookup import Advice, Option, Table
from solver.pursuit import Pursuit, pursue
from solver.rules import build, settings
from solver.scorecard import Scorecard

THETAS = (-3.0, -0.5, -0.05, -0.001, 0.001, 0.05, 0.5, 3.0)
FORCED = settings(str(TINY[2]))
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
    | {"categories": {key: BOXES[key] for key in ("pair", "sixes", "run", "fives")} | {"twice": TWICE}},
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
    low = int(plain.Play(rules, [plain.score()], "worst").value(plain.State())[0])
    high = int(plain.Play(rules, [plain.score()], "best").value(plain.State())[0])
    cases: list[tuple[Goal, plain.Goal, float]] = []
    for target in range(low - 2, high + 3, 1 + high // 200):
        cases.append((Reach(target), plain.reach(target), 1e-12))
    others = [distribution(table), some_distribution(random, high), some_distribution(random, high)]
    for opponents in (others[:1], others[1:2], others[:2], [*others[1:], others[1]]):
        exact = [exactly(opponent) for opponent in opponents]
        chances = [plain.chance_of_winning(score, exact) for score in range(high + 1)]
        cases.append((Win(tuple(opponents)), plain.expect(chances), 1e-12))
    for theta in THETAS:
        cases.append((Risk(theta), plain.risk(theta), 1e-9))
    for _ in range(2):
        worth = [random.randint(-999, 999) / 1024 for _ in range(high + 1)]
        cases.append((Utility(worth), plain.expect(list(map(Fraction, worth))), 1e-12))
    goals, oracles, within = zip(*cases, strict=True)
    return Case(table, low, high, goals, within, plain.Play(rules, oracles))


def some_distribution(random: Random, high: int) -> Distribution:
    """A distribution of an opponent: a few neighbouring scores, of probabilities in 64ths."""
    first, count = random.randint(0, high), random.randint(2, 6)
    cuts = sorted([0, 64, *(random.randint(0, 64) for _ in range(count - 1))])
    probabilities = np.diff(cuts) / 64
    return replace(
        distribution(table_of("lone")), scores=first + np.arange(count), probabilities=probabilities
    )


def exactly(opponent: Distribution) -> dict[int, Fraction]:
    return dict(
        zip(opponent.scores.tolist(), map(Fraction, opponent.probabilities.tolist()), strict=True)
    )


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
        positions = [] if card.finished else [random_position(table, random, card) for _ in range(3)]
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
