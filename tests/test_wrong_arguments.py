"""Every public function refuses an argument of a wrong kind with an error of its own, on one line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

import solver
from solver.errors import shown

TINY = Path(__file__).parent / "tiny" / "thirteen.toml"
ANY: Any = object()
Call = Callable[[Any], object]


def table() -> solver.Table:
    return solver.load("yahtzee")


@cache
def saving() -> solver.Table:
    return solver.solve(solver.ruleset(TINY, {"save_rolls": True}))


@cache
def spread() -> solver.Distribution:
    return solver.distribution(solver.solve(TINY))


CALLS: dict[str, Call] = {
    "compare": solver.compare,
    "distribution": solver.distribution,
    "evaluate": solver.evaluate,
    "exact_strengths": solver.exact_strengths,
    "explain": lambda given: solver.explain(given, table().advise(None, "11111")),
    "get": solver.get,
    "keep_chances": solver.keep_chances,
    "load": solver.load,
    "match": lambda given: solver.match(given, ["optimal"], 1),
    "moments": solver.moments,
    "open_duel": solver.open_duel,
    "player": lambda given: solver.player("optimal", given),
    "pursue": lambda given: solver.pursue(given, solver.Reach(200)),
    "reach": solver.reach,
    "ruleset": solver.ruleset,
    "save": lambda given: solver.save(given, "never-written.dwt"),
    "simulate": lambda given: solver.simulate(given, 1),
    "solve": solver.solve,
    "solve_duel": solver.solve_duel,
    "statistics": solver.statistics,
    "tie_rate": solver.tie_rate,
    "variants": lambda given: solver.variants(given, {"rolls": [2]}),
}
"""The first argument of each function: what it works on."""

OTHERS: dict[str, Call] = {
    "explain advice": lambda given: solver.explain(table(), given),
    "explain top": lambda given: solver.explain(table(), table().advise(None, "11111"), given),
    "load path": lambda given: solver.load("yahtzee", path=given),
    "match players": lambda given: solver.match(table(), given, 1),
    "match player": lambda given: solver.match(table(), [given], 1),
    "open_duel folder": partial(solver.open_duel, TINY),
    "player spec": lambda given: solver.player(given, table()),
    "ruleset changes": partial(solver.ruleset, "yahtzee"),
    "save path": lambda given: solver.save(table(), given),
    "solve_duel folder": partial(solver.solve_duel, TINY),
    "variants vary": partial(solver.variants, "yahtzee"),
    "variants changes": lambda given: solver.variants("yahtzee", {"rolls": [2]}, given),
    "Game.new rules": solver.Game.new,
    "Game.from_record rules": lambda given: solver.Game.from_record(
        solver.Game.new("yahtzee").as_record(), given
    ),
    "Position card": lambda given: solver.Position(given, (1, 1, 1, 1, 1), 2),
    "Position.of card": lambda given: solver.Position.of(given, "11111"),
    "Position.parse text": solver.Position.parse,
    "Scorecard rules": lambda given: solver.Scorecard(given, (None,)),
    "Scorecard points": partial(solver.Scorecard, solver.ruleset("yahtzee")),
    "Table.advise_position": lambda given: table().advise_position(given),
    "SavingTable.advise_position": lambda given: saving().advise_position(given),
    "Pursuit.advise_position": lambda given: solver.pursue(table(), solver.Floor()).advise_position(given),
    "Distribution.quantile": lambda given: spread().quantile(given),
    "Scorecard.empty rules": solver.Scorecard.empty,
    "Scorecard.of rules": lambda given: solver.Scorecard.of(given, {"ones": 3}),
    "Scorecard.of filled": partial(solver.Scorecard.of, solver.ruleset("yahtzee")),
    "Scorecard.parse rules": lambda given: solver.Scorecard.parse(given, "ones=3"),
    "Scorecard.parse text": partial(solver.Scorecard.parse, solver.ruleset("yahtzee")),
}

WRONG = (987654321, 2.5, object())
"""What no argument may be."""


def test_every_function_is_here() -> None:
    functions = {name for name in solver.__all__ if inspect.isfunction(getattr(solver, name))}
    assert CALLS.keys() == functions - {"names"}


@pytest.mark.parametrize("call", [*CALLS.values(), *OTHERS.values()], ids=[*CALLS, *OTHERS])
@pytest.mark.parametrize("given", WRONG, ids=lambda given: type(given).__name__)
def test_what_is_of_a_wrong_kind_is_refused(call: Call, given: object) -> None:
    if call is OTHERS["explain top"] and isinstance(given, int):
        return
    with pytest.raises(solver.DicewiseError) as refused:
        call(given)
    message = str(refused.value)
    assert shown(given) in message
    assert "expected" in message
    assert "\n" not in message


@pytest.mark.parametrize("given", ["40", None, 40.5])
def test_a_score_is_a_whole_number(given: Any) -> None:
    for ask in (spread().probability, spread().at_least):
        with pytest.raises(
            solver.ArgumentError, match=f"^score {given!r}: expected a whole number of points$"
        ):
            ask(given)
    with pytest.raises(
        solver.ArgumentError, match=r"^share '0\.5': expected a number above 0 and at most 1$"
    ):
        spread().quantile("0.5")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"compare"}))
def test_nothing_is_refused_where_something_is_needed(name: str) -> None:
    with pytest.raises(solver.DicewiseError, match=r"\bNone\b.*expected"):
        CALLS[name](None)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: solver.ruleset(ANY),
            solver.RulesError,
            f"rules: found {shown(ANY)}, expected the name of a game or the path of a rules file",
        ),
        (
            lambda: solver.moments(None),  # type: ignore[arg-type]
            solver.RulesError,
            "rules: found None, expected the name of a game or the path of a rules file",
        ),
        (
            lambda: solver.open_duel(TINY, 5),  # type: ignore[arg-type]
            solver.ArgumentError,
            "folder 5: expected a path, as text or a Path",
        ),
        (
            lambda: solver.Scorecard.parse("yahtzee", "ones=3"),  # type: ignore[arg-type]
            solver.CardError,
            "rules 'yahtzee': expected rules, as `solver.ruleset` gives",
        ),
        (
            lambda: solver.Position.of("ones=3", "11111"),  # type: ignore[arg-type]
            solver.CardError,
            "card 'ones=3': expected a Scorecard",
        ),
        (
            lambda: solver.simulate("yahtzee", 10),  # type: ignore[arg-type]
            solver.ArgumentError,
            "strategy 'yahtzee': expected a table, or a goal that was solved",
        ),
        (
            lambda: solver.match("yahtzee", ["optimal"], 10),  # type: ignore[arg-type]
            solver.ArgumentError,
            "table 'yahtzee': expected a table, as `solver.load` gives",
        ),
        (
            lambda: solver.match(table(), "optimal", 10),
            solver.ArgumentError,
            "players 'optimal': expected several, in a list",
        ),
        (
            lambda: solver.variants("yahtzee", {"rolls": 2}),  # type: ignore[dict-item]
            solver.ArgumentError,
            "vary {'rolls': 2}: expected keys, each with its values in a list",
        ),
    ],
)
def test_what_a_refusal_says(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as refused:
        call()
    assert str(refused.value) == message


HUGE: Any = 10**5000
"""More digits than Python writes or reads; messages have its beginning in hexadecimal."""

TOO_LARGE: dict[str, Callable[[], object]] = {
    "Reach": lambda: solver.Reach(HUGE),
    "Position.parse": lambda: solver.Position.parse("yacht | - | 13346 | " + "9" * 5000),
    "advise dice": lambda: table().advise("", [HUGE] * 5),
    "advise rerolls": lambda: table().advise("", "13346", HUGE),
    "Scorecard.of points": lambda: solver.Scorecard.of(solver.ruleset("yacht"), {"ones": HUGE}),
    "Scorecard.of key": lambda: solver.Scorecard.of(solver.ruleset("yacht"), {HUGE: 1}),
    "ruleset": lambda: solver.ruleset("yacht", {"rolls": HUGE}),
    "ruleset in a list": lambda: solver.ruleset("yacht", {"upper_bonus": [{"at": 1, "points": HUGE}]}),
    "simulate games": lambda: solver.simulate(table(), HUGE),
    "simulate seed": lambda: solver.simulate(table(), 1, seed=HUGE),
    "simulate negative seed": lambda: solver.simulate(table(), 1, seed=-HUGE),
    "match games": lambda: solver.match(table(), ["greedy"], HUGE),
    "match seed": lambda: solver.match(table(), ["greedy"], 1, seed=HUGE),
    "player seed": lambda: solver.player("random", table(), seed=HUGE),
    "Game.new seed": lambda: solver.Game.new("yacht", seed=HUGE),
    "Game.new seats": lambda: solver.Game.new("yacht", HUGE),
    "Game.fill": lambda: rolled().fill(HUGE),
    "Game.keep": lambda: rolled().keep([HUGE]),
    "Game.from_record": lambda: solver.Game.from_record(
        solver.Game.new("yacht").as_record() | {"seed": HUGE}
    ),
    "solve threads": lambda: solver.solve(TINY, threads=-HUGE),
}


def rolled() -> solver.Game:
    game = solver.Game.new("yacht", seed=1)
    game.roll()
    return game


@pytest.mark.parametrize("call", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_number_too_long_to_be_written_is_refused_on_a_line(call: Callable[[], object]) -> None:
    with pytest.raises(solver.DicewiseError) as refused:
        call()
    message = str(refused.value)
    assert "\n" not in message
    assert any(quoted in message for quoted in (hex(HUGE)[:40], "9" * 20))


def test_the_longest_seed_goes_into_a_record_and_comes_back() -> None:
    longest = 10**1000 - 1
    assert solver.Game.from_record(str(solver.Game.new("yacht", seed=longest))).seed == longest
    expected = "^seed 10000*…: expected a whole number of at most 1000 digits$"
    with pytest.raises(solver.GameError, match=expected):
        solver.Game.new("yacht", seed=longest + 1)
    with pytest.raises(solver.ArgumentError, match=expected):
        solver.simulate(table(), 1, seed=longest + 1)
