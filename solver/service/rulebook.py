"""Games as data: what a list of games says of each, one game in full, and rules given in a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..library import expected_score
from ..rules import Ruleset, build, names, settings, shipped
from ..rules.changes import applied, merged
from ..rules.describe import describe
from ..rules.validate import SETTINGS_KEYS
from ..rules.wording import Spot, did_you_mean, plain
from ..scoring import scoring

INLINE = "inline"
"""The name of rules that a request brings along."""
_FILE_KEYS = ("extends", *SETTINGS_KEYS, "box_order")


def overview(rules: Ruleset) -> dict[str, Any]:
    """Return a game as a list of games shows it."""
    return {"rules": rules.name, **size(rules), "expected_score": expected_score(rules)}


def size(rules: Ruleset) -> dict[str, Any]:
    """Return what rules are called, and how many dice, rolls and boxes they have."""
    return {
        "title": rules.title,
        "summary": rules.summary,
        "dice": rules.dice,
        "rolls": rules.rolls,
        "boxes": len(rules.categories),
        **({"save_rolls": True} if rules.save_rolls else {}),
    }


def in_words(rules: Ruleset) -> dict[str, Any]:
    """Return a game with its facts and its card in words."""
    words = describe(rules)
    facts = [asdict(fact) for fact in words.facts]
    return {**overview(rules), "facts": facts, "card": [asdict(row) for row in words.rows]}


def in_full(rules: Ruleset) -> dict[str, Any]:
    """Return all that a program needs to show a card of a game and to fill it."""
    arrays = scoring(rules)
    found = in_words(rules)
    for row, points in zip(found["card"], arrays.distinct, strict=True):
        row["points"] = points.tolist()
    return found | {
        "order": rules.order,
        "upper_bonus": [{"at": tier.at, "points": tier.points} for tier in rules.upper_bonus],
        "yahtzee": asdict(rules.yahtzee) if rules.yahtzee else None,
        "colours": [list(group) for group in rules.colours],
    }


def rules_of(given: object) -> Ruleset:
    """Return the rules that a request names or brings along; never those of a file.

    Parameters
    ----------
    given
        The name of a shipped game, which may end in changes, as in "name[rolls=4]"; or a table as a
        rules file holds it. What it extends is a shipped game.

    Raises
    ------
    RulesError
        If there is no such game, or something in the table is wrong.
    """
    return shipped(given) if isinstance(given, str) else _inline(given)


def _inline(given: object) -> Ruleset:
    spot = Spot(INLINE)
    own = plain(given, spot)
    if not isinstance(own, Mapping):
        raise spot.fault(own, f"a game or a table with keys from: {', '.join(_FILE_KEYS)}")
    for key in own:
        if key not in _FILE_KEYS:
            raise spot.at(key).unknown(_FILE_KEYS)
    base: dict[str, Any] = {}
    if "extends" in own:
        parent = own["extends"]
        if parent not in names():
            raise spot.at("extends").fault(parent, _games(str(parent)))
        base = settings(parent)
    return build(applied(merged(base, own, INLINE), (), INLINE), INLINE)


def _games(name: str) -> str:
    close = did_you_mean(name[:500], names())
    return f"a game{close}; the games: {', '.join(names())}"
