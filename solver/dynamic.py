"""The dynamic programme.

Let a state x = (F, s, y) be the filled boxes, the upper subtotal capped at the highest threshold of the
upper bonus, and whether a further Yahtzee brings a bonus or a required box holds points; n dice, and T
rerolls after the first roll. With V(x) the expected points still to come, the upper bonus included:

    V(x)        = upper bonus of s                                where all boxes are filled
    R(x, r)     = max over boxes c that roll r may fill of  p(x, c, r) + V(x after c and p)
    E_t(x, k)   = mean over faces f of E_t(x, k + f)              keeps k of fewer than n dice
    E_t(x, r)   = B_{t-1}(x, r)                                   rolls r
    B_0(x, r)   = R(x, r)
    B_t(x, k)   = max(E_t(x, k), max over dice d in k of B_t(x, k - d))
    V(x)        = sum over rolls r of P(r) B_T(x, r)

E_t(x, k) is the value of keeping k with t rerolls left, since rerolling several dice is adding one
random die several times; B_t(x, r) is the value of roll r with t rerolls left, as the running maximum
over its sub-multisets. Stopping early is keeping everything: B_t(x, r) >= B_{t-1}(x, r) always. Where
boxes give other points p on the first roll of a turn, R with these takes the place of B_{T-1}(x, r) in B_T:
nothing else of it is lost, as a keep is worth no less with one reroll more.
V at one level (number of filled boxes) needs V of the next level alone. States whose subtotals cannot
lead to different bonuses are solved once; see `states`.

What was weighed: a roll-by-keep matrix has 4,368 pairs to weigh 252 rolls each, where the lattice takes
2,520 sums and 2,268 maxima a state for five dice and two rerolls; classes of subtotals leave 314,880 of the
536,448 states of official Yahtzee to solve; one loop over each keep's joints, of unforeseen length, took 1.8
times as long as loops unrolled by the number of different faces.
"""

from __future__ import annotations

from collections.abc import Callable

from .levels import Progress, run_levels
from .plan import Floats, plan, value_array, work_arrays
from .rules import Ruleset
from .scoring import scoring
from .states import LANES, States, states


def solve_values(
    ruleset: Ruleset, *, threads: int | None = None, progress: Progress | None = None
) -> tuple[States, Floats]:
    """Solve a game for the expected score.

    Parameters
    ----------
    ruleset
        Any rules.
    threads
        How many threads share the work; all cores unless given. Results are equal to the bit.
    progress
        Called now and then, from this thread, with the tiles done and in all.

    Returns
    -------
    states
        Where each state's value lies.
    values : float64 array, shape (states.size,)
        Expected points still to come, upper bonus included; 0 in the padding.
    """
    from .kernels import solve_tiles

    ruleset.refuse_saved_rolls("values by state alone")
    game = states(scoring(ruleset))
    arrays = plan(game)
    values = values_with_ends(game, game.final)

    def work(first: int, last: int, rows: Floats, keeps: Floats) -> None:
        solve_tiles(values, first, last, arrays, rows, keeps)

    return game, worked_out(game, values, work, threads, progress)


def values_with_ends(game: States, ends: Floats) -> Floats:
    """Return an array for values that holds those of the finished states."""
    values = value_array(game)
    values[int(game.level_start[-2]) : game.size] = ends
    return values


def worked_out(
    game: States,
    values: Floats,
    work: Callable[[int, int, Floats, Floats], None],
    threads: int | None,
    progress: Progress | None,
) -> Floats:
    """Return the values once `work`, with work arrays of its own, has written the tiles of every level.

    `values` has a row, or one for each number of saved rolls, and `LANES` more numbers.
    """
    arrays = plan(game)
    starts = (game.level_start[:-1] // LANES).tolist()
    run_levels(
        starts,
        lambda first, last: work(first, last, *work_arrays(arrays)),
        threads=threads,
        progress=progress,
    )
    found = values[: len(values) - LANES]
    found.reshape(-1, game.size)[:, game.padding] = 0
    return found
