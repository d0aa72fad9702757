"""What both sides of a benchmark need: the same games, the same states, the same positions.

The rival is `yatzy-solver`, a compiled Rust library. Its card order, its bits of filled boxes and its
upper subtotals are those of dicewise; its Yahtzee box has another key. Its values leave out all points on
the card, an upper bonus that is reached among them; those of a dicewise table hold that bonus to the end.
"""

from __future__ import annotations

import random
import sys
from typing import Any, NamedTuple

import numpy as np
import yatzy_solver
from numpy.typing import NDArray

import solver
from solver.batch import decide
from solver.lookup import Table
from solver.scorecard import Position, Scorecard
from solver.shelf import REMEMBERED
from solver.states import States

RIVAL = f"yatzy-solver {yatzy_solver.__version__}"

VARIANTS = {
    "yahtzee": "american+forced-joker",
    "yahtzee-free-joker": "american",
    "yahtzee-no-joker": "american+no-joker",
    "kniffel": "american+no-bonus",
    "yatzy": "yatzy-scandinavian",
}
"""The rival's name of each game that both can play."""

SAME = 1e-9
"""Values of both that are no further apart are equal, in points."""

_RIVAL_KEYS = {"yahtzee": "five_of_a_kind"}


Integers = NDArray[np.int64]


class Batch(NamedTuple):
    """Positions as arrays, in the types that the rival asks for; one row or number a position."""

    filled: NDArray[np.uint32]
    subtotals: NDArray[np.uint16]
    flags: NDArray[np.bool_]
    dice: NDArray[np.uint8]
    rerolls: NDArray[np.uint8]


def variant(game: str) -> Any:
    """Return the rival's rules of a game."""
    return yatzy_solver.Variant(VARIANTS[game])


def build(game: str) -> Any:
    """Let the rival solve a game."""
    return yatzy_solver.Solver.build(variant(game))


def write_table(game: str, path: str) -> None:
    """Let the rival solve a game and write its table."""
    yatzy_solver.Solver.build_table(variant(game), path)


def load_table(game: str, path: str) -> Any:
    """Let the rival open its table."""
    return yatzy_solver.Solver.load(path, variant(game))


def load_code(game: str, path: str) -> str:
    """Return the line of Python by which the rival opens its table as `solver`, imported as `ys`."""
    return f"solver = ys.Solver.load({path!r}, ys.Variant({VARIANTS[game]!r}))"


def advice_code(game: str, path: str, dice: str) -> str:
    """Return a program in which the rival opens its table and prints the options after a first roll."""
    asked = f"dice {dice} | rolls 2 | upper 0 | filled -"
    return f"import yatzy_solver as ys\n{load_code(game, path)}\nprint(solver.option_values({asked!r}))"


def forget() -> None:
    """Empty every cache of dicewise in memory, so that nothing but compiled code stays from earlier runs."""
    REMEMBERED.clear()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "solver":
            for member in list(vars(module).values()):
                clear = getattr(member, "cache_clear", None)
                if callable(clear):
                    clear()


def solve_afresh(game: str) -> Table:
    """Solve a game from its rules file on, with nothing left over from an earlier solve but compiled code."""
    forget()
    return solver.solve(game)


def all_states(game: States) -> tuple[Integers, Integers, NDArray[np.bool_], Integers]:
    """Return every state that can arise: filled, subtotal, flag, and where its value lies."""
    numbers = game.upper.number[game.upper_filled(game.filled)]
    sets, subtotals = np.nonzero(numbers >= 0)
    filled, subtotal, flag, place = [], [], [], []
    for armed in (0, 1):
        there = game.flags[sets] > armed
        rows, points = sets[there], subtotals[there]
        counts = game.upper.count[game.upper_filled(game.filled[rows])]
        filled.append(game.filled[rows])
        subtotal.append(points)
        flag.append(np.full(len(rows), armed, bool))
        place.append(game.start[rows] + armed * counts + numbers[rows, points])
    return np.concatenate(filled), np.concatenate(subtotal), np.concatenate(flag), np.concatenate(place)


def check_states(table: Table, theirs: Any) -> tuple[int, float]:
    """Compare the values of all states of a game.

    Returns
    -------
    count
        Number of states.
    apart
        The greatest difference between the two, in points.

    Raises
    ------
    AssertionError
        If it is more than `SAME`.
    """
    same_order(table, theirs)
    filled, subtotals, flags, places = all_states(table.states)
    if len(filled) != table.states.count:
        raise AssertionError(f"{table.ruleset.name}: {len(filled)} states, not {table.states.count}")
    values = theirs.state_values(filled.astype(np.uint32), subtotals.astype(np.uint16), flags)
    apart = float(np.max(np.abs(values - (table.values[places] - reached_bonus(table, subtotals)))))
    if not apart <= SAME:
        raise AssertionError(f"{table.ruleset.name}: values differ by {apart} points")
    return len(filled), apart


