"""Rules in words: facts about the game and one row for each box, for a program to lay out."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Category, Pattern, Points, Ruleset, YahtzeeRule
from .wording import listed

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_ORDERS = {
    "free": "any open box",
    "upper-first": "any open box, but no lower box while an upper one is open",
    "card": "only the first open box, in the order of the card",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """One line about the game: what it is about, and the rule."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One box of the card in words.

    Attributes
    ----------
    key, title, section
        As in the Category.
    needs
        What the roll must show: "three or more alike".
    scores
        The points that such a roll scores: "25", "sum of all dice". Any other roll scores 0.
    joker
        The points that a joker scores here, or empty where it scores by the box's own rule.
    """

    key: str
    title: str
    section: str
    needs: str
    scores: str
    joker: str


@dataclass(frozen=True, slots=True)
class Description:
    """A game in words: its title and summary, facts, and the rows of the card in card order."""

    title: str
    summary: str
    facts: tuple[Fact, ...]
    rows: tuple[Row, ...]


def describe(ruleset: Ruleset) -> Description:
    """Return the rules in words."""
    return Description(ruleset.title, ruleset.summary, _facts(ruleset), tuple(_rows(ruleset)))


def _facts(ruleset: Ruleset) -> tuple[Fact, ...]:
    facts = [
        Fact("Dice", _count(ruleset.dice, "die", "dice")),
        Fact("Rolls", _rolls(ruleset)),
        Fact("Boxes", f"{len(ruleset.categories)}, one filled each turn"),
        Fact("Order", _ORDERS[ruleset.order]),
        Fact("Upper bonus", _upper_bonus(ruleset)),
    ]
    if ruleset.colours:
        facts.append(Fact("Colours", listed("-".join(map(str, group)) for group in ruleset.colours)))
    if rule := ruleset.yahtzee:
        box = next(box.title for box in ruleset.categories if box.key == rule.category)
        facts.append(Fact(f"{box} bonus", _yahtzee_bonus(ruleset.dice, rule, box)))
        facts.append(Fact("Joker", _joker(ruleset, rule, box)))
    return tuple(facts)


def _rows(ruleset: Ruleset) -> list[Row]:
    return [
        Row(
            key=box.key,
            title=box.title,
            section=box.section,
            needs=_needs(box.pattern, ruleset.dice),
            scores=_scores(box, ruleset.dice) + _served(box) + _required(box, ruleset),
            joker="" if box.joker is None else str(box.joker),
        )
        for box in ruleset.categories
    ]


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _count(number: int, one: str, many: str) -> str:
    return f"{_number(number)} {one if number == 1 else many}"


def _rolls(ruleset: Ruleset) -> str:
    rolls = _count(ruleset.rolls, "roll", "rolls")
    if ruleset.saves:
        return f"{rolls} a turn, the first of them made; those not used are saved for any later turn"
    return f"{rolls} a turn at most"


def _upper_bonus(ruleset: Ruleset) -> str:
    if not ruleset.upper_bonus:
        return "none"
    tiers = listed(f"{tier.points} from {tier.at}" for tier in ruleset.upper_bonus)
    return f"{tiers} points in the upper section"


def _all_alike(dice: int) -> str:
    return "any roll" if dice == 1 else f"{_number(dice)} alike"


def _yahtzee_bonus(dice: int, rule: YahtzeeRule, box: str) -> str:
    if not rule.bonus:
        return "none"
    return f"{rule.bonus} for each further {_all_alike(dice)} while {box} holds points, whatever box it fills"


def _joker(ruleset: Ruleset, rule: YahtzeeRule, box: str) -> str:
    alike = _all_alike(ruleset.dice)
    if rule.joker == "none":
        return f"none: a further {alike} scores by the rule of the box it fills"
    points = " for the joker points" if any(box.joker is not None for box in ruleset.categories) else ""
    if rule.joker == "free":
        text = f"free: once {box} is filled, {alike} go into any open box"
        when = "where the upper box of their face is filled too"
        return f"{text}, a lower one{points} {when}" if points else text
    return (
        f"forced: once {box} is filled, {alike} go into the upper box of their face; "
        f"if that is filled, into any lower box{points}; if all are filled, into any upper box"
    )


def _needs(pattern: Pattern, dice: int) -> str:
    parts = [part for part in (_shape(pattern, dice), _rest(pattern)) if part]
    return ", ".join(parts) or "any dice"


def _shape(pattern: Pattern, dice: int) -> str:
    if pattern.face is not None:
        return f"one {pattern.face} or more"
    if pattern.alike is not None:
        return _number(pattern.alike) + (" alike" if pattern.alike == dice else " or more alike")
    if pattern.groups is not None:
        return _groups(pattern.groups, pattern.same_face)
    if pattern.run is not None:
        return f"{_number(pattern.run)} in sequence"
    if pattern.faces is not None:
        return listed(("-".join(map(str, faces)) for faces in pattern.faces), "or")
    return ""


def _groups(groups: tuple[int, ...], same_face: bool) -> str:
    if len(groups) == 1:
        return f"{_number(groups[0])} or more alike"
    ordinals = ("one face", "another", "a third", "a fourth", "a fifth", "a sixth")
    text = listed(f"{_number(size)} of {face}" for size, face in zip(groups, ordinals, strict=False))
    return f"{text}, or of the same" if same_face else text


def _rest(pattern: Pattern) -> str:
    parts = []
    if pattern.total is not None:
        parts.append(f"all dice adding up to {pattern.total}")
    if pattern.colour is not None:
        parts.append("all dice of one colour" if pattern.colour == "all" else "these of one colour")
    return ", ".join(parts)


def _scores(box: Category, dice: int) -> str:
    points: Points = box.points
    if points.of == "fixed":
        return str(points.plus)
    base = "sum of all dice" if points.of == "sum" else _matched(box.pattern, dice)
    text = base if points.times == 1 else f"{points.times} × the {base}"
    return f"{text} + {points.plus}" if points.plus else text


def _served(box: Category) -> str:
    return f", {box.served} more on the first roll" if box.served else ""


def _required(box: Category, ruleset: Ruleset) -> str:
    titles = [other.title for other in ruleset.categories if other.key == box.requires]
    return f", once {titles[0]} holds points" if titles else ""


def _matched(pattern: Pattern, dice: int) -> str:
    if pattern.face is not None:
        return f"sum of the {pattern.face}s"
    sets = pattern.faces or ((),)
    sizes = {pattern.alike or sum(pattern.groups or ()) or pattern.run or len(faces) for faces in sets}
    if sizes == {dice}:
        return "sum of all dice"
    if len(sizes) > 1:
        return "sum of these dice"
    (size,) = sizes
    return f"sum of the {_number(size)} dice" if size > 1 else "value of that die"
