"""Settings, as a rules file gives them, checked and made into a Ruleset: everything is checked here, once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from .model import FACES, Category, Pattern, Points, Ruleset, Tier, YahtzeeRule
from .wording import MISSING, Spot, listed, plain

SETTINGS_KEYS: Final = (
    "title",
    "summary",
    "dice",
    "rolls",
    "save_rolls",
    "order",
    "upper_bonus",
    "colours",
    "yahtzee",
    "categories",
)
YAHTZEE_KEYS: Final = ("category", "bonus", "joker")
CATEGORY_KEYS: Final = ("title", "section", "pattern", "points", "joker", "served", "requires")
REQUIRED_CATEGORY_KEYS: Final = ("title", "section", "pattern", "points")
SHAPES: Final = ("face", "alike", "groups", "run", "faces")
"""The parts of a pattern that say which dice are matched; a pattern has one of them at most."""
PATTERN_KEYS: Final = (*SHAPES, "same_face", "total", "colour")
POINTS_KEYS: Final = ("of", "times", "plus")
TIER_KEYS: Final = ("at", "points")

MOST_DICE: Final = 6
MOST_ROLLS: Final = 100
MOST_BOXES: Final = 20
MOST_POINTS: Final = 100_000
MOST_TIMES: Final = 100
RESERVED_KEYS: Final = ("bonuses", "saved")

_ORDERS: Final = ("free", "upper-first", "card")
_JOKERS: Final = ("none", "free", "forced")
_SECTIONS: Final = ("upper", "lower")
_BASES: Final = ("matched", "sum")
_COLOURS: Final = ("all", "matched")
_CATEGORY_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")


def build(settings: Mapping[str, Any], name: str, source: Path | None = None) -> Ruleset:
    """Check settings and return the rules they describe.

    Parameters
    ----------
    settings
        All keys of the game, with `extends` resolved: what `settings` and `changed` return.
    name
        The name of the rules; error messages begin with it.
    source
        The file the rules were read from, where that is not a shipped game.

    Raises
    ------
    RulesError
        For the first key that is unknown, missing or out of bounds, on one line: the name, the
        dotted key, what was found and what is expected.
    """
    spot = Spot(name)
    table = _table(plain(settings, spot), spot, SETTINGS_KEYS)
    title = _text(table.get("title", MISSING), spot.at("title"), 60)
    summary = _text(table.get("summary", ""), spot.at("summary"), 200, empty=True)
    dice = _whole(table.get("dice", MISSING), spot.at("dice"), 1, MOST_DICE)
    rolls = _whole(table.get("rolls", MISSING), spot.at("rolls"), 1, MOST_ROLLS)
    save_rolls = _truth(table.get("save_rolls", False), spot.at("save_rolls"))
    order = _word(table.get("order", "free"), spot.at("order"), _ORDERS)
    upper_bonus = _tiers(table.get("upper_bonus", []), spot.at("upper_bonus"))
    colours = _colours(table.get("colours", []), spot.at("colours"))
    categories = _categories(table.get("categories", MISSING), spot.at("categories"), dice, colours)
    yahtzee = None
    if "yahtzee" in table:
        yahtzee = _yahtzee(table["yahtzee"], spot.at("yahtzee"), dice, categories)
    _check_saving(save_rolls, categories, spot)
    _check_requires(categories, spot.at("categories"), order, yahtzee)
    if yahtzee is None or yahtzee.joker == "none":
        # Joker points that no roll can score are no part of the rules: games that play alike are alike.
        categories = tuple(replace(box, joker=None) for box in categories)
    return Ruleset(
        name=name,
        title=title,
        summary=summary,
        dice=dice,
        rolls=rolls,
        categories=categories,
        order=order,
        upper_bonus=upper_bonus,
        yahtzee=yahtzee,
        colours=colours,
        source=source,
        save_rolls=save_rolls,
    )


def _check_saving(save_rolls: bool, categories: tuple[Category, ...], spot: Spot) -> None:
    """Refuse, beside saved rolls, what depends on which roll of a turn it is, or on another box."""
    for box in categories:
        key = "served" if box.served else "requires" if box.requires else ""
        if save_rolls and key:
            place = spot.at("categories").at(box.key).at(key)
            raise place.found(f"the key {key}", "none where save_rolls is true")


def _table(value: object, spot: Spot, allowed: Collection[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise spot.fault(value, f"a table with keys from: {', '.join(allowed)}")
    for key in value:
        if key not in allowed:
            raise spot.at(str(key)).unknown(allowed)
    return value


def _whole(value: object, spot: Spot, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise spot.fault(value, f"a whole number from {low} to {high}")
    return value


def _word(value: object, spot: Spot, allowed: Iterable[str]) -> Any:
    if not isinstance(value, str) or value not in allowed:
        raise spot.fault(value, listed((f'"{word}"' for word in allowed), "or"))
    return value


def _truth(value: object, spot: Spot) -> bool:
    if not isinstance(value, bool):
        raise spot.fault(value, "true or false")
    return value


def _text(value: object, spot: Spot, longest: int, *, empty: bool = False) -> str:
    good = isinstance(value, str) and value.isprintable() and len(value) <= longest
    if not good or not (empty or str(value).strip()):
        raise spot.fault(value, f"one line of text of {0 if empty else 1} to {longest} characters")
    return str(value)


def _list(value: object, spot: Spot, what: str, *, empty: bool = False) -> list[Any]:
    if not isinstance(value, list) or not (value or empty):
        raise spot.fault(value, what)
    return value


def _face_list(value: object, spot: Spot, what: str) -> tuple[int, ...]:
    faces = _list(value, spot, what)
    return tuple(sorted(_whole(face, spot.at(number), 1, FACES) for number, face in enumerate(faces)))


def _tiers(value: object, spot: Spot) -> tuple[Tier, ...]:
    what = "a list of tables such as { at = 63, points = 35 }"
    tiers: list[Tier] = []
    for number, item in enumerate(_list(value, spot, what, empty=True)):
        here = spot.at(number)
        table = _table(item, here, TIER_KEYS)
        tier = Tier(
            at=_whole(table.get("at", MISSING), here.at("at"), 1, MOST_POINTS),
            points=_whole(table.get("points", MISSING), here.at("points"), 1, MOST_POINTS),
        )
        if tiers and tier.at <= tiers[-1].at:
            raise here.at("at").fault(tier.at, f"more than {tiers[-1].at}, where the tier before begins")
        if tiers and tier.points <= tiers[-1].points:
            expected = f"more than {tiers[-1].points}, as the points of a tier include the tier before"
            raise here.at("points").fault(tier.points, expected)
        tiers.append(tier)
    return tuple(tiers)


def _colours(value: object, spot: Spot) -> tuple[tuple[int, ...], ...]:
    what = "lists of the faces of one colour, such as [[1, 6], [2, 5], [3, 4]]"
    groups = tuple(
        _face_list(item, spot.at(number), "a list of faces, such as [1, 6]")
        for number, item in enumerate(_list(value, spot, what, empty=True))
    )
    if groups and sorted(face for group in groups for face in group) != list(range(1, FACES + 1)):
        raise spot.fault(value, f"every face from 1 to {FACES} in exactly one colour")
    return groups


def _categories(
    value: object, spot: Spot, dice: int, colours: tuple[tuple[int, ...], ...]
) -> tuple[Category, ...]:
    what = f"1 to {MOST_BOXES} tables such as [categories.ones]"
    if not isinstance(value, Mapping):
        raise spot.fault(value, what)
    if not 1 <= len(value) <= MOST_BOXES:
        raise spot.found(f"{len(value)} boxes", what)
    categories = tuple(_category(key, item, spot.at(str(key)), dice, colours) for key, item in value.items())
    taken: dict[str, str] = {}
    for category in categories:
        title = category.title.casefold()
        if title in taken:
            expected = f"a title of its own, as {spot.at(taken[title]).key} has this one"
            raise spot.at(category.key).at("title").fault(category.title, expected)
        taken[title] = category.key
    return categories


def _category(
    key: str, value: object, spot: Spot, dice: int, colours: tuple[tuple[int, ...], ...]
) -> Category:
    if not _CATEGORY_KEY.fullmatch(key):
        what = "1 to 40 of a-z, 0-9 and _, the first of them a letter"
        raise spot.found(f"the key {spot.key.partition('.')[2]}", what)
    if key in RESERVED_KEYS:
        raise spot.found(f"the key {key}", f"another key: {key} is reserved")
    table = _table(value, spot, CATEGORY_KEYS)
    title = _text(table.get("title", MISSING), spot.at("title"), 60)
    section = _word(table.get("section", MISSING), spot.at("section"), _SECTIONS)
    pattern = _pattern(table.get("pattern", MISSING), spot.at("pattern"), dice, colours)
    points = _points(table.get("points", MISSING), spot.at("points"), pattern)
    joker = None
    if "joker" in table:
        joker = _whole(table["joker"], spot.at("joker"), 0, MOST_POINTS)
        if section == "upper":
            raise spot.at("joker").fault(joker, "joker points in lower boxes only")
    served = _whole(table.get("served", 0), spot.at("served"), 0, MOST_POINTS)
    if served and section == "upper":
        raise spot.at("served").fault(served, "points for a served roll in lower boxes only")
    requires = table.get("requires")
    if requires is not None and section == "upper":
        raise spot.at("requires").fault(requires, "a required box for lower boxes only")
    return Category(key, title, section, pattern, points, joker, served, requires)


def _check_requires(
    categories: tuple[Category, ...], spot: Spot, order: str, yahtzee: YahtzeeRule | None
) -> None:
    """Refuse a required box that there is not, and more of such relations than a state can remember."""
    keys = [box.key for box in categories]
    first = next((box for box in categories if box.requires is not None), None)
    for number, box in enumerate(categories):
        required, here = box.requires, spot.at(box.key).at("requires")
        if required is None or first is None:
            continue
        if not isinstance(required, str) or required not in keys or required == box.key:
            others = ", ".join(key for key in keys if key != box.key)
            raise here.fault(required, f"the key of another box: {others}")
        if required != first.requires:
            raise here.fault(required, f"{first.requires}, which {first.key} requires: one box for all")
        if yahtzee is not None and yahtzee.bonus and required != yahtzee.category:
            raise here.fault(required, f"{yahtzee.category}, which brings the bonus of the table yahtzee")
        if order == "card" and keys.index(required) > number:
            raise here.fault(required, "a box that comes before, as boxes are filled in card order")


def _pattern(value: object, spot: Spot, dice: int, colours: tuple[tuple[int, ...], ...]) -> Pattern:
    table = _table(value, spot, PATTERN_KEYS)
    shapes = [key for key in SHAPES if key in table]
    if len(shapes) > 1:
        raise spot.fault(value, f"at most one of {listed(SHAPES)}")
    if "same_face" in table and "groups" not in table:
        raise spot.at("same_face").fault(table["same_face"], "groups beside it")
    same_face = _truth(table.get("same_face", False), spot.at("same_face"))
    if (colour := table.get("colour")) is not None:
        _word(colour, spot.at("colour"), _COLOURS)
        if not colours:
            raise spot.at("colour").fault(colour, "colours in the rules, such as [[1, 6], [2, 5], [3, 4]]")
        if colour == "matched" and not shapes:
            raise spot.at("colour").fault(colour, f"{listed(SHAPES, 'or')} beside it to say what is matched")

    def number(key: str, high: int) -> int | None:
        return _whole(table[key], spot.at(key), 1, high) if key in table else None

    return Pattern(
        face=number("face", FACES),
        alike=number("alike", dice),
        groups=_groups(table["groups"], spot.at("groups"), dice) if "groups" in table else None,
        same_face=same_face,
        run=number("run", min(dice, FACES)),
        faces=_faces(table["faces"], spot.at("faces"), dice) if "faces" in table else None,
        total=number("total", MOST_DICE * FACES),
        colour=colour,
    )


def _groups(value: object, spot: Spot, dice: int) -> tuple[int, ...]:
    sizes = _list(value, spot, "a list of numbers of dice, such as [3, 2]")
    groups = tuple(_whole(size, spot.at(number), 1, dice) for number, size in enumerate(sizes))
    if sum(groups) > dice:
        raise spot.fault(value, f"groups of {dice} dice in all at most")
    return tuple(sorted(groups, reverse=True))


def _faces(value: object, spot: Spot, dice: int) -> tuple[tuple[int, ...], ...]:
    what = "a list of faces, such as [1, 2, 3], or a list of such lists"
    items = _list(value, spot, what)
    if not any(isinstance(item, list) for item in items):
        places = [(items, spot)]
    else:
        places = [(item, spot.at(number)) for number, item in enumerate(items)]
    sets: list[tuple[int, ...]] = []
    for item, here in places:
        faces = _face_list(item, here, "a list of faces, such as [1, 2, 3]")
        if len(faces) > dice:
            raise here.fault(item, f"{dice} faces at most, one for each die")
        sets.append(faces)
    return tuple(sets)


def _points(value: object, spot: Spot, pattern: Pattern) -> Points:
    if isinstance(value, int) and not isinstance(value, bool):
        return Points("fixed", plus=_whole(value, spot, 0, MOST_POINTS))
    if isinstance(value, Mapping):
        table = _table(value, spot, POINTS_KEYS)
        points = Points(
            _word(table.get("of", MISSING), spot.at("of"), _BASES),
            _whole(table.get("times", 1), spot.at("times"), 1, MOST_TIMES),
            _whole(table.get("plus", 0), spot.at("plus"), 0, MOST_POINTS),
        )
    elif isinstance(value, str) and value in _BASES:
        points = Points("matched" if value == "matched" else "sum")
    else:
        number = f"a whole number from 0 to {MOST_POINTS}"
        raise spot.fault(value, f'"matched", "sum", {number} or a table such as {{ of = "sum", plus = 15 }}')
    if points.of == "matched" and all(getattr(pattern, shape) is None for shape in SHAPES):
        where = spot.at("of") if isinstance(value, Mapping) else spot
        raise where.fault("matched", f"{listed(SHAPES, 'or')} in the pattern to say what is matched")
    return points


def _yahtzee(value: object, spot: Spot, dice: int, categories: tuple[Category, ...]) -> YahtzeeRule:
    table = _table(value, spot, YAHTZEE_KEYS)
    here = spot.at("category")
    boxes = {category.key: category for category in categories}
    key = table.get("category", MISSING)
    if not isinstance(key, str) or key not in boxes:
        raise here.fault(key, f"the key of a box: {', '.join(boxes)}")
    if boxes[key].pattern != Pattern(alike=dice):
        raise here.fault(key, f"a box with the pattern {{ alike = {dice} }}, all dice alike")
    rule = YahtzeeRule(
        key,
        _whole(table.get("bonus", MISSING), spot.at("bonus"), 0, MOST_POINTS),
        _word(table.get("joker", MISSING), spot.at("joker"), _JOKERS),
    )
    if rule.joker != "none":
        faces = [box.pattern.face for box in categories if _is_face_box(box)]
        for face in range(1, FACES + 1):
            if faces.count(face) > 1:
                expected = f'"none", as more than one upper box takes {face}s and a joker needs to know which'
                raise spot.at("joker").fault(rule.joker, expected)
    return rule


def _is_face_box(category: Category) -> bool:
    pattern = category.pattern
    return category.section == "upper" and pattern == Pattern(face=pattern.face) and pattern.face is not None
