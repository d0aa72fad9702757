"""What lies behind an advice: how the turn ends after an action, if the strategy is followed from there.

Exact, by following every roll that can still come. It is what a coach would say of a keep, in numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .errors import ArgumentError, check_kind, shown
from .lookup import Advice, Option, Table, checked_table
from .plan import plan
from .records import whole
from .saving_follow import saved_ends
from .saving_table import SavingTable
from .scorecard import Scorecard
from .strategy import Ends, Follower

_Follow = Callable[[Scorecard, int, int], tuple[Ends, float]]
"""How a turn ends from a card, a keep and the rerolls left after it, and the points to expect after it."""


@dataclass(frozen=True, slots=True)
class BoxChance:
    """One box that the turn may end in.

    Attributes
    ----------
    key, title
        As in the ruleset.
    probability
        That this box is filled this turn.
    points
        Expected points when it is, bonuses for further Yahtzees included.
    by_points
        The probability of each number of points in the box, the bonus left out.
    """

    key: str
    title: str
    probability: float
    points: float
    by_points: dict[int, float]


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the turn ends after one action under the strategy.

    Attributes
    ----------
    option : Option
        The action.
    turn_points
        Expected points of this turn, bonuses for further Yahtzees included.
    after
        Expected points after this turn, the upper bonus included.
    boxes
        The boxes that may be filled, the most probable first.
    patterns
        By key of box, for boxes with a fixed score: the probability that the last roll shows what the
        box asks for, whatever box is filled and whether or not it is open.
    """

    option: Option
    turn_points: float
    after: float
    boxes: tuple[BoxChance, ...]
    patterns: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as it is written in JSON."""
        found = asdict(self) | {"option": self.option.as_dict()}
        for box in found["boxes"]:
            box["by_points"] = {str(points): p for points, p in box["by_points"].items()}
        found["boxes"] = list(found["boxes"])
        return found


def explain(table: Table, advice: Advice, top: int = 3) -> tuple[Explanation, ...]:
    """Explain the first options of an advice.

    Parameters
    ----------
    table
        The table that gave the advice.
    advice
        The advice.
    top
        How many options, from the best on.

    Raises
    ------
    ArgumentError
        For the advice of other rules, or fewer than one option.
    """
    check_kind(advice, Advice, "advice", "one, as `Table.advise` gives")
    checked_table(table).card(advice.position.card)
    if not whole(top) or top < 1:
        raise ArgumentError(f"top is {shown(top)}: expected 1 or more")
    if isinstance(table, SavingTable):

        def follow(card: Scorecard, keep: int, left: int) -> tuple[Ends, float]:
            return saved_ends(table, card, keep, left)
    else:
        follower = Follower(table, threads=1)

        def follow(card: Scorecard, keep: int, left: int) -> tuple[Ends, float]:
            start = table.states.position(card.filled, card.upper_subtotal, int(card.armed))
            ends = follower.ends_from(start, keep, left)
            return ends, float(ends.probabilities @ table.values[ends.after])

    return tuple(_explained(table, follow, advice, option) for option in advice.options[:top])


def _explained(table: Table, follow: _Follow, advice: Advice, option: Option) -> Explanation:
    position = advice.position
    card, lattice = position.card, table.states.scoring.lattice
    if option.action == "fill":
        box = table.ruleset.keys.index(str(option.category))
        points = int(option.points or 0)
        title = table.ruleset.categories[box].title
        chances = (
            BoxChance(table.ruleset.keys[box], title, 1.0, float(points + option.bonus), {points: 1.0}),
        )
        last = np.zeros(len(lattice.rolls))
        last[lattice.roll(position.dice)] = 1
        turn_points = float(points + option.bonus)
        after = option.value - card.boxes_total - turn_points
        return Explanation(option, turn_points, after, chances, _patterns(table, last))
    ends, after = follow(card, lattice.number[option.dice], position.rerolls - 1)
    turn_points = float(ends.probabilities @ ends.gains)
    return Explanation(option, turn_points, after, _boxes(table, ends), _patterns(table, ends.last))


def _boxes(table: Table, ends: Ends) -> tuple[BoxChance, ...]:
    rows = plan(table.states).rows
    row = ends.rows % len(rows.points)
    category = np.searchsorted(rows.first, row, side="right") - 1
    chances = []
    for box, rule in enumerate(table.ruleset.categories):
        here = category == box
        if here.any():
            probabilities, in_box = ends.probabilities[here], rows.points[row[here]].astype(int)
            probability = float(probabilities.sum())
            by_points = {
                int(p): float(probabilities[in_box == p].sum()) for p in sorted(set(in_box.tolist()))
            }
            points = float(probabilities @ ends.gains[here]) / probability
            chances.append(BoxChance(rule.key, rule.title, probability, points, by_points))
    return tuple(sorted(chances, key=lambda chance: -chance.probability))


def _patterns(table: Table, last: np.ndarray) -> dict[str, float]:
    """Return the probability of each pattern with a fixed score, from those of the last roll."""
    scored = table.states.scoring.points > 0
    return {
        rule.key: float(last @ scored[box])
        for box, rule in enumerate(table.ruleset.categories)
        if rule.points.of == "fixed" and not scored[box].all()
    }
