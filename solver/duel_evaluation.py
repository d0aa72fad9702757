"""What playing for the chance gains over playing for the expected score, exactly.

Two kinds of player: the *optimum* one plays as in `duel`, the best against one who does the same; the
other follows the table's strategy for the expected score (`lookup`), whatever the other card says. With
W of `duel`, and each number that of the player to move:

    T(A, B, d)   the chance of a tie, both optimum players
    X(A, B, d)   the chance of an optimum player against the other kind
    Y(A, B, d)   the chance of a player for the expected score against an optimum one

T and X follow the choices that W takes, Y is a mean over how a turn ends, which is known for each set A
once and for all. The same blocks as in `duel` are gone through, with W worked out again beside them;
a level is deleted once the one before it is whole. What cannot come about from empty cards is left out,
a sixth to a fifth of the tiles. T alone, with W again, takes twice as long per tile as W does in `duel`,
and so 1.6 to 1.8 times as long in all; all three take 2.4 to 3 times as long.

Where several choices have the same chance to the last bit, an optimum player takes the first box, stops
before a reroll, and keeps more dice. (So the chances are those of one optimum strategy; another one may tie
more or less often, and lose more or less against a player who does not play for the chance.)
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from .distributions import distribution
from .duel import open_duel
from .duel_files import Folder, kind
from .duel_pieces import blocks_after, room_for
from .errors import TableError
from .files import replace
from .levels import Progress
from .library import solve
from .pairs import pair_plan, pairs
from .pieces import Kind, check_room, made_levels
from .plan import Floats, aligned, plan, work_arrays
from .rules import Ruleset, as_ruleset
from .states import LANES
from .strategy import Follower

TIES = kind("ties", "chance of a tie, both playing for the chance", 1)
FOLLOWED = kind("followed", "chances of a tie and of both kinds of player against the other", 3)
_RESULT, _TIE_RESULT = "evaluation.json", "ties.json"
T = TypeVar("T")


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
    given = as_ruleset(rules)
    duel = open_duel(given, folder)
    files = Folder(duel.files.path, duel.files.game, FOLLOWED)

    def followed() -> Evaluation:
        tie, first, second = _followed(given, files, threads, executor, progress)
        scores = distribution(solve(given, threads=threads))
        at = np.searchsorted(scores.scores, scores.scores)
        below = np.concatenate([[0.0], np.cumsum(scores.probabilities)])[at]
        same = float(np.sum(scores.probabilities**2))
        neither = float(np.sum(scores.probabilities * below)) + same / 2
        result = Evaluation(duel.chance, first, second, neither, tie, same)
        _keep(files, _RESULT, result.as_dict())
        return result

    return _kept_or(files, lambda: found(files), followed)


def tie_rate(
    rules: Ruleset | str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> float:
    """Work out how often two optimum players tie; parameters as of `duel.solve_duel`.

    Equal to the bit to `Evaluation.tie`, in less time. The result is kept in the folder, and found there
    the next time.

    Raises
    ------
    TableError
        If the game was not solved in this folder, or a file is not what was written.
    """
    given = as_ruleset(rules)
    duel = open_duel(given, folder)
    files = Folder(duel.files.path, duel.files.game, TIES)

    def kept() -> float | None:
        known = found(files)
        return _kept(files, _TIE_RESULT).get("tie") if known is None else known.tie

    def followed() -> float:
        (tie,) = _followed(given, files, threads, executor, progress)
        _keep(files, _TIE_RESULT, {"tie": tie})
        return tie

    return _kept_or(files, kept, followed)


def found(files: Folder) -> Evaluation | None:
    """Return the evaluation that a folder keeps of its game; None where there is none."""
    try:
        return Evaluation(**_kept(files, _RESULT))
    except TypeError:
        return None


def _kept_or(files: Folder, kept: Callable[[], T | None], followed: Callable[[], T]) -> T:
    """Return what a folder keeps, or else what following the players comes to.

    Another process that follows them in the same folder deletes the levels that it needs no more. What
    misses one of them goes on from where the other is.
    """
    alone = True
    while (known := kept()) is None:
        begun = _come_to(files)
        try:
            return followed()
        except TableError:
            if kept() is None and _come_to(files) >= begun:
                raise
            alone = False
    if not alone:
        _tidy(files)
    return known


def _come_to(files: Folder) -> int:
    """Return the least level of which all files are there, or one more than there are."""
    levels = range(files.game.boxes + 1)
    whole = (level for level in levels if all(files.file(piece).exists() for piece in files.pieces(level)))
    return next(whole, len(levels))


def _kept(files: Folder, name: str) -> dict[str, float]:
    """Return the chances that a file of results has; none where they are not there or not sound."""
    game = _game(files)
    try:
        kept: dict[str, Any] = json.loads((files.path / name).read_bytes())
        own = kept.pop("crc32") == _check(kept) and {key: kept.pop(key) for key in game} == game
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
    return kept if own and all(isinstance(one, float) and 0 <= one <= 1 for one in kept.values()) else {}


def _keep(files: Folder, name: str, numbers: dict[str, float]) -> None:
    """Write a file of results; what only led to them is deleted."""
    kept: dict[str, Any] = _game(files) | numbers
    replace(files.path / name, json.dumps(kept | {"crc32": _check(kept)}).encode())
    _tidy(files)


def _game(files: Folder) -> dict[str, Any]:
    """Return what a file of results says of the solved game that it belongs to."""
    game = files.game
    chance = float(Folder(files.path, game).block(0, 0)[0][-game.low(0, 0)])
    return {"digest": game.states.scoring.digest, "chance": chance}


def _check(kept: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(kept).encode())


def _tidy(files: Folder) -> None:
    """Delete the files of levels that only led to results that are kept."""
    for follows in {TIES, files.kind}:
        for level in range(files.game.boxes + 1):
            Folder(files.path, files.game, follows).delete(level)


def _followed(
    rules: Ruleset,
    files: Folder,
    threads: int | None,
    executor: Executor | None,
    progress: Progress | None,
) -> list[float]:
    """Follow the players through all levels; return the numbers at empty cards."""
    # The largest level and the one before or after it are there together.
    game, planes = files.game, files.kind.planes
    levels = [sum(game.block_length(o, level) for o in game.sets(level)) for level in range(game.boxes + 1)]
    check_room(files.path, 8 * planes * max(a + b for a, b in pairwise(levels)) - files.size())
    how: dict[str, Any] = {"threads": threads, "executor": executor, "progress": progress}
    arguments = rules, str(files.path.absolute()), files.kind
    for _ in made_levels(files, follow_piece, arguments, rules.name, transient=True, **how):
        pass
    return [float(plane[-game.low(0, 0)]) for plane in files.block(0, 0)]


def follow_piece(rules: Ruleset, folder: str, follows: Kind, level: int, number: int) -> None:
    """Work out one piece of a level from the files of the level after it; see `duel.solve_piece`."""
    game, both = pairs(rules), follows == FOLLOWED
    files, chances = Folder(folder, game, follows), Folder(folder, game)
    piece = files.pieces(level)[number]
    if level == game.boxes:
        files.write_blocks(piece, [np.array([1.0]), np.array([0.5]), np.array([0.5])][: follows.planes])
        return
    from .evaluation_kernels import average_turns, follow_turns

    arrays, level_plan = plan(game.states), pair_plan(game, level)
    (rows, keeps), *more = (work_arrays(arrays) for _ in range(3))
    work = (rows, more[0][0], more[1][0]), (keeps, more[0][1], more[1][1])
    blocks = []
    for other in piece.items:
        (chance,), first = blocks_after(chances, other, level)
        # W, T, X and Y; after the other's turn still from the side of the mover.
        values = [chance, *blocks_after(files, other, level)[0]]
        for movers in (False, True):
            results = [_zeros(room_for(game, other, level if movers else level + 1)) for _ in values]
            along, averaged = ((2, 3) if movers else (3, 2)) if both else (1, 1)
            three, to = ((of[0], of[1], of[along]) for of in (values, results))
            follow_turns(arrays, level_plan, other, movers, three, first, to, *work, both)
            if both:
                ends, mean = _ends(rules), results[averaged]
                average_turns(arrays, level_plan, other, movers, ends, values[averaged], first, mean)
            first[:] = LANES
            values = results
        blocks += [plane[LANES : LANES + game.block_length(other, level)] for plane in values[1:]]
    files.write_blocks(piece, blocks)


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
