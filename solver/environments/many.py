"""Many games at once: the vector form of the Gymnasium environment, stepped in compiled code.

Actions, observations, masks and rewards are those of `Solitaire`; each has one axis more, the games. The
random numbers of a step come from one stream of Gymnasium's generator, so a seed and the same actions give
the same games, but not those of as many single environments.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from ..errors import ActionError, ArgumentError, shown
from ..plan import plan
from ..rules import Ruleset
from ..simulation import outcomes
from .coding import (
    TABLE_NUMBERS,
    Coding,
    Illegal,
    Mask,
    Observation,
    check_illegal,
    check_options,
)

if TYPE_CHECKING:
    from ..environment_kernels import GamePlan, Games

Bools = NDArray[np.bool_]
MOST_GAMES = 1 << 24


class ManyGames(VectorEnv[Observation, Any, NDArray[Any]]):
    """Many games for one player each; what `gymnasium.make_vec("dicewise/Solitaire-v0")` makes.

    Parameters
    ----------
    num_envs
        How many games.
    rules
        The rules, the name of a game, or the path of a rules file.
    autoreset_mode
        When a finished game begins anew, by Gymnasium's modes or their names. With "NextStep" the next
        step begins it and ignores its action; with "SameStep" the step that ends it, `info` then holding
        "final_obs" and "final_info"; with "Disabled" only `reset` with the option "reset_mask".
    illegal
        What an illegal action does: "stay", nothing and its game goes on; "end", it ends its game; "raise",
        an ActionError, and no game is changed. More in `coding`.
    illegal_reward
        What an illegal action earns, if it does not raise.
    render_mode
        None: there are no pictures of many games.

    Attributes
    ----------
    single_action_space, action_space
        Discrete(actions), MultiDiscrete of shape (num_envs,).
    single_observation_space, observation_space
        Box of shape (7 + boxes + 3,), or one more where rules save rolls, with num_envs rows.

    Notes
    -----
    `info["action_mask"]` is an int8 array, shape (num_envs, actions): 1 for each legal action, all of
    them where a game is over. `info["illegal"]`, bools, shape (num_envs,): whether the last action of a game
    was not legal. Observations, masks and rewards (float64, in points) are new arrays every
    time.

    Raises
    ------
    RulesError
        If there are no such rules.
    ArgumentError
        For a number of games, an autoreset mode, a render mode or an `illegal` that there is not, or a
        reward that is not a finite number.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: Ruleset | str | os.PathLike[str] = "yahtzee",
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        illegal: Illegal = "stay",
        illegal_reward: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or not 1 <= num_envs <= MOST_GAMES:
            raise ArgumentError(f"num_envs {shown(num_envs)}: expected a whole number from 1 to {MOST_GAMES}")
        if render_mode is not None:
            raise ArgumentError(f"render mode {shown(render_mode)}: expected None for many games")
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            names = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise ArgumentError(f"autoreset mode {shown(autoreset_mode)}: expected one of {names}") from None
        check_illegal(illegal, illegal_reward)
        self._illegal: Illegal = illegal
        self._illegal_reward = float(illegal_reward)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": []}
        self.coding = Coding(rules)
        self.num_envs = num_envs
        self.single_action_space = self.coding.action_space()
        self.single_observation_space = self.coding.observation_space()
        actions = batch_space(self.single_action_space, num_envs)
        observations = batch_space(self.single_observation_space, num_envs)
        assert isinstance(actions, MultiDiscrete)
        assert isinstance(observations, Box)
        self.action_space, self.observation_space = actions, observations
        self._plan = _plan(self.coding)
        self._games = _games(num_envs)
        self._over: Bools = np.ones(num_envs, bool)
        self._all: Bools = np.ones(num_envs, bool)
        self._none: Bools = np.zeros(num_envs, bool)
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin all games, or those that `options["reset_mask"]` (bools, shape (num_envs,)) marks.

        Raises
        ------
        ArgumentError
            For options that are no dictionary, one that there is not, or a mask of another kind.
        """
        from ..environment_kernels import begin

        super().reset(seed=seed)
        which = self._all
        for name, value in check_options(options).items():
            if name != "reset_mask":
                raise ArgumentError(f"option {name!r}: expected reset_mask")
            which = _array(value)
            if which.shape != (self.num_envs,) or which.dtype != np.bool_:
                found = f"{which.dtype} of shape {which.shape}"
                raise ArgumentError(f"reset_mask: found {found}, expected bool of shape ({self.num_envs},)")
        if not self._begun and not which.all():
            raise ArgumentError("reset_mask: expected a reset of all games first")
        self._begun = True
        begin(self._plan, self._games, which, self._random())
        self._over = self._over & ~which
        observations, info = self._seen(self._all)
        return observations, info | self._marks(self._none)

    def step(
        self, actions: ArrayLike
    ) -> tuple[Observation, NDArray[np.float64], Bools, Bools, dict[str, Any]]:
        """Take an action in every game.

        Raises
        ------
        ActionError
            If one is not a number from 0 to actions - 1, if a game is over and does not begin anew by
            itself, or, with `illegal="raise"`, if one is not legal; it names the first such game, and all
            are left as they were.
        """
        from ..environment_kernels import begin, step

        restart = self._over if self.autoreset_mode is AutoresetMode.NEXT_STEP else self._none
        taken, illegal = self._checked(actions, restart)
        rewards, over = np.empty(self.num_envs), np.empty(self.num_envs, bool)
        step(self._plan, self._games, taken, restart, illegal, self._random(), rewards, over)
        if illegal.any():
            self._refuse(illegal, rewards, over)
        final: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            final = self._final(over, illegal)
            begin(self._plan, self._games, over, self._random())
            self._over, illegal = self._none, illegal & ~over
        else:
            self._over = over
        observations, info = self._seen(self._all)
        info |= self._marks(illegal) | final
        return observations, rewards, over.copy(), np.zeros(self.num_envs, bool), info

    def positions(self, which: NDArray[Any] | None = None) -> dict[str, NDArray[np.int64]]:
        """Return the positions of games as `solver.batch.decide` takes them.

        `decide(table, **games.positions())` gives the best action of each.

        Parameters
        ----------
        which
            The games, as bools or numbers; all unless given. None of them may be over.

        Raises
        ------
        ArgumentError
            If one is over.
        """
        chosen = np.arange(self.num_envs) if which is None else np.arange(self.num_envs)[which]
        over = chosen[self._over[chosen]]
        if len(over):
            raise ArgumentError(f"game {int(over[0])} is over: expected games under way")
        games = self._games
        return {
            "filled": games.filled[chosen],
            "subtotals": games.subtotal[chosen],
            "flags": games.flag[chosen],
            "dice": np.array(self.coding.lattice.rolls, np.int64)[games.roll[chosen]],
            "rerolls": games.rerolls[chosen],
        }

    def _random(self) -> NDArray[np.uint64]:
        return self.np_random.integers(0, 1 << 64, self.num_envs, np.uint64)

    def _checked(self, given: ArrayLike, skip: Bools) -> tuple[NDArray[np.int64], Bools]:
        """Return the actions as int64, and which are illegal; refuse what is no action, or raises.

        The error names the first offender.
        """
        from ..environment_kernels import mark_illegal

        if not self._begun:
            raise ActionError("no game has begun: expected a reset first")
        actions = _array(given)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            found = f"{actions.dtype} of shape {actions.shape}"
            raise ActionError(f"actions: found {found}, expected integers of shape ({self.num_envs},)")
        taken = actions.astype(np.int64)  # Those beyond int64 become negative: no actions either.
        illegal = np.empty(self.num_envs, bool)
        mark_illegal(self._plan, self._games, taken, skip, illegal)
        if illegal.any():
            refused = illegal
            if self._illegal != "raise":
                outside = (taken < 0) | (taken >= self.coding.actions)
                refused = illegal & (outside | self._over)
            for game in np.flatnonzero(refused)[:1].tolist():
                raise ActionError(
                    f"action {int(actions[game])} of game {game}: {self._why(game, int(taken[game]))}"
                )
        return taken, illegal

    def _refuse(self, illegal: Bools, rewards: NDArray[np.float64], over: Bools) -> None:
        """Give illegal actions their reward, and end their games if asked to."""
        rewards[illegal] = self._illegal_reward
        if self._illegal == "end":
            over[illegal] = True
            self._games.rerolls[illegal] = self._games.boxes[illegal] = 0

    def _marks(self, illegal: Bools) -> dict[str, Any]:
        """Return what `info` says of illegal actions."""
        return {"illegal": illegal.copy(), "_illegal": self._all.copy()}

    def _why(self, game: int, action: int) -> str:
        """Return what makes an action of a game illegal."""
        coding = self.coding
        if self._over[game]:
            return "the game is over, expected a reset"
        if not 0 <= action < coding.actions:
            return f"expected a whole number from 0 to {coding.actions - 1}"
        dice = " ".join(map(str, coding.lattice.rolls[int(self._games.roll[game])]))
        left = int(self._games.rerolls[game])
        return f"{coding.words(action)!r} cannot be done with {dice} and {left} rerolls left, see action_mask"

    def _final(self, over: Bools, illegal: Bools) -> dict[str, Any]:
        """Return what `info` says of games that begin anew in the step that ended them."""
        observations, info = self._seen(over)
        final: Any = np.full(self.num_envs, None, object)
        for game in np.flatnonzero(over).tolist():
            final[game] = observations[game].copy()
        return {
            "final_obs": final,
            "_final_obs": over.copy(),
            "final_info": info | {"illegal": illegal & over, "_illegal": over.copy()},
            "_final_info": over.copy(),
        }

    def _seen(self, which: Bools) -> tuple[Observation, dict[str, Any]]:
        """Return the observations of some games, and their masks in `info`; zeros for the others."""
        from ..environment_kernels import observe

        coding, make = self.coding, np.empty if which is self._all else np.zeros
        observations = make((self.num_envs, TABLE_NUMBERS + coding.card_numbers), np.float32)
        masks: Mask = make((self.num_envs, coding.actions), np.int8)
        observe(self._plan, self._games, which, observations, masks)
        # Gymnasium marks under an underscored name which games an entry of `info` is there for.
        return observations, {"action_mask": masks, "_action_mask": which.copy()}


def _array(given: ArrayLike) -> NDArray[Any]:
    """Return what was given as an array; one of objects where it makes none."""
    try:
        return np.asarray(given)
    except ValueError:
        return np.array(None)


def _plan(coding: Coding) -> GamePlan:
    from ..environment_kernels import GamePlan

    arrays = plan(coding.game)
    return GamePlan(
        arrays.rows,
        arrays.sets,
        *outcomes(coding.scoring.dice),
        coding.inside,
        np.ascontiguousarray(coding.lattice.counts[coding.lattice.short :]),
        coding.scoring.upper,
        coding.bonus_of,
        coding.scoring.rolls - 1,
        coding.ruleset.saves,
    )


def _games(count: int) -> Games:
    from ..environment_kernels import Games

    return Games(*(np.zeros(count, np.int64) for _ in Games._fields))
