"""What states take is counted before they are worked out, and no more of them is kept than there is room."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from games import NAMES

import solver
from solver import plan as plans
from solver import shelf, states
from solver.errors import RulesError
from solver.rules import Ruleset, build
from solver.scoring import scoring
from solver.shelf import Shelf


def rules_of(uppers: Sequence[object], lowers: int, ats: Sequence[int], **more: Any) -> Ruleset:
    """Rules of one die with these points in upper boxes, and an upper bonus that rises at each of `ats`."""
    boxes = [("upper", points) for points in uppers] + [("lower", 1)] * lowers
    categories = {
        f"b{n}": {"title": f"Box {n}", "section": section, "pattern": {}, "points": points}
        for n, (section, points) in enumerate(boxes)
    }
    tiers = [{"at": at, "points": n + 1} for n, at in enumerate(ats)]
    settings = {"title": "Large", "dice": 1, "rolls": 1, "upper_bonus": tiers, "categories": categories}
    return build(settings | more, "large")


def ends(
    subtotal: int, rest: Sequence[Sequence[int]], tiers: Sequence[tuple[int, int]]
) -> set[tuple[int, ...]]:
    """The bonus of every way to fill the rest, and the way: what makes subtotals of one class."""
    ways: list[tuple[int, ...]] = [()]
    for points in rest:
        ways = [(*way, p) for way in ways for p in points]
    found = set()
    for way in ways:
        total = subtotal + sum(way)
        found.add((*way, max((bonus for at, bonus in tiers if total >= at), default=0)))
    return found


def test_classes_are_those_of_every_way_to_fill_the_rest() -> None:
    random = Random(2)
    for _ in range(150):
        points = [
            sorted({random.randrange(random.choice([3, 8, 40])) for _ in range(random.randrange(1, 4))})
            for _ in range(random.randrange(4))
        ]
        ats = sorted({random.randrange(1, random.choice([4, 20, 60])) for _ in range(random.randrange(9))})
        tiers = [(at, 10 * n + 10) for n, at in enumerate(ats)]
        cap = ats[-1] if ats else 0
        found = states.upper_classes(points, tiers)
        for filled in range(1 << len(points)):
            own = [box for place, box in enumerate(points) if filled >> place & 1]
            rest = [box for place, box in enumerate(points) if not filled >> place & 1]
            subtotals = {0}
            for box in own:
                subtotals = {min(s + p, cap) for s in subtotals for p in box}
            number, lowest = [-1] * (cap + 1), []
            before: set[tuple[int, ...]] = set()
            for subtotal in sorted(subtotals):
                outcome = ends(subtotal, rest, tiers)
                if not lowest or outcome != before:
                    lowest.append(subtotal)
                before = outcome
                number[subtotal] = len(lowest) - 1
            assert found.number[filled].tolist() == number
            assert found.lowest[filled].tolist() == lowest
            assert found.count[filled] == len(lowest)
            assert found.reachable[filled] == len(subtotals)


GAMES = [
    *map(solver.ruleset, NAMES),
    rules_of([1] * 7, 2, [9000]),
    rules_of([{"of": "sum", "times": n} for n in range(1, 6)], 1, range(1, 100)),
    rules_of([{"of": "sum", "times": n} for n in (1, 90, 100)], 1, range(1, 1000, 3)),
    rules_of([], 3, []),
]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_memory_is_counted_before_it_is_taken(rules: Ruleset) -> None:
    arrays = scoring(rules)
    game = states.states(arrays)
    held = game.upper.nbytes
    cells = game.upper.number.size
    assert held <= states.bytes_of_classes(arrays) <= 2 * held + cells
    assert np.all(game.upper.count <= states.most_subtotals(arrays))
    assert plans.bytes_of_steps(game) == plans.plan(game).sets.step.nbytes


def test_too_many_subtotals_are_refused_before_anything_is_worked_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(states, "upper_classes", lambda *_: pytest.fail("worked out"))
    rules = rules_of([1] * 20, 0, [99999])
    said = (
        r"^rules with 20 upper boxes and an upper bonus up to 99,999: found 524\.4 GB of subtotals to hold, "
        r"expected at most 2 GB$"
    )
    for call in (solver.solve, solver.moments):
        with pytest.raises(RulesError, match=said):
            call(rules)  # type: ignore[operator]


def test_too_many_steps_are_refused_before_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    game = states.states(scoring(rules_of([{"of": "sum", "times": n} for n in range(1, 6)], 1, [7, 80])))
    needed = plans.bytes_of_steps(game)
    monkeypatch.setattr(states, "MOST_BYTES", needed - 1)
    with pytest.raises(
        RulesError, match=r"^rules with 5 upper boxes and an upper bonus up to 80: found 0\.0 GB"
    ):
        plans.plan(game)
    monkeypatch.setattr(states, "MOST_BYTES", needed)
    assert plans.plan(game).sets.step.nbytes == needed


def test_more_states_than_there_are_numbers_for_are_refused() -> None:
    """Positions are numbers of 32 bits with a sign."""
    uppers = [{"of": "sum", "times": times} for times in (1, 11, *range(94, 101))]
    large = rules_of(uppers, 11, range(1, 6001), dice=2)
    said = (
        r"^rules with 20 boxes and an upper bonus up to 6,000: found 2,438,072,496 states, "
        r"expected fewer than 2,147,483,648$"
    )
    with pytest.raises(RulesError, match=said):
        states.states(scoring(large))


def test_parts_that_results_share_are_counted_once() -> None:
    kept = Shelf(10)
    for key, held in (("a", {1: 6, 2: 1}), ("b", {1: 6, 3: 1}), ("c", {1: 6, 4: 2})):
        kept.get(key, object, lambda _, held=held: held)
    assert all(key in kept for key in "abc")  # 6 + 1 + 1 + 2 bytes
    kept.get("d", lambda: "d", lambda _: 1)
    assert [key in kept for key in "abcd"] == [False, True, True, True]
    kept.get("e", lambda: "e", lambda _: 2)
    assert [key in kept for key in "bcde"] == [False, False, True, True]
    # The six bytes went with the last result that shared them.
    kept.get("f", lambda: "f", lambda _: 7)
    assert [key in kept for key in "def"] == [True, True, True]
    kept.clear()
    assert not any(key in kept for key in "abcdef")
    kept.get("g", lambda: "g", lambda _: 10)
    kept.get("h", lambda: "h", lambda _: 0)
    assert "g" in kept


def test_a_series_of_games_fills_no_more_memory_than_there_is_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shelf, "REMEMBERED", Shelf(3_000_000))
    scoring.cache_clear()
    alive: list[weakref.ref[states.States]] = []
    for at in range(20_000, 20_020):
        game = states.states(scoring(rules_of([1] * 4, 1, [at])))
        plans.plan(game)
        alive.append(weakref.ref(game))
        assert game.upper.nbytes > 1_200_000
        assert states.states(scoring(rules_of([1] * 4, 1, [at]))) is game
    del game
    gc.collect()
    left = [known() is not None for known in alive]
    assert sum(left) == 2
    assert left[-2:] == [True, True]
