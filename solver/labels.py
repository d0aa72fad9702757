"""Positions drawn and labelled, as arrays and one by one; see `export` for what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .draw import Drawn, from_games, from_states
from .lookup import Table
from .scope import Scope
from .turn import TIE
from .turns import OPEN, Floats, Ints, options

Source = Literal["optimal", "perturbed", "uniform"]
SOURCES: tuple[Source, ...] = get_args(Source)

_BLOCK = 1 << 13
"""Positions drawn, and held in memory, at a time."""


@dataclass(frozen=True, slots=True)
class Record:
    """One labelled position; see `export` for what each attribute is."""

    position: str
    filled: list[int]
    subtotal: int
    flag: int
    dice: list[int]
    rerolls: int
    total: int
    actions: list[int]
    moves: list[str]
    values: list[float]
    losses: list[float]
    best: int
    value: float

    def as_dict(self) -> dict[str, Any]:
        """Return the record as it is written in JSON."""
        return {name: getattr(self, name) for name in NAMES}


NAMES = tuple(field.name for field in fields(Record))


@dataclass(frozen=True, eq=False)
class Block:
    """Labelled positions, as arrays: those of the actions hold all positions' actions one after the other.

    Attributes
    ----------
    table : Table
    drawn : Drawn
    dice : uint8 array, shape (n, dice)
    first : int64 array, shape (n + 1,)
        Where the actions of each position start.
    actions, values, losses : arrays, shape (actions,)
    best, value : arrays, shape (n,)
    """

    table: Table
    drawn: Drawn
    dice: NDArray[np.uint8]
    first: Ints
    actions: NDArray[np.int16]
    values: Floats
    losses: Floats
    best: NDArray[np.int16]
    value: Floats

    @classmethod
    def of(cls, table: Table, values_of_states: Floats, drawn: Drawn) -> Block:
        """Return drawn positions with their labels from a table."""
        stride = table.states.size if table.ruleset.saves else 0
        found = options(values_of_states, drawn.cards, drawn.rolls, drawn.rerolls, stride)
        there = found.actions != OPEN
        rows = np.arange(len(drawn))
        greatest = found.values.max(axis=1, keepdims=True)
        total = drawn.cards.total[:, None]
        values = total + found.values
        losses = np.where(found.values > greatest - TIE, 0.0, total + greatest - values)
        rolls = np.array(table.states.scoring.lattice.rolls, np.uint8)
        return cls(
            table,
            drawn,
            rolls[drawn.rolls],
            np.concatenate([[0], np.cumsum(np.count_nonzero(there, axis=1))]),
            found.actions[there],
            values[there],
            losses[there],
            found.actions[rows, found.best],
            values[rows, found.best],
        )

    def __len__(self) -> int:
        return len(self.drawn)

    def texts(self) -> list[str]:
        """Return the position of each in one line."""
        rules, cards = self.table.ruleset, self.drawn.cards
        found = []
        for points, bonuses, saved, dice, rerolls in zip(
            cards.points.tolist(),
            cards.bonuses.tolist(),
            cards.saved.tolist(),
            self.dice.tolist(),
            self.drawn.rerolls.tolist(),
            strict=True,
        ):
            boxes = [f"{key}={p}" for key, p in zip(rules.keys, points, strict=True) if p != OPEN]
            if bonuses:
                boxes.append(f"bonuses={bonuses}")
            if saved:
                boxes.append(f"saved={saved}")
            card = " ".join(boxes) or "-"
            found.append(f"{rules.name} | {card} | {' '.join(map(str, dice))} | {rerolls}")
        return found

    def records(self) -> Iterator[Record]:
        """Yield the positions one by one."""
        cards, words = self.drawn.cards, moves(self.table)
        columns = (
            self.texts(),
            cards.is_filled.astype(int).tolist(),
            cards.subtotal.tolist(),
            cards.flag.tolist(),
            self.dice.tolist(),
            self.drawn.rerolls.tolist(),
            cards.total.tolist(),
        )
        actions, values, losses = self.actions.tolist(), self.values.tolist(), self.losses.tolist()
        first, best, value = self.first.tolist(), self.best.tolist(), self.value.tolist()
        for place, seen in enumerate(zip(*columns, strict=True)):
            own = slice(first[place], first[place + 1])
            said = [words[action] for action in actions[own]]
            labels = (actions[own], said, values[own], losses[own], best[place], value[place])
            row: tuple[Any, ...] = (*seen, *labels)
            yield Record(*row)


def moves(table: Table) -> list[str]:
    """Return each action in words."""
    keeps = table.states.scoring.lattice.keeps[: table.states.scoring.lattice.short]
    fills = [f"fill {key}" for key in table.ruleset.keys]
    return fills + [f"keep {' '.join(map(str, keep)) or '-'}" for keep in keeps]


def blocks(
    table: Table, count: int, seed: int, source: Source, epsilon: float, threads: int | None
) -> Iterator[Block]:
    """Yield labelled positions, some thousand at a time, until there are `count`; see `export.positions`."""
    values = table.values_in(Scope.of(table.states, table.card(None)))
    for drawn in _draws(table, count, seed, source, epsilon, threads):
        if len(drawn):
            yield Block.of(table, values, drawn)


def _draws(
    table: Table, count: int, seed: int, source: Source, epsilon: float, threads: int | None
) -> Iterator[Drawn]:
    sequence, left = np.random.SeedSequence(int(seed)), int(count)

    def stream() -> np.random.Generator:
        """Return the random numbers of one block: no two blocks or seeds share any."""
        return np.random.Generator(np.random.PCG64DXSM(sequence.spawn(1)[0]))

    if source == "uniform":
        while left:
            drawn = from_states(table.states, min(left, _BLOCK), stream())
            left -= len(drawn)
            yield drawn
        return
    from .strategy import Follower

    follower = Follower(table, threads)
    slips = epsilon if source == "perturbed" else 0.0
    with ThreadPoolExecutor(follower.threads) as pool:
        while left:
            drawn = from_games(follower, min(left, _BLOCK), stream(), slips, pool)
            left -= len(drawn)
            yield drawn
