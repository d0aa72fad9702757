"""What a distribution of final scores says in numbers: one set of names for reports, JSON and Python."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .distributions import Distribution
from .errors import ArgumentError, check_kind

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
MILESTONE = 50

_OUTSIDE = 0.0005
"""Share of the games on either side that does not count for how wide the bins of a histogram are."""
_MOST_BINS = 25
_WIDTHS: tuple[int, ...] = tuple(digit * 10**power for power in range(6) for digit in (1, 2, 5))


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a histogram: the scores from `low` to `high`, and the probability of any of them."""

    low: int
    high: int
    probability: float


@dataclass(frozen=True, slots=True)
class BoxStatistics:
    """One box: its mean points, and how often and when it gets them.

    Attributes
    ----------
    key, title
        As in the ruleset.
    mean
        Expected points in the box at the end.
    zero, full
        Probability that it holds 0, and that it holds the most it can.
    turn
        Mean number of the turn (from 1) in which it is filled; None where it is filled already.
    """

    key: str
    title: str
    mean: float
    zero: float
    full: float
    turn: float | None


@dataclass(frozen=True, slots=True)
class Statistics:
    """What final scores are like.

    Attributes
    ----------
    rules, card
        The rules and the card that the play starts from, as texts.
    mean, standard_deviation
        Of the final score, in points.
    quantiles
        By share q: the least score x with P(score <= x) >= q.
    mode
        The most probable score.
    least, greatest
        The least and the greatest score that can be, each with its probability.
    at_least
        By round fifty: the probability of that score or more, as far as it is between 0 and 1.
    upper_bonus
        Probability of an upper bonus, and its expected points.
    yahtzee_bonuses
        Expected number of bonuses for further Yahtzees, those on the card included.
    top_box, top_box_probability
        Key of the box that can hold most (the last of equals), and the probability that it is not 0.
    boxes
        One entry a box, in card order.
    parts
        What the mean is made of, in points, by key of box, and `upper_bonus` and `yahtzee_bonuses`.
    histogram
        Bins of equal width; the first and the last one also hold what lies beyond.
    """

    rules: str
    card: str
    mean: float
    standard_deviation: float
    quantiles: dict[float, int]
    mode: int
    least: tuple[int, float]
    greatest: tuple[int, float]
    at_least: dict[int, float]
    upper_bonus: float
    upper_bonus_points: float
    yahtzee_bonuses: float
    top_box: str
    top_box_probability: float
    boxes: tuple[BoxStatistics, ...]
    parts: dict[str, float]
    histogram: tuple[Bin, ...]

    @property
    def median(self) -> int:
        """The middle score."""
        return self.quantiles[0.5]

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as it is written in JSON."""
        found = asdict(self)
        found["quantiles"] = {f"{share:g}": score for share, score in self.quantiles.items()}
        found["at_least"] = {str(score): probability for score, probability in self.at_least.items()}
        for end in ("least", "greatest"):
            score, probability = found[end]
            found[end] = {"score": score, "probability": probability}
        found["boxes"] = list(found["boxes"])
        found["histogram"] = list(found["histogram"])
        return found


def statistics(scores: Distribution) -> Statistics:
    """Return the statistics of a distribution, exact or simulated."""
    check_kind(scores, Distribution, "scores", "a distribution, as `solver.distribution` gives")
    table, card = scores.table, scores.card
    boxes = _boxes(scores)
    rule = table.ruleset.yahtzee
    further = float(scores.by_row[:, scores.by_row.shape[1] // 2 :].sum())
    bonus_points = sum((points * probability for points, probability in scores.upper_bonus), 0.0)
    parts = {box.key: box.mean for box in boxes}
    parts["upper_bonus"] = bonus_points
    parts["yahtzee_bonuses"] = (card.bonuses + further) * (rule.bonus if rule else 0)
    most = table.states.scoring.points.max(axis=1)
    top = boxes[int(np.flatnonzero(most == most.max())[-1])]
    rounds = range(-(-scores.least // MILESTONE) * MILESTONE, scores.greatest + 1, MILESTONE)
    return Statistics(
        rules=table.ruleset.name,
        card=str(card),
        mean=scores.mean,
        standard_deviation=scores.standard_deviation,
        quantiles={share: scores.quantile(share) for share in QUANTILES},
        mode=scores.mode,
        least=(scores.least, scores.probability(scores.least)),
        greatest=(scores.greatest, scores.probability(scores.greatest)),
        at_least={score: scores.at_least(score) for score in rounds},
        upper_bonus=sum((probability for _, probability in scores.upper_bonus), 0.0),
        upper_bonus_points=bonus_points,
        yahtzee_bonuses=card.bonuses + further,
        top_box=top.key,
        top_box_probability=max(0.0, 1 - top.zero),
        boxes=boxes,
        parts=parts,
        histogram=_histogram(scores),
    )


def bin_width(low: int, high: int, most: int) -> int:
    """Return the least of 1, 2, 5, 10, 20, ... points at which so few bins cover the scores low .. high."""
    for width in _WIDTHS:
        if high // width - low // width < most:
            return width
    raise ArgumentError(f"scores from {low} to {high}: expected fewer points between them")


def span(scores: Distribution) -> tuple[int, int]:
    """Return the scores between which nearly all games end: all but 0.05 % on either side."""
    return scores.quantile(_OUTSIDE), scores.quantile(1 - _OUTSIDE)


def _histogram(scores: Distribution) -> tuple[Bin, ...]:
    low, high = span(scores)
    width = bin_width(low, high, _MOST_BINS)
    starts = [first * width for first in range(low // width, high // width + 1)]
    below = [scores.least, *(start for start in starts[1:])]
    above = [*(start - 1 for start in starts[1:]), scores.greatest]
    probabilities = np.add.reduceat(scores.probabilities, np.searchsorted(scores.scores, below))
    return tuple(Bin(*ends) for ends in zip(below, above, probabilities.tolist(), strict=True))


def _boxes(scores: Distribution) -> tuple[BoxStatistics, ...]:
    rules = scores.table.states.scoring
    card = scores.card
    half = scores.by_row.shape[1] // 2
    by_row = scores.by_row[:, :half] + scores.by_row[:, half:]
    turns = card.filled.bit_count() + 1 + np.arange(len(by_row))
    found = []
    first = 0
    for category, held, points in zip(card.ruleset.categories, card.points, rules.distinct, strict=True):
        rows = by_row[:, first : first + len(points)]
        first += len(points)
        by_points = rows.sum(axis=0)
        mean, zero, full = by_points @ points, by_points[points == 0].sum(), by_points[-1]
        turn: float | None = float(turns @ rows.sum(axis=1))
        if held is not None:
            mean, zero, full, turn = held, float(held == 0), float(held == points[-1]), None
        zero, full = min(1.0, float(zero)), min(1.0, float(full))
        found.append(BoxStatistics(category.key, category.title, float(mean), zero, full, turn))
    return tuple(found)
