"""A player that plays to win: exactly where that is known or worked out in time, else for the expected score.

Where a game of two was solved into the user's cache folder (`duel`), the best chance against a player who
plays to win as well, a tie counting half, is looked up for every decision of every turn. Otherwise exact is
the best chance of the highest total against the distributions of the other final scores, each of those seats
taken to play for its expected score; see `goals.Win`. Early in a game that takes long. Whether it is tried
is decided by the work that there is, not by a clock, so that a seed gives the same game on every machine
that has the same games of two: the numbers to solve are counted before, at so many a second.

What that costs is known exactly for a player who looks once, at the distribution of a final score under
expected-score play, and plays the best response to it from there on. In the official game, against one such
seat, that player wins 50.36 % looking at the start, 50.34 % with ten boxes open, 50.33 % with nine, 50.31 %
with eight. With two seconds a move the exact play begins at ten or nine.
"""

from __future__ import annotations

from math import inf
from threading import Lock

from .distributions import distribution
from .duel import Duel, kept_duel
from .dynamic import solve_values
from .errors import ArgumentError, shown
from .goals import Win
from .lookup import Table
from .pursuit import Pursuit, most_values_to_win, pursue
from .scope import Scope
from .scorecard import Scorecard
from .situations import Move, Situation
from .states import States

DEFAULT_SECONDS = 2.0
"""How long a move may take unless set."""

VALUES_A_SECOND = 2.5e6
"""Values of a state at one score; this and the next two as two cores of 2024 manage, code compiled."""
STATES_A_SECOND = 0.2e6
"""States of another seat from which the distribution of its final score is found."""
SIZE_A_SECOND = 2e6
"""States of the whole game, over which goals look once, whatever the card."""


def seconds_to_solve(
    game: States, card: Scorecard, others: tuple[Scorecard, ...], at_most: float = inf
) -> float:
    """Return how long the exact answer takes, by an upper bound of the values to solve.

    They are not counted where the rest takes longer than `at_most` seconds already.
    """
    looks = (
        game.size / SIZE_A_SECOND + sum(_states_following(game, other) for other in others) / STATES_A_SECOND
    )
    return looks if looks > at_most else looks + most_values_to_win(game, card, others) / VALUES_A_SECOND


def take_turns(at: Situation) -> bool:
    """Whether two seats have filled as many boxes, or the one that is not to move one more."""
    filled = [card.filled.bit_count() for card in (at.position.card, *at.others)]
    return len(filled) == 2 and filled[1] - filled[0] in (0, 1)


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
        self._given = table
        self._lock = Lock()
        self._solved: tuple[tuple[Scorecard, tuple[Scorecard, ...]], Pursuit | None] | None = None
        self._duel: Duel | None = None

    def move(self, at: Situation) -> Move:
        """Return the best option to win, or for the expected score with a note that says so.

        Raises
        ------
        TableError
            If a file of the game of two is not what was written.
        """
        position, others = at.position, at.others
        exact = self.exact_move(at)
        if exact is not None:
            return exact
        pursuit = self._pursuit(position.card, others) if others else None
        if pursuit:
            best = pursuit.advise_position(position).best
            note = f"played to win: {100 * best.value:.2f} %"
        else:
            best = self._table.advise_position(position).best
            why = f"the exact answer would take longer than {self._seconds:g} s"
            note = f"played for the expected score: {why if others else 'nobody else plays'}"
        return Move(best.action, best.dice, best.category, note)

    def duel(self) -> Duel | None:
        """Return the game of two to look up in, once it was solved into the user's cache folder.

        Raises
        ------
        TableError
            If a file in its place is not what was written.
        """
        self._duel = self._duel or kept_duel(self._given)
        return self._duel

    def exact_move(self, at: Situation) -> Move | None:
        """Return the best option of exact play for two; None for other seats or without a solved game."""
        duel = self.duel() if take_turns(at) else None
        if duel is None:
            return None
        best = duel.advise_position(at.position, *at.others).best
        note = f"exact two-player play: {100 * best.value:.2f} % to win"
        return Move(best.action, best.dice, best.category, note)

    def alone(self, seed: int) -> Winning:
        """Return the player for one of many games that go on side by side; the game of two serves all."""
        one = Winning(self.spec, self._given, self._seconds, threads=1)
        one._duel = self.duel()
        return one

    def _pursuit(self, card: Scorecard, others: tuple[Scorecard, ...]) -> Pursuit | None:
        """Return the goal solved for this turn, None if that takes too long; kept for all its decisions."""
        with self._lock:
            if self._solved is None or self._solved[0] != (card, others):
                self._solved = (card, others), self._solve(card, others)
            return self._solved[1]

    def _solve(self, card: Scorecard, others: tuple[Scorecard, ...]) -> Pursuit | None:
        if seconds_to_solve(self._table.states, card, others, self._seconds) > self._seconds:
            return None
        # Goals are solved from exact values; `pursue` sees to that where rolls are saved.
        if self._table.precision and not self._table.ruleset.saves:
            self._table = Table(self._table.ruleset, *solve_values(self._table.ruleset))
        goal = Win(tuple(distribution(self._table, other, threads=self._threads) for other in others))
        return pursue(self._table, goal, card, threads=self._threads)
