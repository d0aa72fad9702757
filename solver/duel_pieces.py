"""What a piece of the work of a game for two reads, and where it writes."""

from __future__ import annotations

import numpy as np

from .duel_files import Folder
from .pairs import Pairs
from .plan import Floats, Ints, aligned, plan
from .states import LANES, members


def blocks_after(files: Folder, other: int, level: int) -> tuple[list[Floats], Ints]:
    """Return the blocks that the other player may come to from a set of a level, and where each starts.

    Returns
    -------
    values
        The blocks of each plane in one array, with room to read before and after them.
    first : int64 array, shape (boxes,)
        Where in it the block starts of the set with each box filled.
    """
    game = files.game
    sets = plan(game.states).sets
    first = np.full(game.boxes, LANES, np.int64)
    found = []
    at = LANES
    for category in members(int(sets.available[other])):
        after = int(sets.number[sets.filled[other] | 1 << category])
        found.append(files.block(after, level + 1))
        first[category] = at
        at += found[-1].shape[1]
    values = [aligned(at + LANES) for _ in range(files.kind.planes)]
    for plane, array in enumerate(values):
        array[:LANES] = array[at:] = 0
        array[LANES:at] = np.concatenate([block[plane] for block in found])
    return values, first


def room_for(game: Pairs, other: int, level: int) -> Floats:
    """Return an array for a block, with room before and after it."""
    array = aligned(game.block_length(other, level) + 2 * LANES)
    array[:LANES] = 0
    return array
