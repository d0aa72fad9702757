"""Labelled positions for learning: what a player sees, what every move is worth, and which is best.

A file has one record a position. In JSON Lines (.jsonl) each is an object on a line of its own, in Parquet
(.parquet) a row; the names are the same, and those of `Record` in Python:

    name      JSON               Parquet         what it is
    position  string             string          rules | card | dice | rerolls, as `Position` reads it
    filled    list of 0 and 1    uint8[boxes]    whether each box is filled, in card order
    subtotal  number             int32           upper points so far, capped where more change nothing
    flag      0 or 1             uint8           whether further Yahtzees, or boxes that require one, score
    dice      list of numbers    uint8[dice]     the dice on the table, rising
    rerolls   number             int32           rolls still to come this turn, saved ones among them
    total     number             int32           points in boxes and bonuses for further Yahtzees
    actions   list of numbers    list of int16   every legal action: category c, or boxes + keep k
    moves     list of strings    list of string  the same in words: "fill ones", "keep 3 3", "keep -"
    values    list of numbers    list of double  expected final score after each action, in points
    losses    list of numbers    list of double  the best value minus each, 0 where it ties
    best      number             int16           the best action, the first of equals
    value     number             double          expected final score after the best action

Boxes, dice and actions are numbered as in `solver.batch`. What follows depends on `filled`, `subtotal`,
`flag`, `dice` and `rerolls` alone; values minus `total` are the points still to come. Actions stand in
the order in which ties are broken (see `lookup`), and their values are those of `Table.advise`, to the bit.

Positions are drawn one by one, each independent of the others (see `draw`), from one of these sources:

    optimal    games played by the table's strategy, every decision with the same chance
    perturbed  the same, but at each decision, with probability epsilon, any legal action is taken
               instead: what a player meets who does not always find the best move
    uniform    all states with a box open, all rolls and all numbers of rerolls, each with the same chance;
               no more rolls are saved before the turn than those rerolls take

The same seed gives the same positions whatever the number of threads. Games need numba, all states numpy
alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .errors import ArgumentError, ExportError, shown
from .files import quoted, replacing
from .labels import SOURCES, Block, Record, Source, blocks, moves
from .levels import Progress
from .lookup import Table
from .records import check_seed, whole
from .rules.wording import listed

ENDINGS = (".jsonl", ".parquet")
EPSILON = 0.2

_Writer = Callable[[Block], None]


def positions(
    table: Table,
    count: int,
    *,
    seed: int = 0,
    source: Source = "optimal",
    epsilon: float = EPSILON,
    threads: int | None = None,
) -> Iterator[Record]:
    """Return labelled positions, one after the other.

    Parameters
    ----------
    table
        The table that the values and the strategy come from.
    count
        How many positions, 1 or more.
    seed
        The same seed gives the same positions, whatever the number of threads.
    source
        Where they are drawn from; see the module.
    epsilon
        Probability of any legal action instead of the best, for perturbed games.
    threads
        All usable cores unless given.

    Raises
    ------
    ArgumentError
        For an argument that is not one of these, or a game with saved rolls that is too large.
    """
    _check(count, seed, source, epsilon)
    return (
        record for block in blocks(table, count, seed, source, epsilon, threads) for record in block.records()
    )


def export(
    table: Table,
    path: str | os.PathLike[str],
    count: int,
    *,
    seed: int = 0,
    source: Source = "optimal",
    epsilon: float = EPSILON,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Write labelled positions to a file: whole, or not at all.

    Parameters
    ----------
    table, count, seed, source, epsilon, threads
        As for `positions`.
    path
        The file, in the format of its ending; one that is there is replaced.
    progress
        Called with the positions written and in all.

    Raises
    ------
    ArgumentError
        For an argument that is not one of these.
    ExportError
        If the ending is none of `ENDINGS`, or pyarrow is needed and not installed.
    TableError
        If the file cannot be written.
    """
    _check(count, seed, source, epsilon)
    check(path)
    writing = _parquet if _ending(path) == ".parquet" else _json_lines
    written = 0
    with replacing(path) as file, writing(file, table) as writer:
        for block in blocks(table, count, seed, source, epsilon, threads):
            writer(block)
            written += len(block)
            if progress:
                progress(written, count)


