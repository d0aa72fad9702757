"""Level files: the values of a game with saved rolls, one file for each number of filled boxes, in a folder.

    front | length and checksum of each chunk | chunks

A chunk holds the values of some neighbouring filled sets, for every number of saved rolls, and is read and
checked when one of them is first asked for. `tables/README.md` describes the files byte by byte. While a game
is being solved, the folder also holds the level solved last to the bit, so that what was stopped goes
on from there: `level-07.dwl` is final, `exact-07.dwl` is not. Nothing in them depends on the time.

What was weighed, for six dice with fourteen of twenty boxes filled, in bytes a value: steps of a millionth
without differences along saved rolls 2.97, with one 2.62, two 2.38, three 2.28; three and steps of 1e-5 1.88;
float32 2.64. The highest effort in deflating saves 2 %, and takes twice as long.
"""

from __future__ import annotations

import os
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from . import folders
from .errors import TableError, WrongRulesTable
from .files import opened, quoted, replacing
from .front import BYTES, Kind, header_text
from .levels import thread_count
from .pairs import points_to_come
from .plan import Floats
from .rules import Ruleset
from .saving import Level, empty_level, final_level, most_saved, states_in
from .states import States
from .table import layout, plain_name

KIND = Kind(b"DWL", 1, "level file", "level", "solve the game again")
GENERATOR = "dicewise 1"
STEPS = 10**6
"""Steps to a point in a final file."""

SUFFIX = ".levels"
SETS = 32
"""Filled sets in a chunk."""
_DIFFERENCES = (0, 0, 0, 1)
"""Axes along which the differences of a chunk are taken: three times saved rolls, then states."""
_EFFORT = 1
_INDEX = np.dtype("<u4")
_EXACT = np.dtype("<f8")
_PIECE = 1 << 24
_CHUNKS_HELD = 64


@dataclass(frozen=True, slots=True)
class Header:
    """What a level file says about itself.

    Attributes
    ----------
    digest, name, title, generator, boxes, upper, order, arming, subtotals
        As in the header of a table.
    level
        Boxes filled.
    saved
        The most rolls that can be saved there.
    states
        Values for each number of saved rolls: one for all states whose upper subtotals are equally good.
    steps
        Steps to a point; 0 where the values are exact, and not in chunks.
    sets, width
        Filled sets in a chunk, and bytes of a value before packing.
    root
        The value of the empty card, exact, in points; None in files of other levels.
    bytes
        Length of the chunks in all.
    crc32
        Checksum of the index, or of the values where these are exact.
    """

    digest: str
    name: str
    title: str
    generator: str
    level: int
    saved: int
    states: int
    steps: int
    sets: int
    width: int
    root: float | None
    bytes: int
    crc32: int
    boxes: list[str]
    upper: list[int]
    order: str
    arming: int | None
    subtotals: list[list[int]]

    @property
    def scale(self) -> float:
        """Points to a step; 0 where the values are exact."""
        return 1 / self.steps if self.steps else 0.0


_KINDS: dict[str, type | tuple[type, ...]] = dict.fromkeys(
    ("digest", "name", "title", "generator", "order"), str
)
_KINDS |= dict.fromkeys(("level", "saved", "states", "steps", "sets", "width", "bytes", "crc32"), int)
_KINDS |= dict.fromkeys(("boxes", "upper", "subtotals"), list)
_KINDS |= {"root": (float, type(None)), "arming": (int, type(None))}


def level_path(folder: Path, level: int, *, exact: bool = False) -> Path:
    """Return where a level's file lies in a folder."""
    return folder / f"{'exact' if exact else 'level'}-{level:02d}.dwl"


def kept_folder(states: States) -> Path:
    """Return the folder in which a game's level files are kept."""
    return folders.cache_folder() / f"{states.scoring.digest[:32]}{SUFFIX}"


# ---------------------------------------------------------------- writing


