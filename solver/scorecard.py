"""What a person holds: a card with points in its boxes, and a position with dice on the table.

A card is written `ones=3 yahtzee=50 bonuses=1`: each filled box with its points, in any order, and how
many bonuses for further Yahtzees were scored; where rules save rolls, `saved=2` counts those that earlier
turns left. An empty card is written `-`. A position takes one line:

    yahtzee | ones=3 yahtzee=50 bonuses=1 | 1 3 3 4 6 | 2
    rules   | card                        | dice      | rerolls left, those saved among them
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from .errors import CardError, DiceError, PositionError, as_text, check_kind, short, shown
from .rules import FACES, Ruleset, ruleset
from .scoring import scoring

BONUSES = "bonuses"
SAVED = "saved"
_ITEM = re.compile(r"(?P<key>[A-Za-z0-9_]+)\s*=\s*(?P<points>[^\s,;=]+)")


@dataclass(frozen=True)
class Scorecard:
    """A card under its rules; always one that can arise.

    Attributes
    ----------
    ruleset : Ruleset
    points : tuple of int or None
        Points of each box in card order; None where it is open.
    bonuses : int
        How many bonuses for further Yahtzees were scored.
    saved : int
        How many rolls earlier turns have saved, before this one.

    Raises
    ------
    CardError
        If a box cannot hold its points, or the card cannot arise.
    """

    ruleset: Ruleset
    points: tuple[int | None, ...]
    bonuses: int = 0
    saved: int = 0

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def empty(cls, rules: Ruleset) -> Scorecard:
        """Return the card of a game not yet begun."""
        return cls.of(rules, {})

    @classmethod
    def parse(cls, rules: Ruleset, text: str) -> Scorecard:
        """Read a card such as "ones=3 yahtzee=50 bonuses=1"; "" and "-" are the empty card."""
        _check_rules(rules)
        filled: dict[str, int] = {}
        check_kind(text, str, "card", "its text", CardError)
        rest = text.strip()
        if rest == "-":
            rest = ""
        while rest:
            item = _ITEM.match(rest)
            if not item:
                raise CardError(
                    f"card {shown(text)}: found {shown(rest.split()[0])}, expected BOX=POINTS "
                    f"such as {rules.keys[0]}=3"
                )
            key, points = item["key"].lower(), item["points"]
            if key in filled:
                raise CardError(f"card {shown(text)}: {short(key)} is filled twice")
            if (number := whole_number(points)) is None:
                wanted = "a whole number" + " of points" * (key not in (BONUSES, SAVED))
                raise CardError(f"card {shown(text)}: {short(key)} is {shown(points)}, expected {wanted}")
            filled[key] = number
            rest = rest[item.end() :].lstrip(" \t\r\n,;")
        return cls.of(rules, filled)

    @classmethod
    def of(cls, rules: Ruleset, filled: Mapping[str, int]) -> Scorecard:
        """Return the card with these points by key of box; `bonuses` and `saved` are counts."""
        _check_rules(rules)
        check_kind(filled, Mapping, "card", "points by key of box", CardError)
        for key in filled:
            if key not in rules.keys and key not in (BONUSES, SAVED):
                raise CardError(f"card: there is no box {shown(key)}{_hint(as_text(key), rules)}")
        points = tuple(filled.get(key) for key in rules.keys)
        return cls(rules, points, filled.get(BONUSES, 0), filled.get(SAVED, 0))

    def __str__(self) -> str:
        """Return the card as text that `parse` reads."""
        items = [f"{key}={points}" for key, points in self.as_dict().items()]
        return " ".join(items) or "-"

    def as_dict(self) -> dict[str, int]:
        """Return the points of each filled box by its key, and `bonuses` and `saved` where there are any."""
        boxes = {key: p for key, p in zip(self.ruleset.keys, self.points, strict=True) if p is not None}
        counts = {BONUSES: self.bonuses, SAVED: self.saved}
        return boxes | {key: count for key, count in counts.items() if count}

    @cached_property
    def filled(self) -> int:
        """The filled boxes, one bit each in card order."""
        return sum(1 << box for box, points in enumerate(self.points) if points is not None)

    @property
    def finished(self) -> bool:
        """Whether every box is filled."""
        return None not in self.points

    @cached_property
    def upper_subtotal(self) -> int:
        """Points in the upper boxes, not capped."""
        return sum(
            points or 0
            for category, points in zip(self.ruleset.categories, self.points, strict=True)
            if category.section == "upper"
        )

    @property
    def upper_bonus(self) -> int:
        """The upper bonus that the subtotal so far has reached, in points."""
        return next((t.points for t in reversed(self.ruleset.upper_bonus) if self.upper_subtotal >= t.at), 0)

    @property
    def bonus_points(self) -> int:
        """Points of the bonuses for further Yahtzees."""
        return self.bonuses * self.ruleset.yahtzee.bonus if self.ruleset.yahtzee else 0

    @cached_property
    def armed(self) -> bool:
        """The flag of the state: the box that brings bonuses, or that others require, holds points."""
        arming = scoring(self.ruleset).arming
        return arming >= 0 and bool(self.points[arming])

    @property
    def boxes_total(self) -> int:
        """Points in boxes and bonuses for further Yahtzees, without the upper bonus."""
        return sum(points or 0 for points in self.points) + self.bonus_points

    @property
    def total(self) -> int:
        """Points on the card, the upper bonus included where the subtotal has reached it."""
        return self.boxes_total + self.upper_bonus

    @property
    def rerolls(self) -> int:
        """How many rerolls there are after the first roll of a turn, those saved among them."""
        return self.ruleset.rolls - 1 + self.saved

    def fill(self, key: str, points: int, bonus: bool = False, saved: int = 0) -> Scorecard:
        """Return the card with one more box filled, one more bonus where `bonus`, and so many rolls saved.

        Raises
        ------
        CardError
            If there is no such box, it is filled already, or the card could not arise.
        """
        if key not in self.ruleset.keys:
            raise CardError(f"card: there is no box {shown(key)}{_hint(str(key), self.ruleset)}")
        box = self.ruleset.keys.index(key)
        if self.points[box] is not None:
            raise CardError(f"card '{self}': {key} is filled already")
        filled = (*self.points[:box], points, *self.points[box + 1 :])
        return Scorecard(self.ruleset, filled, self.bonuses + bonus, saved)


def card_of(rules: Ruleset, card: Scorecard | str | None) -> Scorecard:
    """Return a card of these rules from a card or its text; None is the empty card.

    Raises
    ------
    CardError
        If it is a card of other rules, or none at all.
    """
    if isinstance(card, Scorecard):
        if card.ruleset != rules:
            raise CardError(f"card of {card.ruleset.name!r}: expected one of {rules.name!r}")
        return card
    if card is not None and not isinstance(card, str):
        raise CardError(f"card {shown(card)}: expected a card or its text")
    return Scorecard.parse(rules, card or "")


def parse_faces(dice: str | Iterable[int | str]) -> tuple[int, ...]:
    """Read any number of dice, such as "3 3", "33" or (3, 3), and return them rising.

    Raises
    ------
    DiceError
        For anything but faces 1 to 6.
    """
    text = _faces_text(dice)
    digits = "".join(re.split(r"[\s,]+", text)) if isinstance(dice, str) else text.split()
    faces = tuple(str(face) for face in range(1, FACES + 1))
    for die in digits:
        if die not in faces:
            raise DiceError(f"dice {shown(text)}: found {shown(die)}, expected faces 1 to {FACES}")
    return tuple(sorted(map(int, digits)))


def _faces_text(dice: object) -> str:
    if isinstance(dice, str):
        return dice
    if not isinstance(dice, Iterable):
        raise DiceError(f"dice {shown(dice)}: expected faces, as text or a list")
    return " ".join(short(as_text(die)) for die in dice)


def parse_dice(rules: Ruleset, dice: str | Iterable[int | str]) -> tuple[int, ...]:
    """Read dice, such as "1 3 3 4 6", "13346" or (1, 3, 3, 4, 6), and return them rising.

    Raises
    ------
    DiceError
        For anything but the right number of faces 1 to 6.
    """
    text = _faces_text(dice)
    faces = parse_faces(text if isinstance(dice, str) else text.split())
    if len(faces) != rules.dice:
        raise DiceError(f"dice {shown(text)}: found {len(faces)} dice, expected {rules.dice}")
    return faces


def check_rerolls(card: Scorecard, rerolls: int) -> int:
    """Return the rerolls left, if the rules and the rolls saved allow that many.

    Raises
    ------
    DiceError
        If not.
    """
    if (
        isinstance(rerolls, bool)
        or not isinstance(rerolls, (int, np.integer))
        or not 0 <= rerolls <= card.rerolls
    ):
        saved = f", {card.saved} of them saved" if card.saved else ""
        raise DiceError(f"rerolls {shown(rerolls)}: expected a whole number from 0 to {card.rerolls}{saved}")
    return int(rerolls)


@dataclass(frozen=True)
class Position:
    """A card with dice on the table and rerolls left: what advice is asked for.

    Raises
    ------
    DiceError
        If the dice or the rerolls are not what the rules allow.
    CardError
        If the card is full.
    """

    card: Scorecard
    dice: tuple[int, ...]
    rerolls: int

    def __post_init__(self) -> None:
        _check_card(self.card)
        rules = self.card.ruleset
        object.__setattr__(self, "dice", parse_dice(rules, self.dice))
        object.__setattr__(self, "rerolls", check_rerolls(self.card, self.rerolls))
        if self.card.finished:
            raise CardError(f"card '{self.card}': every box is filled, there is nothing left to decide")

    @classmethod
    def of(cls, card: Scorecard, dice: str | Iterable[int | str], rerolls: int | None = None) -> Position:
        """Return the position with these dice, and rerolls left as after the first roll unless given."""
        _check_card(card)
        rules = card.ruleset
        return cls(card, parse_dice(rules, dice), card.rerolls if rerolls is None else rerolls)

    @classmethod
    def parse(cls, text: str, rules_of: Callable[[str], Ruleset] = ruleset) -> Position:
        """Read a position in one line: rules | card | dice | rerolls.

        Parameters
        ----------
        text
            The line.
        rules_of
            What finds the rules by the name in it; a game or a rules file unless given.

        Raises
        ------
        PositionError
            If the line is not of this form; RulesError, CardError or DiceError if a part is wrong.
        """
        check_kind(text, str, "position", "one line of text", PositionError)
        parts = [part.strip() for part in text.rsplit("|", 3)]
        if len(parts) != 4 or "\n" in text.strip():
            raise PositionError(f"position {shown(text)}: expected one line 'rules | card | dice | rerolls'")
        name, card, dice, rerolls = parts
        if (left := whole_number(rerolls)) is None:
            what = f"rerolls is {shown(rerolls)}, expected a whole number of at most six digits"
            raise PositionError(f"position {shown(text)}: {what}")
        rules = rules_of(name)
        return cls(Scorecard.parse(rules, card), parse_dice(rules, dice), left)

    def __str__(self) -> str:
        """Return the line that `parse` reads."""
        dice = " ".join(map(str, self.dice))
        return f"{self.card.ruleset.name} | {self.card} | {dice} | {self.rerolls}"


def whole_number(text: str) -> int | None:
    """Return the number that a text of at most six digits writes; None for any other text."""
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else None


def _check_rules(rules: object) -> None:
    check_kind(rules, Ruleset, "rules", "rules, as `solver.ruleset` gives", CardError)


def _check_card(card: object) -> None:
    check_kind(card, Scorecard, "card", "a Scorecard", CardError)


def check_position(position: object) -> None:
    """Refuse anything but a position, such as its text.

    Raises
    ------
    PositionError
        If it is none.
    """
    check_kind(position, Position, "position", "a Position; `Position.parse` reads its text", PositionError)


def _hint(key: str, rules: Ruleset) -> str:
    close = get_close_matches(key, rules.keys, 1)
    meant = f", did you mean {close[0]}" if close else ""
    return f"{meant}; the boxes are {', '.join(rules.keys)}"


def _check(card: Scorecard) -> None:
    """Refuse a card that cannot arise, by name of the first fault."""
    rules = card.ruleset
    _check_rules(rules)
    arrays = scoring(rules)
    check_kind(card.points, tuple, "card", "a tuple with the points of each box", CardError)
    if len(card.points) != len(rules.categories):
        raise CardError(f"card: found points for {len(card.points)} boxes, expected {len(rules.categories)}")
    for number, (key, points) in enumerate(zip(rules.keys, card.points, strict=True)):
        if points is None:
            continue
        if isinstance(points, bool) or not isinstance(points, int):
            raise CardError(f"card: {key} is {shown(points)}, expected a whole number of points")
        own = arrays.own[number].tolist()
        if points not in own and not _alike_possible(card, number):
            raise CardError(f"card: {key} is {shown(points)}, expected one of {', '.join(map(str, own))}")
        if points and arrays.requires[number] and not card.armed:
            required = rules.keys[arrays.required]
            raise CardError(f"card: {key} is {shown(points)}, expected 0 as {required} holds no points")
    _check_order(card)
    _check_bonuses(card)
    _check_saved(card)


def _check_order(card: Scorecard) -> None:
    rules = card.ruleset
    open_boxes = [c for c, points in zip(rules.categories, card.points, strict=True) if points is None]
    filled = [c for c, points in zip(rules.categories, card.points, strict=True) if points is not None]
    if rules.order == "card":
        for place, category in enumerate(filled):
            if category is not rules.categories[place]:
                first = open_boxes[0].key
                raise CardError(
                    f"card: {category.key} is filled while {first} is open, but boxes go in card order"
                )
    if rules.order == "upper-first":
        upper = [category.key for category in open_boxes if category.section == "upper"]
        for category in filled:
            if category.section == "lower" and upper:
                raise CardError(
                    f"card: {category.key} is filled while {upper[0]} is open, but upper boxes go first"
                )


def _check_bonuses(card: Scorecard) -> None:
    """Refuse more bonuses than the filled boxes can have brought."""
    rules, count = card.ruleset, card.bonuses
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise CardError(f"card: {BONUSES} is {shown(count)}, expected a whole number from 0")
    if not count:
        return
    rule = rules.yahtzee
    if not rule or not rule.bonus:
        raise CardError(f"card: {BONUSES} is {shown(count)}, but these rules have no such bonus")
    if not card.armed:
        raise CardError(f"card: {BONUSES} is {shown(count)}, but {rule.category} holds no points")
    boxes = [number for number in range(len(rules.categories)) if _alike_possible(card, number)]
    most = len(boxes)
    # Zeros of upper boxes that only vouch for one another: one of them came about in another way.
    arrays = scoring(rules)
    zeros = [number for number in boxes if arrays.upper[number] and card.points[number] == 0]
    vouching = {box for box in arrays.upper_of_face if box >= 0 and card.points[box] is not None}
    if arrays.joker == "forced" and zeros and vouching <= set(zeros) and len(vouching) == _faces(card):
        most -= 1
    if count > most:
        raise CardError(
            f"card: {BONUSES} is {shown(count)}, but the boxes filled can have brought {most} at the most"
        )


def _check_saved(card: Scorecard) -> None:
    """Refuse more saved rolls than the turns so far can have left."""
    rules, count = card.ruleset, card.saved
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise CardError(f"card: {SAVED} is {shown(count)}, expected a whole number from 0")
    if count and not rules.saves:
        raise CardError(f"card: {SAVED} is {shown(count)}, but these rules save no rolls")
    if count > (most := (rules.rolls - 1) * card.filled.bit_count()):
        raise CardError(
            f"card: {SAVED} is {shown(count)}, but the boxes filled can have left {most} at the most"
        )


def _faces(card: Scorecard) -> int:
    """Return how many faces have an upper box that is filled, or no upper box at all."""
    return sum(box < 0 or card.points[box] is not None for box in scoring(card.ruleset).upper_of_face)


def _alike_possible(card: Scorecard, number: int) -> bool:
    """Whether a roll of all dice alike can have gone in this filled box once the Yahtzee box was filled."""
    rules, arrays = card.ruleset, scoring(card.ruleset)
    points = card.points[number]
    if (
        not arrays.special
        or points is None
        or number == arrays.yahtzee
        or card.points[arrays.yahtzee] is None
    ):
        return False
    if rules.order == "card" and number < arrays.yahtzee:
        return False
    if rules.order == "upper-first" and arrays.upper[number] and not arrays.upper[arrays.yahtzee]:
        return False
    alike = arrays.lattice.alike
    own = np.stack([arrays.points[number, alike], arrays.served_points[number, alike]], axis=1)
    joker = np.stack([arrays.joker_points[number], arrays.served_joker_points[number]], axis=1)
    lower_full = all(card.points[c] is not None for c in np.flatnonzero(~arrays.upper).tolist())
    for face, box in enumerate(arrays.upper_of_face):
        own_filled = box < 0 or card.points[box] is not None
        if arrays.joker == "none" or (arrays.joker == "free" and not own_filled):
            fits = points in own[face]
        elif arrays.joker == "free":
            fits = points in own[face] or points in joker[face]
        elif box == number:
            fits = points in own[face]
        elif not own_filled:
            fits = rules.order == "card" and points in joker[face]
        elif arrays.upper[number]:
            fits = points in own[face] and (lower_full or rules.order != "free")
        else:
            fits = points in joker[face]
        if fits:
            return True
    return False
