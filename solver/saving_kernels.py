"""The compiled loops for games in which unused rolls are saved; see `saving` for the mathematics.

The contract is that of `kernels`: a lane is a state, and its result depends on its own state alone.
"""

from __future__ import annotations

from .kernels import compiled, maxima, mean_of_rolls, means, roll_values
from .plan import Floats, Plan
from .states import LANES
from .vectors import store


@compiled
def solve_saving_tiles(
    now: Floats,
    after: Floats,
    width: int,
    width_after: int,
    saved: int,
    level_start: int,
    first: int,
    last: int,
    plan: Plan,
    rows: Floats,
    keeps: Floats,
) -> None:
    """Write the values of tiles first .. last-1 of one level, for every number of saved rolls.

    Parameters
    ----------
    now
        The level's values: a row of `width` for each number of saved rolls from 0 to `saved`, with `LANES`
        more numbers before the first and after the last.
    after
        The same of the level after, in rows of `width_after`; the numbers around it are finite.
    level_start
        Where the level starts among all states.
    plan
        The game, with `sets.first` counted from the start of the level of the set.
    rows, keeps
        Work arrays.
    """
    sets, turn, row_plan = plan.sets, plan.turn, plan.rows
    for tile in range(first, last):
        base = tile * LANES
        for rerolls in range(turn.rerolls + saved + 1):
            if rerolls:
                means(turn, keeps)
            reached = after[LANES + rerolls * width_after :]
            roll_values(reached, base, plan.tile_set[tile], turn, row_plan, sets, rows, keeps)
            if rerolls:
                maxima(turn, keeps)
            if rerolls >= turn.rerolls:
                at = LANES + (rerolls - turn.rerolls) * width + base - level_start
                store(now, at, mean_of_rolls(turn, keeps))
