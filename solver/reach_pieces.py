"""The chances of every score made in pieces by any executor, in a folder that all workers reach.

A piece are some neighbouring filled sets of one level. The block of a set holds, for each of its states that
are worked on, the first need of its window and the window's length, int64, then all chances, float64. They
stay until the last level is done, when what was wanted of them is read from them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from concurrent.futures import Executor
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np

from . import front, library
from .levels import Progress, shares
from .pieces import Folder, Kind, check_room, made_levels
from .plan import Floats, Ints, plan
from .reach_levels import Level, Task
from .rules import Ruleset
from .scorecard import Scorecard
from .states import LANES

PIECE_NUMBERS = 1 << 20
"""Chances in a piece: a quarter of a second or so on one core, for five dice."""

_LEAST_NUMBERS = 1 << 16
_BATCH = 512
"""Blocks that are taken apart at once."""
_FRONT = front.Kind(b"DWR", 1, "piece of the chances", "piece", "delete its folder and work them out again")


class _Sets:
    """Pieces of filled sets, counted from the first of their level.

    `counts` has for each set of the game how many of its states are worked on.
    """

    def __init__(self, task: Task) -> None:
        game = task.game
        self.digest, self.boxes = game.scoring.digest, game.scoring.boxes
        self._task, self._filled, self._level_sets = task, game.filled, game.level_sets
        self._numbers = np.add.reduceat(task.numbers, game.start)
        self.counts: Ints = np.add.reduceat(task.chosen, game.start, dtype=np.int64)

    def pieces(self, level: int) -> list[range]:
        """Return the sets of each piece: none of finished states, whose chances are plain."""
        if not self._task.first_level <= level < self.boxes:
            return []
        numbers = self._numbers[slice(*self._level_sets[level : level + 2])]
        return shares(numbers, PIECE_NUMBERS, least=min(_LEAST_NUMBERS, PIECE_NUMBERS))

    def names(self, level: int, items: range) -> list[int]:
        """Return the filled sets themselves."""
        found: list[int] = self._filled[self._slice(level, items)].tolist()
        return found

    def lengths(self, level: int, items: range) -> None:
        """Return that lengths are not known before."""

    def work(self, level: int, items: range) -> int:
        """Return how many chances there may be in a piece."""
        return int(self._numbers[self._slice(level, items)].sum())

    def _slice(self, level: int, items: range) -> slice:
        first = int(self._level_sets[level])
        return slice(first + items.start, first + items.stop)


def scratch_folder(place: Path, card: Scorecard, cut: float) -> Path:
    """Return the folder for the pieces of what is to be kept at a place, one for each card and cut."""
    return place.with_name(f"{place.name}-{zlib.crc32(_objective(card, cut).encode()):08x}.pieces")


def levels_in_pieces(
    task: Task, card: Scorecard, folder: Path, executor: Executor, progress: Progress | None
) -> Iterator[Level]:
    """Do what `Task.levels` does, in pieces, going on from those that a folder holds."""
    files = _files(task, card, folder)
    files.delete_unsound()
    task.finished()
    check_room(folder, 8 * int(task.numbers.sum()) - files.size())
    arguments = card.ruleset, str(folder.absolute()), str(card), task.cut
    name, how = card.ruleset.name, {"executor": executor, "progress": progress}
    for level in made_levels(files, solve_reach_piece, arguments, name, **how):  # type: ignore[arg-type]
        if files.pieces(level):
            first, last = task.game.level_sets[level : level + 2].tolist()
            yield _gathered(files, task, level, np.arange(last - first))


def solve_reach_piece(rules: Ruleset, folder: str, card: str, cut: float, level: int, number: int) -> None:
    """Work out one piece of a level from the pieces of the level after it.

    Nothing but the files and the arguments matters, so it may run in any process that reaches the folder.
    """
    from .reach_kernels import Range

    known, expected = _known(rules, card, cut)
    task = known.afresh()
    game, sets = task.game, plan(task.game).sets
    files = _files(task, Scorecard.parse(rules, card), Path(folder))
    piece = files.pieces(level)[number]
    first = int(game.level_sets[level])
    numbers = np.arange(first + piece.items.start, first + piece.items.stop)
    counts = files.game.counts[numbers]
    positions = _worked_on(task, numbers)
    if level + 1 == game.scoring.boxes:
        after = task.finished()
    else:
        here = numbers[counts > 0]
        filled, available = sets.filled[here], sets.available[here]
        following = [filled[available >> box & 1 > 0] | 1 << box for box in range(game.scoring.boxes)]
        numbers_after = np.unique(sets.number[np.concatenate(following)]).astype(np.int64)
        after = _gathered(files, task, level + 1, numbers_after - game.level_sets[level + 1]).values
    ends = Range(task.floor, task.ceiling, np.rint(expected).astype(np.int64))
    values = task.windows(after, positions, ends) if len(positions) else np.zeros(0)
    states = np.split(positions, np.cumsum(counts)[:-1])
    files.write(piece, [_block(task, of, values) for of in states])


def _block(task: Task, positions: Ints, values: Floats) -> bytes:
    """Return the block of a set from the windows of its states."""
    low, length = task.low[positions], task.length[positions]
    chances = values[_places(task.start[positions], length)]
    kinds = ((low, "<i8"), (length, "<i8"), (chances, "<f8"))
    return b"".join(array.astype(kind).tobytes() for array, kind in kinds)


def _gathered(files: Folder[_Sets], task: Task, level: int, sets: Ints) -> Level:
    """Read the windows of some sets, which rise, and note in the task where each lies."""
    game = task.game
    numbers = game.level_sets[level] + sets
    counts = files.game.counts[numbers].tolist()
    positions = _worked_on(task, numbers)
    blocks = zip(files.read(level, sets.tolist()), counts, strict=True)
    found: list[Floats] = []
    at = done = 0
    while batch := list(islice(blocks, _BATCH)):
        states = positions[done : done + sum(count for _, count in batch)]
        low = np.concatenate([np.frombuffer(block[: 8 * count], "<i8") for block, count in batch])
        length = np.concatenate(
            [np.frombuffer(block[8 * count :][: 8 * count], "<i8") for block, count in batch]
        )
        padded = length + 2 * LANES
        start = np.cumsum(padded) - padded + LANES
        values = np.zeros(int(padded.sum()))
        values[(start[:, None] - 1 - np.arange(LANES)).ravel()] = 1
        chances = [np.frombuffer(block[16 * count :], "<f8") for block, count in batch]
        values[_places(start, length)] = np.concatenate(chances)
        task.low[states], task.length[states], task.start[states] = low, length, at + start
        found.append(values)
        at += len(values)
        done += len(states)
    return Level(positions, task.start[positions], np.concatenate(found))


def _places(start: Ints, length: Ints) -> Ints:
    """Return where all the chances of windows lie, one window after the other."""
    return np.repeat(start - (np.cumsum(length) - length), length) + np.arange(int(length.sum()))


def _worked_on(task: Task, numbers: Ints) -> Ints:
    """Return the positions of the states of some sets that are worked on."""
    all_states = _places(task.game.start[numbers], task.game.lanes[numbers].astype(np.int64))
    return all_states[task.chosen[all_states]]


@lru_cache(maxsize=2)
def _known(rules: Ruleset, card: str, cut: float) -> tuple[Task, Floats]:
    """Return what all pieces have in common, and the expected points to come."""
    table = library.solve(rules, threads=1)
    return Task(table.states, table.card(card), cut, 1), table.values


def _files(task: Task, card: Scorecard, folder: Path) -> Folder[_Sets]:
    kind = Kind("chances", _objective(card, task.cut), _FRONT, "dicewise pieces 1", "dwr")
    return Folder(folder, _Sets(task), kind)


def _objective(card: Scorecard, cut: float) -> str:
    return f"greatest chances of every score from '{card}' on, cut at {cut!r}"
