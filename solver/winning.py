"""A player that plays to win: exactly where that can be worked out in time, else for the expected score.

Exact is the best chance of the highest total against the distributions of the other final scores, each of
those seats taken to play for its expected score; see `goals.Win`. Early in a game that takes long. Whether
it is tried is decided by the work that there is, not by a clock, so that a seed gives the same game on
every machine: the numbers to solve are counted before, at so many a second.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from .distributions import distribution
from .dynamic import solve_values
from .errors import ArgumentError, shown
from .game import Move, Situation
from .goals import Win
from .lookup import Table
from .pursuit import Pursuit, pursue
from .scope import Scope
from .scorecard import Scorecard
from .states import States

DEFAULT_SECONDS = 2.0
"""How long a move may take unless set."""

VALUES_A_SECOND = 2.5e6
"""Values of a state at one score; this and the next two as two cores of 2024 manage, code compiled."""
STATES_A_SECOND = 0.2e6
"""States of another seat from which the distribution of its final score is found."""
SIZE_A_SECOND = 2e6
"""States of the whole game, over which goals look once, whatever the card."""


def seconds_to_solve(game: States, card: Scorecard, others: tuple[Scorecard, ...]) -> float:
    """Return how long the exact answer takes, by the number of values to solve.

    An upper bound of that number: each state that may follow the card, times the scores between the least
    and the most that the boxes filled since can have brought.
    """
    rules = game.scoring
    states = sum(_states_following(game, other) for other in others)
    scope = Scope.of(game, card)
    game = scope.game
    least = np.array([points[0] for points in rules.distinct])
    most = np.array([points[-1] + rules.bonus for points in rules.distinct])
    filled_since = (
        game.filled[:, None] >> np.arange(rules.boxes) & ~(card.filled >> np.arange(rules.boxes)) & 1
    )
    spread = filled_since @ (most - least)
    after = game.filled & card.filled == card.filled
    to_solve = float((game.lanes * (spread + 1))[after].sum()) * scope.rows
    return game.size / SIZE_A_SECOND + to_solve / VALUES_A_SECOND + states / STATES_A_SECOND


def _states_following(game: States, card: Scorecard) -> int:
    scope = Scope.of(game, card)
    return scope.count if scope.stride else game.following(card.filled)


class Winning:
    """Plays for the best chance to win; see the module.

    Parameters
    ----------
    spec
        The text that it was made from.
    table
        The game.
    seconds
        How long a move may take, by the count of the work.
    threads
        All usable cores unless given.

    Raises
    ------
    ArgumentError
        For a time that is not a number above 0.
    """

    def __init__(
        self, spec: str, table: Table, seconds: float = DEFAULT_SECONDS, threads: int | None = None
    ) -> None:
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
            raise ArgumentError(f"seconds {shown(seconds)}: expected a number above 0")
        self.spec, self._table, self._seconds, self._threads = spec, table, seconds, threads
        self._lock = Lock()
        self._solved: tuple[tuple[Scorecard, tuple[Scorecard, ...]], Pursuit] | None = None

    def move(self, at: Situation) -> Move:
        """Return the best option to win, or for the expected score with a note that says so."""
        position, others = at.position, at.others
        work = seconds_to_solve(self._table.states, position.card, others)
        if others and work <= self._seconds:
            best = self._pursuit(position.card, others).advise_position(position).best
            note = f"played to win: {100 * best.value:.2f} %"
        else:
            best = self._table.advise_position(position).best
            why = f"the exact answer would take longer than {self._seconds:g} s"
            note = f"played for the expected score: {why if others else 'nobody else plays'}"
        return Move(best.action, best.dice, best.category, note)

    def alone(self, seed: int) -> Winning:
        """Return the player for one of many games that go on side by side."""
        return Winning(self.spec, self._table, self._seconds, threads=1)

    def _pursuit(self, card: Scorecard, others: tuple[Scorecard, ...]) -> Pursuit:
        """Return the goal solved for this turn; the last one is kept, for all decisions of the turn."""
        with self._lock:
            # Goals are solved from exact values; `pursue` sees to that where rolls are saved.
            if self._table.precision and not self._table.ruleset.saves:
                self._table = Table(self._table.ruleset, *solve_values(self._table.ruleset))
            if self._solved is None or self._solved[0] != (card, others):
                goal = Win(tuple(distribution(self._table, other, threads=self._threads) for other in others))
                self._solved = (card, others), pursue(self._table, goal, card, threads=self._threads)
            return self._solved[1]
