"""Labelled positions: equal to advice to the bit, drawn as promised, and written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import sys
from collections import Counter, defaultdict
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from games import NAMES, TINY, solved
from oracle_rules import legal_fills, proper_keeps
from pyarrow import parquet

import solver
from solver import export as exporting
from solver import files, labels
from solver.batch import action_of
from solver.errors import ExportError, TableError
from solver.export import SOURCES, Record, export, positions
from solver.lookup import Option, Table
from solver.scorecard import Position, Scorecard, parse_dice

ERRORS = 4.5
EVERY_GAME = [*NAMES, *(str(path) for path in TINY)]
FORCED = str(next(path for path in TINY if path.stem == "forced"))
TIERS = str(next(path for path in TINY if path.stem == "tiers"))


@cache
def drawn(name: str, source: Any, count: int) -> tuple[Record, ...]:
    return tuple(positions(solved(name), count, seed=1, source=source))


def position_of(record: Record, table: Table) -> Position:
    """The position of a record, read from its text."""
    name, card, dice, rerolls = record.position.rsplit(" | ", 3)
    assert name == table.ruleset.name
    rules = table.ruleset
    return Position(Scorecard.parse(rules, card), parse_dice(rules, dice), int(rerolls))


def number(option: Option, table: Table) -> int:
    """The number of an action, as `solver.batch` counts."""
    if option.category is not None:
        return table.ruleset.keys.index(option.category)
    return len(table.ruleset.keys) + table.states.scoring.lattice.number[option.dice]


# ---------------------------------------------------------------- the labels


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", EVERY_GAME, ids=lambda name: name[-20:])
def test_labels_are_what_advice_says_to_the_bit(name: str, source: Any) -> None:
    table = solved(name)
    rules = table.ruleset
    for record in drawn(name, source, 150):
        position = position_of(record, table)
        card = position.card
        assert record.position == str(position)
        assert record.filled == [card.filled >> box & 1 for box in range(len(rules.keys))]
        assert record.subtotal == min(card.upper_subtotal, table.states.scoring.cap)
        assert record.flag == card.armed
        assert tuple(record.dice) == position.dice
        assert record.rerolls == position.rerolls
        assert record.total == card.boxes_total
        advice = table.advise_position(position)
        expected = {number(option, table): option for option in advice.options}
        assert len(record.actions) == len(expected)
        labelled = zip(record.actions, record.moves, record.values, record.losses, strict=True)
        for action, move, value, loss in labelled:
            option = expected[action]
            assert (value, loss) == (option.value, option.loss), (record.position, move)
            kind, what = action_of(table, action)
            words = what if isinstance(what, str) else " ".join(map(str, what)) or "-"
            assert move == f"{kind} {words}"
        assert record.best == number(advice.best, table)
        assert record.value == advice.value


@pytest.mark.parametrize(
    "name", ["yahtzee", "yahtzee-free-joker", "yatzy", FORCED], ids=lambda name: name[-20:]
)
def test_every_legal_action_is_there_in_the_order_of_ties(name: str) -> None:
    table = solved(name)
    for record in drawn(name, "perturbed", 150):
        position = position_of(record, table)
        fills = legal_fills(table.ruleset, position.card.filled, position.dice)
        expected = [f"fill {table.ruleset.keys[box]}" for box, _ in fills]
        if position.rerolls:
            keeps = sorted(
                proper_keeps(position.dice), key=lambda keep: (len(keep), keep[::-1]), reverse=True
            )
            expected += [f"keep {' '.join(map(str, keep)) or '-'}" for keep in keeps]
        assert record.moves == expected


def test_a_table_of_rounded_values_labels_by_them() -> None:
    table = solver.load("yacht")
    for record in positions(table, 50, seed=2):
        assert record.value == table.advise_position(position_of(record, table)).value


# ---------------------------------------------------------------- how positions are drawn


def test_every_decision_of_optimal_games_has_the_same_chance() -> None:
    """On a tiny game, how often each turn, throw and roll comes up, against recorded games."""
    table = solved(FORCED)
    games = solver.simulate(table, 40_000, seed=8, record=True)
    assert games.record is not None
    made = games.record[:, :, :, 1] >= 0
    turns = made.sum(axis=(0, 2)) / made.sum()
    throws = made.sum(axis=(0, 1)) / made.sum()
    rolls = np.bincount(games.record[:, :, :, 0][made].astype(int)) / made.sum()
    count = 20_000
    found = drawn(FORCED, "optimal", count)
    lattice = table.states.scoring.lattice
    check_shares(Counter(sum(record.filled) for record in found), turns)
    check_shares(Counter(table.ruleset.rolls - 1 - record.rerolls for record in found), throws)
    check_shares(Counter(lattice.roll(record.dice) for record in found), rolls)


def check_shares(found: Counter[int], expected: np.ndarray) -> None:
    count = found.total()
    assert set(found) <= set(range(len(expected)))
    for place, share in enumerate(expected.tolist()):
        # The expected shares are simulated too, from more decisions.
        error = math.sqrt(2 * share * (1 - share) / count)
        assert abs(found[place] / count - share) <= ERRORS * error, place


def test_optimal_games_are_worth_the_expected_score() -> None:
    """The value of the best action, from the first throw of a turn on, is a fair guess of the final score."""
    table = solved("yahtzee")
    for filled in (0, 6, 12):
        values = [
            record.value
            for record in drawn("yahtzee", "optimal", 6000)
            if sum(record.filled) == filled and record.rerolls == 2
        ]
        error = np.std(values) / math.sqrt(len(values))
        assert abs(np.mean(values) - table.value()) < ERRORS * error, filled


def test_slips_are_as_many_as_epsilon_says() -> None:
    """After a first roll of a tiny game, from the cards that follow: without slips only the best action."""
    table = solved(TIERS)
    none = Counter(
        record.position for record in positions(table, 3000, seed=4, source="perturbed", epsilon=0)
    )
    assert none == Counter(record.position for record in positions(table, 3000, seed=4, source="optimal"))
    worth = {}
    for epsilon in (0.0, 0.2, 1.0):
        found = positions(table, 4000, seed=5, source="perturbed", epsilon=epsilon)
        worth[epsilon] = np.mean([record.value for record in found])
    assert worth[0.0] > worth[0.2] + 0.5 > worth[1.0] + 1


def test_with_nothing_but_slips_every_legal_action_has_the_same_chance() -> None:
    """From the cards after one turn: with one roll a turn, each legal box of each roll is as likely."""
    rules = solver.ruleset(TIERS, {"rolls": 1})
    table = solver.solve(rules)
    count = 24_000
    found = list(positions(table, count, seed=6, source="perturbed", epsilon=1))
    second = [record for record in found if sum(record.filled) == 1]
    boxes = Counter(record.filled.index(1) for record in second)
    for box in range(4):
        assert abs(boxes[box] / len(second) - 0.25) < ERRORS * math.sqrt(0.25 * 0.75 / len(second))


@pytest.mark.parametrize("name", ["yahtzee", FORCED, TIERS], ids=lambda name: name[-20:])
def test_uniform_positions_come_from_all_states_alike(name: str) -> None:
    table = solved(name)
    game = table.states
    count = 20_000
    found = drawn(name, "uniform", count)
    by_set: Counter[int] = Counter()
    states: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for record in found:
        filled = sum(bit << box for box, bit in enumerate(record.filled))
        by_set[filled] += 1
        states[filled].add((record.subtotal, record.flag))
    weights = game.upper.reachable[game.upper_filled(game.filled)] * game.flags
    total = int(weights[:-1].sum())
    for filled, weight in zip(game.filled[:-1].tolist(), weights[:-1].tolist(), strict=True):
        share = weight / total
        assert abs(by_set[filled] / count - share) <= 5.5 * math.sqrt(share * (1 - share) / count) + 1 / count
        assert len(states[filled]) <= weight
        if name != "yahtzee":
            assert len(states[filled]) == weight
    for values, number_of in (
        (Counter(record.rerolls for record in found), table.ruleset.rolls),
        (Counter(tuple(record.dice) for record in found), len(game.scoring.lattice.rolls)),
    ):
        assert len(values) == number_of
        share = 1 / number_of
        worst = max(abs(amount / count - share) for amount in values.values())
        assert worst < 5 * math.sqrt(share * (1 - share) / count)


def test_upper_subtotals_at_the_cap_come_from_various_cards() -> None:
    table = solved("yahtzee")
    subtotals = {
        position_of(record, table).card.upper_subtotal
        for record in drawn("yahtzee", "uniform", 2000)
        if record.subtotal == 63
    }
    assert min(subtotals) >= 63
    assert len(subtotals) > 5


def test_a_yahtzee_box_in_the_upper_section_holds_what_the_flag_says() -> None:
    """Not every flag goes with every subtotal then; what no card can hold is drawn again."""
    rules = solver.ruleset(FORCED, {"categories.pair.section": "upper"})
    table = solver.solve(rules)
    seen = set()
    found = list(positions(table, 400, seed=1, source="uniform"))
    assert len(found) == 400
    for record in found:
        card = position_of(record, table).card
        assert record.flag == card.armed
        assert record.subtotal == min(card.upper_subtotal, 15)
        seen.add((record.flag, record.subtotal))
    assert len(seen) > 8


# ---------------------------------------------------------------- reproducible


@pytest.mark.parametrize("source", SOURCES)
def test_a_seed_gives_the_same_positions_for_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, source: Any
) -> None:
    monkeypatch.setattr(labels, "_BLOCK", 60)
    table = solved("yahtzee")
    alone = list(positions(table, 200, seed=3, source=source, threads=1))
    assert len(alone) == 200
    for threads in (2, 3):
        assert list(positions(table, 200, seed=3, source=source, threads=threads)) == alone
    assert list(positions(table, 200, seed=4, source=source)) != alone
    assert len({record.position for record in alone}) > 150


def test_positions_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first are there before the last are drawn."""
    monkeypatch.setattr(labels, "_BLOCK", 10)
    endless = positions(solved("yacht"), 10**12, source="uniform")
    assert len(list(islice(endless, 25))) == 25