def write_level(
    folder: Path,
    ruleset: Ruleset,
    game: States,
    level: Level,
    threads: int | None = None,
    *,
    root: float | None = None,
) -> None:
    """Write the final file of a level: whole, or not at all.

    `root` is the exact expected score, where the values of the empty card are rounded.

    Raises
    ------
    TableError
        If it cannot be written.
    """
    chunks, width = chunk_places(game, level.number), stored_width(game)
    with ThreadPoolExecutor(thread_count(threads)) as pool:
        stored = list(pool.map(lambda chunk: packed(level.values[:, chunk], width), chunks))
    if root is None and level.number == 0:
        root = float(level.values[0, 0])
    write_packed(folder, ruleset, game, level.number, stored, root)


def write_packed(
    folder: Path, ruleset: Ruleset, game: States, level: int, stored: Sequence[bytes], root: float | None
) -> None:
    """Write the final file of a level from its chunks as `packed` returns them: whole, or not at all.

    Raises
    ------
    TableError
        If it cannot be written.
    """
    index = np.array([(len(chunk), zlib.crc32(chunk)) for chunk in stored], _INDEX).tobytes()
    contents = _contents(ruleset, game, level) | {
        "steps": STEPS,
        "width": stored_width(game),
        "root": root,
        "bytes": sum(map(len, stored)),
        "crc32": zlib.crc32(index),
    }
    with replacing(level_path(folder, level), parents=True) as file:
        file.write(KIND.front(header_text(contents)) + index)
        file.writelines(stored)


def stored_width(game: States) -> int:
    """Return how many bytes a value takes before packing, in all files of a game."""
    least, greatest = points_to_come(game)
    return 4 if max(-int(least.min()), int(greatest.max())) * STEPS < 2**31 else 8


def write_exact(folder: Path, ruleset: Ruleset, game: States, level: Level) -> None:
    """Write the values of a level to the bit, to go on from: whole, or not at all.

    Raises
    ------
    TableError
        If it cannot be written.
    """
    values = level.values.reshape(-1)
    crc32 = 0
    for piece in _pieces(values):
        crc32 = zlib.crc32(piece, crc32)
    contents = _contents(ruleset, game, level.number) | {
        "steps": 0,
        "width": _EXACT.itemsize,
        "root": None,
        "bytes": values.nbytes,
        "crc32": crc32,
    }
    with replacing(level_path(folder, level.number, exact=True), parents=True) as file:
        file.write(KIND.front(header_text(contents)))
        file.writelines(_pieces(values))


def _pieces(values: Floats) -> Iterator[bytes]:
    for at in range(0, len(values), _PIECE):
        yield values[at : at + _PIECE].astype(_EXACT, copy=False).tobytes()


def _contents(ruleset: Ruleset, game: States, level: int) -> dict[str, Any]:
    return {
        "digest": game.scoring.digest,
        "name": plain_name(ruleset),
        "title": ruleset.title,
        "generator": GENERATOR,
        "level": level,
        "saved": most_saved(game, level),
        "states": states_in(game, level),
        "sets": SETS,
        **layout(ruleset, game),
    }


def chunk_places(game: States, level: int) -> list[slice]:
    """Return the positions within a level that each chunk holds."""
    first, end = int(game.level_sets[level]), int(game.level_sets[level + 1])
    starts = (game.start[first:end:SETS] - game.level_start[level]).tolist()
    return [slice(*ends) for ends in zip(starts, [*starts[1:], states_in(game, level)], strict=True)]


def packed(values: Floats, width: int) -> bytes:
    """Return the bytes of a chunk from its values, shape (saved rolls + 1, states)."""
    word = np.dtype(f"u{width}")
    whole = np.rint(values * STEPS).astype(np.int64).astype(word)
    # All arithmetic is modulo 2**(8 width), and so loses nothing.
    words = whole
    for axis in _DIFFERENCES:
        words = np.diff(words, axis=axis, prepend=word.type(0))
    words = words << word.type(1) ^ np.negative(words >> word.type(8 * width - 1))
    planes = [(words >> word.type(8 * place)).astype(np.uint8).tobytes() for place in reversed(range(width))]
    return zlib.compress(b"".join(planes), _EFFORT, wbits=-zlib.MAX_WBITS)