def check(path: str | os.PathLike[str]) -> None:
    """Make sure that there is a format for this path, before the work is done.

    Raises
    ------
    ExportError
        If the ending is none of `ENDINGS`, or pyarrow is needed and not installed.
    """
    ending = _ending(path)
    if ending not in ENDINGS:
        found = f"the ending {ending!r}" if ending else "no ending"
        raise ExportError(f"export {quoted(path)}: found {found}, expected {listed(ENDINGS, 'or')}")
    if ending == ".parquet":
        _pyarrow()


def _ending(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lower()


def _check(count: int, seed: int, source: str, epsilon: float) -> None:
    if not whole(count) or count < 1:
        raise ArgumentError(f"count {shown(count)}: expected a whole number from 1")
    check_seed(seed)
    if source not in SOURCES:
        raise ArgumentError(f"source {shown(source)}: expected {listed(SOURCES, 'or')}")
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float, np.number)) or not 0 <= epsilon <= 1:
        raise ArgumentError(f"epsilon {shown(epsilon)}: expected a number from 0 to 1")


@contextmanager
def _json_lines(file: BinaryIO, table: Table) -> Iterator[_Writer]:
    def write(block: Block) -> None:
        for record in block.records():
            file.write(json.dumps(record.as_dict(), separators=(",", ":")).encode() + b"\n")

    yield write


@contextmanager
def _parquet(file: BinaryIO, table: Table) -> Iterator[_Writer]:
    pa = _pyarrow()
    from pyarrow import parquet

    rules = table.states.scoring
    types = {
        "position": pa.string(),
        "filled": pa.list_(pa.uint8(), rules.boxes),
        "subtotal": pa.int32(),
        "flag": pa.uint8(),
        "dice": pa.list_(pa.uint8(), rules.dice),
        "rerolls": pa.int32(),
        "total": pa.int32(),
        "actions": pa.list_(pa.int16()),
        "moves": pa.list_(pa.string()),
        "values": pa.list_(pa.float64()),
        "losses": pa.list_(pa.float64()),
        "best": pa.int16(),
        "value": pa.float64(),
    }
    schema = pa.schema(list(types.items()))
    words = pa.array(moves(table))

    def write(block: Block) -> None:
        cards = block.drawn.cards
        first = pa.array(block.first.astype(np.int32))

        def wide(of: NDArray[Any]) -> Any:
            flat = pa.array(of.astype(np.uint8).ravel())
            return pa.FixedSizeListArray.from_arrays(flat, of.shape[1])

        def ragged(of: Any) -> Any:
            return pa.ListArray.from_arrays(first, of)

        columns = {
            "position": block.texts(),
            "filled": wide(cards.is_filled),
            "subtotal": cards.subtotal,
            "flag": cards.flag,
            "dice": wide(block.dice),
            "rerolls": block.drawn.rerolls,
            "total": cards.total,
            "actions": ragged(pa.array(block.actions)),
            "moves": ragged(words.take(pa.array(block.actions))),
            "values": ragged(pa.array(block.values)),
            "losses": ragged(pa.array(block.losses)),
            "best": block.best,
            "value": block.value,
        }
        arrays = [pa.array(columns[name], types[name]) for name in types]
        writer.write_table(pa.Table.from_arrays(arrays, schema=schema))

    with parquet.ParquetWriter(file, schema) as writer:
        yield write


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        advice = 'python3 -m pip install "dicewise[parquet]"'
        raise ExportError(f"Parquet needs pyarrow, which is not installed: {advice}") from None
    return pyarrow
