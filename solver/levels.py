"""Sharing the work of each level among threads, last level first, with one barrier a level.

Threads without a threading layer: kernels release the interpreter's lock, so plain threads run them
side by side, inside a server as well, and Ctrl-C stops between two pieces of work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .errors import ArgumentError, shown
from .records import whole

Progress = Callable[[int, int], None]
"""Called with the pieces of work done so far and in all."""

_PIECES_A_THREAD = 4
_LEAST_PIECE = 128
_PIECES = 16


def thread_count(threads: int | None) -> int:
    """Return the number of threads to use: as given, or one a usable core.

    Raises
    ------
    ArgumentError
        For fewer than one.
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not whole(threads) or threads < 1:
        raise ArgumentError(f"threads is {shown(threads)}: expected 1 or more")
    return int(threads)


def beforehand(progress: Progress | None) -> Progress | None:
    """Return what tells of work before the one whose pieces are counted: that none of those is done."""
    return progress and (lambda _, total: progress(0, total))


def shares(work: NDArray[np.int64], most: int, first: int = 0, *, least: int | None = None) -> list[range]:
    """Cut items with so much work each into neighbouring ones of about equal work, about `most` or less.

    Parameters
    ----------
    work
        Of each item.
    most
        How much there is to be in a piece.
    first
        The number of the first item.
    least
        Below which pieces need not be smaller; a few are cut down to that, for many workers to have some.
    """
    if least is not None:
        most = min(most, max(int(work.sum()) // _PIECES, least))
    total = np.cumsum(work)
    count = -(-int(total[-1]) // most)
    cuts = np.searchsorted(total, total[-1] * np.arange(1, count) / count, side="right")
    bounds = np.unique([0, *cuts.tolist(), len(total)]).tolist()
    return [range(first + begin, first + end) for begin, end in pairwise(bounds)]


def run_levels(
    starts: Sequence[int],
    work: Callable[[int, int], None],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    pieces_a_thread: int = _PIECES_A_THREAD,
) -> None:
    """Call `work(first, last)` until every tile of every level is done, the last level first.

    Parameters
    ----------
    starts
        Where each level's tiles start, and where the last level ends.
    work
        Works on the tiles first .. last-1 of one level; called from several threads at once.
    threads
        All usable cores unless given.
    progress
        Called from this thread after each piece.
    pieces_a_thread
        Into how many pieces for each thread a level is cut, unless they were too small; more of them where
        some tiles take longer than others.
    """
    workers = thread_count(threads)
    total, done = starts[-1], 0
    with ThreadPoolExecutor(workers) as pool:
        for first, last in reversed(list(pairwise(starts))):
            size = max(_LEAST_PIECE, -(-(last - first) // (workers * pieces_a_thread)))
            pieces = [(at, min(at + size, last)) for at in range(first, last, size)]
            waiting: dict[Future[None], int] = {
                pool.submit(work, *piece): piece[1] - piece[0] for piece in pieces
            }
            try:
                for future in list(waiting):
                    future.result()
                    done += waiting[future]
                    if progress:
                        progress(done, total)
            except BaseException:
                for future in waiting:
                    future.cancel()
                raise
