"""Whole games of play with slips, many at once; see `strength`.

Each block of games has its own stream of random numbers from numpy's PCG64DXSM, so that a seed gives the same
games whatever the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .levels import Progress, thread_count
from .lookup import Table
from .plan import LanePlan, aligned, plan, work_arrays
from .scope import Scope
from .states import LANES, States
from .strategy import inside
from .strength import LEAST

if TYPE_CHECKING:
    from .soft_play_kernels import PlayWork

_BLOCK = 1 << 13


def play_games(
    table: Table,
    temperature: float,
    games: int,
    seed: int,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """Return the final scores of games from the empty card, played at a temperature.

    Parameters
    ----------
    table
        Whose losses count.
    temperature
        In points, above 0; infinity is play at random.
    games, seed
        How many games, and where their random numbers start.
    threads
        All usable cores unless given.
    progress
        Called with the blocks of games done and in all.
    """
    from .soft_play_kernels import play_softly

    scope = Scope.of(table.states, table.card(None))
    game, arrays = scope.game, plan(scope.game)
    values = table.values_in(scope)
    none = np.zeros(0, np.int64)
    cold = 1 / max(temperature, LEAST)
    keeps = inside(game)
    sizes = [min(_BLOCK, games - at) for at in range(0, games, _BLOCK)]
    streams = np.random.SeedSequence(seed).spawn(len(sizes))

    def block(size: int, stream: np.random.SeedSequence) -> NDArray[np.int64]:
        random = np.random.PCG64DXSM(stream)
        positions = np.full(size, game.position(0, 0, 0), np.int64)
        scores, saved = np.zeros(size, np.int64), np.zeros(size, np.int64)
        work = _play_work(game, scope.most(game.scoring.boxes - 1))
        for level in range(game.scoring.boxes):
            rolls = game.scoring.rolls + scope.most(level)
            number = np.searchsorted(arrays.sets.start, positions, side="right") - 1
            lanes = LanePlan(number, positions - arrays.sets.start[number], none, none)
            numbers = random.random_raw(size * rolls * 2).reshape(size, rolls, 2)
            played = positions, scores, saved
            play_softly(values, scope.stride, arrays, lanes, keeps, cold, numbers, *played, work)
        scores += game.final[positions - game.level_start[-2]].astype(np.int64)
        return scores

    found = []
    with ThreadPoolExecutor(thread_count(threads)) as pool:
        for done, scores in enumerate(pool.map(block, sizes, streams), 1):
            found.append(scores)
            if progress:
                progress(done, len(sizes))
    return np.concatenate(found)


def _play_work(game: States, saved: int) -> PlayWork:
    from .soft_play_kernels import PlayWork

    turn, most = plan(game).turn, int(np.diff(game.scoring.lattice.inside[0]).max())
    options = game.scoring.boxes + most
    kept = aligned(max(turn.rerolls + saved, 1) * turn.short * LANES)
    rows, keeps = work_arrays(plan(game))
    if saved:
        rows = aligned(len(rows) * (turn.rerolls + saved + 1))
    return PlayWork(rows, keeps, kept, np.zeros(options, np.int64), np.zeros(options))
