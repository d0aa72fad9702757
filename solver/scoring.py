"""From a ruleset to arrays: what each roll scores in each category, and what a joker does.

Everything that the values of a game depend on is in a `Scoring`, and nothing else is: its digest
names the values, whatever the boxes are called and however the rules file says it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from .dice import Lattice, lattice
from .rules import FACES, Category, Joker, Order, Pattern, Ruleset, Tier

_NOTHING = -1


@dataclass(frozen=True, eq=False)
class Scoring:
    """The rules of a game as arrays; categories and rolls by number.

    Attributes
    ----------
    dice, rolls
        Number of dice, and rolls a turn.
    points : int32 array, shape (categories, rolls of the lattice)
        Points of each roll by each category's own rule.
    joker_points : int32 array, shape (categories, 6)
        Points of a joker of face 1..6 in each category.
    served_points, served_joker_points : int32 arrays, shaped as the two above
        The same on the first roll of a turn; equal to these in a game where that makes no difference, and
        where a turn has one roll alone.
    requires : bool array, shape (categories,)
        Which categories score 0 unless the one numbered `required` holds points; all lower ones.
    required
        Number of the category that others require to hold points, or -1.
    upper : bool array, shape (categories,)
        Which categories count for the upper subtotal.
    upper_of_face : tuple of six int
        The upper category of face 1..6, or -1.
    tiers : tuple of (subtotal, points)
        The upper bonus, rising.
    yahtzee : int
        The category that makes further rolls of all dice alike special, or -1.
    bonus : int
        Points for each such roll while that box holds points.
    joker, order
        As in the ruleset.
    saves
        Whether rolls not used are kept for later turns, and there can be any.
    """

    dice: int
    rolls: int
    points: NDArray[np.int32]
    joker_points: NDArray[np.int32]
    served_points: NDArray[np.int32]
    served_joker_points: NDArray[np.int32]
    requires: NDArray[np.bool_]
    required: int
    upper: NDArray[np.bool_]
    upper_of_face: tuple[int, ...]
    tiers: tuple[tuple[int, int], ...]
    yahtzee: int
    bonus: int
    joker: Joker
    order: Order
    saves: bool = False

    @property
    def boxes(self) -> int:
        """Number of boxes on the card."""
        return len(self.points)

    @property
    def lattice(self) -> Lattice:
        """The rolls and keeps of these dice."""
        return lattice(self.dice)

    @property
    def cap(self) -> int:
        """The upper subtotal from which more does not matter (0 without an upper bonus)."""
        return self.tiers[-1][0] if self.tiers else 0

    @property
    def special(self) -> bool:
        """Whether further rolls of all dice alike differ from other rolls at all."""
        return self.yahtzee != _NOTHING and (self.bonus > 0 or self.joker != "none")

    @property
    def arming(self) -> int:
        """The category whose points set the flag of a state, or -1."""
        return self.yahtzee if self.bonus else self.required

    @cached_property
    def upper_boxes(self) -> tuple[int, ...]:
        """The numbers of the upper categories, rising."""
        return tuple(np.flatnonzero(self.upper).tolist())

    @cached_property
    def own(self) -> tuple[NDArray[np.int32], ...]:
        """For each category the different points that its own rule can give, rising."""
        found = []
        for requires, *points in zip(self.requires, self.points, self.served_points, strict=True):
            found.append(_different(*points, np.zeros(int(requires), np.int32)))
        return tuple(found)

    @cached_property
    def serves(self) -> bool:
        """Whether the first roll of a turn scores otherwise than the same dice later."""
        return not np.array_equal(self.points, self.served_points)

    @cached_property
    def distinct(self) -> tuple[NDArray[np.int32], ...]:
        """For each category the different points it can give, rising, a joker's included."""
        return tuple(
            _different(own, *(jokers if self.special else ()))
            for own, *jokers in zip(self.own, self.joker_points, self.served_joker_points, strict=True)
        )

    @cached_property
    def of_rolls(self) -> tuple[NDArray[np.int64], ...]:
        """For each category which of its `distinct` points each roll gives by its own rule."""
        return tuple(np.searchsorted(*pair) for pair in zip(self.distinct, self.points, strict=True))

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of all that the values depend on."""
        rest = {
            "dice": self.dice,
            "rolls": self.rolls,
            "shape": self.points.shape,
            "upper": self.upper.tolist(),
            "tiers": self.tiers,
            "order": self.order,
        }
        if self.saves:
            rest["save_rolls"] = True
        if self.special:
            rest |= {
                "yahtzee": self.yahtzee,
                "bonus": self.bonus,
                "joker": self.joker,
                "faces": self.upper_of_face,
                "joker_points": self.joker_points.tolist(),
            }
        # The points are hashed in the order of the rolls as sorted text, not as this program numbers them.
        rising = sorted(range(len(self.lattice.rolls)), key=self.lattice.rolls.__getitem__)
        if self.serves:
            # Nothing is said of games without it, so that their digests stay as they were.
            rest["served_points"] = self.served_points[:, rising].tolist()
            if self.special:
                rest["served_joker_points"] = self.served_joker_points.tolist()
        if self.required != _NOTHING:
            rest["requires"] = [self.required, *np.flatnonzero(self.requires).tolist()]
        text = json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
        return hashlib.sha256(text + self.points[:, rising].astype("<i4").tobytes()).hexdigest()


@lru_cache(maxsize=64)
def scoring(ruleset: Ruleset) -> Scoring:
    """Return the arrays of a ruleset."""
    rolls = lattice(ruleset.dice)
    counts = rolls.counts[rolls.short :].astype(np.int64)
    points = np.array([_points(category, counts, ruleset) for category in ruleset.categories], np.int32)
    served = points
    if any(box.served for box in ruleset.categories):
        on_first = [
            replace(box, points=replace(box.points, plus=box.points.plus + box.served))
            for box in ruleset.categories
        ]
        served = np.array([_points(category, counts, ruleset) for category in on_first], np.int32)
    joker_points, served_joker_points = points[:, rolls.alike], served[:, rolls.alike]
    for number, category in enumerate(ruleset.categories):
        if category.joker is not None:
            joker_points[number] = served_joker_points[number] = category.joker
    if ruleset.rolls == 1:
        # All rolls are first ones.
        points, joker_points = served, served_joker_points
    keys = list(ruleset.keys)
    rule = ruleset.yahtzee
    required = [box.requires for box in ruleset.categories]
    return Scoring(
        dice=ruleset.dice,
        rolls=ruleset.rolls,
        points=points,
        joker_points=joker_points,
        served_points=served,
        served_joker_points=served_joker_points,
        requires=np.array([key is not None for key in required]),
        required=next((keys.index(key) for key in required if key is not None), _NOTHING),
        upper=np.array([category.section == "upper" for category in ruleset.categories]),
        upper_of_face=tuple(_upper_of_face(ruleset.categories, face) for face in range(1, FACES + 1)),
        tiers=_useful_tiers(ruleset.upper_bonus),
        yahtzee=keys.index(rule.category) if rule else _NOTHING,
        bonus=rule.bonus if rule else 0,
        joker=rule.joker if rule else "none",
        order=ruleset.order,
        saves=ruleset.saves,
    )


def _different(*points: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the different points among them, rising."""
    # As `np.unique` does, which imports `numpy.ma` first: that takes longer than the rest of opening a table.
    return np.array(sorted(set().union(*(some.tolist() for some in points))), np.int32)


