"""The Gymnasium environment: one player, one card, any rules.

An episode is a game. Actions and observations are those of `coding`; every step that rerolls earns 0, a
step that fills a box the points that go into it and the bonus for a further Yahtzee, and the last one the
upper bonus as well: the sum of the rewards is the final score.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar, SupportsInt

import gymnasium
import numpy as np

from ..errors import ActionError, ArgumentError
from ..library import load
from ..lookup import Advice, Option, Table
from ..rules import Ruleset
from ..scorecard import Position, card_of
from .coding import Coding, Observation
from .play import Play
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
    illegal_reward
        An illegal action is refused with an ActionError, unless a reward is given here: then it ends the
        game with that reward, and without any other.

    Attributes
    ----------
    action_space : Discrete(actions)
    observation_space : Box, shape (7 + boxes + 3,)

    Notes
    -----
    `info` holds

    action_mask : int8 array, shape (actions,)
        1 for each legal action; all of them after the end.
    optimal_value, optimal_action
        With `optimal`: expected final score under optimal play from here, in points, and the number of
        the best action. At the end the final score, and no action.
    loss
        With `optimal`, after a step: what its action lost against the best one, in points.

    `reset` takes, as `options`, the start of the game: "card" (a card or its text), and "dice" and
    "rerolls" as in `Table.advise`. The sum of rewards is then the final score less the points on that card.

    Raises
    ------
    RulesError
        If there are no such rules.
    ArgumentError
        For a render mode that there is not.
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
        illegal_reward: float | None = None,
    ) -> None:
        self.coding = Coding(rules)
        self.render_mode = check_render_mode(render_mode)
        self.action_space = self.coding.action_space()
        self.observation_space = self.coding.observation_space()
        self._table: Table | None = load(self.coding.ruleset) if optimal else None
        self._illegal_reward = illegal_reward
        self._play = Play(self.coding)
        self._advice: Advice | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game; see the class for the options.

        Raises
        ------
        ArgumentError
            For an option that there is not.
        CardError, DiceError
            If the card, the dice or the rerolls are not possible.
        """
        super().reset(seed=seed)
        given = dict(options or {})
        card = given.pop("card", None)
        dice, rerolls = given.pop("dice", None), given.pop("rerolls", None)
        if given:
            raise ArgumentError(f"option {next(iter(given))!r}: expected card, dice or rerolls")
        held = card_of(self.coding.ruleset, card)
        self._play.start(held)
        if dice is None:
            if rerolls is not None:
                raise ArgumentError(f"rerolls {rerolls!r}: expected the dice as well")
            self._play.throw(self.np_random)
        else:
            self._play.place(Position.of(held, dice, rerolls))
        return self._observation(), self._info()

    def step(self, action: SupportsInt) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Reroll or fill a box.

        Raises
        ------
        ActionError
            If the action is not legal, and there is no `illegal_reward`; the game is left as it was.
        """
        before = self._advice
        try:
            points = self._play.act(action, self.np_random)
        except ActionError:
            if self._illegal_reward is None or not self._play.dice:
                raise
            self._play.stop()
            return self._observation(), float(self._illegal_reward), True, False, self._info()
        over = self._play.over
        if not over and not self._play.dice:
            self._play.throw(self.np_random)
        info = self._info()
        if before:
            info["loss"] = next(o.loss for o in before.options if self._number(o) == int(action))
        return self._observation(), float(points), over, False, info

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return the mask as bools, under the name by which MaskablePPO of sb3-contrib asks for it."""
        return self._play.mask().astype(bool)

    def render(self) -> Any:
        """Return the card and the dice as text or as a picture; None without a render mode."""
        return rendered(self.render_mode, [(self.coding.ruleset.title, self._play)])

    def _observation(self) -> Observation:
        return np.concatenate([self._play.table_numbers(), self._play.card_numbers()])

    def _info(self) -> dict[str, Any]:
        play = self._play
        info: dict[str, Any] = {"action_mask": play.mask()}
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
