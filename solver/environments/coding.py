"""How learners see a game: numbers of actions, masks and observations, shared by all environments.

Actions are numbered as in `solver.batch`:

    0 .. boxes-1          fill box c of the card, in card order
    boxes .. actions-1    keep the dice of keep a - boxes of `solver.dice.lattice(dice).keeps`,
                          and reroll the others

A mask is an int8 array, shape (actions,), 1 for each legal action, as `gymnasium.spaces.Discrete.sample`
takes it. After the end of a game every action is 1: none is chosen any more, and learners that mask the
values of a last observation are not left with nothing.

An action of the space that is not legal does what the argument `illegal` of each environment says:

    "stay"              nothing: the dice, the rerolls and the card stay; the default
    "end"               it ends the game; the upper bonus, which comes with the last box, is lost
    "raise"             it raises an ActionError and changes nothing

Unless it raises, it earns `illegal_reward`, 0 by default, and `info["illegal"]` is true. A player who draws
from all actions comes to the end of every game. One without a mask and without chance may repeat an illegal
action for ever under "stay": "end", or `gymnasium.make(..., max_episode_steps=9999)`, puts a stop to that.
What is no action of the space always raises, and so does an action after the end.

An observation is a float32 array of what is on the table and then of one or more cards, in plain units:

    0 .. 5              how many dice show face 1 .. 6; 0 after the end
    6                   rerolls left this turn, those saved among them where rules save rolls
    then a card, boxes + 3 numbers, or boxes + 4 where rules save rolls
    0 .. boxes-1        1 where box c is filled
    boxes               upper subtotal, capped where more change nothing; 0 without an upper bonus
    boxes + 1           1 where a further Yahtzee brings a bonus, or the box that others require holds
                        points: the flag of `solver.states`
    boxes + 2           points so far, the upper bonus after the end
    boxes + 3           where rules save rolls: how many the turns before have saved

All but the points so far is what the best action depends on. The space's `high` holds the greatest value
of each number and its `low` zeros, so that `gymnasium.wrappers.RescaleObservation(env, 0, 1)` brings all of
them to the range 0 to 1.
"""

from __future__ import annotations

import math
import operator
import os
import reprlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from ..dice import Lattice
from ..errors import ArgumentError
from ..rules import FACES, Ruleset, as_ruleset
from ..scoring import Scoring, scoring
from ..states import States, states

Observation = NDArray[np.float32]
Mask = NDArray[np.int8]
Illegal = Literal["stay", "end", "raise"]
"""What an illegal action does; see above."""

TABLE_NUMBERS = FACES + 1
CARD_NUMBERS = 3
"""Numbers that an observation has for the dice and rerolls, and for a card beside boxes and saved rolls."""


class Coding:
    """The actions and observations of one game.

    Parameters
    ----------
    rules
        The rules, the name of a game, or the path of a rules file.

    Raises
    ------
    RulesError
        If there are no such rules.
    """

    def __init__(self, rules: Ruleset | str | os.PathLike[str]) -> None:
        self.ruleset = as_ruleset(rules)
        self.scoring: Scoring = scoring(self.ruleset)
        self.lattice: Lattice = self.scoring.lattice
        self.boxes = self.scoring.boxes
        self.actions = self.boxes + self.lattice.short
        """How many actions there are."""
        self.card_numbers = self.boxes + CARD_NUMBERS + self.ruleset.saves
        """How many numbers an observation has for a card."""

    @cached_property
    def game(self) -> States:
        """The states of the game."""
        return states(self.scoring)

    @cached_property
    def inside(self) -> Mask:
        """1 where a keep (of fewer than all dice) is inside a roll, shape (rolls, keeps)."""
        counts = self.lattice.counts.astype(np.int8)
        rolls, keeps = counts[self.lattice.short :], counts[: self.lattice.short]
        inside: Mask = np.all(keeps <= rolls[:, None], axis=2).astype(np.int8)
        return inside

    @cached_property
    def bonus_of(self) -> NDArray[np.int64]:
        """The upper bonus of each capped subtotal at the end, in points, shape (cap + 1,)."""
        bonus = np.zeros(self.scoring.cap + 1, np.int64)
        for at, points in self.scoring.tiers:
            bonus[at:] = points
        return bonus

    @cached_property
    def most_points(self) -> int:
        """No game ends with more points than this."""
        boxes = sum(int(points[-1]) for points in self.scoring.distinct)
        return boxes + int(self.bonus_of.max()) + self.scoring.bonus * (self.boxes - 1)

    def action_space(self) -> Discrete:
        """Return a new space of the actions."""
        return Discrete(self.actions)

    def observation_space(self, cards: int = 1) -> Box:
        """Return a new space of observations with so many cards."""
        own = self.scoring.rolls - 1
        most = own * self.boxes
        on_table = [self.scoring.dice] * FACES + [max(1, most if self.ruleset.saves else own)]
        card = [1] * self.boxes + [max(1, self.scoring.cap), 1, max(1, self.most_points)]
        card += [most] * self.ruleset.saves
        high = np.array(on_table + card * cards, np.float32)
        return Box(np.zeros_like(high), high)

    def words(self, action: int) -> str:
        """Return an action in words, such as "fill ones", "keep 3 3" and "keep -"."""
        if action < self.boxes:
            return f"fill {self.ruleset.keys[action]}"
        return f"keep {' '.join(map(str, self.lattice.keeps[action - self.boxes])) or '-'}"

    def number(self, action: object) -> int | None:
        """Return an action's number as an int, or None where it is none.

        Whole numbers of all kinds are actions, arrays without axes among them; bools are not.
        """
        if isinstance(action, (bool, np.bool_)):
            return None
        try:
            number = operator.index(action)  # type: ignore[arg-type]
        except TypeError:
            return None
        return number if 0 <= number < self.actions else None


def one_line(given: object) -> str:
    """Return what was given as errors quote it: long ones shortened, never more than a line."""
    return " ".join(reprlib.repr(given).split())


def check_illegal(illegal: str, reward: float) -> None:
    """Check what an illegal action does and earns.

    Raises
    ------
    ArgumentError
        If there is no such thing to do, or the reward is not a finite number.
    """
    if illegal not in get_args(Illegal):
        raise ArgumentError(f"illegal {one_line(illegal)}: expected 'stay', 'end' or 'raise'")
    number = isinstance(reward, (int, float, np.integer, np.floating)) and not isinstance(reward, bool)
    if not number or not math.isfinite(reward):
        raise ArgumentError(f"illegal_reward {one_line(reward)}: expected a finite number")


def check_options(options: object) -> dict[str, Any]:
    """Return the options of a reset as a new dictionary, empty for None.

    Raises
    ------
    ArgumentError
        If they are no mapping.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ArgumentError(f"options {one_line(options)}: expected a dictionary or None")
    return dict(options)
