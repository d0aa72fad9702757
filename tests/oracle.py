"""The slow, obvious solver that every fast part of dicewise is compared with.

It shares no code with the product: it reads a `Ruleset` (plain data) and works out everything else by itself.

Three layers, each simpler than what it checks:

`points`, `legal_fills`, `yahtzee_bonus`, `upper_bonus`
    The rules of one turn, in plain Python, for one roll at a time (in `oracle_rules`).
`Exact`
    Exact fractions by plain recursion over raw ordered dice, with real subtotals, never capped. For tiny
    games.
`Dense`
    float64, a full matrix of probabilities from each keep to each roll. For whole games (official Yahtzee
    takes about a minute) and, with `from_filled`, for late positions of any game in much less.

Vocabulary: `filled` is a set of category keys, or an int whose bit i is set where box i of the card is
filled; `subtotal` is the points of the filled upper boxes; `flag` is true where the box of all dice alike, or
the one that others require, holds points; `rerolls` is the number of rolls still to come this turn. A state's
value is the expected number of points still to be won from it under best play, upper bonus and yahtzee
bonuses included.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from oracle_rules import (
    Dice,
    Filled,
    after_fill,
    as_mask,
    available_boxes,
    highest_tier,
    is_alike,
    is_flag_box,
    legal_fills,
    points,
    proper_keeps,
    upper_bonus,
    yahtzee_bonus,
)

from solver.rules.model import FACES, Ruleset

__all__ = [
    "Action",
    "Dense",
    "Dice",
    "Exact",
    "Filled",
    "exact",
    "legal_fills",
    "option_values",
    "points",
    "proper_keeps",
    "solve",
    "upper_bonus",
    "yahtzee_bonus",
]

Action = tuple[Literal["keep"], Dice] | tuple[Literal["fill"], str]
Floats = NDArray[np.float64]
Kept = tuple[int | None, ...]  # the dice in a row, None for each one to reroll


# ---------------------------------------------------------------- exact fractions


class Exact:
    """Exact values by plain recursion; for games of two or three dice and a few boxes.

    Attributes
    ----------
    values
        (filled, uncapped subtotal, flag) -> value, of every state met so far, finished ones included.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.values: dict[tuple[int, int, bool], Fraction] = {}

    def value(self, filled: Filled = 0, subtotal: int = 0, flag: bool = False) -> Fraction:
        """Expected points still to be won at the start of a turn."""
        mask = as_mask(self.ruleset, filled)
        state = (mask, subtotal, flag)
        if state not in self.values:
            if mask == (1 << len(self.ruleset.categories)) - 1:
                self.values[state] = Fraction(upper_bonus(self.ruleset, subtotal))
            else:
                turn = ExactTurn(self, *state)
                nothing_kept = (None,) * self.ruleset.dice
                self.values[state] = turn.mean_after_keeping(nothing_kept, self.ruleset.rolls)
        return self.values[state]

    def option_values(
        self, filled: Filled, subtotal: int, flag: bool, dice: Dice, rerolls: int
    ) -> dict[Action, Fraction]:
        """Expected points still to be won with each option; options as in `Dense.option_values`."""
        turn = ExactTurn(self, as_mask(self.ruleset, filled), subtotal, flag)
        options: dict[Action, Fraction] = dict(turn.fills(dice, rerolls == self.ruleset.rolls - 1))
        if rerolls > 0:
            for kept in ways_to_keep(dice):
                action: Action = ("keep", tuple(sorted(face for face in kept if face is not None)))
                options[action] = turn.mean_after_keeping(kept, rerolls)
        return options