# ---------------------------------------------------------------- files


def rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return parquet.read_table(path).to_pylist()  # type: ignore[no-any-return]
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("ending", exporting.ENDINGS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_file_holds_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Any, ending: str
) -> None:
    monkeypatch.setattr(labels, "_BLOCK", 70)
    table, path = solved("yahtzee"), tmp_path / f"found{ending}"
    calls: list[tuple[int, int]] = []
    export(table, path, 200, seed=9, source=source, progress=lambda *done: calls.append(done))
    assert rows(path) == [record.as_dict() for record in positions(table, 200, seed=9, source=source)]
    assert calls == sorted(calls)
    assert calls[-1] == (200, 200)
    assert len(calls) >= 3
    assert os.listdir(tmp_path) == [path.name]
    again = tmp_path / f"again{ending}"
    export(table, again, 200, seed=9, source=source, threads=1)
    assert again.read_bytes() == path.read_bytes()


def test_the_documented_fields_are_those_of_the_files(tmp_path: Path) -> None:
    """The table in the module's documentation lists every field, in order, with its type in Parquet."""
    lines = [line.split() for line in str(exporting.__doc__).splitlines() if line.startswith("    ")]
    first = next(place for place, words in enumerate(lines) if words[0] == "position")
    documented = [words[0] for words in lines[first : first + 13]]
    path = tmp_path / "found.parquet"
    export(solved("yacht"), path, 10)
    schema = parquet.read_schema(path)
    assert documented == schema.names == list(labels.NAMES)
    assert schema.field("filled").type == pyarrow.list_(pyarrow.uint8(), 12)
    assert schema.field("dice").type == pyarrow.list_(pyarrow.uint8(), 5)
    assert schema.field("values").type == pyarrow.list_(pyarrow.float64())
    for name, kind in (("subtotal", "int32"), ("flag", "uint8"), ("best", "int16"), ("value", "double")):
        assert str(schema.field(name).type) == kind


