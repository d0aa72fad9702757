"""What playing for the chance gains over playing for the expected score, exactly.

Two kinds of player: the *optimum* one plays as in `duel`, the best against one who does the same; the
other follows the table's strategy for the expected score (`lookup`), whatever the other card says. With
W of `duel`, and each number that of the player to move:

    T(A, B, d)   the chance of a tie, both optimum players
    X(A, B, d)   the chance of an optimum player against the other kind
    Y(A, B, d)   the chance of a player for the expected score against an optimum one

T and X follow the choices that W takes, Y is a mean over how a turn ends, which is known for each set A
once and for all. The same blocks as in `duel` are gone through, with W worked out again beside them;
a level is deleted once the one before it is whole. What cannot come about from empty cards is left out.

Where several choices have the same chance to the last bit, an optimum player takes the first box, stops
before a reroll, and keeps more dice. (So the chances are those of one optimum strategy; another one may tie
more or less often, and lose more or less against a player who does not play for the chance.)
"""

from __future__ import annotations

import json
import os
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .distributions import distribution
from .duel import open_duel
from .duel_files import Folder, Kind
from .duel_pieces import blocks_after, check_room, room_for, run_pieces
from .files import replace
from .levels import Progress
from .library import solve
from .pairs import pair_plan, pairs
from .plan import Floats, aligned, plan, work_arrays
from .rules import Ruleset, ruleset
from .states import LANES
from .strategy import Follower

FOLLOWED = Kind("followed", "chances of a tie and of both kinds of player against the other", 3)
_RESULT = "evaluation.json"


@dataclass(frozen=True)
class Evaluation:
    """The chance of the player who moves first, a tie counting half, by who plays how.

    Attributes
    ----------
    both_optimum, first_optimum, second_optimum, neither_optimum
        Who plays for the chance; the others play for their expected score.
    tie, neither_optimum_tie
        The chance of a tie where both do, and where neither does.
    """

    both_optimum: float
    first_optimum: float
    second_optimum: float
    neither_optimum: float
    tie: float
    neither_optimum_tie: float

    def as_dict(self) -> dict[str, float]:
        """Return the chances as they are written in JSON."""
        return asdict(self)


def evaluate(
    rules: Ruleset | str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Work out the four pairings of a game for two that was solved; parameters as of `duel.solve_duel`.

    The result is kept in the folder, and found there the next time.

    Raises
    ------
    TableError
        If the game was not solved in this folder, or a file is not what was written.
    """
    given = rules if isinstance(rules, Ruleset) else ruleset(rules)
    duel = open_duel(given, folder)
    known = found(duel.files)
    if known is not None:
        return known
    files = Folder(duel.files.path, duel.files.game, FOLLOWED)

    # The largest level and the one before or after it are there together.
    game = files.game
    levels = [sum(game.block_length(o, level) for o in game.sets(level)) for level in range(game.boxes + 1)]
    check_room(files, 8 * FOLLOWED.planes * max(a + b for a, b in pairwise(levels)) - files.size())

    def work(level: int, number: int) -> tuple[Any, ...]:
        return evaluate_piece, given, str(files.path), level, number

    run_pieces(files, work, transient=True, threads=threads, executor=executor, progress=progress)
    tie, first, second = (float(plane[-duel.files.game.low(0, 0)]) for plane in files.block(0, 0))
    scores = distribution(solve(given, threads=threads))
    at = np.searchsorted(scores.scores, scores.scores)
    below = np.concatenate([[0.0], np.cumsum(scores.probabilities)])[at]
    same = float(np.sum(scores.probabilities**2))
    neither = float(np.sum(scores.probabilities * below)) + same / 2
    result = Evaluation(duel.chance, first, second, neither, tie, same)
    text = json.dumps({"digest": duel.table.states.scoring.digest} | result.as_dict())
    replace(files.path / _RESULT, text.encode())
    files.delete(0)
    return result


def found(files: Folder) -> Evaluation | None:
    """Return the evaluation that a folder keeps of its game; None where there is none."""
    try:
        kept = json.loads((Path(files.path) / _RESULT).read_bytes())
        if kept.pop("digest") != files.game.states.scoring.digest:
            return None
        return Evaluation(**kept)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def evaluate_piece(rules: Ruleset, folder: str, level: int, number: int) -> int:
    """Work out one piece of a level from the files of the level after it; see `duel.solve_piece`."""
    game = pairs(rules)
    files, chances = Folder(folder, game, FOLLOWED), Folder(folder, game)
    piece = files.pieces(level)[number]
    if level == game.boxes:
        files.write(piece, [np.array([1.0]), np.array([0.5]), np.array([0.5])])
        return 0
    from .evaluation_kernels import average_turns, follow_turns

    arrays, level_plan, ends = plan(game.states), pair_plan(game, level), _ends(rules)
    (rows, keeps), *more = (work_arrays(arrays) for _ in range(3))
    work = (rows, more[0][0], more[1][0]), (keeps, more[0][1], more[1][1])
    blocks = []
    for other in piece.others:
        (chance,), first = blocks_after(chances, other, level)
        (tie, optimum, points), _ = blocks_after(files, other, level)
        # After the mover's turn, still from the mover's side: the chances of either kind of mover.
        w, t, x, y = (_zeros(room_for(game, other, level + 1)) for _ in range(4))
        follow_turns(arrays, level_plan, other, False, (chance, tie, points), first, (w, t, y), *work)
        average_turns(arrays, level_plan, other, False, ends, optimum, first, x)
        first[:] = LANES
        block = [_zeros(room_for(game, other, level)) for _ in range(4)]
        follow_turns(arrays, level_plan, other, True, (w, t, x), first, (block[0], block[1], block[2]), *work)
        average_turns(arrays, level_plan, other, True, ends, y, first, block[3])
        blocks += [plane[LANES : LANES + game.block_length(other, level)] for plane in block[1:]]
    files.write(piece, blocks)
    return game.piece_tiles(level, piece.others)


def _zeros(array: Floats) -> Floats:
    array[:] = 0
    return array


@lru_cache(maxsize=2)
def _ends(rules: Ruleset) -> Floats:
    """Return the probability of each set's turn to end in each row, for the expected score's strategy."""
    follower = Follower(solve(rules, threads=1), threads=1)
    game, rows = follower.game, len(follower.plan.rows.points)
    probabilities = aligned(len(game.filled) * rows).reshape(len(game.filled), rows)
    probabilities[:] = 0
    with ThreadPoolExecutor(1) as pool:
        for level in range(game.scoring.boxes):
            first, last = game.level_sets[level : level + 2].tolist()
            ends = follower.ends(game.start[first:last], pool)
            number = np.repeat(np.arange(first, last), np.diff(ends.first))
            probabilities[number, ends.rows] = ends.probabilities
    return probabilities
