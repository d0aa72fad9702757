"""The statistics of final scores as people read them, exact or simulated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..rules import Ruleset
from .output import percent, room, show_line, show_table

if TYPE_CHECKING:
    from ..summary import Statistics

_WIDE = 78
"""Characters a line where no terminal sets a limit."""
_LABELS = 26
"""Characters that the columns beside the bars of a histogram take."""
_LONGEST_BAR = 60
_MILESTONE_ROWS = 8
_FULL, _HALF = "█", "▌"


def show_statistics(found: Statistics, rules: Ruleset, first: Sequence[tuple[str, str]]) -> None:
    """Print statistics, after a few lines of the command's own."""
    show_line(rules.title + (f": {rules.summary}" if rules.summary else ""), style="bold")
    show_table([("Rules", found.rules), ("Card", found.card), *first, *_facts(found, rules)], indent=2)
    show_line("\nScores up to which a share of the games ends", style="bold")
    shares = [f"{100 * share:g} %" for share in found.quantiles]
    show_table(
        [[str(score) for score in found.quantiles.values()]], shares, right=range(len(shares)), indent=2
    )
    show_line("\nHistogram", style="bold")
    show_table(list(_bars(found)), right=(0, 1), indent=2)
    if found.at_least:
        show_line("\nChance of so many points or more", style="bold")
        rows = list(_milestones(found))
        show_table(rows, right=range(max(map(len, rows))), indent=2)
    show_line("\nBoxes", style="bold")
    header = ("Box", "Mean", "Zero", "Full", "Turn")
    show_table(list(_boxes(found, rules)), header, right=(1, 2, 3, 4), indent=2)
    show_line("  Mean: points. Zero, Full: how often it holds 0, and its most. Turn: when.", style="dim")


def _facts(found: Statistics, rules: Ruleset) -> Iterator[tuple[str, str]]:
    yield "Standard deviation", f"{found.standard_deviation:.4f} points"
    yield "Most probable score", str(found.mode)
    for label, (score, probability) in (("Least score", found.least), ("Greatest score", found.greatest)):
        yield label, f"{score}, probability {percent(probability)}"
    if rules.upper_bonus:
        yield "Upper bonus", percent(found.upper_bonus)
    title = next(box.title for box in rules.categories if box.key == found.top_box)
    yield f"Points in {title}", percent(found.top_box_probability)
    if rules.yahtzee and rules.yahtzee.bonus:
        yield f"Bonuses of {rules.yahtzee.bonus}", f"{found.yahtzee_bonuses:.4f} a game"


def _bars(found: Statistics) -> Iterator[tuple[str, str, str]]:
    longest = min(room(_WIDE) - _LABELS, _LONGEST_BAR)
    most = max(one.probability for one in found.histogram)
    for one in found.histogram:
        halves = round(2 * longest * one.probability / most)
        scores = f"{one.low}" if one.low == one.high else f"{one.low}–{one.high}"
        yield scores, percent(one.probability), _FULL * (halves // 2) + _HALF * (halves % 2)


def _milestones(found: Statistics) -> Iterator[tuple[str, ...]]:
    """Yield rows of scores with their probabilities, in pairs of columns to be read downwards."""
    pairs = [(str(score), percent(probability)) for score, probability in found.at_least.items()]
    rows = -(-len(pairs) // -(-len(pairs) // _MILESTONE_ROWS))
    for row in range(rows):
        yield tuple(cell for pair in pairs[row::rows] for cell in pair)


def _boxes(found: Statistics, rules: Ruleset) -> Iterator[tuple[str, ...]]:
    """Yield a row a box, the bonuses, and their sum, which is the mean."""
    for box in found.boxes:
        turn = "" if box.turn is None else f"{box.turn:.2f}"
        yield box.title, f"{box.mean:.4f}", percent(box.zero), percent(box.full), turn
    if rules.upper_bonus:
        yield "Upper bonus", f"{found.parts['upper_bonus']:.4f}", percent(1 - found.upper_bonus)
    if rules.yahtzee and rules.yahtzee.bonus:
        yield f"Bonuses of {rules.yahtzee.bonus}", f"{found.parts['yahtzee_bonuses']:.4f}"
    yield "Sum", f"{sum(found.parts.values()):.4f}"