class ExactTurn:
    """One turn from one state: the dice lie in a row, each is kept or rerolled by its place in the row."""

    def __init__(self, game: Exact, filled: int, subtotal: int, flag: bool) -> None:
        self.game = game
        self.state = (filled, subtotal, flag)
        # One memory for each turn: what is remembered is this turn's, and goes with it.
        self.best: Callable[[Dice, int], Fraction] = cache(self._best)
        self.mean_after_keeping: Callable[[Kept, int], Fraction] = cache(self._mean_after_keeping)
        self._fills_of_sorted = cache(self._fills)

    def fills(self, dice: Dice, first: bool) -> list[tuple[Action, Fraction]]:
        """Each legal fill of these dice with its value; `first`: they are the first roll of the turn."""
        return self._fills_of_sorted(tuple(sorted(dice)), first)

    def _fills(self, dice: Dice, first: bool) -> list[tuple[Action, Fraction]]:
        found: list[tuple[Action, Fraction]] = []
        ruleset = self.game.ruleset
        filled, _, flag = self.state
        for box, won in legal_fills(ruleset, filled, dice, first, flag):
            rest = self.game.value(*after_fill(ruleset, *self.state, box, won))
            found.append((("fill", ruleset.keys[box]), won + yahtzee_bonus(ruleset, flag, dice) + rest))
        return found

    def _best(self, dice: Dice, rerolls: int) -> Fraction:
        first = rerolls == self.game.ruleset.rolls - 1
        values = [value for _, value in self.fills(dice, first)]
        if rerolls > 0:
            values += [self.mean_after_keeping(kept, rerolls) for kept in ways_to_keep(dice)]
        return max(values)

    def _mean_after_keeping(self, kept: Kept, rerolls: int) -> Fraction:
        """Mean of the best values after one roll of the dice not kept; `rerolls` counts this roll too."""
        every_face = range(1, FACES + 1)
        outcomes = list(product(*[every_face if face is None else [face] for face in kept]))
        return sum((self.best(dice, rerolls - 1) for dice in outcomes), Fraction(0)) / len(outcomes)


@cache
def ways_to_keep(dice: Dice) -> list[Kept]:
    """The row of dice with None for each die to reroll, at least one, in every way."""
    ways = product(*[(face, None) for face in dice])
    return [way for way in ways if None in way]


def exact(ruleset: Ruleset) -> Fraction:
    """Expected final score of the whole game under best play, exactly."""
    return Exact(ruleset).value()


# ---------------------------------------------------------------- dense matrices


class Lattice(NamedTuple):
    """Rolls, proper keeps, and the chance [keep, roll] of each roll after each keep.

    `inside` has the keeps of all rolls, one roll after the other, and `first_inside` where each roll's begin.
    """

    rolls: list[Dice]
    keeps: list[Dice]
    keep_to_roll: Floats
    inside: NDArray[np.int64]
    first_inside: NDArray[np.int64]


@cache
def lattice(dice: int) -> Lattice:
    """The rolls and keeps of so many dice."""
    faces = range(1, FACES + 1)
    rolls: list[Dice] = list(combinations_with_replacement(faces, dice))
    keeps: list[Dice] = [keep for size in range(dice) for keep in combinations_with_replacement(faces, size)]
    roll_index = {roll: index for index, roll in enumerate(rolls)}
    keep_index = {keep: index for index, keep in enumerate(keeps)}
    keep_to_roll = np.zeros((len(keeps), len(rolls)))
    for keep, row in keep_index.items():
        rerolled = dice - len(keep)
        for outcome in product(faces, repeat=rerolled):
            keep_to_roll[row, roll_index[tuple(sorted(keep + outcome))]] += 1
        keep_to_roll[row] /= FACES**rerolled
    keeps_of_rolls = [[keep_index[keep] for keep in proper_keeps(roll)] for roll in rolls]
    first_inside = np.cumsum([0] + [len(keeps) for keeps in keeps_of_rolls[:-1]])
    return Lattice(rolls, keeps, keep_to_roll, np.concatenate(keeps_of_rolls), first_inside)


@cache
def own_points(ruleset: Ruleset, first: bool) -> NDArray[np.int64]:
    """Points [category, roll] by each category's own rule."""
    rolls = lattice(ruleset.dice).rolls
    return np.array([[points(ruleset, box, roll, first) for roll in rolls] for box in ruleset.categories])


