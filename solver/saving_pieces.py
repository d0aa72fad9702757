"""Levels of a game with saved rolls made in pieces by any executor, in a folder that all workers reach.

A piece of a level are some neighbouring filled sets. It is worked out from the blocks of the sets that can
follow, all that its worker has to hold, and kept to the bit; packed as in the final file of the level it is
kept beside that. When a level is whole its final file is put together, and the level after it is deleted.

The blocks that a piece needs lie in few runs: the sets of a piece share their higher bits, and so do those
that follow when a certain box is filled.
"""

from __future__ import annotations

from concurrent.futures import Executor
from itertools import pairwise
from pathlib import Path
from shutil import rmtree

import numpy as np

from . import front
from .errors import TableError
from .levels import Progress, shares
from .pieces import Folder, Kind, Piece, check_room, made_levels
from .plan import Floats, Ints, Plan, aligned, plan, work_arrays
from .rules import Ruleset
from .saving import Level, empty_level, final_level, level_values, most_saved
from .saving_files import (
    SETS,
    LevelFile,
    chunk_places,
    level_path,
    level_to_go_on_from,
    packed,
    stored_width,
    write_packed,
)
from .scoring import scoring
from .states import LANES, States, states

PIECE_PASSES = 1 << 16
"""Passes of a tile over the lattice of keeps in a piece: a second or so on one core."""
_LEAST_PASSES = 1 << 12

_FRONT = front.Kind(b"DWP", 1, "piece of a level", "piece", "delete its folder and solve the game again")
_GENERATOR = "dicewise pieces 1"
_EXACT = Kind("exact", "expected points to come, by saved rolls", _FRONT, _GENERATOR, "dwp")
_PACKED = Kind("packed", "the same, packed as in the file of the level", _FRONT, _GENERATOR, "dwp")


