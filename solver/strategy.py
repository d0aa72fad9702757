"""Following a strategy: what it does in any states, and how the turns from there end."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .errors import check_kind
from .levels import thread_count
from .lookup import Table
from .plan import DecisionPlan, Floats, Ints, LanePlan, Plan, aligned, plan, work_arrays
from .scope import Scope
from .scorecard import Scorecard
from .states import LANES, States

_PIECE = 2048
_PIECE_SAVING = 1024


class Chooser(Protocol):
    """What a strategy does; called from several threads at once."""

    by_score: bool
    """Whether it depends on the score so far."""

    def alike(self, positions: Ints, scores: Ints) -> Ints:
        """Return scores that stand for these: one for all at which a state's actions are the same."""

    def choose(self, lanes: LanePlan, scores: Ints, actions: NDArray[np.int16]) -> None:
        """Write the action for each state, number of rerolls left, and roll; see `batch`."""


@runtime_checkable
class Followed(Protocol):
    """What has a strategy of its own, besides a table: a goal that was solved."""

    @property
    def table(self) -> Table:
        """The game."""

    @property
    def card(self) -> Scorecard:
        """The card from which on the strategy is known."""

    @property
    def scope(self) -> Scope:
        """What can follow that card."""

    def held(self, card: Scorecard | str | None) -> Scorecard:
        """Return a card that the strategy knows, that of the start unless given."""

    def chooser(self) -> Chooser:
        """Return what it does."""