class Dense:
    """Values of all states from a filled set on, in float64.

    Parameters
    ----------
    ruleset
        The game.
    from_filled
        Boxes filled at the start. 0: the whole game, reachable states only. Else: every filled set that holds
        these boxes, from each capped subtotal, and each flag where the yahtzee box is one of them, whether a
        game can lead there or not.

    Attributes
    ----------
    values
        filled (int) -> array [capped subtotal, flag] of values; nan where no play from the start leads there.
    cap
        Subtotals are capped here: the highest tier of the upper bonus, 0 where there is none.
    """

    def __init__(self, ruleset: Ruleset, from_filled: Filled = 0) -> None:
        self.ruleset = ruleset
        self.cap = highest_tier(ruleset)
        self._lattice = lattice(ruleset.dice)
        self.rolls, self.keeps = self._lattice.rolls, self._lattice.keeps
        self._alike = [index for index, roll in enumerate(self.rolls) if is_alike(roll)]
        self._legal_points = cache(self._legal_fills)
        self.values: dict[int, Floats] = {}
        start = as_mask(ruleset, from_filled)
        reached = self._reach(start)
        for filled in sorted(reached, reverse=True):
            self.values[filled] = self._solve_filled(filled, reached[filled])

    @property
    def states(self) -> int:
        """Number of states solved, finished ones included."""
        return sum(int(np.count_nonzero(~np.isnan(values))) for values in self.values.values())

    def value(self, filled: Filled = 0, subtotal: int = 0, flag: bool = False) -> float:
        """Expected points still to be won at the start of a turn; the subtotal may exceed the cap."""
        value = float(self.values[as_mask(self.ruleset, filled)][min(subtotal, self.cap), int(flag)])
        if np.isnan(value):
            raise KeyError(f"no play leads to filled {filled}, subtotal {subtotal}, flag {flag}")
        return value

    def option_values(
        self, filled: Filled, subtotal: int, flag: bool, dice: Dice, rerolls: int
    ) -> dict[Action, float]:
        """Expected points still to be won with each option in the middle of a turn, all bonuses included.

        Returns
        -------
        ("fill", category key) -> points for each legal fill, and with rerolls left ("keep", sorted dice) ->
        points for each distinct keep except all dice.
        """
        if not 0 <= rerolls < self.ruleset.rolls:
            raise ValueError(f"rerolls {rerolls} must be from 0 to {self.ruleset.rolls - 1}")
        self.value(filled, subtotal, flag)
        mask = as_mask(self.ruleset, filled)
        lane = np.array([[min(subtotal, self.cap)], [int(flag)]])
        options: dict[Action, float] = {}
        for box, won in legal_fills(self.ruleset, mask, dice, rerolls == self.ruleset.rolls - 1, flag):
            rest = self.value(*after_fill(self.ruleset, mask, subtotal, flag, box, won))
            options["fill", self.ruleset.keys[box]] = won + yahtzee_bonus(self.ruleset, flag, dice) + rest
        if rerolls > 0:
            after_roll = self._best_fills(mask, lane)
            for _ in range(rerolls - 1):
                after_roll = self._best_options(after_roll, stop=self._best_fills(mask, lane))
            keep_values = self._lattice.keep_to_roll @ after_roll
            for keep in proper_keeps(dice):
                options["keep", keep] = float(keep_values[self.keeps.index(keep), 0])
        return options

    def _legal_fills(
        self, filled: int, first: bool, flag: bool
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Whether each [category, roll] may be filled, and its points."""
        # Only a roll of all dice alike can be a joker; all others score by the category's own rule.
        won = own_points(self.ruleset, first).copy()
        legal = np.zeros(won.shape, dtype=bool)
        legal[available_boxes(self.ruleset, filled)] = True
        won[[box.requires is not None and not flag for box in self.ruleset.categories]] = 0
        for roll in self._alike:
            legal[:, roll] = False
            for box, joker_points in legal_fills(self.ruleset, filled, self.rolls[roll], first, flag):
                legal[box, roll] = True
                won[box, roll] = joker_points
        return legal, won

    def _reach(self, start: int) -> dict[int, NDArray[np.bool_]]:
        """Filled -> array [capped subtotal, flag]: whether play from `start` can lead there."""
        ruleset = self.ruleset
        at_start = np.zeros((self.cap + 1, 2), dtype=bool)
        at_start[0, 0] = True
        if start:
            at_start[:, 0] = True
            filled_boxes = [box for box in range(len(ruleset.keys)) if start >> box & 1]
            at_start[:, 1] = any(is_flag_box(ruleset, box) for box in filled_boxes)
        reached = {start: at_start}
        # A later state has more bits set, so its number is higher.
        for filled in range(start, 1 << len(ruleset.categories)):
            if filled not in reached:
                continue
            for first, flag in product((False, True), repeat=2):
                subtotals = np.flatnonzero(reached[filled][:, int(flag)])
                flags = np.full(len(subtotals), int(flag))
                legal, won = self._legal_points(filled, first, flag)
                for box in np.flatnonzero(legal.any(axis=1)):
                    nothing = np.zeros((self.cap + 1, 2), dtype=bool)
                    after = reached.setdefault(filled | 1 << int(box), nothing)
                    distinct_points = np.unique(won[box][legal[box]])[:, np.newaxis]
                    after[self._next(int(box), distinct_points, subtotals, flags)] = True
        return reached

    def _next(
        self, box: int, won: NDArray[np.int64], subtotals: NDArray[np.int64], flags: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Capped subtotals and flags after `won` points went in the box, by broadcasting."""
        counted = won if self.ruleset.categories[box].section == "upper" else won * 0
        raised = (won > 0) & is_flag_box(self.ruleset, box)
        return np.minimum(subtotals + counted, self.cap), flags | raised

    def _best_fills(self, filled: int, lanes: NDArray[np.int64], first: bool = False) -> Floats:
        """Best fill's value [roll, lane]; a lane is a column (capped subtotal, flag)."""
        best = np.full((len(self.rolls), lanes.shape[1]), -np.inf)
        for flag in (False, True):
            with_flag = np.flatnonzero(lanes[1] == flag)
            subtotals, flags = lanes[:, with_flag]
            legal, won = self._legal_points(filled, first, flag)
            for box in np.flatnonzero(legal.any(axis=1)) if len(with_flag) else ():
                here = np.ix_(legal[box], with_flag)
                won_here = won[box][legal[box]][:, np.newaxis]
                rest = self.values[filled | 1 << int(box)][self._next(int(box), won_here, subtotals, flags)]
                best[here] = np.maximum(best[here], won_here + rest)
            for roll in self._alike:
                best[roll, with_flag] += yahtzee_bonus(self.ruleset, flag, self.rolls[roll])
        return best

    def _best_options(self, after_roll: Floats, stop: Floats) -> Floats:
        """Value [roll, lane] with one reroll more than `after_roll` has: the best keep, or to stop."""
        keep_values = self._lattice.keep_to_roll @ after_roll
        inside = keep_values[self._lattice.inside]
        best_keep = np.maximum.reduceat(inside, self._lattice.first_inside, axis=0)
        return np.maximum(best_keep, stop)

    def _solve_filled(self, filled: int, reached: NDArray[np.bool_]) -> Floats:
        """Values [capped subtotal, flag] of one filled set; those of all larger sets are known."""
        values = np.full(reached.shape, np.nan)
        lanes = np.array(np.nonzero(reached))
        if filled == (1 << len(self.ruleset.categories)) - 1:
            values[reached] = [upper_bonus(self.ruleset, int(subtotal)) for subtotal in lanes[0]]
            return values
        after_roll = stop = self._best_fills(filled, lanes)
        at_once = self._best_fills(filled, lanes, first=True)
        for rerolls in range(1, self.ruleset.rolls):
            after_roll = self._best_options(
                after_roll, at_once if rerolls == self.ruleset.rolls - 1 else stop
            )
        if self.ruleset.rolls == 1:
            after_roll = at_once
        nothing_kept = self.keeps.index(())
        values[reached] = self._lattice.keep_to_roll[nothing_kept] @ after_roll
        return values


def solve(ruleset: Ruleset, from_filled: Filled = 0) -> Dense:
    """Solve the whole game, or only what comes after the boxes `from_filled`."""
    return Dense(ruleset, from_filled)


def option_values(
    ruleset: Ruleset, filled: Filled, subtotal: int, flag: bool, dice: Dice, rerolls: int
) -> dict[Action, float]:
    """`Dense.option_values` of one position, solving only what comes after it."""
    return solve(ruleset, filled).option_values(filled, subtotal, flag, dice, rerolls)
