"""Following the table's strategy: what it chooses in any states, and how the turns from there end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .levels import thread_count
from .lookup import Table
from .plan import DecisionPlan, Floats, Ints, LanePlan, Plan, aligned, plan, value_array, work_arrays
from .states import LANES

_PIECE = 2048


@dataclass(frozen=True, eq=False)
class Ends:
    """How the turns from some states of one level end.

    Attributes
    ----------
    first : int64 array, shape (states + 1,)
        Where the ends of each state start in the other arrays.
    rows : int32 array
        Category and points as a row of the row plan; from the number of rows on with the bonus.
    probabilities : float64 array
    after : int64 array
        Position of the state after.
    gains : int64 array
        Points that the turn brings.
    last : float64 array, shape (rolls,)
        The probability of each roll to be the last of a turn, added over the states.
    """

    first: Ints
    rows: NDArray[np.int32]
    probabilities: Floats
    after: Ints
    gains: Ints
    last: Floats


class Follower:
    """Follows the strategy of one table: how the turns from any states end."""

    def __init__(self, table: Table, threads: int | None = None) -> None:
        self.table, self.game = table, table.states
        self.plan: Plan = plan(table.states)
        self.threads = thread_count(threads)
        self.values = value_array(self.game)
        self.values[: self.game.size] = table.values
        none = np.zeros(0, np.int64)
        self.inside = DecisionPlan(none, none, *self.game.scoring.lattice.inside)
        rows = self.plan.rows
        self._category = np.repeat(np.arange(rows.boxes), np.diff(rows.first))
        self._points = np.concatenate([rows.points, rows.points + rows.bonus]).astype(np.int64)

    def ends(self, positions: Ints, pool: ThreadPoolExecutor) -> Ends:
        """Return how the turns from states at these positions, rising and of one level, end."""
        turn = self.plan.turn
        start = np.concatenate([np.zeros(turn.short), turn.probability])
        pieces = [positions[at : at + _PIECE] for at in range(0, len(positions), _PIECE)]
        found = list(pool.map(lambda piece: self._ends_of(piece, start, turn.rerolls), pieces))
        return Ends(
            np.concatenate([[0], np.cumsum(np.concatenate([np.diff(ends.first) for ends in found]))]),
            np.concatenate([ends.rows for ends in found]),
            np.concatenate([ends.probabilities for ends in found]),
            np.concatenate([ends.after for ends in found]),
            np.concatenate([ends.gains for ends in found]),
            np.sum([ends.last for ends in found], axis=0),
        )

    def ends_from(self, position: int, keep: int, left: int) -> Ends:
        """Return how one turn ends that has come to a keep, or a roll, with `left` rerolls after it."""
        start = np.zeros(self.plan.turn.keeps)
        start[keep] = 1
        return self._ends_of(np.array([position]), start, left)

    def actions(self, positions: Ints, pool: ThreadPoolExecutor) -> NDArray[np.int16]:
        """Return the action for each of these states, number of rerolls left, and roll; see `batch`."""
        from .strategy_kernels import choose_actions

        turn = self.plan.turn
        actions = np.empty((len(positions), turn.rerolls + 1, turn.keeps - turn.short), np.int16)

        def work(at: int) -> None:
            piece = slice(at, at + _PIECE)
            lanes = self.lanes(positions[piece])
            choose_actions(self.values, self.plan, lanes, self.inside, actions[piece], *self._work_arrays())

        list(pool.map(work, range(0, len(positions), _PIECE)))
        return actions

    def lanes(self, positions: Ints) -> LanePlan:
        """Return the filled set and the lane of states at these positions."""
        number = np.searchsorted(self.plan.sets.start, positions, side="right") - 1
        none = np.zeros(0, np.int64)
        return LanePlan(number, positions - self.plan.sets.start[number], none, none)

    def _work_arrays(self) -> tuple[Floats, Floats, Floats]:
        turn = self.plan.turn
        choice_rows = (turn.rerolls + 2) * (turn.keeps - turn.short)
        return *work_arrays(self.plan), aligned(choice_rows * LANES)

    def _ends_of(self, positions: Ints, start: Floats, left: int) -> Ends:
        from .strategy_kernels import turn_ends

        lanes = self.lanes(positions)
        most = len(positions) * 2 * len(self.plan.rows.points)
        counts = np.empty(len(positions), np.int64)
        rows, probabilities = np.empty(most, np.int32), np.empty(most)
        last = np.zeros(self.plan.turn.keeps - self.plan.turn.short)
        written = turn_ends(
            self.values,
            self.plan,
            lanes,
            self.inside,
            start,
            left,
            counts,
            rows,
            probabilities,
            *self._work_arrays(),
            np.empty(self.plan.turn.keeps),
            np.empty(2 * len(self.plan.rows.points)),
            last,
        )
        rows = rows[:written].copy()
        state = np.repeat(np.arange(len(positions)), counts)
        first = np.concatenate([[0], np.cumsum(counts)])
        after = self._after(lanes.set[state], lanes.lane[state], rows)
        return Ends(first, rows, probabilities[:written].copy(), after, self._points[rows], last)

    def _after(self, number: Ints, lane: Ints, rows: NDArray[np.int32]) -> Ints:
        """Return the positions after turns that end with these rows."""
        sets = self.plan.sets
        row = rows % len(self.plan.rows.points)
        category = self._category[row]
        flag, subclass = np.divmod(lane, sets.classes[number])
        upper = sets.upper[number]
        step = sets.step_first[upper, category]
        is_upper = step >= 0
        at = step + (row - self.plan.rows.first[category]) * sets.classes[number] + subclass
        subclass = np.where(is_upper, sets.step[np.where(is_upper, at, 0)] if len(sets.step) else 0, subclass)
        flag = np.where(category == sets.arming, self.plan.rows.points[row] > 0, flag)
        classes_after = sets.upper_classes[upper | sets.upper_bit[category]]
        after: Ints = sets.first[sets.filled[number] | 1 << category] + flag * classes_after + subclass
        return after
