"""The files of a game for two: pieces of its levels, each written whole and read with every fault named.

    magic | format version | length of header | header (JSON) | CRC-32 of all before | blocks

as in `front`. A piece holds the blocks of some sets of the other player (see `pairs`), float64 in
little-endian order; with several planes, a set's blocks of each plane one after the other. The header
says of which rules, level and sets, and has a CRC-32 for each set, so that reading a few values checks
all that was read, and never reads all.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import front
from .errors import DamagedTable, TruncatedTable, VersionTable, WrongRulesTable
from .files import opened, quoted, replacing
from .pairs import Pairs
from .plan import Floats

_FRONT = front.Kind(b"DWD", 1, "duel file", "duel file", "delete it and solve the game for two again")
_AGAIN = _FRONT.again
_GENERATOR = "dicewise duel 1"


class Kind(NamedTuple):
    """What files of one kind hold.

    Attributes
    ----------
    name
        The start of the names of such files.
    objective
        What the values are.
    planes
        How many values there are for each position.
    """

    name: str
    objective: str
    planes: int


CHANCES = Kind("level", "chance of the mover to win, ties counting half, both playing for it", 1)


class Piece(NamedTuple):
    """One piece of a level: its number among them, and the sets of the other player."""

    level: int
    number: int
    others: range


class Folder:
    """The files of one kind of one game, in a folder."""

    def __init__(self, path: str | os.PathLike[str], game: Pairs, kind: Kind = CHANCES) -> None:
        self.path, self.game, self.kind = Path(path), game, kind
        self._pieces: dict[int, list[Piece]] = {}
        self._starts: dict[tuple[int, int], tuple[int, list[int]]] = {}

    def pieces(self, level: int) -> list[Piece]:
        """Return the pieces of a level."""
        if level not in self._pieces:
            shared = self.game.pieces(level)
            self._pieces[level] = [Piece(level, number, others) for number, others in enumerate(shared)]
        return self._pieces[level]

    def file(self, piece: Piece) -> Path:
        """Return where a piece is kept."""
        return self.path / f"{self.kind.name}-{piece.level:02d}-{piece.number:03d}.dwd"

    def write(self, piece: Piece, blocks: Sequence[Floats]) -> None:
        """Write a piece, whole or not at all, from the blocks of its sets, plane after plane.

        Raises
        ------
        TableError
            If it cannot be written.
        """
        contents = [block.astype("<f8", copy=False).tobytes() for block in blocks]
        planes = self.kind.planes
        checks = []
        for first in range(0, len(contents), planes):
            check = 0
            for block in contents[first : first + planes]:
                check = zlib.crc32(block, check)
            checks.append(check)
        header = self._header(piece) | {"crc32": checks}
        text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
        with replacing(self.file(piece), parents=True) as file:
            file.write(_FRONT.front(text))
            for block in contents:
                file.write(block)

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

    def block(self, other: int, level: int) -> NDArray[np.float64]:
        """Return the values for one set of the other player, checked, shape (planes, values).

        Raises
        ------
        TableError
            Of the kind that fits, if there is no such file, or it is not what was written.
        """
        piece = next(piece for piece in self.pieces(level) if other in piece.others)
        path = self.file(piece)
        start, checks = self._checked(piece)
        place = other - piece.others.start
        length = self.game.block_length(other, level)
        for before in range(piece.others.start, other):
            start += 8 * self.kind.planes * self.game.block_length(before, level)
        with opened(path) as (file, _):
            file.seek(start)
            contents = file.read(8 * self.kind.planes * length)
        if len(contents) < 8 * self.kind.planes * length:
            raise TruncatedTable(f"{quoted(path)} ends within its values; {_AGAIN}")
        if zlib.crc32(contents) != checks[place]:
            what = "its values do not match their checksum"
            raise DamagedTable(f"{quoted(path)} is damaged: {what}; {_AGAIN}")
        return np.frombuffer(contents, "<f8").reshape(self.kind.planes, length)

    def size(self) -> int:
        """Return the number of bytes of all files of this kind that are there."""
        return sum(file.stat().st_size for file in self.path.glob(f"{self.kind.name}-*.dwd"))

    def delete(self, level: int) -> None:
        """Delete the files of a level."""
        for piece in self.pieces(level):
            self.file(piece).unlink(missing_ok=True)

    def _header(self, piece: Piece) -> dict[str, Any]:
        return {
            "digest": self.game.states.scoring.digest,
            "objective": self.kind.objective,
            "level": piece.level,
            "piece": piece.number,
            "sets": self.game.states.filled[piece.others.start : piece.others.stop].tolist(),
            "generator": _GENERATOR,
        }

    def _checked(self, piece: Piece) -> tuple[int, list[int]]:
        """Return where the blocks of a piece start and their checksums; its header is read once."""
        key = piece.level, piece.number
        if key not in self._starts:
            path = self.file(piece)
            with opened(path) as (file, size):
                text = _FRONT.header(file, size, path)
                start = file.tell()
                checks = self._header_checks(text, piece)
                values = sum(self.game.block_length(other, piece.level) for other in piece.others)
                _FRONT.check_end(size, start + 8 * self.kind.planes * values, path)
            self._starts[key] = start, checks
        return self._starts[key]

    def _header_checks(self, text: bytes, piece: Piece) -> list[int]:
        named = quoted(self.file(piece))
        try:
            found = json.loads(text)
            held = {key: found[key] for key in self._header(piece)}
            checks = found["crc32"]
            sound = len(checks) == len(held["sets"]) and all(type(check) is int for check in checks)
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            what = "its header does not say what a duel file's header says"
            raise DamagedTable(f"{named} is damaged: {what}; {_AGAIN}") from error
        wanted = self._header(piece)
        if held["generator"] != wanted["generator"]:
            what = f"was written by {held['generator']!r}, and this program reads {_GENERATOR!r}"
            raise VersionTable(f"{named} {what}; {_AGAIN}")
        if held["digest"] != wanted["digest"]:
            what = f"is of rules {str(held['digest'])[:12]}, expected {wanted['digest'][:12]}"
            raise WrongRulesTable(f"{named} {what}; {_AGAIN}")
        for key in ("objective", "level", "piece"):
            if held[key] != wanted[key]:
                what = f"is of {key} {held[key]!r}, expected {wanted[key]!r}"
                raise WrongRulesTable(f"{named} {what}; {_AGAIN}")
        if held["sets"] != wanted["sets"]:
            raise VersionTable(f"{named} is a piece with other filled sets than expected; {_AGAIN}")
        if not sound:
            what = "its header does not have a checksum for each set"
            raise DamagedTable(f"{named} is damaged: {what}; {_AGAIN}")
        return list(checks)
