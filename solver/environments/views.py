"""Cards and dice as text and as a picture; the picture is drawn in memory, no display is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, MissingExtra
from .play import Play

RENDER_MODES = ("ansi", "rgb_array")
FRAMES_PER_SECOND = 2

Named = Sequence[tuple[str, Play]]
"""Who plays, and what is on the card and the table of each."""

_PAPER, _INK, _FAINT, _FRESH = (250, 249, 245), (34, 34, 34), (150, 150, 145), (222, 232, 247)
_LINE, _MARGIN, _LABELS, _COLUMN, _LETTERS = 24, 16, 180, 110, 15
_DIE, _GAP, _PIP = 48, 12, 5
_PIPS = {
    1: [(1, 1)],
    2: [(0, 0), (2, 2)],
    3: [(0, 0), (1, 1), (2, 2)],
    4: [(0, 0), (0, 2), (2, 0), (2, 2)],
    5: [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2)],
    6: [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)],
}


def check_render_mode(mode: str | None) -> str | None:
    """Return a render mode if there is such a one.

    Raises
    ------
    ArgumentError
        If not.
    MissingExtra
        If pictures are wanted and Pillow is not installed.
    """
    if mode is not None and mode not in RENDER_MODES:
        raise ArgumentError(f"render mode {mode!r}: expected None, {' or '.join(map(repr, RENDER_MODES))}")
    if mode == "rgb_array":
        try:
            import PIL  # noqa: F401
        except ImportError:
            advice = 'python3 -m pip install "dicewise[rl]"'
            raise MissingExtra(f"pictures need Pillow, which is not installed: {advice}") from None
    return mode


def rendered(mode: str | None, seats: Named) -> Any:
    """Return the cards and the dice in a render mode; None without one."""
    if mode is None:
        return None
    return text(seats) if mode == "ansi" else picture(seats)


def text(seats: Named) -> str:
    """Return a line for the dice, one a box, and those of the bonuses and the total."""
    heads = ["", *(name for name, _ in seats)]
    rows = [heads, *([label, *cells] for label, cells in _rows(seats))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    lines = [_caption(seats)]
    for label, *cells in rows:
        right = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append("  ".join([label.ljust(widths[0]), *right]))
    return "\n".join(lines) + "\n"


def picture(seats: Named) -> NDArray[np.uint8]:
    """Return the dice and the cards drawn, uint8 array, shape (height, width, 3)."""
    from PIL import Image, ImageDraw, ImageFont

    rows = _rows(seats)
    dice_count = seats[0][1].card.ruleset.dice
    wide = max(_LABELS + _COLUMN * len(seats), dice_count * (_DIE + _GAP) - _GAP)
    high = _DIE + _LINE * (len(rows) + 3)
    image = Image.new("RGB", (wide + 2 * _MARGIN, high + 2 * _MARGIN), _PAPER)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(_LETTERS)

    playing = _on_turn(seats)
    for place, face in enumerate(playing.dice if playing else ()):
        left = _MARGIN + place * (_DIE + _GAP)
        box = (left, _MARGIN, left + _DIE, _MARGIN + _DIE)
        draw.rounded_rectangle(box, radius=_DIE // 6, fill="white", outline=_INK, width=2)
        for across, down in _PIPS[face]:
            x, y = left + _DIE * (across + 1) // 4, _MARGIN + _DIE * (down + 1) // 4
            draw.ellipse((x - _PIP, y - _PIP, x + _PIP, y + _PIP), fill=_INK)
    y = _MARGIN + _DIE + _LINE // 2
    draw.text((_MARGIN, y), _caption(seats, dice=False), fill=_INK, font=font)
    y += _LINE * 3 // 2
    for label, cells in [("", [name for name, _ in seats]), *rows]:
        draw.text((_MARGIN, y), label, fill=_INK, font=font)
        for column, cell in enumerate(cells):
            right = _MARGIN + _LABELS + _COLUMN * (column + 1)
            here = not label and len(seats) > 1 and seats[column][1].dice
            if here:
                draw.rectangle((right - _COLUMN + _GAP, y, right, y + _LINE - 4), fill=_FRESH)
            draw.text((right, y), cell, fill=_FAINT if cell == _OPEN else _INK, font=font, anchor="ra")
        y += _LINE
        draw.line((_MARGIN, y - 3, _MARGIN + wide, y - 3), fill=_FAINT)
    return np.asarray(image)


_OPEN = "."


def _on_turn(seats: Named) -> Play | None:
    return next((play for _, play in seats if play.dice), None)


def _caption(seats: Named, dice: bool = True) -> str:
    play = _on_turn(seats)
    if play is None:
        return "The game is over"
    left = f"{play.rerolls} reroll{'' if play.rerolls == 1 else 's'} left"
    return f"{' '.join(map(str, play.dice))}  {left}" if dice else left


def _rows(seats: Named) -> list[tuple[str, list[str]]]:
    """Return each line of the cards: what it is for, and what every seat has there."""
    cards = [play.card for _, play in seats]
    rules = cards[0].ruleset
    rows = [
        (category.title, [_OPEN if card.points[box] is None else str(card.points[box]) for card in cards])
        for box, category in enumerate(rules.categories)
    ]
    if rules.upper_bonus:
        rows.append(("Upper bonus", [str(card.upper_bonus) if card.upper_bonus else _OPEN for card in cards]))
    if rules.yahtzee and rules.yahtzee.bonus:
        rows.append(("Further bonuses", [str(c.bonus_points) if c.bonuses else _OPEN for c in cards]))
    if rules.saves:
        rows.append(("Saved rolls", [str(card.saved) if card.saved else _OPEN for card in cards]))
    rows.append(("Total", [str(card.total) for card in cards]))
    return rows