def start_of(played: Table | Followed, card: Scorecard | str | None) -> Scorecard:
    """Return the card from which a strategy is followed; unless given, the empty one or that of the goal.

    Raises
    ------
    ArgumentError
        If that is no strategy.
    CardError
        If the card is not possible, or does not follow the one that the goal was solved from.
    """
    if isinstance(played, Table):
        return played.card(card)
    check_kind(played, Followed, "strategy", "a table, or a goal that was solved")
    return played.held(card)


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
        Place of the state after; see `scope`.
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
    """Follows one strategy, of a table or of a goal: how the turns from any states end.

    States are given by their place in `scope`, which says how many rolls are saved in them.

    Parameters
    ----------
    played
        Whose strategy is followed.
    threads
        All usable cores unless given.
    card
        The card that the states follow, for a table; the empty card unless given.
    """

    def __init__(
        self,
        played: Table | Followed,
        threads: int | None = None,
        card: Scorecard | str | None = None,
    ) -> None:
        self.table = played if isinstance(played, Table) else played.table
        if isinstance(played, Table):
            self.scope = Scope.of(played.states, played.card(card))
            self.chooser: Chooser = _ByTable(played, self.scope)
        else:
            self.scope, self.chooser = played.scope, played.chooser()
        self.game: States = self.scope.game
        self.plan: Plan = plan(self.game)
        self.threads = thread_count(threads)
        rows = self.plan.rows
        self._points = np.concatenate([rows.points, rows.points + rows.bonus]).astype(np.int64)

    def ends(self, places: Ints, pool: ThreadPoolExecutor, scores: Ints | None = None) -> Ends:
        """Return how the turns from states at these places of one level, and scores so far, end."""
        turn = self.plan.turn
        start = np.concatenate([np.zeros(turn.short), turn.probability])
        scores = np.zeros(len(places), np.int64) if scores is None else scores
        left = turn.rerolls + self.scope.split(places)[0]
        size = _PIECE_SAVING if self.scope.stride else _PIECE
        pieces = [slice(at, at + size) for at in range(0, len(places), size)]
        found = list(
            pool.map(lambda piece: self._ends(places[piece], scores[piece], start, left[piece]), pieces)
        )
        return Ends(
            np.concatenate([[0], np.cumsum(np.concatenate([np.diff(ends.first) for ends in found]))]),
            np.concatenate([ends.rows for ends in found]),
            np.concatenate([ends.probabilities for ends in found]),
            np.concatenate([ends.after for ends in found]),
            np.concatenate([ends.gains for ends in found]),
            np.sum([ends.last for ends in found], axis=0),
        )

    def ends_from(self, place: int, keep: int, left: int, score: int = 0) -> Ends:
        """Return how one turn ends that has come to a keep, or a roll, with `left` rerolls after it."""
        start = np.zeros(self.plan.turn.keeps)
        start[keep] = 1
        return self._ends(np.array([place]), np.array([score]), start, np.array([left]))

    def actions(
        self,
        positions: Ints,
        pool: ThreadPoolExecutor,
        scores: Ints | None = None,
        rerolls: int | None = None,
    ) -> NDArray[np.int16]:
        """Return the action for each of these states, number of rerolls left, and roll; see `batch`.

        There are `rerolls` at the most, as many as a turn itself brings unless given.
        """
        scores = np.zeros(len(positions), np.int64) if scores is None else scores
        pieces = [slice(at, at + _PIECE) for at in range(0, len(positions), _PIECE)]
        actions = self._no_actions(len(positions), rerolls)

        def work(piece: slice) -> None:
            self.chooser.choose(self.lanes(positions[piece]), scores[piece], actions[piece])

        list(pool.map(work, pieces))
        return actions

    def actions_here(self, positions: Ints, scores: Ints, rerolls: int | None = None) -> NDArray[np.int16]:
        """Return the same as `actions`, worked out in this thread."""
        actions = self._no_actions(len(positions), rerolls)
        self.chooser.choose(self.lanes(positions), scores, actions)
        return actions

    def _no_actions(self, states: int, rerolls: int | None) -> NDArray[np.int16]:
        turn = self.plan.turn
        most = turn.rerolls if rerolls is None else rerolls
        return np.empty((states, most + 1, turn.keeps - turn.short), np.int16)

    def lanes(self, positions: Ints) -> LanePlan:
        """Return the filled set and the lane of states at these positions."""
        number = np.searchsorted(self.plan.sets.start, positions, side="right") - 1
        none = np.zeros(0, np.int64)
        return LanePlan(number, positions - self.plan.sets.start[number], none, none)

    def _ends(self, places: Ints, scores: Ints, start: Floats, left: Ints) -> Ends:
        from .strategy_kernels import turn_ends

        turn, stride = self.plan.turn, self.scope.stride
        _, positions = self.scope.split(places)
        of_state = np.arange(len(places))
        if stride:
            # What is done depends on the rerolls left alone, however many of them were saved before.
            alike = np.stack([positions, scores])
            (positions, scores), of_state = np.unique(alike, axis=1, return_inverse=True)
        actions = self.actions_here(positions, scores, max(turn.rerolls, int(left.max())))
        rows_a_turn = len(self._points) * (left + 1 if stride else np.ones_like(left))
        most = int(rows_a_turn.sum())
        counts, after = np.empty(len(places), np.int64), np.empty(most, np.int64)
        rows, probabilities = np.empty(most, np.int32), np.empty(most)
        last = np.zeros(turn.keeps - turn.short)
        written = turn_ends(
            self.plan,
            self.lanes(positions),
            of_state.reshape(-1),
            actions,
            start,
            left,
            stride,
            counts,
            rows,
            probabilities,
            after,
            np.empty(turn.keeps),
            np.empty(int(rows_a_turn.max())),
            last,
        )
        rows = rows[:written].copy()
        first = np.concatenate([[0], np.cumsum(counts)])
        found = probabilities[:written].copy(), after[:written].copy()
        return Ends(first, rows, *found, self._points[rows], last)


class _ByTable:
    """The strategy of a table: the highest expected score, whatever the score so far."""

    by_score = False

    def __init__(self, table: Table, scope: Scope) -> None:
        self._plan, self._stride = plan(scope.game), scope.stride
        self._values = table.values_in(scope)
        self._inside = inside(scope.game)

    def alike(self, positions: Ints, scores: Ints) -> Ints:
        return np.zeros_like(scores)

    def choose(self, lanes: LanePlan, scores: Ints, actions: NDArray[np.int16]) -> None:
        from .strategy_kernels import choose_actions

        arrays = *work_arrays(self._plan), choice_rows(self._plan)
        choose_actions(self._values, self._stride, self._plan, lanes, self._inside, actions, *arrays)


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
