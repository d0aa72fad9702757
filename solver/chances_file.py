"""The file of chances: the greatest chance of every final score from every card, looked up in place.

    front | index: low, length of each state | checksum of each filled set | chances, 16 bits each

`tables/README.md` describes it byte by byte. It is made where it is used, and kept in the cache folder;
nothing in it depends on the time. Opening checks the front and the index; the chances of a filled set are
checked when they are first read.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import folders
from .chances import Chances, bound
from .errors import WrongRulesTable
from .files import opened, quoted, replacing
from .front import BYTES, Kind, header_text
from .lookup import Table
from .plan import Floats, Ints
from .rules import Ruleset
from .states import LANES, States
from .table import layout, plain_name

KIND = Kind(b"DWC", 1, "file of chances", "chances", "make it again: dicewise reach NAME --keep")
SUFFIX = ".dwc"
STEPS = 2**16 - 1
"""A chance of 1, in steps."""

_ALIGNMENT = 8
_INDEX, _SUMS, _DATA = np.dtype("<i4"), np.dtype("<u4"), np.dtype("<u2")


class Part(NamedTuple):
    """The windows of some states of one level.

    `positions` of the states, rising; `low` the first need of each window, `start` where its chances begin in
    `values`, there each between `LANES` ones and `LANES` zeros, without gaps.
    """

    positions: Ints
    low: Ints
    start: Ints
    values: Floats


@dataclass(frozen=True, slots=True)
class Header:
    """What a file of chances says about itself.

    Attributes
    ----------
    digest, name, title, boxes, upper, order, arming, subtotals
        As in the header of a table.
    cut
        Chances below it were counted as 0, those above 1 - cut as 1, in each state.
    within
        No chance is further than this from the exact one.
    steps
        A chance of 1, in the whole numbers that are stored.
    states, sets, chances
        How many windows, filled sets and chances the file holds.
    crc32
        Checksum of the index and of the checksums of the filled sets.
    """

    digest: str
    name: str
    title: str
    cut: float
    within: float
    steps: int
    states: int
    sets: int
    chances: int
    crc32: int
    boxes: list[str]
    upper: list[int]
    order: str
    arming: int | None
    subtotals: list[list[int]]


_KINDS: dict[str, type | tuple[type, ...]] = dict.fromkeys(("digest", "name", "title", "order"), str)
_KINDS |= dict.fromkeys(("steps", "states", "sets", "chances", "crc32"), int)
_KINDS |= dict.fromkeys(("cut", "within"), float) | dict.fromkeys(("boxes", "upper", "subtotals"), list)
_KINDS |= {"arming": (int, type(None))}


def write(
    path: str | os.PathLike[str],
    ruleset: Ruleset,
    states: States,
    cut: float,
    parts: Iterable[Part],
    *,
    parents: bool = False,
) -> None:
    """Write a file of chances level by level: whole, or not at all.

    Parameters
    ----------
    path
        The file; one that is there already is replaced, also while others read it.
    ruleset, states
        The game.
    cut
        With which the chances were worked out.
    parts
        The windows of each level, the last but one first; they are let go once written.
    parents
        Whether to make folders that are missing.

    Raises
    ------
    TableError
        If the file cannot be written.
    """
    low, length = np.zeros(states.size, _INDEX), np.zeros(states.size, _INDEX)
    low[states.level_start[-2] :] = states.final + 1
    sums = np.zeros(len(states.filled), _SUMS)
    contents: dict[str, Any] = {
        "digest": states.scoring.digest,
        "name": plain_name(ruleset),
        "title": ruleset.title,
        "cut": float(cut),
        "within": bound(states.scoring.boxes, cut, 1 / STEPS),
        "steps": STEPS,
        "states": int(states.lanes.sum()),
        "sets": len(sums),
        **layout(ruleset, states),
    }
    # The header is written last, into room for the longest numbers; blanks fill the room.
    room = len(header_text(contents | {"chances": 2**63, "crc32": 2**32}))
    room += -(room + BYTES) % _ALIGNMENT
    with replacing(path, parents=parents) as file:
        file.seek(room + BYTES + 2 * _INDEX.itemsize * contents["states"] + _SUMS.itemsize * len(sums))
        chances = sum(_write_part(file, states, part, low, length, sums) for part in parts)
        held = np.delete(np.stack([low, length], axis=1), states.padding, axis=0)
        index = held.T.tobytes() + sums.tobytes()
        contents |= {"chances": chances, "crc32": zlib.crc32(index)}
        file.seek(0)
        file.write(KIND.front(header_text(contents).ljust(room)) + index)


def _write_part(
    file: BinaryIO,
    states: States,
    part: Part,
    low: NDArray[np.int32],
    length: NDArray[np.int32],
    sums: NDArray[np.uint32],
) -> int:
    """Write the chances of a level, and note where its windows are; return how many chances there are."""
    steps = np.rint(part.values * STEPS).astype(_DATA)
    # Chances fall with the need: what is 1 in steps comes before the window, what is 0 after it.
    kept = (steps > 0) & (steps < STEPS)
    ends = part.start - LANES
    length[part.positions] = np.add.reduceat(kept, ends, dtype=np.int64)
    low[part.positions] = part.low - LANES + np.add.reduceat(steps == STEPS, ends, dtype=np.int64)
    data = steps[kept]
    file.write(data.tobytes())
    numbers = np.searchsorted(states.start, part.positions, side="right") - 1
    lengths = np.bincount(numbers, length[part.positions], len(sums)).astype(np.int64)
    at = 0
    for number in np.unique(numbers).tolist():
        sums[number] = zlib.crc32(data[at : at + lengths[number]].tobytes())
        at += int(lengths[number])
    return len(data)


def kept_path(states: States) -> Path:
    """Return where the file of a game is kept."""
    return folders.cache_folder() / f"{states.scoring.digest[:32]}{SUFFIX}"


def kept_chances(table: Table) -> Chances | None:
    """Open the file that is kept for a game, if there is one.

    Raises
    ------
    TableError
        If there is one and it cannot be read.
    """
    path = kept_path(table.states)
    return opened_chances(path, table) if path.exists() else None


def opened_chances(path: str | os.PathLike[str], table: Table) -> Chances:
    """Open a file of chances; its front and index are checked now, its chances when they are first read.

    Parameters
    ----------
    path
        The file.
    table
        The game that it is to be of.

    Raises
    ------
    TableError
        Of the kind that fits, if there is no file, it is not what was written, or not of this game.
    """
    game = table.states
    with opened(path) as (file, size):
        text = KIND.header(file, size, path)
        header = _parsed(text, path)
        if header.digest != game.scoring.digest:
            held = f"{header.name!r} (rules {header.digest[:12]})"
            wanted = f"{table.ruleset.name!r} (rules {game.scoring.digest[:12]})"
            raise WrongRulesTable(
                f"{quoted(path)} is a file of chances of {held}, expected one of {wanted}; {KIND.remake}"
            )
        count, sets = int(game.lanes.sum()), len(game.filled)
        if (header.states, header.sets, header.steps) != (count, sets, STEPS):
            raise KIND.damaged(path, f"it does not hold the chances of {count} states")
        front = len(text) + BYTES
        begin = front + 2 * _INDEX.itemsize * count + _SUMS.itemsize * sets
        KIND.check_end(size, begin + _DATA.itemsize * header.chances, path)
        index = file.read(begin - front)
        if zlib.crc32(index) != header.crc32:
            raise KIND.damaged(path, "its index does not match its checksum")
        states = np.setdiff1d(np.arange(game.size), game.padding, assume_unique=True)
        low, length = np.zeros(game.size, np.int64), np.zeros(game.size, np.int64)
        low[states], length[states] = np.frombuffer(index, _INDEX, 2 * count).reshape(2, count)
        if length.min() < 0 or length.sum() != header.chances:
            raise KIND.damaged(path, "its index does not say where its chances are")
        sums = np.frombuffer(index, _SUMS, sets, 2 * _INDEX.itemsize * count)
        data = np.zeros(0, _DATA)
        if header.chances:
            data = np.memmap(file, _DATA, "r", begin, header.chances)
    store = Kept(game, length, sums, data, path)
    card = table.card(None)
    return Chances(table, card, header.cut, header.within, low, length, store, Path(path))


def _parsed(text: bytes, path: str | os.PathLike[str]) -> Header:
    """Return the header of this text."""
    header = Header(**KIND.fields(text, _KINDS, path))
    if not 0 <= header.cut <= header.within < 1:
        raise KIND.unlike_its_header(path)
    return header


class Kept:
    """A `Store` in a file that is mapped into memory."""

    def __init__(
        self,
        game: States,
        length: Ints,
        sums: NDArray[np.uint32],
        data: NDArray[np.uint16],
        path: str | os.PathLike[str],
    ) -> None:
        self._game, self._sums, self._data, self._path = game, sums, data, path
        # The windows lie level by level, the most filled boxes first.
        before = np.cumsum(length) - length
        bounds = np.append(before, length.sum())[game.level_start]
        sizes = np.diff(bounds)
        after = sizes[::-1].cumsum()[::-1] - sizes
        level = np.repeat(np.arange(len(sizes)), np.diff(game.level_start))
        self._start = before - bounds[level] + after[level]
        last = game.start + game.lanes - 1
        self._ends = np.stack([self._start[game.start], self._start[last] + length[last]], axis=1)
        self._checked = np.zeros(len(sums), bool)

    def take(self, positions: Ints, offsets: Ints) -> Floats:
        """Return the chance at an offset into the window of each of these states.

        Raises
        ------
        DamagedTable
            If the chances of a filled set do not match their checksum.
        """
        numbers = np.searchsorted(self._game.start, positions, side="right") - 1
        for number in np.unique(numbers[~self._checked[numbers]]).tolist():
            first, end = self._ends[number].tolist()
            if zlib.crc32(self._data[first:end].tobytes()) != self._sums[number]:
                what = f"the chances with boxes {int(self._game.filled[number]):b} filled do not match their"
                raise KIND.damaged(self._path, f"{what} checksum")
            self._checked[number] = True
        found: Floats = self._data[self._start[positions] + offsets] / STEPS
        return found