def test_a_file_that_is_there_stays_until_the_new_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "found.jsonl"
    path.write_text("before")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(solved("yacht"), path, 10, progress=stop)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == [path.name]
    export(solved("yacht"), path, 10)
    assert len(rows(path)) == 10


@pytest.mark.parametrize("ending", exporting.ENDINGS)
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(TableError, match="cannot be written: No space left on device"):
        export(solved("yacht"), tmp_path / f"found{ending}", 10)
    assert os.listdir(tmp_path) == []


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 0}, "count 0: expected a whole number from 1"),
        ({"count": True}, "count True: expected a whole number from 1"),
        ({"count": 1.5}, "count 1.5: expected a whole number from 1"),
        ({"seed": -1}, "seed -1: expected a whole number from 0"),
        ({"source": "best"}, "source 'best': expected optimal, perturbed or uniform"),
        ({"epsilon": 1.01}, "epsilon 1.01: expected a number from 0 to 1"),
        ({"epsilon": math.nan}, "epsilon nan: expected a number from 0 to 1"),
        ({"threads": 0}, "threads is 0: expected 1 or more"),
    ],
)
def test_arguments_that_are_refused(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    given = {"count": 3, **arguments}
    with pytest.raises(ValueError, match=f"^{message}$"):
        list(positions(solved("yacht"), **given))
    with pytest.raises(ValueError, match=f"^{message}$"):
        export(solved("yacht"), tmp_path / "found.jsonl", **given)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "found"),
    [("found.csv", "the ending '.csv'"), ("found", "no ending"), ("found.json", "the ending '.json'")],
)
def test_other_endings_are_refused(tmp_path: Path, name: str, found: str) -> None:
    with pytest.raises(ExportError, match=f"{name}': found {found}, expected .jsonl or .parquet$"):
        export(solved("yacht"), tmp_path / name, 3)
    assert os.listdir(tmp_path) == []


def test_without_pyarrow_a_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportError) as caught:
        export(solved("yacht"), tmp_path / "found.parquet", 3)
    assert str(caught.value) == (
        'Parquet needs pyarrow, which is not installed: python3 -m pip install "dicewise[parquet]"'
    )
    export(solved("yacht"), tmp_path / "found.jsonl", 3)
