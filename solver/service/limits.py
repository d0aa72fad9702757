"""How much work one request may cause: estimated from counts before it begins, and stopped if it lasts.

Estimates are in seconds of this program's own loops on an ordinary core, shared among the threads:

    a solve          lanes of states x rerolls x keeps, and sets of boxes x rolls x boxes
    a distribution   lanes and sets of boxes that can follow the card
    a deviation      solves, as many as it is worth
    a goal           values (state and score so far) x rerolls x keeps
    a strength       solves, as many as the temperatures tried are worth

All parts of a request are counted before its first one begins. The constants were measured; a machine may
be twice as fast or slow. So that nothing hangs all the same, a request is stopped once its passes have run
for longer than the limit, together. Compiling, once an installation, is not counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import isfinite, prod
from threading import Event
from time import perf_counter

import numpy as np

from ..errors import ArgumentError, DicewiseError, shown
from ..levels import Progress, thread_count
from ..rules import Ruleset
from ..scope import Scope
from ..scorecard import Scorecard
from ..scoring import Scoring, scoring
from ..states import States, states

SOLVING = 4e-10
"""Core-seconds a lane, reroll and keep."""
FILLING = 3e-9
"""Core-seconds a set of boxes, roll and box."""
FOLLOWING = 1e-5
"""Core-seconds a lane of the distribution."""
FOLLOWING_SETS = 3e-5
"""Core-seconds a set of boxes of the distribution."""
PURSUING = 3e-9
"""Core-seconds a value of a goal, reroll and keep."""
DEVIATING = 4
"""Solves that take as long as mean and deviation without the distribution."""
SOFTENING = 9
"""Solves that take as long as finding what play at one temperature is worth."""

_MOST_SUMS = 1 << 28
"""Bytes for the upper subtotals that can arise."""
_SUBTOTALS = 2e-9
"""Core-seconds a pair of subtotals that are compared."""
_SETS = 3e-6
"""Core-seconds a set of boxes."""
_VALUE, _SET = 8, 64
"""Bytes a value, and a set of boxes with all that is known of it."""


class WorkError(DicewiseError):
    """A request that would take more work than is allowed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a service allows.

    Attributes
    ----------
    work
        Seconds that the work for one request may take.
    cards
        Cards in one request.
    body
        Bytes of one request.
    waiting
        Requests with work ahead of them that may wait for their turn.
    memory
        Bytes of tables and results kept for the next request.
    """

    work: float = 20.0
    cards: int = 8
    body: int = 256 * 1024
    waiting: int = 32
    memory: int = 512 * 1024 * 1024

    def __post_init__(self) -> None:
        if not (isfinite(self.work) and self.work > 0):
            raise ArgumentError(f"work {shown(self.work)}: expected a finite number of seconds above 0")


def sized(rules: Ruleset, limits: Limits) -> States:
    """Return the states of a game, if they can be counted within the limit.

    Raises
    ------
    WorkError
        If the rules have too many boxes or too many different upper subtotals.
    """
    arrays = scoring(rules)
    _refuse_beyond(limits, f"rules {rules.name!r}: to count the states", _counting_seconds(arrays))
    found = states(arrays)
    held = found.size * _VALUE + len(found.filled) * _SET
    if held > limits.memory // 4:
        raise WorkError(
            f"rules {rules.name!r}: the states take {held / 1e6:.0f} MB, "
            f"expected {limits.memory / 4e6:.0f} MB at the most"
        )
    return found


def _counting_seconds(arrays: Scoring) -> float:
    upper = [arrays.distinct[box] for box in np.flatnonzero(arrays.upper).tolist()]
    sets = 1 << len(upper)
    most = max(arrays.cap, 1) + sum(int(points[-1]) for points in upper)
    if sets * (most + 1) > _MOST_SUMS:
        return float("inf")
    # However many ways there are to fill boxes, no more subtotals come about than there are numbers.
    few = min(arrays.cap + 1, prod(len(points) for points in upper))
    many = min(most + 1, prod(len(points) for points in upper))
    return sets * few * many * _SUBTOTALS + (sets + (1 << arrays.boxes)) * _SETS


def solving_seconds(game: States) -> float:
    """Return how long a solve takes, about."""
    rules = game.scoring
    steps = int(game.lanes.sum()) * max(rules.rolls - 1, 1) * len(rules.lattice.keeps)
    fills = int(game.flags.sum()) * len(rules.lattice.rolls) * rules.boxes
    return (steps * SOLVING + fills * FILLING) / thread_count(None)


def following_seconds(game: States, card: Scorecard) -> float:
    """Return how long the distribution of final scores from a card takes, about."""
    scope = Scope.of(game, card)
    game = scope.game
    follows = (game.filled & card.filled) == card.filled
    lanes, sets = int(game.lanes[follows].sum()), int(game.flags[follows].sum())
    lanes *= scope.rows
    return (lanes * FOLLOWING + sets * FOLLOWING_SETS) / thread_count(None)


def pursuing_seconds(game: States, values: int) -> float:
    """Return how long a goal with this number of values takes, about."""
    steps = values * max(game.scoring.rolls - 1, 1) * len(game.scoring.lattice.keeps)
    return steps * PURSUING / thread_count(None)


class Work:
    """The work for one request: what it is expected to take, and what it has taken.

    Parameters
    ----------
    limits
        What one request may ask for.
    stop
        Set when nothing is wanted any more.
    """

    def __init__(self, limits: Limits, stop: Event) -> None:
        self._limits, self._stop = limits, stop
        self._claimed: dict[Hashable, float] = {}
        self._taken = 0.0

    def claim(self, what: str, parts: Mapping[Hashable, float]) -> None:
        """Count parts of the work, by key, that have not been counted before; refuse them if all is too much.

        Parameters
        ----------
        what
            What they are, for messages.
        parts
            The seconds that each takes.

        Raises
        ------
        WorkError
            With what the work is, the estimate of all there is to do, and the limit.
        """
        claimed = {**parts, **self._claimed}
        seconds = sum(claimed.values())
        if seconds > self._limits.work:
            about = "far too long" if seconds == float("inf") else f"about {seconds:.3g} s"
            raise WorkError(f"{what} would take {about}, expected {self._limits.work:g} s at the most")
        self._claimed = claimed

    def watch(self, what: str) -> Progress:
        """Return what stops passes once all of them have lasted too long, or nothing is wanted any more.

        The clock of a pass starts with the first piece done, since that one may have waited for the compiler.
        """
        last, reached = perf_counter(), -1

        def told(done: int, total: int) -> None:
            nonlocal last, reached
            if self._stop.is_set():
                raise WorkError(f"{what}: stopped, since the service ends")
            now = perf_counter()
            begins = reached < done and reached <= 0  # or goes on after a pass before it
            self._taken += 0.0 if begins or done < reached else now - last
            last, reached = now, done
            if done < total and self._taken > self._limits.work:
                raise WorkError(
                    f"{what}: stopped after {self._limits.work:g} s with {done / total:.0%} of the work done"
                )

        return told


def _refuse_beyond(limits: Limits, what: str, seconds: float) -> None:
    Work(limits, Event()).claim(what, {what: seconds})
