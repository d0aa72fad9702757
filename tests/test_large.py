"""Six dice and twenty boxes at full size: what can be held without solving all 57.5 million states."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import oracle
import pytest
from games import random_fill, random_position

import solver
from solver.dynamic import values_with_ends
from solver.kernels import solve_tiles
from solver.levels import run_levels
from solver.lookup import Table
from solver.payload import payload_order
from solver.plan import plan, work_arrays
from solver.scoring import scoring
from solver.states import LANES, states

NAME = "maxi-yatzy-no-saving"
OPEN = 3
"""How many boxes may be open in the states that are solved here."""


@cache
def late(threads: int) -> Table:
    """The game at full size, but solved for its late states alone: at most `OPEN` boxes open."""
    rules = solver.ruleset(NAME)
    game = states(scoring(rules))
    arrays, values = plan(game), values_with_ends(game, game.final)

    def work(first: int, last: int) -> None:
        solve_tiles(values, first, last, arrays, *work_arrays(arrays))

    starts = (game.level_start[:-1] // LANES).tolist()
    run_levels(starts[-1 - OPEN :], work, threads=threads)
    values[game.padding] = 0
    return Table(rules, game, values[: game.size])


def test_number_of_states_is_the_published_one() -> None:
    game = late(2).states
    assert game.count == 57_507_840
    assert int(game.upper.reachable.sum()) == 3510
    # Classes of equal subtotals halve the work; each has a value of its own in a file.
    assert payload_order(game).values == int(game.lanes.sum()) < game.count / 1.9


@pytest.mark.parametrize("seed", [1, 2])
def test_late_states_and_advice_agree_with_the_oracle(seed: int) -> None:
    table, random = late(2), Random(seed)
    game, card = table.states, table.ruleset.card()
    while card.points.count(None) > OPEN:
        card = random_fill(table, card, random)
    dense = oracle.Dense(table.ruleset, from_filled=card.filled)
    checked = 0
    for filled, worth in dense.values.items():
        # The oracle starts from every subtotal, those that no game leads to among them.
        can_be = game.upper.number[game.upper_filled(np.array([filled]))[0]] >= 0
        for subtotal in np.flatnonzero(can_be & ~np.isnan(worth[:, 0])).tolist():
            value = table.values[game.position(filled, subtotal, 0)]
            assert value == pytest.approx(worth[subtotal, 0], abs=1e-11)
            checked += 1
    assert checked > 100
    for _ in range(20):
        position = random_position(table, random, card)
        held = position.card
        expected = dense.option_values(
            held.filled, held.upper_subtotal, False, position.dice, position.rerolls
        )
        found = table.advise_position(position).options
        assert len(found) == len(expected)
        for option in found:
            key = (option.action, option.category or option.dice)
            assert option.value == pytest.approx(held.boxes_total + expected[key], abs=1e-9), str(position)


def test_late_states_are_equal_to_the_bit_for_any_number_of_threads() -> None:
    assert late(1).values.tobytes() == late(2).values.tobytes()
    assert np.count_nonzero(late(1).values) > 10_000
