"""Following a strategy: what it does in any states, and how the turns from there end."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .levels import thread_count
from .lookup import Table
from .plan import DecisionPlan, Floats, Ints, LanePlan, Plan, aligned, plan, with_spare, work_arrays
from .scorecard import Scorecard
from .states import LANES, States

_PIECE = 2048


class Chooser(Protocol):
    """What a strategy does; called from several threads at once."""

    by_score: bool
    """Whether it depends on the score so far."""

    def alike(self, positions: Ints, scores: Ints) -> Ints:
        """Return scores that stand for these: one for all at which a state's actions are the same."""

    def choose(self, lanes: LanePlan, scores: Ints, actions: NDArray[np.int16]) -> None:
        """Write the action for each state, number of rerolls left, and roll; see `batch`."""


class Followed(Protocol):
    """What has a strategy of its own, besides a table: a goal that was solved."""

    @property
    def table(self) -> Table:
        """The game."""

    @property
    def card(self) -> Scorecard:
        """The card from which on the strategy is known."""

    def held(self, card: Scorecard | str | None) -> Scorecard:
        """Return a card that the strategy knows, that of the start unless given."""

    def chooser(self) -> Chooser:
        """Return what it does."""


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
    """Follows one strategy, of a table or of a goal: how the turns from any states end."""

    def __init__(self, played: Table | Followed, threads: int | None = None) -> None:
        self.table = played if isinstance(played, Table) else played.table
        self.table.ruleset.refuse_saved_rolls("exact distributions")
        self.game: States = self.table.states
        self.plan: Plan = plan(self.game)
        self.chooser = _ByTable(self.table) if isinstance(played, Table) else played.chooser()
        self.threads = thread_count(threads)
        rows = self.plan.rows
        self._points = np.concatenate([rows.points, rows.points + rows.bonus]).astype(np.int64)

    def ends(self, positions: Ints, pool: ThreadPoolExecutor, scores: Ints | None = None) -> Ends:
        """Return how the turns from states at these positions of one level, and scores so far, end."""
        turn = self.plan.turn
        start = np.concatenate([np.zeros(turn.short), turn.probability])
        scores = np.zeros(len(positions), np.int64) if scores is None else scores
        pieces = [slice(at, at + _PIECE) for at in range(0, len(positions), _PIECE)]
        found = list(
            pool.map(lambda piece: self._ends(positions[piece], scores[piece], start, turn.rerolls), pieces)
        )
        return Ends(
            np.concatenate([[0], np.cumsum(np.concatenate([np.diff(ends.first) for ends in found]))]),
            np.concatenate([ends.rows for ends in found]),
            np.concatenate([ends.probabilities for ends in found]),
            np.concatenate([ends.after for ends in found]),
            np.concatenate([ends.gains for ends in found]),
            np.sum([ends.last for ends in found], axis=0),
        )

    def ends_from(self, position: int, keep: int, left: int, score: int = 0) -> Ends:
        """Return how one turn ends that has come to a keep, or a roll, with `left` rerolls after it."""
        start = np.zeros(self.plan.turn.keeps)
        start[keep] = 1
        return self._ends(np.array([position]), np.array([score]), start, left)

    def actions(
        self, positions: Ints, pool: ThreadPoolExecutor, scores: Ints | None = None
    ) -> NDArray[np.int16]:
        """Return the action for each of these states, number of rerolls left, and roll; see `batch`."""
        scores = np.zeros(len(positions), np.int64) if scores is None else scores
        pieces = [slice(at, at + _PIECE) for at in range(0, len(positions), _PIECE)]
        actions = self._no_actions(len(positions))

        def work(piece: slice) -> None:
            self.chooser.choose(self.lanes(positions[piece]), scores[piece], actions[piece])

        list(pool.map(work, pieces))
        return actions

    def actions_here(self, positions: Ints, scores: Ints) -> NDArray[np.int16]:
        """Return the same as `actions`, worked out in this thread."""
        actions = self._no_actions(len(positions))
        self.chooser.choose(self.lanes(positions), scores, actions)
        return actions

    def _no_actions(self, states: int) -> NDArray[np.int16]:
        turn = self.plan.turn
        return np.empty((states, turn.rerolls + 1, turn.keeps - turn.short), np.int16)

    def lanes(self, positions: Ints) -> LanePlan:
        """Return the filled set and the lane of states at these positions."""
        number = np.searchsorted(self.plan.sets.start, positions, side="right") - 1
        none = np.zeros(0, np.int64)
        return LanePlan(number, positions - self.plan.sets.start[number], none, none)

    def _ends(self, positions: Ints, scores: Ints, start: Floats, left: int) -> Ends:
        from .strategy_kernels import turn_ends

        turn, lanes = self.plan.turn, self.lanes(positions)
        actions = self.actions_here(positions, scores)
        most = len(positions) * len(self._points)
        counts, after = np.empty(len(positions), np.int64), np.empty(most, np.int64)
        rows, probabilities = np.empty(most, np.int32), np.empty(most)
        last = np.zeros(turn.keeps - turn.short)
        written = turn_ends(
            self.plan,
            lanes,
            actions,
            start,
            left,
            counts,
            rows,
            probabilities,
            after,
            np.empty(turn.keeps),
            np.empty(len(self._points)),
            last,
        )
        rows = rows[:written].copy()
        first = np.concatenate([[0], np.cumsum(counts)])
        found = probabilities[:written].copy(), after[:written].copy()
        return Ends(first, rows, *found, self._points[rows], last)


class _ByTable:
    """The strategy of a table: the highest expected score, whatever the score so far."""

    by_score = False

    def __init__(self, table: Table) -> None:
        self._plan = plan(table.states)
        self._values = with_spare(table.values)
        self._inside = inside(table.states)

    def alike(self, positions: Ints, scores: Ints) -> Ints:
        return np.zeros_like(scores)

    def choose(self, lanes: LanePlan, scores: Ints, actions: NDArray[np.int16]) -> None:
        from .strategy_kernels import choose_actions

        arrays = *work_arrays(self._plan), choice_rows(self._plan)
        choose_actions(self._values, self._plan, lanes, self._inside, actions, *arrays)


def nodes(positions: Ints, alike: Ints, size: int) -> Iterator[tuple[slice, Ints, Ints]]:
    """Divide sorted states and scores into pieces that never part what is alike.

    Parameters
    ----------
    positions, alike
        Of each entry, rising: the state, and the score that stands for its own.
    size
        How many different ones a piece has at the most.

    Yields
    ------
    piece : slice
        The entries.
    first : int64 array
        The first entry of each different state and score.
    node : int64 array
        For each entry of the piece, which of these it is.
    """
    changed = (np.diff(positions) != 0) | (np.diff(alike) != 0)
    first = np.flatnonzero(np.concatenate([[True], changed]))
    for at in range(0, len(first), size):
        here = first[at : at + size]
        end = int(first[at + size]) if at + size < len(first) else len(positions)
        lengths = np.diff(np.append(here, end))
        yield slice(int(here[0]), end), here, np.repeat(np.arange(len(here)), lengths)


def inside(game: States) -> DecisionPlan:
    """Return the keeps inside each roll, without decisions."""
    none = np.zeros(0, np.int64)
    return DecisionPlan(none, none, *game.scoring.lattice.inside)


def choice_rows(arrays: Plan, spare: int = 1) -> Floats:
    """Return an array with a row a (rerolls left, roll), and `spare` more rows a stage and roll."""
    turn = arrays.turn
    spare *= arrays.rows.stages
    return aligned((turn.rerolls + 1 + spare) * (turn.keeps - turn.short) * LANES)
