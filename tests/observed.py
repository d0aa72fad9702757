"""What learners see and do, worked out by hand for the tests of environments."""

from __future__ import annotations

from random import Random

import numpy as np

import solver


def any_action(mask: np.ndarray, random: Random) -> int:
    return random.choice(np.flatnonzero(mask).tolist())


def game_of(card: solver.Scorecard, dice: tuple[int, ...], rerolls: int) -> list[float]:
    """An observation, from the card and the dice alone."""
    tiers = [tier.at for tier in card.ruleset.upper_bonus]
    filled = [float(points is not None) for points in card.points]
    subtotal = min(card.upper_subtotal, tiers[-1]) if tiers else 0
    total = card.total if card.finished else card.boxes_total
    return [*(dice.count(face) for face in range(1, 7)), rerolls, *filled, subtotal, int(card.armed), total]
