"""What a player may want instead of the highest expected score: plain data, checked when made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .distributions import Distribution
from .errors import GoalError, shown
from .records import MOST_DIGITS, whole

LEAST_THETA, MOST_THETA = 1e-6, 3.0
"""Nearer to 0 the taste for risk is lost in the last digits of float64."""


MOST_UTILITY = 1e300
"""Greater values would not leave room for their sums."""
_EXPECTED_UTILITY = f"utility: expected one number from -{MOST_UTILITY:g} to {MOST_UTILITY:g} for each score"


@dataclass(frozen=True, slots=True)
class Reach:
    """The greatest probability that the final score is at least `score`."""

    score: int

    def __post_init__(self) -> None:
        if not whole(self.score):
            raise GoalError(f"goal {shown(self.score)}: expected a whole number of points")
        if abs(int(self.score)) >= 10**MOST_DIGITS:
            raise GoalError(f"goal {shown(self.score)}: expected points of at most {MOST_DIGITS} digits")


@dataclass(frozen=True, slots=True)
class Win:
    """The greatest probability of the highest total, a tie with n others counting one part in n + 1.

    Attributes
    ----------
    opponents
        The distribution of each opponent's final score; see `solver.distribution`. They are taken to
        play for their expected score, each for themselves.
    """

    opponents: tuple[Distribution, ...]

    def __post_init__(self) -> None:
        given = self.opponents
        if not isinstance(given, Iterable) or not all(isinstance(one, Distribution) for one in given):
            expected = "expected the distributions of the opponents, in a list"
            raise GoalError(f"win: found {shown(given)}, {expected}")
        object.__setattr__(self, "opponents", tuple(given))
        if not self.opponents:
            raise GoalError("win: found no opponents, expected at least one")


@dataclass(frozen=True, slots=True)
class Risk:
    """The greatest E[exp(theta x final score)] for theta > 0, the least for theta < 0.

    A positive theta seeks risk, a negative one avoids it. Values are certainty equivalents, in points:
    the sure score that is worth as much as the risky one.
    """

    theta: float

    def __post_init__(self) -> None:
        theta = self.theta
        number = not isinstance(theta, bool) and isinstance(theta, (int, float))
        if not number or not LEAST_THETA <= abs(theta) <= MOST_THETA:
            raise GoalError(
                f"risk {shown(theta)}: expected a number from {LEAST_THETA:g} to {MOST_THETA:g}, "
                f"or from -{MOST_THETA:g} to -{LEAST_THETA:g}"
            )


@dataclass(frozen=True, slots=True)
class Floor:
    """The greatest final score that can be guaranteed, whatever the dice do."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The greatest final score that can be, with dice as one wishes."""


@dataclass(frozen=True, slots=True, eq=False)
class Utility:
    """The greatest expected value of any function of the final score.

    Attributes
    ----------
    function
        Called with an array of scores, or one score at a time; or an array with the value of each score
        from 0 on, whose last value holds for all greater scores.
    """

    function: Callable[[NDArray[np.int64]], ArrayLike] | ArrayLike

    def values(self, scores: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of each score.

        Raises
        ------
        GoalError
            If they are not finite numbers, one for each score.
        """
        try:
            found = self._values(scores)
        except GoalError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise GoalError(_EXPECTED_UTILITY) from error
        if found.shape != scores.shape or not (np.abs(found) <= MOST_UTILITY).all():
            raise GoalError(_EXPECTED_UTILITY)
        return found

    def _values(self, scores: NDArray[np.int64]) -> NDArray[np.float64]:
        given = self.function
        if not callable(given):
            table = np.asarray(given, np.float64)
            if table.ndim != 1 or not len(table):
                raise GoalError(
                    f"utility: found an array of shape {table.shape}, expected a value for each score"
                )
            found: NDArray[np.float64] = table[np.clip(scores, 0, len(table) - 1)]
            return found
        try:
            found = np.asarray(given(scores), np.float64)
        except (TypeError, ValueError):
            found = np.zeros(0)
        if found.shape != scores.shape:
            # It takes one score at a time, as functions of `math` do and those that compare.
            found = np.array([given(score) for score in scores.tolist()], np.float64)
        return found


Goal = Reach | Win | Risk | Floor | Ceiling | Utility


def utility(goal: Reach | Win | Utility) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """Return what final scores are worth to a goal whose value is the mean of that."""
    if isinstance(goal, Reach):
        target = goal.score
        return lambda scores: (scores >= target).astype(np.float64)
    if isinstance(goal, Win):
        opponents = goal.opponents
        return lambda scores: chance_of_winning(opponents, scores)
    return goal.values


def worth(goal: Goal, scores: Distribution) -> float:
    """Return what a distribution of final scores is worth to a goal, whatever play it comes from.

    A probability for Reach and Win, points for Risk, Floor and Ceiling, and the mean of a utility.
    """
    if isinstance(goal, Floor):
        return float(scores.least)
    if isinstance(goal, Ceiling):
        return float(scores.greatest)
    if isinstance(goal, Risk):
        theta, possible = float(goal.theta), scores.probabilities > 0
        exponents = theta * scores.scores[possible] + np.log(scores.probabilities[possible])
        most = float(exponents.max())
        return (most + float(np.log(np.exp(exponents - most).sum()))) / theta
    return float(utility(goal)(scores.scores) @ scores.probabilities)


def chance_of_winning(opponents: tuple[Distribution, ...], scores: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability that each score wins against all opponents, a tie counting its share.

    With p_i the probability that opponent i scores less and q_i that they score the same, the product of
    (p_i + q_i z) over the opponents, integrated over z from 0 to 1, gives each tie of n + 1 its share.
    """
    # coefficients[k]: the probability that none scores more and exactly k score the same
    coefficients = np.zeros((len(opponents) + 1, len(scores)))
    coefficients[0] = 1
    for other in opponents:
        below = np.concatenate([[0.0], np.cumsum(other.probabilities)])
        place = scores - int(other.scores[0])
        less = below[np.clip(place, 0, len(other.scores))]
        inside = (place >= 0) & (place < len(other.scores))
        same = np.where(inside, other.probabilities[np.clip(place, 0, len(other.scores) - 1)], 0.0)
        coefficients[1:] = coefficients[1:] * less + coefficients[:-1] * same
        coefficients[0] *= less
    shares: NDArray[np.float64] = (coefficients / np.arange(1, len(opponents) + 2)[:, None]).sum(axis=0)
    return np.minimum(shares, 1.0)