def reached_bonus(table: Table, subtotals: NDArray[Any]) -> NDArray[np.float64]:
    """Return the upper bonus that each subtotal has reached, in points."""
    bonus = np.zeros(len(subtotals))
    for tier in table.ruleset.upper_bonus:
        bonus[subtotals >= tier.at] = tier.points
    return bonus


def same_order(table: Table, theirs: Any) -> None:
    """Check that both number the boxes of the card alike."""
    ours = [_RIVAL_KEYS.get(key, key) for key in table.ruleset.keys]
    if ours != theirs.variant.categories:
        raise AssertionError(f"{table.ruleset.name}: boxes {ours}, rival's {theirs.variant.categories}")


def random_cards(table: Table, count: int, seed: int = 1) -> list[Scorecard]:
    """Return cards that arise when boxes are filled at random, at all stages of the game."""
    chance = random.Random(seed)
    rules = table.ruleset
    cards: list[Scorecard] = []
    while len(cards) < count:
        card, stop = Scorecard.empty(rules), chance.randrange(len(rules.categories))
        for _ in range(stop):
            alike = chance.random() < 0.2
            dice = _thrown(chance, 1) * rules.dice if alike else _thrown(chance, rules.dice)
            fills = [option for option in table.advise(card, dice, 0).options if option.action == "fill"]
            fill = chance.choice(fills)
            assert fill.category is not None and fill.points is not None
            card = card.fill(fill.category, fill.points, bonus=fill.bonus > 0)
        cards.append(card)
    return cards


def random_positions(table: Table, count: int, seed: int = 1) -> list[Position]:
    """Return positions of random cards with random dice and rerolls."""
    chance, rules = random.Random(seed), table.ruleset
    return [
        Position(card, tuple(_thrown(chance, rules.dice)), chance.randrange(rules.rolls))
        for card in random_cards(table, count, seed)
    ]


def _thrown(chance: random.Random, dice: int) -> list[int]:
    return [chance.randint(1, 6) for _ in range(dice)]


def random_batch(table: Table, count: int, seed: int = 1) -> Batch:
    """Return positions drawn evenly from all states that are not finished, with random dice and rerolls."""
    chance = np.random.default_rng(seed)
    filled, subtotals, flags, _ = all_states(table.states)
    rules = table.ruleset
    going_on = np.flatnonzero(filled != (1 << len(rules.categories)) - 1)
    drawn = chance.choice(going_on, count)
    dice = chance.integers(1, 7, (count, rules.dice), np.uint8)
    rerolls = chance.integers(0, rules.rolls, count, np.uint8)
    return Batch(
        filled[drawn].astype(np.uint32), subtotals[drawn].astype(np.uint16), flags[drawn], dice, rerolls
    )


def situation(position: Position) -> str:
    """Return a position in the rival's notation."""
    card, rules = position.card, position.card.ruleset
    filled = [key for key, points in zip(rules.keys, card.points, strict=True) if points is not None]
    names = ",".join(_RIVAL_KEYS.get(key, key) for key in filled) or "-"
    subtotal = min(card.upper_subtotal, rules.upper_bonus[-1].at if rules.upper_bonus else 0)
    rule = rules.yahtzee
    held = card.points[rules.keys.index(rule.category)] if rule else None
    armed = "" if held is None else f" | five_of_a_kind {held}"
    dice = " ".join(map(str, position.dice))
    return f"dice {dice} | rolls {position.rerolls} | upper {subtotal} | filled {names}{armed}"


def check_advice(table: Table, theirs: Any, positions: list[Position]) -> float:
    """Compare every option of these positions; return the greatest difference, in points.

    Raises
    ------
    AssertionError
        If the options are not the same, or values differ by more than `SAME`.
    """
    apart = 0.0
    for position in positions:
        held = position.card.total
        ours = {
            _notation(option.category, option.dice): option.value - held
            for option in table.advise_position(position).options
        }
        other = dict(theirs.option_values(situation(position)))
        if other.keys() != ours.keys():
            raise AssertionError(f"{position}: options {sorted(other)}, expected {sorted(ours)}")
        apart = max(apart, *(abs(value - other[action]) for action, value in ours.items()))
    if not apart <= SAME:
        raise AssertionError(f"{table.ruleset.name}: options differ by {apart} points")
    return apart


def _notation(category: str | None, dice: tuple[int, ...]) -> str:
    if category is not None:
        return f"score {_RIVAL_KEYS.get(category, category)}"
    return "keep " + (" ".join(map(str, dice)) or "-")


def check_batch(table: Table, theirs: Any, batch: Batch) -> float:
    """Compare the value of the best action of each position; return the greatest difference, in points.

    Raises
    ------
    AssertionError
        If it is more than `SAME`.
    """
    best = np.nanmax(theirs.option_values_batch(*batch)[1], axis=1)
    ours = decide(table, *batch).values - reached_bonus(table, batch.subtotals)
    apart = float(np.max(np.abs(ours - best)))
    if not apart <= SAME:
        raise AssertionError(f"{table.ruleset.name}: values of a batch differ by {apart} points")
    return apart
