"""What lies behind an advice, as people read it: how the turn ends after each of the best moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..rules import Ruleset
from .output import percent, room, show_line, show_table

if TYPE_CHECKING:
    from ..explanation import BoxChance, Explanation
    from ..lookup import Option

_WIDE = 110
"""Characters a line where no terminal sets a limit."""
_GAP = 3
_LEAST_CHANCE = 0.01
"""Boxes that are filled less often are not shown."""


def show_explanations(found: Sequence[Explanation], rules: Ruleset, on_card: int) -> None:
    """Print how the turn ends after some moves, side by side as far as they fit.

    Parameters
    ----------
    found
        The explanations, the best move first.
    rules
        The rules.
    on_card
        Points on the card before the turn.
    """
    first = max(map(len, ["Points of this turn", *(f"  {box.title}" for box in rules.categories)]))
    each = max(len(_cell("100.00 %", "100.00")), *(len(_short(one.option, rules)) for one in found))
    side_by_side = max(1, (room(_WIDE) - 2 - first) // (_GAP + each))
    for at in range(0, len(found), side_by_side):
        part = found[at : at + side_by_side]
        header = ("How the turn ends", *(_short(one.option, rules) for one in part))
        show_line()
        show_table(list(_rows(part, rules, on_card)), header, right=range(1, len(header)), indent=2)


def _rows(found: Sequence[Explanation], rules: Ruleset, on_card: int) -> Iterator[tuple[str, ...]]:
    yield "Box filled", *(_cell("chance", "points") for _ in found)
    chances = [{box.key: box for box in one.boxes if box.probability >= _LEAST_CHANCE} for one in found]
    for rule in rules.categories:
        if any(rule.key in boxes for boxes in chances):
            yield f"  {rule.title}", *(_filled(boxes.get(rule.key)) for boxes in chances)
    yield "Points of this turn", *(f"{one.turn_points:.2f}" for one in found)
    yield "Points after it", *(f"{one.after:.2f}" for one in found)
    if on_card:
        yield "Points on the card", *(f"{on_card}.00" for _ in found)
    yield "Expected final score", *(f"{one.option.value:.2f}" for one in found)
    if found[0].patterns:
        yield "The last roll shows", *(_cell("chance", "") for _ in found)
        titles = {rule.key: rule.title for rule in rules.categories}
        for key in found[0].patterns:
            yield f"  {titles[key]}", *(_cell(percent(one.patterns[key]), "") for one in found)


def _filled(box: BoxChance | None) -> str:
    return "" if box is None else _cell(percent(box.probability), f"{box.points:.2f}")


def _cell(chance: str, points: str) -> str:
    return f"{chance:>8} {points:>7}"


def _short(option: Option, rules: Ruleset) -> str:
    """Return a move in few words: "Keep 3 3", "Fill Threes"."""
    if option.action == "keep":
        return f"Keep {' '.join(map(str, option.dice))}" if option.dice else "Reroll all"
    return "Fill " + next(box.title for box in rules.categories if box.key == option.category)
