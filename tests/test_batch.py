"""Many decisions at once: equal to one at a time, to the bit."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest
from games import NAMES, random_position, solved

from solver.batch import action_of, decide
from solver.errors import ArgumentError, CardError, DiceError


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_decides_as_advice_does(name: str, threads: int) -> None:
    table, random = solved(name), Random(name)
    positions = [random_position(table, random) for _ in range(250)]
    cards = [position.card for position in positions]
    decisions = decide(
        table,
        [card.filled for card in cards],
        [card.upper_subtotal for card in cards],
        [card.armed for card in cards],
        [position.dice for position in positions],
        [position.rerolls for position in positions],
        threads=threads,
    )
    for position, action, value in zip(positions, decisions.actions, decisions.values, strict=True):
        advice = table.advise_position(position)
        best = advice.best
        wanted = ("fill", best.category) if best.action == "fill" else ("keep", best.dice)
        assert action_of(table, int(action)) == wanted, str(position)
        assert position.card.boxes_total + value == advice.value, str(position)


def test_single_numbers_serve_all() -> None:
    table = solved("yahtzee")
    dice = [[1, 3, 3, 4, 6], [6, 6, 6, 6, 6]]
    decisions = decide(table, 0, 0, 0, dice, 2)
    assert [action_of(table, action) for action in decisions.actions] == [
        ("keep", (3, 3)),
        ("fill", "yahtzee"),
    ]
    assert decisions.values[0] == table.advise(None, dice[0]).value


def test_an_empty_batch() -> None:
    nothing = np.zeros(0, int)
    assert decide(
        solved("yacht"), nothing, nothing, nothing, np.zeros((0, 5), int), nothing
    ).actions.shape == (0,)


def test_empty_lists_are_no_positions() -> None:
    assert decide(solved("yacht"), [], [], [], np.zeros((0, 5)), []).actions.shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 0, 0, [[1, 2, 3, 4]], 2), DiceError, "dice: found shape (1, 4), expected (n, 5)"),
        (
            (0, 0, 0, [[1, 2, 3, 4, 5], [1, 2, 3, 4, 7]], 2),
            DiceError,
            "dice: expected faces 1 to 6, found [1, 2, 3, 4, 7] at place 1",
        ),
        ((0, 0, 0, [[1, 2, 3, 4, 5.5]], 2), DiceError, "dice: found an array of float64, expected integers"),
        ((0, 0, 0, [[1, 2, 3, 4, 5]], 3), DiceError, "rerolls: expected 0 to 2, found 3 at place 0"),
        (
            ([0, 1], 0, 0, [[1, 2, 3, 4, 5]], [0, 1, 2]),
            ArgumentError,
            "positions: found arrays of shapes filled (2,), subtotals (), flags (), rerolls (3,), dice (1,), "
            "expected (n,) with the same n, or single numbers",
        ),
        (
            ([[0]], 0, 0, [[1, 2, 3, 4, 5]], 2),
            ArgumentError,
            "positions: found arrays of shapes filled (1, 1), subtotals (), flags (), rerolls (), dice (1,), "
            "expected (n,) with the same n, or single numbers",
        ),
        ((8191, 0, 0, [[1, 2, 3, 4, 5]], 2), CardError, "filled: expected 0 to 8190, found 8191 at place 0"),
        (
            (1, 6, 0, [[1, 2, 3, 4, 5]], 2),
            CardError,
            "state: expected one that can arise, found [1, 6, 0] at place 0",
        ),
        (
            (0, 0, 1, [[1, 2, 3, 4, 5]], 2),
            CardError,
            "state: expected one that can arise, found [0, 0, 1] at place 0",
        ),
        (
            (1, -1, 0, [[1, 2, 3, 4, 5]], 2),
            CardError,
            "state: expected one that can arise, found [1, -1, 0] at place 0",
        ),
    ],
)
def test_what_is_refused(arguments: tuple[object, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        decide(solved("yahtzee"), *arguments)  # type: ignore[arg-type]
