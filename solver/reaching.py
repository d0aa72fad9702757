"""The greatest chance of at least n more points, for every n at once.

Let R(x, n) be the greatest probability of scoring at least n points from the start of a turn in state x to
the end of the game, upper bonus and further bonuses included (see `dynamic` for the other symbols):

    R(x, n)        = 1 where the upper bonus of x is n or more, else 0     all boxes filled
    B_0(x, n, r)   = max over boxes c that r may fill of  R(x after c and p, n - p(x, c, r))
    E_t, B_t       as for the expected score, from B_0
    R(x, n)        = sum over rolls r of P(r) B_T(x, n, r)

Lanes are needs n: sixteen neighbouring ones of a state go through the lattice side by side, and filling a
box for p points is reading the windows of the state after p lanes further back.

Only a window of needs is worked out in each state: where R is below `cut` it counts as 0, where it is
above 1 - cut as 1. How far off is that? Let e(k) bound the difference to the exact R in states with k open
boxes. Maxima and means of numbers that are each off by e(k - 1) at the most are off by no more, and the cut
moves the result by less than `cut`: e(k) <= e(k - 1) + cut and e(0) = 0, so that

    |R - exact R|  <=  (open boxes) x cut

to which a file adds half the step of its numbers. Rounding of float64 adds less than 1e-12. Sums are rounded
in the same order for every n and rounding is monotone, so that R falls with n to the bit; this is why the
walk from the expected points upwards and downwards may stop at a tile whose last chance is cut.

What was weighed: windows from the guaranteed to the greatest possible points hold 185 million chances for
official Yahtzee, those cut at 1e-6 132 million; windows that lie between sixteen ones and sixteen zeros need
no question whether a load leaves them.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor
from pathlib import Path
from shutil import rmtree

import numpy as np

from . import library
from .blocks import Blocks
from .chances import Chances, Windows, bound
from .chances_file import Part, kept_path, opened_chances, write
from .errors import GoalError
from .extremes import extreme_points
from .files import as_path
from .levels import Progress
from .lookup import Table
from .plan import Floats, Ints
from .pursuit import exact_table
from .reach_levels import Task, check_cut, following
from .reach_pieces import levels_in_pieces, scratch_folder
from .rules import Ruleset, as_ruleset
from .saving_table import solved_following
from .scope import Scope
from .scorecard import Scorecard

CUT = 1e-6
"""Chances below it count as 0 and those above 1 - cut as 1, unless another one is asked for."""

MOST_BYTES = 4 * 2**30
"""No more memory is asked for."""


def reach(
    game: Table | Ruleset | str | os.PathLike[str],
    card: Scorecard | str | None = None,
    *,
    cut: float = CUT,
    threads: int | None = None,
    executor: Executor | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Chances:
    """Work out the greatest chance of every final score, from a card on.

    Parameters
    ----------
    game
        A table, the rules, the name of a game, or the path of a rules file.
    card
        The card to start from; the empty card unless given. Only states that can follow are worked on.
    cut
        Chances below it count as 0, those above 1 - cut as 1; 0 for the exact chances, which those of games
        with saved rolls always are.
    threads
        All usable cores unless given; the result is equal to the bit.
    executor
        What works on pieces of the levels instead of threads, which then lie in files while it does; its
        workers must reach their folder by the same path. What was stopped goes on from them.
    folder
        Where the folder of the pieces is made; in the cache folder unless given.
    progress
        Called with the work done and in all.

    Raises
    ------
    ArgumentError
        If the cut is not from 0 to 0.001.
    CardError
        If the card cannot arise.
    GoalError
        If it would take more than `MOST_BYTES` of memory.
    """
    table = _table(game, card, threads)
    held = table.card(card)
    if table.ruleset.saves:
        if executor is not None:
            table.ruleset.refuse_saved_rolls("files of chances")
        check_cut(cut)
        return _reach_saving(exact_table(table, held, threads), held, threads, progress)
    task = Task(table.states, held, cut, threads)
    _check(table, task.numbers.sum())
    boxes = table.states.scoring.boxes
    levels: list[Floats] = [np.zeros(0)] * (boxes + 1)
    start = np.zeros(table.states.size, np.int64)
    first = held.filled.bit_count()
    downwards = range(boxes - 1, first - 1, -1)
    pieces: Path | None = None
    found = task.levels(table.values, progress)
    if executor is not None:
        place = kept_path(table.states)
        pieces = _pieces_folder(place, folder, held, task.cut)
        found = levels_in_pieces(task, held, pieces, executor, progress)
    for number, level in zip(downwards, found, strict=True):
        levels[number] = level.values
        start[level.positions] = level.start
    if pieces:
        rmtree(pieces, ignore_errors=True)
    store = Windows(table.states, start, levels)
    within = bound(boxes - first, cut)
    return Chances(table, held, cut, within, task.low, task.length, store)


def keep_chances(
    game: Table | Ruleset | str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    cut: float = CUT,
    threads: int | None = None,
    executor: Executor | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Chances:
    """Work out the greatest chance of every final score from every card, and keep all in a file.

    From then on `pursue` with a score to reach, and `dicewise advise --goal`, look it up there.

    Parameters
    ----------
    game, cut, threads, executor, progress
        As for `reach`.
    path
        The file; in the cache folder, where it is found again, unless given.
    folder
        Where the folder of the pieces is made; beside the file unless given.

    Returns
    -------
    The chances, read from the file.

    Raises
    ------
    ArgumentError, GoalError
        As for `reach`.
    TableError
        If the file cannot be written.
    """
    table = _table(game, None, threads, kept=True)
    card = table.card(None)
    task = Task(table.states, card, cut, threads)
    sums = np.add.reduceat(task.numbers, table.states.level_start[:-1])
    _check(table, (sums[1:] + sums[:-1]).max())
    place = kept_path(table.states) if path is None else as_path(path, "path")
    pieces: Path | None = None
    found = task.levels(table.values, progress)
    if executor is not None:
        pieces = _pieces_folder(place, folder, card, task.cut)
        found = levels_in_pieces(task, card, pieces, executor, progress)
    parts = (Part(level.positions, task.low[level.positions], level.start, level.values) for level in found)
    write(place, table.ruleset, table.states, cut, parts, parents=path is None)
    if pieces:
        rmtree(pieces, ignore_errors=True)
    return opened_chances(place, table)


def _table(
    game: Table | Ruleset | str | os.PathLike[str],
    card: Scorecard | str | None,
    threads: int | None,
    *,
    kept: bool = False,
) -> Table:
    rules = game.ruleset if isinstance(game, Table) else as_ruleset(game)
    if kept:
        rules.refuse_saved_rolls("files of chances")
    if isinstance(game, Table):
        return game
    if rules.saves:
        return solved_following(rules, card, threads=threads)
    return library.solve(rules, threads=threads)


def _reach_saving(table: Table, card: Scorecard, threads: int | None, progress: Progress | None) -> Chances:
    """Work out the chances of a game with saved rolls.

    A need of n points is a score of -n so far, 0 to be reached: blocks hold those from the most that can
    still come to the least, of which neither depends on saved rolls.
    """
    scope = Scope.of(table.states, card)
    game = scope.game
    floor, ceiling = (
        extreme_points(game, greatest, threads=threads).astype(np.int64) for greatest in (False, True)
    )
    length = np.where(following(game, card), ceiling - floor, 0)
    blocks = Blocks(scope, -ceiling, length - 1 - ceiling, 0.0, 1.0)
    blocks.solve(lambda scores: (scores >= 0).astype(np.float64), threads, progress)
    low, lengths = (np.tile(of_state, scope.rows) for of_state in (floor + 1, length))
    return Chances(table, card, 0.0, 0.0, low, lengths, _InBlocks(blocks))


class _InBlocks:
    """A `Store` of blocks of scores so far, each the negative of a need."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks

    def take(self, positions: Ints, offsets: Ints) -> Floats:
        """Return the chance at an offset into the window of the state at each of these places."""
        blocks = self._blocks
        saved, states = blocks.scope.split(positions)
        # The first need of a window is the last score of its block.
        return blocks.at(states, blocks.low[states] + blocks.length[states] - 1 - offsets, saved)


def _pieces_folder(place: Path, folder: str | os.PathLike[str] | None, card: Scorecard, cut: float) -> Path:
    return scratch_folder(place if folder is None else as_path(folder, "folder") / place.name, card, cut)


def _check(table: Table, numbers: int | np.int64) -> None:
    """Refuse to hold more chances than there is memory for."""
    needed, most = 8 * int(numbers) / 2**30, MOST_BYTES / 2**30
    if needed > most:
        raise GoalError(
            f"chances of {table.ruleset.name!r}: found up to {needed:,.1f} GB to hold in memory, expected "
            f"at most {most:.0f} GB; start from a card with more boxes filled"
        )
