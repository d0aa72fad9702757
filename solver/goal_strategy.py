"""What a goal's strategy does: the best by the goal, and the best expected score among equals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .blocks import Blocks, no_blocks
from .lookup import Table
from .plan import Floats, Ints, LanePlan, plan, work_arrays
from .scope import Scope
from .strategy import choice_rows, inside
from .turn import TIE

if TYPE_CHECKING:
    from .goal_strategy_kernels import GoalPlan

RELATIVE_TIE = 1e-9
"""Probabilities and utilities are equal that differ by less than this share of the greater."""


class GoalChooser:
    """The strategy of a goal; see `strategy.Chooser`.

    Parameters
    ----------
    table
        The expected scores.
    scope
        The states.
    numbers
        What the goal ranks by.
    blocks
        Where `numbers` are by the score so far, the blocks that they lie in.
    """

    def __init__(self, table: Table, scope: Scope, numbers: GoalPlan, blocks: Blocks | None = None) -> None:
        from .goal_strategy_kernels import MEAN

        game = scope.game
        self.by_score = blocks is not None
        self._numbers, self._blocks = numbers, blocks
        self._plan, self._inside = plan(game), inside(game)
        self._expected = _points_plan(table.values_in(scope), MEAN, scope.stride)

    def alike(self, positions: Ints, scores: Ints) -> Ints:
        """Return scores that stand for these; under and over a block one stands for all."""
        if self._blocks is None:
            return np.zeros_like(scores)
        low, length = self._blocks.low[positions], self._blocks.length[positions]
        return np.clip(scores, low - 1, low + length)

    def choose(self, lanes: LanePlan, scores: Ints, actions: NDArray[np.int16]) -> None:
        """Write the action for each state, number of rerolls left, and roll."""
        from .goal_strategy_kernels import choose_for_goal

        rows, keeps = work_arrays(self._plan, with_bonus=True)
        expected = work_arrays(self._plan, with_bonus=True)
        lattices = rows, keeps, *expected, choice_rows(self._plan, spare=2)
        beside = np.ascontiguousarray(scores)  # For other strides the kernel would be compiled again.
        choose_for_goal(
            self._numbers, self._expected, self._plan, lanes, beside, self._inside, actions, *lattices
        )


def extremes_plan(values: Floats, greatest: bool) -> GoalPlan:
    """Return the plan for the points that are certain, or the greatest possible, by position."""
    from .goal_strategy_kernels import GREATEST, LEAST

    return _points_plan(values, GREATEST if greatest else LEAST, 0)


def factors_plan(values: Floats, reference: Floats, theta: float, stride: int) -> GoalPlan:
    """Return the plan for +-E[exp(theta (points - reference))]; equal are sure scores closer than a tie."""
    from .goal_strategy_kernels import FACTORS, MEAN, GoalPlan

    return GoalPlan(FACTORS, MEAN, values, theta, reference, no_blocks(), 0.0, abs(theta) * TIE, stride)


def blocks_plan(blocks: Blocks) -> GoalPlan:
    """Return the plan for values by the score so far."""
    from .goal_strategy_kernels import BLOCKS, MEAN, GoalPlan

    places = blocks.plan()
    return GoalPlan(BLOCKS, MEAN, blocks.values, 0.0, np.zeros(0), places, 0.0, RELATIVE_TIE, places.stride)


def _points_plan(values: Floats, chance: int, stride: int) -> GoalPlan:
    from .goal_strategy_kernels import POINTS, GoalPlan

    return GoalPlan(POINTS, chance, values, 0.0, np.zeros(0), no_blocks(), TIE, 0.0, stride)
