"""Levels made in pieces: each a file written whole, by threads or by any executor, from files alone.

    magic | format version | length of header | header (JSON) | CRC-32 of all before | blocks

as in `front`. A piece holds a block of bytes for each of its items, which are neighbouring filled sets of one
level or the like. The header says of which rules, level and items, and has a CRC-32 for each block, so that
reading a few blocks checks all that was read, and never reads all; where the lengths of the blocks do not
follow from the rules it has them too.

A level is whole once all its pieces are, and is not begun before the level after it is whole. Whatever is
stopped or dies, a piece is there as a whole or not at all, and what was stopped goes on where it was.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from shutil import disk_usage
from time import monotonic, sleep
from typing import Any, BinaryIO, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from . import front
from .errors import DamagedTable, TableError, TruncatedTable, VersionTable, WrongRulesTable
from .files import opened, quoted, replacing, size
from .levels import Progress
from .plan import Ints
from .tasks import Task, run_tasks, workers

PATIENCE = 60.0
"""Seconds until a file that another machine wrote must be there; network file systems may show it late."""
_PAUSE = 0.1


class Layout(Protocol):
    """How the levels of a game are cut into pieces."""

    @property
    def digest(self) -> str:
        """What tells its rules from others."""

    @property
    def boxes(self) -> int:
        """Number of boxes; also the level of finished games, which is made first."""

    def pieces(self, level: int) -> Sequence[range]:
        """Return the items of each piece of a level."""

    def names(self, level: int, items: range) -> list[int]:
        """Return a number for each item that stands for it in files."""

    def lengths(self, level: int, items: range) -> Ints | None:
        """Return how many values the block of each item has; None where it has to be noted in files."""

    def work(self, level: int, items: range) -> int:
        """Return the work in a piece, for the progress."""


L = TypeVar("L", bound=Layout)


class Kind(NamedTuple):
    """What files of one kind hold.

    Attributes
    ----------
    name
        The start of the names of such files.
    objective
        What the values are.
    front
        The kind of their front.
    generator
        What writes them.
    ending
        The end of their names.
    planes
        How many times as long as the layout says each block is.
    itemsize
        Bytes of a value.
    """

    name: str
    objective: str
    front: front.Kind
    generator: str
    ending: str
    planes: int = 1
    itemsize: int = 8


class Piece(NamedTuple):
    """One piece of a level: its number among them, and its items."""

    level: int
    number: int
    items: range


class _Contents(NamedTuple):
    """Where the blocks of a piece start, the end of the last, and their checksums."""

    starts: list[int]
    checks: list[int]


class Folder(Generic[L]):
    """The files of one kind of one game, in a folder."""

    def __init__(self, path: str | os.PathLike[str], game: L, kind: Kind) -> None:
        self.path, self.game, self.kind = Path(path), game, kind
        self._pieces: dict[int, list[Piece]] = {}
        self._contents: dict[tuple[int, int], _Contents] = {}

    def pieces(self, level: int) -> list[Piece]:
        """Return the pieces of a level."""
        if level not in self._pieces:
            shared = self.game.pieces(level)
            self._pieces[level] = [Piece(level, number, items) for number, items in enumerate(shared)]
        return self._pieces[level]

    def file(self, piece: Piece) -> Path:
        """Return where a piece is kept."""
        return self.path / f"{self.kind.name}-{piece.level:02d}-{piece.number:03d}.{self.kind.ending}"

    def write(self, piece: Piece, blocks: Sequence[bytes]) -> None:
        """Write a piece, whole or not at all, from the blocks of its items.

        Raises
        ------
        TableError
            If it cannot be written.
        """
        header = self._header(piece) | {"crc32": [zlib.crc32(block) for block in blocks]}
        if self.game.lengths(piece.level, piece.items) is None:
            header["lengths"] = [len(block) for block in blocks]
        with replacing(self.file(piece), parents=True) as file:
            file.write(self.kind.front.front(front.header_text(header)))
            file.writelines(blocks)

    def is_whole(self, piece: Piece) -> bool:
        """Whether a piece is there; a file that is not what should be there is refused.

        Raises
        ------
        TableError
            Of the kind that fits, if a file in its place is another, or not what was written.
        """
        if not self.file(piece).exists():
            return False
        self._checked(piece)
        return True

    def read(self, level: int, items: Iterable[int]) -> Iterator[bytes]:
        """Yield the blocks of items of a level, which rise, each checked.

        Raises
        ------
        TableError
            Of the kind that fits, if there is no such file, or it is not what was written.
        """
        pieces = iter(self.pieces(level))
        piece: Piece | None = None
        with ExitStack() as stack:
            for item in items:
                if piece is None or item not in piece.items:
                    stack.close()
                    piece = next(piece for piece in pieces if item in piece.items)
                    contents = self._checked(piece)
                    file, _ = stack.enter_context(opened(self.file(piece)))
                yield self._block(file, piece, contents, item - piece.items.start)

    def _block(self, file: BinaryIO, piece: Piece, contents: _Contents, place: int) -> bytes:
        start, end = contents.starts[place : place + 2]
        file.seek(start)
        block = file.read(end - start)
        if len(block) < end - start:
            what = f"{quoted(self.file(piece))} ends within its values; {self.kind.front.again}"
            raise TruncatedTable(what)
        if zlib.crc32(block) != contents.checks[place]:
            raise self._damaged(piece, "its values do not match their checksum")
        return block

    def size(self) -> int:
        """Return the number of bytes of all files of this kind that are there."""
        files = self.path.glob(f"{self.kind.name}-*.{self.kind.ending}")
        return sum(file.stat().st_size for file in files)

    def delete(self, level: int) -> None:
        """Delete the files of a level."""
        for piece in self.pieces(level):
            self.file(piece).unlink(missing_ok=True)

    def delete_unsound(self) -> None:
        """Delete the files that are not what should be there, for them to be made again."""
        for level in range(self.game.boxes + 1):
            for piece in self.pieces(level):
                try:
                    self.is_whole(piece)
                except TableError:
                    self.file(piece).unlink(missing_ok=True)

    def _header(self, piece: Piece) -> dict[str, Any]:
        return {
            "digest": self.game.digest,
            "objective": self.kind.objective,
            "level": piece.level,
            "piece": piece.number,
            "sets": self.game.names(piece.level, piece.items),
            "generator": self.kind.generator,
        }

    def _checked(self, piece: Piece) -> _Contents:
        """Return where the blocks of a piece are and their checksums; its header is read once."""
        key = piece.level, piece.number
        if key not in self._contents:
            path, kind = self.file(piece), self.kind.front
            with opened(path) as (file, size):
                text = kind.header(file, size, path)
                start = file.tell()
                lengths, checks = self._header_checks(text, piece)
                starts = (start + np.concatenate([[0], np.cumsum(lengths)])).tolist()
                kind.check_end(size, starts[-1], path)
            self._contents[key] = _Contents(starts, checks)
        return self._contents[key]

    def _header_checks(self, text: bytes, piece: Piece) -> tuple[Ints, list[int]]:
        named, again = quoted(self.file(piece)), self.kind.front.again
        wanted, known = self._header(piece), self.game.lengths(piece.level, piece.items)
        try:
            found = json.loads(text)
            held = {key: found[key] for key in wanted}
            checks = found["crc32"]
            lengths = found["lengths"] if known is None else (known * self._bytes_a_value).tolist()
            sound = len(checks) == len(lengths) == len(held["sets"])
            sound &= all(type(number) is int and number >= 0 for number in (*checks, *lengths))
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            what = f"its header does not say what a {self.kind.front.noun}'s header says"
            raise self._damaged(piece, what) from error
        if held["generator"] != wanted["generator"]:
            what = f"was written by {held['generator']!r}, and this program reads {wanted['generator']!r}"
            raise VersionTable(f"{named} {what}; {again}")
        if held["digest"] != wanted["digest"]:
            what = f"is of rules {str(held['digest'])[:12]}, expected {wanted['digest'][:12]}"
            raise WrongRulesTable(f"{named} {what}; {again}")
        for key in ("objective", "level", "piece"):
            if held[key] != wanted[key]:
                what = f"is of {key} {held[key]!r}, expected {wanted[key]!r}"
                raise WrongRulesTable(f"{named} {what}; {again}")
        if held["sets"] != wanted["sets"]:
            raise VersionTable(f"{named} is a piece with other filled sets than expected; {again}")
        if not sound:
            raise self._damaged(piece, "its header does not have a checksum for each set")
        return np.array(lengths, np.int64), list(checks)

    @property
    def _bytes_a_value(self) -> int:
        return self.kind.planes * self.kind.itemsize

    def _damaged(self, piece: Piece, what: str) -> DamagedTable:
        return self.kind.front.damaged(self.file(piece), what)


def check_room(folder: Path, length: int) -> None:
    """Refuse, before the work is done, a folder on a disk without room for so many bytes.

    Raises
    ------
    TableError
        If there is less.
    """
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    free = disk_usage(there).free
    if free < length:
        found, expected = size(free), size(length)
        if found == expected:
            found, expected = f"{free:,} bytes", f"{length:,} bytes"
        raise TableError(f"{quoted(folder)}: found {found} free, expected {expected} or more")


def made_levels(
    files: Folder[Any],
    function: Callable[..., None],
    arguments: tuple[Any, ...],
    name: str,
    *,
    transient: bool = False,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Iterator[int]:
    """Make each piece that is not there, level by level, the last level first; yield each that is whole.

    Parameters
    ----------
    files
        Where the pieces are kept.
    function, arguments
        What makes a piece: called with these arguments, then its level and its number.
    name
        Of the game, in the names of the tasks.
    transient
        Whether a level is deleted once the one before it is whole and was yielded; then no level is yielded
        that lies after a whole one at the start.
    threads, executor, progress
        As of `solve_duel`.

    Raises
    ------
    TableError
        If a piece is still not there after its level.
    """
    game = files.game
    levels = [files.pieces(level) for level in range(game.boxes, -1, -1)]
    work = {piece: game.work(piece.level, piece.items) for pieces in levels for piece in pieces}
    missing = [[piece for piece in pieces if not files.is_whole(piece)] for pieces in levels]
    whole = [place for place, left in enumerate(missing) if not left]
    begin = whole[-1] if transient and whole else 0
    total = sum(work.values())
    done = total - sum(work[piece] for left in missing[begin:] for piece in left)
    with workers(executor, threads) as pool:
        for level, left in zip(range(game.boxes - begin, -1, -1), missing[begin:], strict=True):

            def count(place: int, _: Any, left: list[Piece] = left) -> None:
                nonlocal done
                done += work[left[place]]
                if progress:
                    progress(done, total)

            run_tasks(pool, [_task(function, arguments, name, piece) for piece in left], count)
            for piece in left:
                _expect(files, piece, 0.0 if executor is None else PATIENCE)
            yield level
            if transient and level < game.boxes:
                files.delete(level + 1)


def _expect(files: Folder[Any], piece: Piece, patience: float) -> None:
    """Refuse to go on without a piece that was made; a shared folder may show it some seconds later."""
    end = monotonic() + patience
    while not files.is_whole(piece):
        if monotonic() >= end:
            what = "is not there after it was worked out, expected it from workers that reach this folder"
            raise TableError(f"{quoted(files.file(piece))} {what} by the same path")
        sleep(_PAUSE)


def _task(function: Callable[..., None], arguments: tuple[Any, ...], name: str, piece: Piece) -> Task:
    level, number = piece.level, piece.number
    named = f"{function.__name__}-{name}-level-{level:02d}-{number:03d}"
    return Task(named, function, (*arguments, level, number))
