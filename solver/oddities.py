"""What is allowed in rules but odd: most often a slip in a file of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .rules import Ruleset
from .scoring import Scoring, scoring


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something odd: the dotted key that it is about, and what is odd there, in words."""

    key: str
    text: str


def oddities(ruleset: Ruleset) -> tuple[Oddity, ...]:
    """Return what is odd in rules, in the order of a rules file; nothing for most games.

    Boxes that no roll scores in, or every roll scores alike in; two boxes that are the same; an upper bonus
    out of reach, or certain; a rule for further rolls of all dice alike that changes nothing; colours that
    nothing asks for.
    """
    arrays = scoring(ruleset)
    return (
        *_of_upper_bonus(ruleset, arrays),
        *_of_colours(ruleset),
        *_of_yahtzee(ruleset, arrays),
        *_of_boxes(ruleset, arrays),
    )


def _of_upper_bonus(ruleset: Ruleset, arrays: Scoring) -> Iterator[Oddity]:
    points = [arrays.distinct[box] for box in np.flatnonzero(arrays.upper).tolist()]
    least, most = (sum(int(extreme(box)) for box in points) for extreme in (np.min, np.max))
    for number, tier in enumerate(ruleset.upper_bonus):
        key = f"upper_bonus[{number}].at" if len(ruleset.upper_bonus) > 1 else "upper_bonus.at"
        if tier.at > most:
            yield Oddity(key, f"{tier.at} is out of reach: upper boxes hold {most} points at most")
        elif tier.at <= least:
            yield Oddity(key, f"{tier.at} is always reached: upper boxes hold {least} points at least")


def _of_colours(ruleset: Ruleset) -> Iterator[Oddity]:
    if ruleset.colours and not any(box.pattern.colour for box in ruleset.categories):
        yield Oddity("colours", "no pattern asks for a colour")


def _of_yahtzee(ruleset: Ruleset, arrays: Scoring) -> Iterator[Oddity]:
    rule = ruleset.yahtzee
    if rule is None:
        return
    last = arrays.boxes == 1 or (ruleset.order == "card" and arrays.yahtzee == arrays.boxes - 1)
    if ruleset.order == "upper-first":
        lower = ~arrays.upper
        last |= bool(lower[arrays.yahtzee]) and np.count_nonzero(lower) == 1
    if last:
        yield Oddity("yahtzee", f"never applies: {rule.category} is always the last box to be filled")
        return
    if not arrays.special:
        yield Oddity("yahtzee", "changes nothing: no bonus and no joker")
    elif rule.bonus and not arrays.own[arrays.yahtzee].any():
        yield Oddity("yahtzee.bonus", f"is never paid: {rule.category} never holds points")
    alike = arrays.lattice.alike
    same = np.array_equal(arrays.joker_points, arrays.points[:, alike])
    same &= np.array_equal(arrays.served_joker_points, arrays.served_points[:, alike])
    if rule.joker == "free" and same:
        yield Oddity("yahtzee.joker", "changes nothing: no box has joker points other than its own")


def _of_boxes(ruleset: Ruleset, arrays: Scoring) -> Iterator[Oddity]:
    seen: dict[tuple[object, ...], str] = {}
    for number, box in enumerate(ruleset.categories):
        key, points = f"categories.{box.key}", arrays.served_points[number]
        if not arrays.distinct[number].any():
            yield Oddity(key, "no roll scores here")
        elif not points.any():
            yield Oddity(key, "no roll scores here but a joker")
        elif len(arrays.distinct[number]) == 1:
            yield Oddity(key, f"every roll scores the same here, {points[0]}")
        if arrays.requires[number] and not arrays.distinct[arrays.required].any():
            yield Oddity(key, f"no roll scores here: {box.requires} never holds points")
        scores = [points, arrays.points[number]]
        if arrays.special:
            scores += [arrays.joker_points[number], arrays.served_joker_points[number]]
        alike = arrays.upper[number], box.requires, *(of.tobytes() for of in scores)
        first = seen.setdefault(alike, box.key)
        if first != box.key and points.any():
            yield Oddity(key, f"scores exactly as {first} does")
