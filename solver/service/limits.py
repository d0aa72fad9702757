"""How much work one request may cause: estimated from counts before it begins, and stopped if it lasts.

Estimates are in seconds of this program's own loops on an ordinary core, shared among the threads:

    a solve          lanes of states x rerolls x keeps, and sets of boxes x rolls x boxes
    a distribution   lanes and sets of boxes that can follow the card, and the scores of each lane
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
from math import isfinite
from threading import Event
from time import perf_counter

import numpy as np

from ..distributions import scores_to_hold
from ..errors import ArgumentError, DicewiseError, shown
from ..files import size
from ..levels import Progress, thread_count
from ..lookup import Table
from ..plan import bytes_of_steps
from ..rules import Ruleset
from ..scope import Scope
from ..scorecard import Scorecard
from ..scoring import Scoring, scoring
from ..states import States, bytes_of_classes, most_subtotals, states

SOLVING = 4e-10
"""Core-seconds a lane, reroll and keep."""
FILLING = 3e-9
"""Core-seconds a set of boxes, roll and box."""
FOLLOWING = 1e-5
"""Core-seconds a lane of the distribution."""
FOLLOWING_SETS = 3e-5
"""Core-seconds a set of boxes of the distribution."""
SPREADING = 2e-8
"""Seconds a score of a lane of the distribution."""
PURSUING = 3e-9
"""Core-seconds a value of a goal, reroll and keep."""
DEVIATING = 4
"""Solves that take as long as mean and deviation without the distribution."""
SOFTENING = 9
"""Solves that take as long as finding what play at one temperature is worth."""

_CELLS = 1e-8
"""Core-seconds a set of upper boxes and subtotal."""
_PASSES, _PASSED = 2e-6, 4e-10
"""Core-seconds a pass over the subtotals of a set, and a subtotal of it."""
_SETS = 3e-6
"""Core-seconds a set of boxes."""
_VALUE, _SET = 8, 64
"""Bytes a value, and a set of boxes with all that is known of it."""
_BYTES_A_LETTER = 8
"""Bytes of rules in memory, by the length of their text."""


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
        If the rules have too many boxes or too many different upper subtotals: before they are worked out.
    """
    arrays = scoring(rules)
    few = bytes_of_classes(arrays) + _SET * (1 << arrays.boxes)
    _refuse_beyond_room(limits, rules, few)
    _refuse_beyond(limits, f"rules {rules.name!r}: to count the states", _counting_seconds(arrays))
    found = states(arrays)
    _refuse_beyond_room(limits, rules, few + found.size * _VALUE + bytes_of_steps(found))
    return found


def _counting_seconds(arrays: Scoring) -> float:
    boxes, most = arrays.upper_boxes, most_subtotals(arrays)
    # What can be added to a set is what fills the others.
    passes = np.minimum(most[::-1], len(arrays.tiers)).sum()
    passes += len(most) * sum(len(arrays.distinct[box]) for box in boxes) / max(len(boxes), 1)
    cells = len(most) * (arrays.cap + 1)
    whole = cells * _CELLS + passes * (_PASSES + (arrays.cap + 1) * _PASSED)
    return float(whole) + (len(most) + (1 << arrays.boxes)) * _SETS


def rules_bytes(rules: Ruleset) -> int:
    """Return about how much memory rules take: a request may bring some with thousands of numbers."""
    return _BYTES_A_LETTER * len(repr(rules))


def parts(table: Table) -> dict[Hashable, int]:
    """Return the bytes of what a table holds, as a shelf counts them: other results may hold it as well."""
    return {table.ruleset: rules_bytes(table.ruleset), id(table): table.nbytes} | table.states.parts


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
    followed = (lanes * FOLLOWING + sets * FOLLOWING_SETS) / thread_count(None)
    return followed + sum(scores_to_hold(scope)) * SPREADING


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


def _refuse_beyond_room(limits: Limits, rules: Ruleset, needed: int) -> None:
    if needed > limits.memory // 4:
        raise WorkError(
            f"rules {rules.name!r}: the states take {size(needed)}, "
            f"expected {size(limits.memory // 4)} at the most"
        )


def _refuse_beyond(limits: Limits, what: str, seconds: float) -> None:
    Work(limits, Event()).claim(what, {what: seconds})
