"""The points that are certain, and the most that can be, whatever the score so far."""

from __future__ import annotations

from .dynamic import values_with_ends, worked_out
from .levels import Progress
from .plan import Floats, plan
from .states import States


def extreme_points(
    game: States, greatest: bool, *, threads: int | None = None, progress: Progress | None = None
) -> Floats:
    """Return, for each state, the greatest points that can still come, or that no dice can prevent."""
    from .goal_kernels import extreme_tiles

    arrays = plan(game)
    values = values_with_ends(game, game.final)

    def work(first: int, end: int, rows: Floats, keeps: Floats) -> None:
        extreme_tiles(values, first, end, arrays, greatest, rows, keeps)

    return worked_out(game, values, work, threads, progress)
