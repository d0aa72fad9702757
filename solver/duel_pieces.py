"""The work of a game for two, piece by piece: what a piece reads, and who makes which one when."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed, wait
from shutil import disk_usage
from typing import Any

import numpy as np

from .duel_files import Folder
from .errors import TableError
from .files import quoted
from .levels import Progress, thread_count
from .pairs import Pairs
from .plan import Floats, Ints, aligned, plan
from .states import LANES


def check_room(files: Folder, length: int) -> None:
    """Refuse, before the work is done, a folder on a disk without room for so many bytes.

    Raises
    ------
    TableError
        If there is less.
    """
    there = files.path.absolute()
    while not there.exists():
        there = there.parent
    free = disk_usage(there).free
    if free < length:
        raise TableError(
            f"{quoted(files.path)}: found {free / 1e9:.1f} GB free, expected {length / 1e9:.1f} GB or more"
        )


def run_pieces(
    files: Folder,
    work: Callable[[int, int], tuple[Any, ...]],
    *,
    transient: bool = False,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> None:
    """Make each piece that is not there, level by level, the last level first.

    Parameters
    ----------
    files
        Where the pieces are kept.
    work
        Called with the level and the number of a piece; returns a function and its arguments, which makes
        the piece and returns its tiles.
    transient
        Whether a level is deleted once the one before it is whole.
    threads, executor, progress
        As of `solve_duel`.

    Raises
    ------
    TableError
        If a piece is still not there after its level.
    """
    game = files.game
    levels = [files.pieces(level) for level in range(game.boxes, -1, -1)]
    tiles = {piece: game.piece_tiles(piece.level, piece.others) for pieces in levels for piece in pieces}
    missing = [[piece for piece in pieces if not files.is_whole(piece)] for pieces in levels]
    whole = [place for place, left in enumerate(missing) if not left]
    if transient and whole:
        missing[: whole[-1]] = [[] for _ in range(whole[-1])]
    total = sum(tiles.values())
    done = total - sum(tiles[piece] for left in missing for piece in left)
    own = ThreadPoolExecutor(thread_count(threads)) if executor is None else None
    pool = own or executor
    assert pool is not None
    try:
        for place, left in enumerate(missing):
            futures: list[Future[int]] = []
            try:
                for piece in left:
                    function, *arguments = work(piece.level, piece.number)
                    futures.append(pool.submit(function, *arguments))
                for future in as_completed(futures):
                    done += future.result()
                    if progress:
                        progress(done, total)
            except BaseException:
                wait([future for future in futures if not future.cancel()])
                raise
            for piece in left:
                if not files.is_whole(piece):
                    raise TableError(f"{quoted(files.file(piece))} is not there after it was worked out")
            if transient and left and place:
                files.delete(game.boxes - place + 1)
    finally:
        if own:
            own.shutdown()


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


def members(boxes: int) -> list[int]:
    """Return the categories of a set of boxes."""
    return [category for category in range(boxes.bit_length()) if boxes >> category & 1]
