"""Rolls, keeps and the lattice between them, for one to six dice.

A keep is a multiset of 0 to n faces; a roll is a keep of all n dice. Keeps are numbered by size,
then by how many different faces they hold, then in rising order, so that

    0 .. short-1        the keeps that leave at least one die to reroll
    short .. total-1    the rolls; roll r is keep short + r

The lattice joins each keep to the keeps with one die more or one die less. Rerolling m dice is the
same as adding one random die m times, so the value of a keep is the mean of the six keeps with one
die more; and the best keep inside a roll is a running maximum over the keeps with one die less.
Five dice have 252 rolls, 210 shorter keeps and 1,260 joints each way, where a roll-by-keep matrix
has 4,368 pairs to weigh 252 rolls each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations_with_replacement, pairwise, product
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from .rules import FACES

Keep = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Group:
    """Keeps ``first .. last-1``: of one size, and with the same number of different faces."""

    different: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Lattice:
    """All keeps of `dice` dice and how they join; see the module for the numbering.

    Attributes
    ----------
    keeps : tuple of tuple of int
        Each keep as its faces in rising order.
    short : int
        How many keeps leave a die to reroll; also the number of the first roll.
    groups : tuple of Group
        Runs of keeps of one size and number of different faces, the empty keep left out.
    more : int32 array, shape (short, 6)
        The keep with one die of face 1..6 more.
    less : int32 array, shape (joints,)
        For each keep but the empty one, in order, the keeps with one die less, one a different face.
    """

    dice: int
    keeps: tuple[Keep, ...]
    short: int
    groups: tuple[Group, ...]
    more: NDArray[np.int32]
    less: NDArray[np.int32]

    @property
    def rolls(self) -> tuple[Keep, ...]:
        """The rolls, in order of their number."""
        return self.keeps[self.short :]

    @cached_property
    def number(self) -> dict[Keep, int]:
        """The number of each keep."""
        return {keep: number for number, keep in enumerate(self.keeps)}

    def roll(self, dice: Iterable[int]) -> int:
        """Return the number (0 for the first roll) of the roll with these dice, in any order."""
        return self.number[tuple(sorted(dice))] - self.short

    @cached_property
    def counts(self) -> NDArray[np.uint8]:
        """How many dice of face 1..6 each keep holds, shape (keeps, 6)."""
        counts = np.zeros((len(self.keeps), FACES), np.uint8)
        for number, keep in enumerate(self.keeps):
            for face in keep:
                counts[number, face - 1] += 1
        return counts

    @cached_property
    def probability(self) -> NDArray[np.float64]:
        """The probability of each roll when all dice are thrown, shape (rolls,)."""
        ways = [
            factorial(self.dice) / prod(factorial(roll.count(face)) for face in set(roll))
            for roll in self.rolls
        ]
        probability: NDArray[np.float64] = np.array(ways) / FACES**self.dice
        return probability

    @cached_property
    def alike(self) -> NDArray[np.int32]:
        """The roll that shows nothing but face 1..6, shape (6,)."""
        return np.array([self.roll((face,) * self.dice) for face in range(1, FACES + 1)], np.int32)

    @cached_property
    def inside(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The keeps that a roll leaves to choose from, in the order in which ties are broken.

        Returns
        -------
        first : int32 array, shape (rolls + 1,)
            Where the keeps of each roll start.
        keeps : int32 array
            Keeps of fewer than all dice: those of more dice first, of higher dice first among these.
        """
        first, inside = [0], []
        for roll in self.rolls:
            faces = sorted(set(roll))
            chosen = product(*(range(roll.count(face) + 1) for face in faces))
            keeps = [
                tuple(f for f, n in zip(faces, count, strict=True) for _ in range(n)) for count in chosen
            ]
            keeps.sort(key=lambda keep: (len(keep), keep[::-1]), reverse=True)
            inside += [self.number[keep] for keep in keeps[1:]]
            first.append(len(inside))
        return np.array(first, np.int32), np.array(inside, np.int32)

    @cached_property
    def _roll_of_code(self) -> NDArray[np.int32]:
        codes = np.full((FACES + 1) ** self.dice, -1, np.int32)
        for number, roll in enumerate(self.rolls):
            codes[sum(face * (FACES + 1) ** place for place, face in enumerate(roll))] = number
        return codes

    def roll_numbers(self, dice: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the numbers of many rolls at once.

        Parameters
        ----------
        dice : integer array, shape (n, dice)
            Faces 1 to 6 in any order; anything else is the caller's fault.
        """
        places = (FACES + 1) ** np.arange(self.dice)
        numbers: NDArray[np.int32] = self._roll_of_code[np.sort(dice, axis=1).astype(np.int64) @ places]
        return numbers

    @cached_property
    def more_by_face(self) -> NDArray[np.int32]:
        """`more` with the face as the first axis, shape (6, short)."""
        return np.ascontiguousarray(self.more.T)

    @cached_property
    def less_or_same(self) -> tuple[NDArray[np.int32], ...]:
        """For each size from 1, every keep and the keeps with one die less, shape (7, keeps of the size).

        Where a keep has fewer than six different faces, the rest of its column is the keep itself.
        """
        table = np.tile(np.arange(len(self.keeps), dtype=np.int32), (FACES + 1, 1))
        at = 0
        for group in self.groups:
            wide = (group.last - group.first) * group.different
            table[: group.different, group.first : group.last] = (
                self.less[at : at + wide].reshape(-1, group.different).T
            )
            at += wide
        return tuple(
            table[: min(size, FACES) + 1, first:last] for size, (first, last) in enumerate(self.sizes) if size
        )

    @cached_property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """First keep and end of each size, from 0 to all dice."""
        size = np.array([len(keep) for keep in self.keeps])
        bounds = np.searchsorted(size, np.arange(self.dice + 2)).tolist()
        return tuple(pairwise(bounds))


@cache
def lattice(dice: int) -> Lattice:
    """Return the keeps of `dice` dice (1 to 6) and their joints."""
    faces = range(1, FACES + 1)
    keeps: list[Keep] = []
    for size in range(dice + 1):
        keeps += sorted(combinations_with_replacement(faces, size), key=lambda keep: (len(set(keep)), keep))
    number = {keep: index for index, keep in enumerate(keeps)}
    short = sum(len(keep) < dice for keep in keeps)
    more = [[number[tuple(sorted((*keep, face)))] for face in faces] for keep in keeps[:short]]
    less: list[int] = []
    groups: list[Group] = []
    for index, keep in enumerate(keeps[1:], 1):
        different = sorted(set(keep))
        for face in different:
            at = keep.index(face)
            less.append(number[(*keep[:at], *keep[at + 1 :])])
        previous = groups[-1] if groups else None
        same = previous and len(keeps[previous.first]) == len(keep) and previous.different == len(different)
        if previous and same:
            groups[-1] = Group(previous.different, previous.first, index + 1)
        else:
            groups.append(Group(len(different), index, index + 1))
    return Lattice(
        dice, tuple(keeps), short, tuple(groups), np.array(more, np.int32), np.array(less, np.int32)
    )