class _Sets:
    """Pieces of whole chunks of filled sets; their items are the sets, or the chunks."""

    def __init__(self, game: States, *, chunks: bool = False) -> None:
        self.states, self.digest, self.boxes = game, game.scoring.digest, game.scoring.boxes
        self._chunks, self._step = chunks, SETS if chunks else 1

    def pieces(self, level: int) -> list[range]:
        """Return the items of each piece, counted from the first of the level."""
        first, last = self.states.level_sets[level : level + 2].tolist()
        starts = np.arange(first, last, SETS)
        passes = np.add.reduceat(self.states.lanes[first:last], starts - first) * self._passes(level)
        cut = shares(-(-passes // LANES), PIECE_PASSES, least=min(_LEAST_PASSES, PIECE_PASSES))
        if self._chunks:
            return cut
        return [range(chunks.start * SETS, min(chunks.stop * SETS, last - first)) for chunks in cut]

    def names(self, level: int, items: range) -> list[int]:
        """Return the filled set of each item, of a chunk the first."""
        first = int(self.states.level_sets[level])
        places = slice(
            first + items.start * self._step, first + (items.stop - 1) * self._step + 1, self._step
        )
        found: list[int] = self.states.filled[places].tolist()
        return found

    def lengths(self, level: int, items: range) -> Ints | None:
        """Return the number of values of each set; that of the bytes of a chunk is not known before."""
        if self._chunks:
            return None
        first = int(self.states.level_sets[level])
        lanes = self.states.lanes[first + items.start : first + items.stop]
        return lanes.astype(np.int64) * (most_saved(self.states, level) + 1)

    def work(self, level: int, items: range) -> int:
        """Return the passes of a tile over the lattice, but for the tiles at the ends."""
        first = int(self.states.level_sets[level])
        lanes = self.states.lanes[first + items.start : first + items.stop]
        return -(-int(lanes.sum()) * self._passes(level) // LANES)

    def _passes(self, level: int) -> int:
        """Return how many passes a tile takes; the finished states take none, and are cut as if."""
        return (self.states.scoring.rolls - 1) * (level + 1) + 1


def pieces_folder(folder: Path) -> Path:
    """Return where the pieces of a game lie that is solved into a folder."""
    return folder / "pieces"


def solve_in_pieces(
    ruleset: Ruleset, game: States, folder: Path, executor: Executor, progress: Progress | None
) -> int | None:
    """Solve a game into a folder, going on from what it holds; parameters as of `solved_in_files`.

    Returns
    -------
    Boxes filled of the last level that was whole before; None where there was none.
    """
    boxes, place = game.scoring.boxes, pieces_folder(folder)
    files = _sound_files(folder, game, ruleset.name)
    begun = _whole_level(folder, files, ruleset.name)
    after = level_to_go_on_from(folder, game, ruleset.name)
    if begun is None or after.number < begun:
        rmtree(place, ignore_errors=True)
        begun = after.number if after.number < boxes else None
    sizes = [8 * level_values(game, level) for level in range(boxes + 1)]
    check_room(folder, max(map(sum, pairwise(sizes))) - files.size())
    if begun == after.number:
        for piece in files.pieces(begun):
            if not files.is_whole(piece):
                _write(files, piece, after.values, int(game.level_start[begun]))
    del after
    for level in made_levels(
        files,
        solve_saving_piece,
        (ruleset, str(folder.absolute())),
        ruleset.name,
        transient=True,
        executor=executor,
        progress=progress,
    ):
        if level < boxes and not _is_sound(folder, game, level, ruleset.name):
            _put_together(ruleset, game, folder, level)
        for number in range(level + 1, boxes):
            level_path(folder, number, exact=True).unlink(missing_ok=True)
    rmtree(place, ignore_errors=True)
    level_path(folder, 0, exact=True).unlink(missing_ok=True)
    return begun


def level_in_pieces(ruleset: Ruleset, game: States, folder: Path) -> Level | None:
    """Return the last level of a folder that is there in whole pieces, for one process to go on from."""
    if not pieces_folder(folder).exists():
        return None
    files = _sound_files(folder, game, ruleset.name)
    number = _whole_level(folder, files, ruleset.name)
    if number is None:
        return None
    level = empty_level(game, number)
    level.values[:] = 0
    first, last = game.level_sets[number : number + 2].tolist()
    starts = (game.start[first:last] - game.level_start[number]).tolist()
    places = zip(starts, game.lanes[first:last].tolist(), strict=True)
    try:
        for block, (begin, lanes) in zip(files.read(number, range(last - first)), places, strict=True):
            level.values[:, begin : begin + lanes] = _values(block, lanes)
        if number < game.scoring.boxes and not _is_sound(folder, game, number, ruleset.name):
            _put_together(ruleset, game, folder, number)
    except TableError:
        return None  # What is not sound is made again.
    return level


def solve_saving_piece(rules: Ruleset, folder: str, level: int, number: int) -> None:
    """Work out one piece of a level from the pieces of the level after it, in the folder of the level files.

    Nothing but the files and the arguments matters, so it may run in any process that reaches the folder.
    """
    game = states(scoring(rules))
    files = _exact_files(Path(folder), game)
    piece = files.pieces(level)[number]
    if level == game.scoring.boxes:
        _write(files, piece, final_level(game).values, int(game.level_start[level]))
        return
    from .saving_kernels import solve_saving_tiles

    first = int(game.level_sets[level])
    ends = first + piece.items.start, first + piece.items.stop - 1
    begin = int(game.start[ends[0]]) // LANES
    end = -(-int(game.start[ends[1]] + game.lanes[ends[1]]) // LANES)
    after, width_after, arrays = _after(files, level, begin, end)
    width, saved = (end - begin) * LANES, most_saved(game, level)
    now = aligned(width * (saved + 1) + 2 * LANES)
    sizes = width, width_after, saved, begin * LANES
    solve_saving_tiles(now, after, *sizes, begin, end, arrays, *work_arrays(arrays))
    values = now[LANES:-LANES].reshape(-1, width)
    chunks = _packed_files(Path(folder), game)
    # Kept to the bit comes last: where that is there, all of the piece is.
    size, before = stored_width(game), begin * LANES
    places = [slice(of.start - before, of.stop - before) for of in _chunk_places(chunks, level, number)]
    chunks.write(chunks.pieces(level)[number], [packed(values[:, place], size) for place in places])
    _write(files, piece, values, begin * LANES)


def _after(files: Folder[_Sets], level: int, begin: int, end: int) -> tuple[Floats, int, Plan]:
    """Return the values after the tiles begin .. end-1 of a level.

    Returns
    -------
    values : float64 array
        For each number of saved rolls a row of the states that can follow, with `LANES` zeros at both ends.
    width : int
        The length of a row.
    plan : Plan
        The game, with `sets.first` counted in such a row.
    """
    game, arrays = files.game.states, plan(files.game.states)
    sets = arrays.sets
    tiles = slice(
        int(np.searchsorted(game.start + game.lanes, begin * LANES, side="right")),
        int(np.searchsorted(game.start, end * LANES)),
    )
    filled, available = sets.filled[tiles], sets.available[tiles]
    following = [filled[available >> box & 1 > 0] | 1 << box for box in range(files.game.boxes)]
    numbers = np.unique(sets.number[np.concatenate(following)])
    lanes = sets.lanes[numbers]
    starts = np.cumsum(lanes) - lanes
    width, rows = int(lanes.sum()), most_saved(game, level + 1) + 1
    flat = aligned(width * rows + 2 * LANES)
    flat[:LANES] = flat[-LANES:] = 0
    values = flat[LANES:-LANES].reshape(rows, width)
    blocks = files.read(level + 1, (numbers - int(game.level_sets[level + 1])).tolist())
    for block, at, count in zip(blocks, starts.tolist(), lanes.tolist(), strict=True):
        values[:, at : at + count] = _values(block, count)
    first = np.zeros_like(sets.first)
    first[sets.filled[numbers]] = starts
    return flat, width, arrays._replace(sets=sets._replace(first=first))


def _values(block: bytes, lanes: int) -> Floats:
    return np.frombuffer(block, "<f8").reshape(-1, lanes)


def _write(files: Folder[_Sets], piece: Piece, values: Floats, begin: int) -> None:
    """Write a piece to the bit, from rows of values that start with the position `begin`."""
    game = files.game.states
    first = int(game.level_sets[piece.level])
    sets = slice(first + piece.items.start, first + piece.items.stop)
    starts, lanes = (game.start[sets] - begin).tolist(), game.lanes[sets].tolist()
    places = zip(starts, lanes, strict=True)
    files.write(piece, [values[:, at : at + count].astype("<f8").tobytes() for at, count in places])


def _put_together(ruleset: Ruleset, game: States, folder: Path, level: int) -> None:
    """Write the final file of a level that is whole."""
    chunks = _packed_files(folder, game)
    stored = [block for piece in chunks.pieces(level) for block in chunks.read(level, piece.items)]
    root = None
    if level == 0:
        (block,) = _exact_files(folder, game).read(0, [0])
        root = float(_values(block, int(game.lanes[0]))[0, 0])
    write_packed(folder, ruleset, game, level, stored, root)
    chunks.delete(level)


def _chunk_places(chunks: Folder[_Sets], level: int, number: int) -> list[slice]:
    """Return the positions of the chunks of a piece."""
    game, items = chunks.game.states, chunks.pieces(level)[number].items
    start = int(game.level_start[level])
    places = chunk_places(game, level)[items.start : items.stop]
    return [slice(start + place.start, start + place.stop) for place in places]


def _whole_level(folder: Path, files: Folder[_Sets], name: str) -> int | None:
    """Return the last level that is whole in pieces, all the levels after it being whole in their files."""
    game = files.game
    for level in range(game.boxes + 1):
        if all(map(files.is_whole, files.pieces(level))):
            sound = all(_is_sound(folder, game.states, after, name) for after in range(level + 1, game.boxes))
            chunks = _packed_files(folder, game.states)
            here = level == game.boxes or _is_sound(folder, game.states, level, name)
            return level if sound and (here or all(map(chunks.is_whole, chunks.pieces(level)))) else None
    return None


def _is_sound(folder: Path, game: States, level: int, name: str) -> bool:
    try:
        LevelFile(folder, game, level, name)
    except TableError:
        return False
    return True


def _sound_files(folder: Path, game: States, name: str) -> Folder[_Sets]:
    """Return the pieces kept to the bit, once those are deleted that are not sound, be it only as packed."""
    files, chunks = _exact_files(folder, game), _packed_files(folder, game)
    files.delete_unsound()
    chunks.delete_unsound()
    for level in range(game.scoring.boxes):
        if not _is_sound(folder, game, level, name):
            for piece, as_packed in zip(files.pieces(level), chunks.pieces(level), strict=True):
                if not chunks.file(as_packed).exists():
                    files.file(piece).unlink(missing_ok=True)
    return files


def _exact_files(folder: Path, game: States) -> Folder[_Sets]:
    return Folder(pieces_folder(folder), _Sets(game), _EXACT)


def _packed_files(folder: Path, game: States) -> Folder[_Sets]:
    # Of a game whose values take 8 bytes there may be pieces of programs that took 4.
    objective = _PACKED.objective + (" in 8 bytes a value" if stored_width(game) == 8 else "")
    return Folder(pieces_folder(folder), _Sets(game, chunks=True), _PACKED._replace(objective=objective))