def _unpacked(stored: bytes, header: Header, rows: int, states: int) -> Floats | None:
    """Return what `packed` was given, each to the nearest step; None where the bytes are not sound."""
    count, word = rows * states, np.dtype(f"u{header.width}")
    inflate = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    try:
        planes = inflate.decompress(stored, count * header.width + 1)
    except zlib.error:
        return None
    if len(planes) != count * header.width or not inflate.eof or inflate.unused_data:
        return None
    words = np.zeros(count, word)
    for plane in np.frombuffer(planes, np.uint8).reshape(header.width, count):
        words <<= word.type(8)
        words |= plane
    words = words >> word.type(1) ^ np.negative(words & word.type(1))
    whole = words.reshape(rows, states)
    for axis in reversed(_DIFFERENCES):
        np.cumsum(whole, axis=axis, dtype=word, out=whole)
    values: Floats = whole.view(f"i{header.width}") / float(header.steps)
    return values


# ---------------------------------------------------------------- reading


class LevelFile:
    """A final file of a level; its front is checked in opening it, its index and chunks when first read.

    Parameters
    ----------
    folder
        The folder.
    game
        The states of the game that it is to be of.
    level
        Boxes filled.
    name
        The name of that game, for messages.

    Raises
    ------
    TableError
        Of the kind that fits, if there is no file, it is not what was written, or not of this game.
    """

    def __init__(self, folder: Path, game: States, level: int, name: str) -> None:
        self.path = level_path(folder, level)
        self._game, self._level = game, level
        self._chunks = chunk_places(game, level)
        with opened(self.path) as (file, size):
            self.header, self._front = _header(file, size, self.path, game, level, name)
            if self.header.steps != STEPS or self.header.sets != SETS or self.header.width not in (4, 8):
                raise KIND.damaged(self.path, "it does not hold values in chunks")
            if self.header.width < stored_width(game):
                # Programs that left a certain upper bonus out of account wrote such files.
                raise KIND.damaged(self.path, "its 4 bytes a value are too few for the points of this game")
            self._begin = self._front + 2 * _INDEX.itemsize * len(self._chunks)
            KIND.check_end(size, self._begin + self.header.bytes, self.path)
        self._lock = Lock()
        self._index: tuple[NDArray[np.int64], NDArray[np.uint32]] | None = None
        self._held: OrderedDict[int, Floats] = OrderedDict()

    def block(self, filled: int) -> Floats:
        """Return the values of a filled set, shape (most saved rolls + 1, lanes).

        Raises
        ------
        DamagedTable
            If they do not match their checksum.
        """
        game = self._game
        number = int(np.searchsorted(game.start, game.first[filled], side="right")) - 1
        chunk, _ = divmod(number - int(game.level_sets[self._level]), SETS)
        with self._lock:
            held = self._held.pop(chunk, None)
            if held is None:
                held = self._read(chunk)
            self._held[chunk] = held
            if len(self._held) > _CHUNKS_HELD:
                self._held.popitem(last=False)
        at = int(game.start[number] - game.level_start[self._level]) - self._chunks[chunk].start
        return held[:, at : at + int(game.lanes[number])]

    @property
    def nbytes(self) -> int:
        """Bytes of the chunks held in memory."""
        with self._lock:
            return sum(values.nbytes for values in self._held.values())

    def all(self, threads: int | None = None) -> Level:
        """Return the whole level, each value to the nearest step."""
        level = empty_level(self._game, self._level)
        level.values[:] = 0

        def read(chunk: int) -> None:
            level.values[:, self._chunks[chunk]] = self._read(chunk)

        with ThreadPoolExecutor(thread_count(threads)) as pool:
            list(pool.map(read, range(len(self._chunks))))
        return level

    def check(self) -> None:
        """Check all values against their checksums.

        Raises
        ------
        DamagedTable
            If some do not match.
        """
        with opened(self.path) as (file, _):
            for chunk in range(len(self._chunks)):
                self._stored(file, chunk)

    def _stored(self, file: BinaryIO, chunk: int) -> bytes:
        """Return the bytes of a chunk; they match their checksum."""
        if self._index is None:
            self._index = self._read_index(file)
        start, sums = self._index
        file.seek(self._begin + int(start[chunk]))
        stored = file.read(int(start[chunk + 1] - start[chunk]))
        if zlib.crc32(stored) != sums[chunk]:
            raise KIND.damaged(self.path, f"chunk {chunk} of its values does not match its checksum")
        return stored

    def _read(self, chunk: int) -> Floats:
        with opened(self.path) as (file, _):
            stored = self._stored(file, chunk)
        places = self._chunks[chunk]
        values = _unpacked(stored, self.header, self.header.saved + 1, places.stop - places.start)
        if values is None:
            raise KIND.damaged(self.path, f"chunk {chunk} does not hold its values")
        return values

    def _read_index(self, file: BinaryIO) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        file.seek(self._front)
        index = file.read(self._begin - self._front)
        if zlib.crc32(index) != self.header.crc32:
            raise KIND.damaged(self.path, "its index does not match its checksum")
        lengths, sums = np.frombuffer(index, _INDEX).reshape(-1, 2).T
        start = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        if int(start[-1]) != self.header.bytes:
            raise KIND.damaged(self.path, "its index does not say where its values are")
        return start, sums


