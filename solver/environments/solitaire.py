"""The Gymnasium environment: one player, one card, any rules.

An episode is a game. Actions and observations are those of `coding`; every step that rerolls earns 0, a
step that fills a box the points that go into it and the bonus for a further Yahtzee, and the last one the
upper bonus as well: the sum of the rewards is the final score. An action that is not legal changes nothing
and earns 0, unless another rule is asked for.
"""

from __future__ import annotations

import operator
import os
from typing import Any, ClassVar, SupportsIndex

import gymnasium
import numpy as np

from ..errors import ArgumentError, shown
from ..library import load
from ..lookup import Advice, Option, Table
from ..rules import Ruleset
from ..scorecard import Position, card_of
from .coding import Coding, Illegal, Observation, check_illegal, check_options
from .play import IllegalAction, Play
from .views import FRAMES_PER_SECOND, RENDER_MODES, check_render_mode, rendered


class Solitaire(gymnasium.Env[Any, Any]):
    """A game for one player; registered as "dicewise/Solitaire-v0".

    Parameters
    ----------
    rules
        The rules, the name of a game, or the path of a rules file.
    render_mode
        "ansi" for text, "rgb_array" for a picture: uint8 array, shape (height, width, 3).
    optimal
        Whether `info` says what optimal play would make of each position. Opens the table of the game;
        one that is not there is solved first, which needs numba.
    illegal
        What an illegal action does: "stay", nothing and the game goes on; "end", it ends the game; "raise",
        an ActionError. More in `coding`.
    illegal_reward
        What an illegal action earns, if it does not raise.

    Attributes
    ----------
    action_space : Discrete(actions)
    observation_space : Box, shape (7 + boxes + 3,), or one more where rules save rolls

    Notes
    -----
    `info` holds

    action_mask : int8 array, shape (actions,)
        1 for each legal action; all of them after the end.
    illegal : bool
        Whether the last action was not legal; False after a reset.
    optimal_value, optimal_action
        With `optimal`: expected final score under optimal play from here, in points, and the number of
        the best action. At the end the final score, and no action.
    loss
        With `optimal`, after a step: what its action lost against the best one, in points. An illegal
        action loses 0 where the game goes on, and all that was still to come where it ends.

    `reset` takes, as `options`, the start of the game: "card" (a card or its text), and "dice" and
    "rerolls" as in `Table.advise`. The sum of rewards is then the final score less the points on that card.

    Raises
    ------
    RulesError
        If there are no such rules.
    ArgumentError
        For a render mode or an `illegal` that there is not, or a reward that is not a finite number.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": list(RENDER_MODES),
        "render_fps": FRAMES_PER_SECOND,
    }

    def __init__(
        self,
        rules: Ruleset | str | os.PathLike[str] = "yahtzee",
        *,
        render_mode: str | None = None,
        optimal: bool = False,
        illegal: Illegal = "stay",
        illegal_reward: float = 0.0,
    ) -> None:
        check_illegal(illegal, illegal_reward)
        self.coding = Coding(rules)
        self.render_mode = check_render_mode(render_mode)
        self.action_space = self.coding.action_space()
        self.observation_space = self.coding.observation_space()
        self._table: Table | None = load(self.coding.ruleset) if optimal else None
        self._illegal: Illegal = illegal
        self._illegal_reward = float(illegal_reward)
        self._play = Play(self.coding)
        self._advice: Advice | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game; see the class for the options.

        Raises
        ------
        ArgumentError
            For options that are no dictionary, or one that there is not.
        CardError, DiceError
            If the card, the dice or the rerolls are not possible.
        """
        given = check_options(options)
        card = given.pop("card", None)
        dice, rerolls = given.pop("dice", None), given.pop("rerolls", None)
        if given:
            raise ArgumentError(f"option {shown(next(iter(given)))}: expected card, dice or rerolls")
        if dice is None and rerolls is not None:
            raise ArgumentError(f"rerolls {shown(rerolls)}: expected the dice as well")
        held = card_of(self.coding.ruleset, card)
        position = None if dice is None else Position.of(held, dice, rerolls)
        self._play.start(held)
        super().reset(seed=seed)
        if position:
            self._play.place(position)
        else:
            self._play.throw(self.np_random)
        return self._observation(), self._info(illegal=False)

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Reroll or fill a box.

        Parameters
        ----------
        action
            The number of the action: an int, or an integer of numpy or array of one without axes.

        Raises
        ------
        ActionError
            If it is not a number from 0 to actions - 1, if no game has begun or it is over, or, with
            `illegal="raise"`, if the action is not legal; the game is left as it was.
        """
        before, illegal = self._advice, False
        try:
            reward = float(self._play.act(action, self.np_random))
        except IllegalAction:
            if self._illegal == "raise":
                raise
            illegal, reward = True, self._illegal_reward
            if self._illegal == "end":
                self._play.stop()
        over = self._play.over
        if not over and not self._play.dice:
            self._play.throw(self.np_random)
        info = self._info(illegal=illegal)
        if before and illegal:
            info["loss"] = before.value - info["optimal_value"]
        elif before:
            number = operator.index(action)
            info["loss"] = next(o.loss for o in before.options if self._number(o) == number)
        return self._observation(), reward, over, False, info

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return the mask as bools, under the name by which MaskablePPO of sb3-contrib asks for it."""
        return self._play.mask().astype(bool)

    def render(self) -> Any:
        """Return the card and the dice as text or as a picture; None without a render mode."""
        return rendered(self.render_mode, [(self.coding.ruleset.title, self._play)])

    def _observation(self) -> Observation:
        return np.concatenate([self._play.table_numbers(), self._play.card_numbers()])

    def _info(self, *, illegal: bool) -> dict[str, Any]:
        play = self._play
        info: dict[str, Any] = {"action_mask": play.mask(), "illegal": illegal}
        self._advice = None
        if self._table and play.dice:
            self._advice = self._table.advise_position(play.position)
            info["optimal_value"] = self._advice.value
            info["optimal_action"] = self._number(self._advice.best)
        elif self._table:
            info["optimal_value"] = float(play.points)
        return info

    def _number(self, option: Option) -> int:
        coding = self.coding
        if option.category is not None:
            return coding.ruleset.keys.index(option.category)
        return coding.boxes + coding.lattice.number[option.dice]
