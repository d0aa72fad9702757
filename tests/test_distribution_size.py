"""What a distribution takes is counted before it is worked out: never less than it then holds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from games import TINY, solved

import solver
from solver import distributions
from solver.distributions import bytes_to_hold, distribution, scores_to_hold
from solver.lookup import Table
from solver.pursuit import pursue
from solver.rules import Ruleset, build
from solver.scope import Scope
from solver.scoring import scoring
from solver.service.limits import following_seconds
from solver.states import states


def wide(boxes: int, order: str = "free") -> Ruleset:
    """Rules whose boxes each score some 100,000 points or none."""
    categories = {
        f"b{n}": {
            "title": f"Box {n}",
            "section": "lower",
            "pattern": {"face": 1 + n % 6},
            "points": 100_000 - n,
        }
        for n in range(boxes)
    }
    return build({"title": "Wide", "dice": 1, "rolls": 1, "order": order, "categories": categories}, "wide")


def held(table: Table, card: str | None, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many scores the states of each level had, from the one of the card to the finished ones."""
    found: list[int] = []
    backwards = distributions._backwards

    def counted(scope: Scope, ends: Any, after: Any, low: Any, start: Any, *rest: Any) -> Any:
        found.append(int(start[-1]))
        result = backwards(scope, ends, after, low, start, *rest)
        last[0] = int(result[1][-1])
        return result

    last = [0]
    monkeypatch.setattr(distributions, "_backwards", counted)
    distribution(table, card)
    monkeypatch.undo()
    return [last[0], *reversed(found)]


CARDS = [
    *((solver.solve(path), None) for path in TINY),
    (solved("yacht"), None),
    (solved("yacht-clubhouse"), "ones=3 yacht=0"),
    (solved("yahtzee"), "ones=3 twos=6 threes=9 yahtzee=50 sixes=12"),
    (solved("yahtzee"), "ones=3 twos=6 threes=9 yahtzee=0 sixes=12"),
    (solver.solve(wide(7)), None),
]


@pytest.mark.parametrize(("table", "card"), CARDS, ids=[f"{t.ruleset.title} {c}" for t, c in CARDS])
def test_no_more_scores_are_held_than_counted(
    table: Table, card: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = table.card(card).filled.bit_count()
    real = held(table, card, monkeypatch)
    counted = scores_to_hold(Scope.of(table.states, table.card(card)))
    assert counted[:first] == [0] * first
    counted = counted[first:]
    assert len(counted) == len(real)
    assert all(most >= own for most, own in zip(counted, real, strict=True))
    # And not many more: play does not come to all states, and less so from a card with points of its own.
    assert sum(counted) <= (30 if card else 4) * sum(real)
    two = max(own + after for own, after in pairwise(real))
    assert bytes_to_hold(Scope.of(table.states, table.card(card))) > 8 * two


def test_scores_of_saved_rolls_are_counted_for_each_number_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = solver.ruleset(TINY[0], {"rolls": 3, "save_rolls": True})
    table = solver.solve(rules)
    real = held(table, None, monkeypatch)
    counted = scores_to_hold(Scope.of(table.states, rules.card()))
    assert all(most >= own for most, own in zip(counted, real, strict=True))
    plain = scores_to_hold(Scope.of(solver.solve(TINY[0]).states, solver.ruleset(TINY[0]).card()))
    assert counted == [number * (2 * level + 1) for level, number in enumerate(plain)]


def test_scores_too_far_apart_to_hold_are_refused_before_any_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "_by_state", lambda *_: pytest.fail("worked out"))
    said = r"^distribution of 'wide': found up to [\d,]+\.\d GB to hold, expected at most 12 GB; take"
    with pytest.raises(solver.ArgumentError, match=said):
        distribution(solver.solve(wide(16)))
    # In card order there are few states.
    with pytest.raises(pytest.fail.Exception, match="worked out"):
        distribution(solver.solve(wide(16, "card")))


def test_scores_so_far_are_counted_where_play_goes_by_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the byte, by a plain loop over which boxes score."""
    rules = wide(4)
    goal = pursue(solver.solve(rules), solver.Reach(250_000))
    tops = [100_000 - n for n in range(4)]
    levels = [0] * 5
    for filled in range(16):
        width = sum(top for n, top in enumerate(tops) if filled >> n & 1)
        levels[filled.bit_count()] += width + 1
    needed = max(8 * (own + after) + 64 * own for own, after in pairwise(levels))
    monkeypatch.setattr(distributions, "MOST_BYTES", needed)
    assert distribution(goal).at_least(250_000) == pytest.approx(goal.value(), abs=1e-12)
    monkeypatch.setattr(distributions, "MOST_BYTES", needed - 1)
    with pytest.raises(solver.ArgumentError, match=r"^distribution of 'wide': found up to 0\.1 GB to hold"):
        distribution(goal)


def test_the_time_is_that_of_the_scores_too() -> None:
    seconds = {n: following_seconds(states(scoring(wide(n))), wide(n).card()) for n in (8, 10, 14)}
    assert 1 < seconds[8] < 5 < seconds[10] < 20 < seconds[14]
    for name in solver.names():
        rules = solver.ruleset(name)
        game = states(scoring(rules))
        if not name.startswith("maxi"):
            assert following_seconds(game, rules.card()) < 15, name
            assert bytes_to_hold(Scope.of(game, rules.card())) < 2e9, name
