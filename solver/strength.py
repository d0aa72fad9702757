"""Calibrated strength: slips like a person's, small losses often and large ones seldom."""

from __future__ import annotations

import numpy as np

from .lookup import Table
from .plan import Floats

LEVELS: dict[str, float] = {"beginner": 0.30, "casual": 0.15, "club": 0.07, "expert": 0.03, "perfect": 0.0}
"""The temperature of each level, as a share of the points a turn of perfect play."""


def level_temperature(level: str, table: Table) -> float:
    """Return the temperature of a level in a game, in points."""
    return LEVELS[level] * table.expected_score / len(table.ruleset.categories)


def shares(losses: Floats, temperature: float) -> Floats:
    """Return the chance of each option from its loss, in points: softmax at a temperature."""
    weights: Floats = np.exp(-losses / temperature)
    chances: Floats = weights / weights.sum()
    return chances
