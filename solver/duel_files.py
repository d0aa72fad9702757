"""The files of a game for two: pieces of its levels, each written whole and read with every fault named.

Their format is that of `pieces`. A piece holds the blocks of some sets of the other player (see `pairs`),
float64 in little-endian order; with several planes, a set's blocks of each plane one after the other.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import front, pieces
from .pairs import Pairs
from .pieces import Kind, Piece
from .plan import Floats

_FRONT = front.Kind(b"DWD", 1, "duel file", "duel file", "delete it and solve the game for two again")


def kind(name: str, objective: str, planes: int) -> Kind:
    """Return a kind of files with so many float64 values for each position."""
    return Kind(name, objective, _FRONT, "dicewise duel 1", "dwd", planes)


CHANCES = kind("level", "chance of the mover to win, ties counting half, both playing for it", 1)


class Folder(pieces.Folder[Pairs]):
    """The files of one kind of one game, in a folder."""

    def __init__(self, path: str | os.PathLike[str], game: Pairs, kind: Kind = CHANCES) -> None:
        super().__init__(path, game, kind)

    def write_blocks(self, piece: Piece, blocks: Sequence[Floats]) -> None:
        """Write a piece, whole or not at all, from the blocks of its sets, plane after plane.

        Raises
        ------
        TableError
            If it cannot be written.
        """
        planes = self.kind.planes
        stored = [block.astype("<f8", copy=False).tobytes() for block in blocks]
        self.write(piece, [b"".join(stored[at : at + planes]) for at in range(0, len(stored), planes)])

    def block(self, other: int, level: int) -> NDArray[np.float64]:
        """Return the values for one set of the other player, checked, shape (planes, values).

        Raises
        ------
        TableError
            Of the kind that fits, if there is no such file, or it is not what was written.
        """
        (contents,) = self.read(level, [other])
        return np.frombuffer(contents, "<f8").reshape(self.kind.planes, -1)
