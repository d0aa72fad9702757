"""The dynamic programme against published values, exact fractions, and itself over threads."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import oracle
import pytest
from games import NAMES, TINY, solved

import solver
from solver.dynamic import solve_values
from solver.levels import run_levels, thread_count
from solver.rules import build, settings

PUBLISHED = tomllib.loads((Path(__file__).parent / "data" / "published.toml").read_text("utf-8"))["games"]


@pytest.mark.parametrize("name", NAMES)
def test_expected_score_is_the_known_one(name: str) -> None:
    assert solved(name).value() == pytest.approx(PUBLISHED[name]["expected"], rel=1e-9, abs=6e-11)


@pytest.mark.parametrize("name", [name for name in NAMES if "states" in PUBLISHED[name]])
def test_number_of_states_is_the_known_one(name: str) -> None:
    assert solved(name).states.count == PUBLISHED[name]["states"]


@pytest.mark.parametrize("path", TINY, ids=lambda path: path.stem)
def test_every_state_of_a_tiny_game_is_exact(path: Path) -> None:
    rules = solver.ruleset(path)
    game, values = solve_values(rules)
    exact = oracle.Exact(rules)
    exact.value(0, 0, False)
    assert len(exact.values) >= game.count
    for (filled, subtotal, flag), value in exact.values.items():
        # A flag that nothing depends on, as without a bonus, is none of the game's own.
        position = game.position(filled, subtotal, int(flag and game.arming >= 0))
        assert values[position] == pytest.approx(float(value), abs=1e-12)


@pytest.mark.parametrize("rolls", [1, 2, 4, 5])
def test_any_number_of_rolls_a_turn(rolls: int) -> None:
    rules = build(settings(str(TINY[2])) | {"rolls": rolls}, "more-rolls")
    assert solve_values(rules)[1][0] == pytest.approx(float(oracle.exact(rules)), abs=1e-12)


@pytest.mark.parametrize("dice", [1, 2, 3, 4, 5, 6])
def test_any_number_of_dice_against_the_dense_matrix(dice: int) -> None:
    boxes = {
        "twos": {"title": "Twos", "section": "upper", "pattern": {"face": 2}, "points": "matched"},
        "sixes": {"title": "Sixes", "section": "upper", "pattern": {"face": 6}, "points": "matched"},
        "alike": {"title": "Alike", "section": "lower", "pattern": {"alike": dice}, "points": 40},
        "any": {"title": "Any", "section": "lower", "pattern": {}, "points": "sum"},
    }
    content = {
        "title": "Dice",
        "dice": dice,
        "rolls": 3,
        "upper_bonus": [{"at": 2 * dice + 4, "points": 9}],
        "yahtzee": {"category": "alike", "bonus": 15, "joker": "free"},
        "categories": boxes,
    }
    rules = build(content, "dice")
    game, values = solve_values(rules)
    dense = oracle.Dense(rules)
    checked = 0
    for filled, table in dense.values.items():
        for subtotal, flag in zip(*np.nonzero(~np.isnan(table)), strict=True):
            assert values[game.position(filled, int(subtotal), int(flag))] == pytest.approx(
                table[subtotal, flag], abs=1e-11
            )
            checked += 1
    # One die is always all alike, so that its Yahtzee box never holds 0: a state without flag cannot arise.
    assert checked == game.count if dice > 1 else checked < game.count


@pytest.mark.parametrize("name", ["yahtzee", "yacht", "yatzy-forced"])
def test_values_are_equal_to_the_bit_for_any_number_of_threads(name: str) -> None:
    one = solve_values(solver.ruleset(name), threads=1)[1]
    for threads in (2, 3, 7):
        again = solve_values(solver.ruleset(name), threads=threads)[1]
        assert one.tobytes() == again.tobytes()


def test_progress_rises_to_the_whole() -> None:
    seen: list[tuple[int, int]] = []
    solver.solve("kniffel", progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert {total for _, total in seen} == {seen[-1][0]}


def test_an_interruption_stops_the_work() -> None:
    done: list[int] = []

    def interrupt(now: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_levels([0, 1000, 2000], lambda first, last: done.append(last), threads=1, progress=interrupt)
    assert done
    assert 1000 not in done


def test_an_error_in_the_work_is_raised() -> None:
    def work(first: int, last: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_levels([0, 10], work)


def test_fewer_than_one_thread_is_refused() -> None:
    assert thread_count(np.int64(2)) == 2
    for wrong in (True, np.bool_(True), np.int64(0), 2.0, np.float64(2), "2"):
        with pytest.raises(ValueError, match=re.escape(f"threads is {wrong!r}: expected 1 or more")):
            thread_count(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads is 0: expected 1 or more"):
        thread_count(0)


def test_subtotals_of_one_class_have_one_value() -> None:
    """In official Yahtzee with all but Ones filled, 58 is the least subtotal that can still reach 63."""
    table = solved("yahtzee")
    all_but_ones = (1 << 13) - 2
    hopeless = {table.states.position(all_but_ones, subtotal, 0) for subtotal in (0, 30, 57)}
    hopeful = [table.states.position(all_but_ones, subtotal, 0) for subtotal in range(58, 64)]
    assert len(hopeless) == 1
    assert len({*hopeful, *hopeless}) == 7
