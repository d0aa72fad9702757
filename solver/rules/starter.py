"""A rules file to start from: a whole game, with every key explained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .validate import CATEGORY_KEYS, MOST_BOXES, MOST_DICE, MOST_ROLLS
from .wording import written

_WIDTH = 112

_GAME: Final = {
    "title": "What people call the game.",
    "summary": "One line about the rules.",
    "dice": f"Number of dice, 1 to {MOST_DICE}.",
    "rolls": f"Rolls a turn, the first one included, 1 to {MOST_ROLLS}.",
    "save_rolls": "Whether rolls that a turn does not use are kept for later turns: true or false.",
    "order": 'Which open boxes may be filled: "free" (any), "upper-first" (no lower box while an upper one '
    'is open) or "card" (only the first open one).',
    "upper_bonus": "From an upper subtotal of `at` on, `points` more at the end; [] for none. Of several "
    "tiers the highest one reached pays, alone: [{ at = 63, points = 35 }, { at = 71, points = 55 }].",
    "colours": "Faces of one colour, for patterns that ask for it: [[1, 6], [2, 5], [3, 4]]; [] for none.",
}
_UNSET: Final = {"summary": "", "save_rolls": False, "order": "free", "upper_bonus": [], "colours": []}
_YAHTZEE = """\
What further rolls of all dice alike bring; without this table they are rolls like any other.
  category  the box of all dice alike
  bonus     points for each further such roll while that box holds points, whatever box the roll fills
  joker     where such a roll may go once that box is filled:
              "none"    into any open box, by the rule of that box
              "free"    into any open box; for joker points in a lower one if the box of the face is filled
              "forced"  into the upper box of the face; else a lower one, for joker points; else any"""
_BOXES = f"""\
The boxes, 1 to {MOST_BOXES}, in the order of the card. A table [categories.KEY] is a box.
  KEY       what you type for the box: a-z, 0-9 and _
  title     what people call the box
  section   "upper" or "lower"; points in upper boxes count for the upper bonus
  pattern   what the roll must show; {{}} is any roll. One of
              face = 4              a die of this face or more: all of them are matched
              alike = 3             so many of one face, or more: exactly so many are matched
              groups = [3, 2]       equal dice, each group of another face (same_face = true: or of the same)
              run = 4               so many faces in sequence, anywhere
              faces = [1, 3, 5]     these dice; of several lists, those of one
            and any of
              total = 13            all dice add up to this
              colour = "all"        all dice are of one colour; "matched": the matched ones are
  points    a number; "sum" of all dice; "matched": the sum of the matched dice; or such a sum times a
            number, plus points: {{ of = "sum", times = 1, plus = 15 }}
  joker     what a joker scores in this lower box, where it is not what the roll scores anyway
  served    points more in this lower box for a roll that shows the pattern on the first roll of the turn
  requires  the key of another box: this lower box scores 0 unless that one holds points"""


def starter(settings: Mapping[str, Any], title: str, origin: str) -> str:
    """Return the text of a rules file that says all of a game, with a comment on every key.

    Parameters
    ----------
    settings
        The game to start from, as `settings` returns it.
    title
        What the new game is called.
    origin
        The name of the game to start from.
    """
    parts = [
        _comment(
            f"{title}, started from {origin}: every rule of the game, to be changed as you play it. A file "
            'may also begin with extends = "GAME", the name of a game or the path of a file, and state the '
            "differences alone. There,\n"
            "  categories.KEY = false      removes a box, and yahtzee = false the table of that name\n"
            '  box_order = ["KEY", ...]    puts the boxes in another order\n'
            "`dicewise rules check FILE` says whether the file is right."
        )
    ]
    given = {**_UNSET, **settings, "title": title}
    parts += [f"{_comment(text)}{key} = {written(given[key])}\n" for key, text in _GAME.items()]
    rule = given.get("yahtzee")
    if isinstance(rule, Mapping):
        parts.append(_comment(_YAHTZEE) + _table("yahtzee", rule))
    else:
        example = '[yahtzee]\ncategory = "KEY"\nbonus = 100\njoker = "forced"'
        parts.append(_comment(f"{_YAHTZEE}\n{example}"))
    boxes = given["categories"].items()
    first, *rest = [
        _table(f"categories.{key}", {part: box[part] for part in CATEGORY_KEYS if part in box})
        for key, box in boxes
    ]
    return "\n".join([*parts, _comment(_BOXES) + first, *rest])


def _table(name: str, content: Mapping[str, Any]) -> str:
    lines = [f"[{name}]", *(f"{key} = {written(value)}" for key, value in content.items())]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    """Return text as lines of comment; lines that start with spaces are not joined or broken."""
    lines: list[str] = []
    for line in text.split("\n"):
        while len(line) > _WIDTH and not line.startswith(" "):
            at = line.rindex(" ", 0, _WIDTH)
            lines.append(line[:at])
            line = line[at + 1 :]
        lines.append(line)
    return "".join(f"# {line}\n" for line in lines)