def read_exact(folder: Path, game: States, level: int, name: str) -> Level:
    """Return a level to go on from, to the bit.

    Raises
    ------
    TableError
        Of the kind that fits, if there is no file, it is not what was written, or not of this game.
    """
    path = level_path(folder, level, exact=True)
    found = empty_level(game, level)
    values = found.values.reshape(-1)
    with opened(path) as (file, size):
        header, front = _header(file, size, path, game, level, name)
        if header.steps or header.bytes != values.nbytes:
            raise KIND.damaged(path, "it does not hold exact values")
        KIND.check_end(size, front + header.bytes, path)
        crc32 = 0
        for at in range(0, len(values), _PIECE):
            piece = values[at : at + _PIECE]
            stored = file.read(piece.nbytes)
            crc32 = zlib.crc32(stored, crc32)
            if len(stored) == piece.nbytes:
                piece[:] = np.frombuffer(stored, _EXACT)
    if crc32 != header.crc32:
        raise KIND.damaged(path, "its values do not match their checksum")
    return found


def level_to_go_on_from(folder: Path, game: States, name: str) -> Level:
    """Return the last level that was finished in a folder, or that of the finished states."""
    boxes = game.scoring.boxes
    for number in range(boxes):
        if level_path(folder, number, exact=True).exists():
            try:
                for final in range(number, boxes):
                    LevelFile(folder, game, final, name)
                return read_exact(folder, game, number, name)
            except TableError:
                continue  # What is not sound is made again.
    return final_level(game)


def read_header(path: str | os.PathLike[str]) -> Header:
    """Return what a level file says about itself; its values are not looked at.

    Raises
    ------
    TableError
        Of the kind that fits, if there is no such file, or its header is wrong.
    """
    with opened(path) as (file, size):
        return Header(**KIND.fields(KIND.header(file, size, path), _KINDS, path))


def _header(file: BinaryIO, size: int, path: Path, game: States, level: int, name: str) -> tuple[Header, int]:
    """Return the header of a file that is to be of a game and level, and the length of its front."""
    text = KIND.header(file, size, path)
    header = Header(**KIND.fields(text, _KINDS, path))
    digest = game.scoring.digest
    if header.digest != digest:
        held, wanted = (f"{n!r} (rules {d[:12]})" for n, d in ((header.name, header.digest), (name, digest)))
        raise WrongRulesTable(
            f"{quoted(path)} is a level file of {held}, expected one of {wanted}; {KIND.remake}"
        )
    if (header.level, header.saved, header.states) != (
        level,
        most_saved(game, level),
        states_in(game, level),
    ):
        what = f"it does not hold the {states_in(game, level)} states with {level} boxes filled"
        raise KIND.damaged(path, what)
    return header, len(text) + BYTES