def _useful_tiers(tiers: Sequence[Tier]) -> tuple[tuple[int, int], ...]:
    """Tiers that change the bonus: one that pays what the tier below pays is left out."""
    useful: list[tuple[int, int]] = []
    for tier in tiers:
        if tier.points != (useful[-1][1] if useful else 0):
            useful.append((tier.at, tier.points))
    return tuple(useful)


def _upper_of_face(categories: Sequence[Category], face: int) -> int:
    for number, category in enumerate(categories):
        if category.section == "upper" and category.pattern == Pattern(face=face):
            return number
    return _NOTHING


def _points(category: Category, counts: NDArray[np.int64], ruleset: Ruleset) -> NDArray[np.int64]:
    """Points of the rolls with these counts of faces, shape (rolls,)."""
    pattern = category.pattern
    faces = np.arange(1, FACES + 1)
    total = counts @ faces
    best: NDArray[np.int64] = np.full(len(counts), _NOTHING)
    for matched in _matches(pattern, counts):
        fits = np.any(matched > 0, axis=1)
        if pattern.total is not None:
            fits &= total == pattern.total
        if pattern.colour is not None:
            fits &= _one_colour(counts if pattern.colour == "all" else matched, ruleset.colours)
        base = {"fixed": np.zeros_like(total), "sum": total, "matched": matched @ faces}[category.points.of]
        points = category.points.times * base + category.points.plus
        best = np.where(fits, np.maximum(best, points), best)
    best[best == _NOTHING] = 0
    return best


def _matches(pattern: Pattern, counts: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield each way to match a pattern: dice matched of each face, shape (rolls, 6), 0 where it fails."""
    if pattern.face is not None:
        yield counts * (np.arange(1, FACES + 1) == pattern.face)
        return
    needs = {tuple(need) for need in _needs(pattern)}
    if not needs:
        yield counts
    for need in needs:
        yield np.where(np.all(counts >= need, axis=1)[:, None], need, 0)


def _needs(pattern: Pattern) -> Iterator[list[int]]:
    """Yield the sets of dice that make a pattern, each as the dice needed of face 1..6."""
    if pattern.run is not None:
        for low in range(FACES - pattern.run + 1):
            yield [int(low <= face < low + pattern.run) for face in range(FACES)]
    elif pattern.faces is not None:
        for dice in pattern.faces:
            yield [dice.count(face) for face in range(1, FACES + 1)]
    elif pattern.alike is not None or pattern.groups is not None:
        groups = pattern.groups or (pattern.alike or 0,)
        of_faces = product(range(FACES), repeat=len(groups))
        for faces in of_faces if pattern.same_face else permutations(range(FACES), len(groups)):
            need = [0] * FACES
            for face, size in zip(faces, groups, strict=True):
                need[face] += size
            yield need


def _one_colour(counts: NDArray[np.int64], colours: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    """Whether all these dice are of one colour, shape (rolls,)."""
    total = counts.sum(axis=1)
    same = [counts[:, [face - 1 for face in colour]].sum(axis=1) == total for colour in colours]
    return np.any(same, axis=0) if same else np.zeros(len(counts), bool)
