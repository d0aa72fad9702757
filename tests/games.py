"""What several test modules share: solved games, the tiny rules, and positions met in random play."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import numpy as np

import solver
from solver.distributions import Distribution, distribution
from solver.lookup import Table
from solver.rules import Ruleset, names_with_table
from solver.scorecard import Position, Scorecard
from solver.turn import Turn, expected_points

TINY = sorted((Path(__file__).parent / "tiny").glob("*.toml"))
NAMES = names_with_table()
"""The shipped games, but for those that are too large to be solved in a test run."""


@cache
def solved(name: str) -> Table:
    """The exact table of a game, solved once a test run."""
    return solver.solve(name)


def random_position(
    table: Table, random: Random, start: Scorecard | None = None, most_open: int = 99
) -> Position:
    """A position met in a random game from `start`, with at most `most_open` boxes open."""
    rules = table.ruleset
    card = start or rules.card()
    open_boxes = card.points.count(None)
    wanted = random.randint(1, min(most_open, open_boxes))
    while card.points.count(None) > wanted:
        card = random_fill(table, card, random)
    return Position(card, random_dice(table, random), random.randrange(rules.rolls))


def random_dice(table: Table, random: Random) -> tuple[int, ...]:
    """A roll; all dice alike one time in four, for the rules about these to matter."""
    dice = [random.randint(1, 6) for _ in range(table.ruleset.dice)]
    return (dice[0],) * len(dice) if random.random() < 0.25 else tuple(sorted(dice))


def random_fill(table: Table, card: Scorecard, random: Random) -> Scorecard:
    """The card after a random roll went into a random box that it may go in."""
    flag = int(card.armed)
    worth = expected_points(table.states, table.values, card.filled, card.upper_subtotal, flag)
    turn = Turn(table.states, card.filled, flag, worth)
    roll = table.states.scoring.lattice.roll(random_dice(table, random))
    rerolls = random.randrange(card.ruleset.rolls) if table.states.scoring.serves else 0
    fill = random.choice(turn.fills(roll, rerolls))
    return card.fill(table.ruleset.keys[fill.category], fill.points, fill.bonus > 0)


def best_by_hand(values: np.ndarray) -> int:
    """The first value within 1e-9 of the greatest, by a plain loop."""
    return next(i for i, value in enumerate(values) if value >= max(values) - 1e-9)


def with_points(folder: Path, boxes: int, plus: int, settings: str = "") -> Ruleset:
    """One die, each box scoring it and so many points more: what is added changes no deviation."""
    box = f'section = "lower", pattern = {{}}, points = {{ of = "sum", plus = {plus} }}'
    lines = [f'b{number} = {{ title = "B{number}", {box} }}' for number in range(boxes)]
    path = folder / f"plus-{plus}.toml"
    path.write_text("\n".join(['title = "Plus"', "dice = 1", settings, "[categories]", *lines]))
    return solver.ruleset(path)


@cache
def spread(name: str) -> Distribution:
    """The exact distribution of a game from the empty card, worked out once a test run."""
    return distribution(solved(name))
