"""The rules of one turn, in plain Python, one roll at a time: the first layer of the oracle, see `oracle`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import cache
from itertools import product

from solver.rules.model import FACES, Category, Pattern, Ruleset

Dice = tuple[int, ...]
Filled = int | Collection[str]


@cache
def matched_dice(pattern: Pattern, dice: Dice) -> list[Dice]:
    """Every choice of dice of the roll that makes up the pattern's shape.

    The shape is what one of face, alike, groups, run and faces asks for. A pattern with none of them matches
    all dice.
    """
    shapes = [pattern.face, pattern.alike, pattern.groups, pattern.run, pattern.faces]
    if sum(shape is not None for shape in shapes) > 1:
        raise ValueError(f"{pattern} has more than one of face, alike, groups, run and faces")
    count = Counter(dice)
    ways: list[Dice] = []
    if pattern.face is not None:
        if count[pattern.face] > 0:
            ways.append((pattern.face,) * count[pattern.face])
    elif pattern.alike is not None:
        for face in range(1, FACES + 1):
            if count[face] >= pattern.alike:
                ways.append((face,) * pattern.alike)
    elif pattern.groups is not None:
        for faces in product(range(1, FACES + 1), repeat=len(pattern.groups)):
            if len(set(faces)) < len(faces) and not pattern.same_face:
                continue
            wanted: list[int] = []
            for face, size in zip(faces, pattern.groups, strict=True):
                wanted += [face] * size
            if is_contained(wanted, dice):
                ways.append(tuple(wanted))
    elif pattern.run is not None:
        for lowest in range(1, FACES - pattern.run + 2):
            sequence = tuple(range(lowest, lowest + pattern.run))
            if is_contained(sequence, dice):
                ways.append(sequence)
    elif pattern.faces is not None:
        for wanted_faces in pattern.faces:
            if is_contained(wanted_faces, dice):
                ways.append(tuple(wanted_faces))
    else:
        ways.append(dice)
    return ways


def is_contained(wanted: Collection[int], dice: Dice) -> bool:
    """Whether the roll holds every die of `wanted`, as often as it stands there."""
    return all(dice.count(face) >= list(wanted).count(face) for face in wanted)


def has_one_colour(ruleset: Ruleset, dice: Dice) -> bool:
    """Whether all these dice have faces of one and the same colour."""
    return any(all(face in colour for face in dice) for colour in ruleset.colours)


def points(ruleset: Ruleset, category: Category, dice: Dice, first: bool = False) -> int:
    """Points of the roll in the category by the category's own rule; no joker, no bonus.

    `first` says whether it is the first roll of the turn.
    """
    pattern = category.pattern
    if pattern.total is not None and sum(dice) != pattern.total:
        return 0
    if pattern.colour == "all" and not has_one_colour(ruleset, dice):
        return 0
    ways = matched_dice(pattern, dice)
    if pattern.colour == "matched":
        ways = [way for way in ways if has_one_colour(ruleset, way)]
    if not ways:
        return 0
    matched = max(ways, key=sum)
    base = {"fixed": 0, "sum": sum(dice), "matched": sum(matched)}[category.points.of]
    return category.points.times * base + category.points.plus + (category.served if first else 0)


def as_mask(ruleset: Ruleset, filled: Filled) -> int:
    """Filled boxes as an int: bit i is set where box i of the card is filled."""
    if isinstance(filled, int):
        return filled
    return sum(1 << ruleset.keys.index(key) for key in set(filled))


def is_alike(dice: Dice) -> bool:
    """Whether all dice show one face."""
    return len(set(dice)) == 1


def available_boxes(ruleset: Ruleset, filled: Filled) -> list[int]:
    """Indices of the open boxes that the order of play allows."""
    mask = as_mask(ruleset, filled)
    open_boxes = [box for box in range(len(ruleset.categories)) if not mask >> box & 1]
    if ruleset.order == "card":
        return open_boxes[:1]
    open_upper = [box for box in open_boxes if ruleset.categories[box].section == "upper"]
    if ruleset.order == "upper-first" and open_upper:
        return open_upper
    return open_boxes


def upper_box_of_face(ruleset: Ruleset, face: int) -> int | None:
    """Index of the upper box whose pattern is exactly this face; None where the card has no such box."""
    for box, category in enumerate(ruleset.categories):
        if category.section == "upper" and category.pattern == Pattern(face=face):
            return box
    return None


def legal_fills(
    ruleset: Ruleset, filled: Filled, dice: Dice, first: bool = False, flag: bool = False
) -> list[tuple[int, int]]:
    """Boxes that the roll may go in, each with the points it scores there, without any bonus.

    `first` says whether it is the first roll of the turn, `flag` whether the box that others may require to
    hold points does.

    Returns
    -------
    (category index, points) in card order.
    """
    fills = fills_by_their_rules(ruleset, as_mask(ruleset, filled), tuple(dice), first)
    return [(box, won if flag or ruleset.categories[box].requires is None else 0) for box, won in fills]


@cache
def fills_by_their_rules(ruleset: Ruleset, mask: int, dice: Dice, first: bool) -> list[tuple[int, int]]:
    """As `legal_fills`, without regard to what other boxes hold."""
    available = available_boxes(ruleset, mask)

    def own(box: int) -> tuple[int, int]:
        return box, points(ruleset, ruleset.categories[box], dice, first)

    def as_joker(box: int) -> tuple[int, int]:
        joker_points = ruleset.categories[box].joker
        return own(box) if joker_points is None else (box, joker_points)

    rule = ruleset.yahtzee
    is_joker = (
        rule is not None
        and rule.joker != "none"
        and is_alike(dice)
        and bool(mask >> ruleset.keys.index(rule.category) & 1)
    )
    if rule is None or not is_joker:
        return [own(box) for box in available]

    upper_box = upper_box_of_face(ruleset, dice[0])
    if rule.joker == "free":
        upper_box_is_filled = upper_box is None or bool(mask >> upper_box & 1)
        return [as_joker(box) if upper_box_is_filled else own(box) for box in available]

    if upper_box in available:
        return [own(upper_box)]
    lower = [box for box in available if ruleset.categories[box].section == "lower"]
    if lower:
        return [as_joker(box) for box in lower]
    return [own(box) for box in available]


def yahtzee_bonus(ruleset: Ruleset, flag: bool, dice: Dice) -> int:
    """Points that this roll wins on top of its box, whatever box that is; `flag` as before the fill."""
    return ruleset.yahtzee.bonus if ruleset.yahtzee is not None and flag and is_alike(dice) else 0


def upper_bonus(ruleset: Ruleset, subtotal: int) -> int:
    """Upper bonus that this final upper subtotal wins, in points."""
    reached = [tier for tier in ruleset.upper_bonus if subtotal >= tier.at]
    return max(reached, key=lambda tier: tier.at).points if reached else 0


def highest_tier(ruleset: Ruleset) -> int:
    """Upper subtotal from which on further upper points change nothing."""
    return max((tier.at for tier in ruleset.upper_bonus), default=0)


def is_flag_box(ruleset: Ruleset, box: int) -> bool:
    """Whether this is the box whose points the flag tells: one required, or that of the yahtzee rule."""
    required = {category.requires for category in ruleset.categories} - {None}
    if required:
        return ruleset.keys[box] in required
    return ruleset.yahtzee is not None and ruleset.keys[box] == ruleset.yahtzee.category


def after_fill(
    ruleset: Ruleset, filled: int, subtotal: int, flag: bool, box: int, won: int
) -> tuple[int, int, bool]:
    """State (filled, uncapped subtotal, flag) after `won` points went in the box."""
    if ruleset.categories[box].section == "upper":
        subtotal += won
    return filled | 1 << box, subtotal, flag or (is_flag_box(ruleset, box) and won > 0)


@cache
def proper_keeps(dice: Dice) -> list[Dice]:
    """Every distinct sub-multiset of the dice, sorted, except all dice (to keep all dice is to stop)."""
    keeps: set[Dice] = set()
    for is_kept in product([False, True], repeat=len(dice)):
        if not all(is_kept):
            keeps.add(tuple(sorted(face for face, kept in zip(dice, is_kept, strict=True) if kept)))
    return sorted(keeps)
