"""The PettingZoo environment: several seats at one table, one after the other, each with a card of its own.

Seats act in turn: the one whose turn it is rerolls or fills until it has filled a box. Each sees all
cards, its own first and then those of the seats after it in the order of play; see `coding` for the numbers.
"""

from __future__ import annotations

import os
from typing import Any, Literal, SupportsIndex, TypedDict, get_args

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Space
from pettingzoo import AECEnv

from ..errors import ActionError, ArgumentError, shown
from ..rules import Ruleset
from ..scorecard import Scorecard
from .coding import Coding, Illegal, Mask, Observation, check_illegal, check_options
from .play import IllegalAction, Play
from .views import FRAMES_PER_SECOND, RENDER_MODES, check_render_mode, rendered

Reward = Literal["win", "points"]
MOST_SEATS = 100


class Seen(TypedDict):
    """What a seat sees: the numbers, and the actions that it may take now."""

    observation: Observation
    action_mask: Mask


class Seats(AECEnv[str, Any, Any]):
    """A game for several seats, "seat_0" and so on.

    Parameters
    ----------
    rules
        The rules, the name of a game, or the path of a rules file.
    seats
        How many, 1 or more.
    reward
        "win": 1 at the end for the seat with the most points, shared by those who tie, and 0 for the others.
        "points": the points of each step, as in `Solitaire`; their sum is the seat's final score.
    illegal
        What an illegal action does: "stay", nothing and the seat acts again; "end", it ends the game for
        all, and none wins; "raise", an ActionError. More in `coding`.
    illegal_reward
        What an illegal action earns its seat, if it does not raise; with "end" the others get 0.
    render_mode
        "ansi" for text, "rgb_array" for a picture: uint8 array, shape (height, width, 3).

    Attributes
    ----------
    action_space(seat) : Discrete(actions)
    observation_space(seat) : Dict
        "observation" : Box, shape (7 + seats * (boxes + 3),), or boxes + 4 where rules save rolls: dice
        and rerolls of the seat whose turn it is, then the cards. "action_mask" : Box of int8, shape
        (actions,): 1 for each legal action, none while it is another's turn, all after the end.

    Notes
    -----
    `infos[seat]["illegal"]` says whether the last action of the seat was not legal. `reset` takes options as
    PettingZoo asks for, and heeds none.

    Raises
    ------
    RulesError
        If there are no such rules.
    ArgumentError
        For a number of seats, a reward, a render mode or an `illegal` that there is not, or an illegal
        reward that is not a finite number.
    """

    def __init__(
        self,
        rules: Ruleset | str | os.PathLike[str] = "yahtzee",
        seats: int = 2,
        *,
        reward: Reward = "win",
        illegal: Illegal = "stay",
        illegal_reward: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        if isinstance(seats, bool) or not isinstance(seats, int) or not 1 <= seats <= MOST_SEATS:
            raise ArgumentError(f"seats {shown(seats)}: expected a whole number from 1 to {MOST_SEATS}")
        if reward not in get_args(Reward):
            raise ArgumentError(f"reward {shown(reward)}: expected 'win' or 'points'")
        check_illegal(illegal, illegal_reward)
        self.coding = Coding(rules)
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {
            "name": "dicewise_seats_v0",
            "render_modes": list(RENDER_MODES),
            "render_fps": FRAMES_PER_SECOND,
            "is_parallelizable": False,
        }
        self.possible_agents = [f"seat_{number}" for number in range(seats)]
        self.agents: list[str] = []
        self._reward = reward
        self._illegal: Illegal = illegal
        self._illegal_reward = float(illegal_reward)
        self._plays = {agent: Play(self.coding) for agent in self.possible_agents}
        self._np_random: np.random.Generator | None = None
        self.action_spaces = {agent: self.coding.action_space() for agent in self.possible_agents}
        self.observation_spaces = {
            agent: Dict(
                {
                    "observation": self.coding.observation_space(seats),
                    "action_mask": Box(0, 1, (self.coding.actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }

    def action_space(self, agent: str) -> Space[Any]:
        """Return the space of a seat's actions."""
        return self.action_spaces[agent]

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of what a seat sees."""
        return self.observation_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; the first seat is to act.

        Raises
        ------
        ArgumentError
            For options that are no dictionary.
        """
        check_options(options)
        if seed is not None or self._np_random is None:
            self._np_random, _ = gymnasium.utils.seeding.np_random(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"illegal": False} for agent in self.agents}
        for play in self._plays.values():
            play.start(Scorecard.empty(self.coding.ruleset))
        self.agent_selection = self.agents[0]
        self._plays[self.agent_selection].throw(self._np_random)

    def observe(self, agent: str) -> Seen:
        """Return what a seat sees; a new dictionary with new arrays."""
        first = self.possible_agents.index(agent)
        around = self.possible_agents[first:] + self.possible_agents[:first]
        table = self._plays[self.agent_selection].table_numbers()
        cards = [self._plays[seat].card_numbers() for seat in around]
        waits = agent != self.agent_selection and self._plays[self.agent_selection].dice
        mask = np.zeros(self.coding.actions, np.int8) if waits else self._plays[agent].mask()
        return {"observation": np.concatenate([table, *cards]), "action_mask": mask}

    def step(self, action: SupportsIndex | None) -> None:
        """Let the seat whose turn it is reroll or fill a box.

        Parameters
        ----------
        action
            As in `Solitaire.step`; None for a seat whose game is over.

        Raises
        ------
        ActionError
            If it is not a number from 0 to actions - 1, if no game has begun, or, with `illegal="raise"`, if
            the action is not legal; the game is left as it was.
        """
        if self._np_random is None:
            raise ActionError("no game has begun: expected a reset first")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        play = self._plays[agent]
        illegal = False
        try:
            points = play.act(action, self._np_random)
        except IllegalAction:
            if self._illegal == "raise":
                raise
            illegal = True
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = {"illegal": illegal}
        if illegal:
            self.rewards[agent] = self._illegal_reward
            if self._illegal == "end":
                self._stop()
        elif self._reward == "points":
            self.rewards[agent] = float(points)
        if not play.dice and not illegal:
            self._pass_on(self._np_random)
        self._accumulate_rewards()

    def render(self) -> Any:
        """Return the cards and the dice as text or as a picture; None without a render mode."""
        return rendered(self.render_mode, list(self._plays.items()))

    def close(self) -> None:
        """Do nothing: nothing is held that must be let go."""

    def _stop(self) -> None:
        """End the game before the cards are full."""
        for play in self._plays.values():
            play.stop()
        self.terminations = dict.fromkeys(self.agents, True)

    def _pass_on(self, random: np.random.Generator) -> None:
        """Give the dice to the next seat, or end the game after the last one's last box."""
        next_one = (self.possible_agents.index(self.agent_selection) + 1) % len(self.possible_agents)
        self.agent_selection = self.possible_agents[next_one]
        play = self._plays[self.agent_selection]
        if not play.over:
            play.throw(random)
            return
        self.terminations = dict.fromkeys(self.agents, True)
        if self._reward == "win":
            totals = {agent: seat.points for agent, seat in self._plays.items()}
            winners = [agent for agent, points in totals.items() if points == max(totals.values())]
            for agent in winners:
                self.rewards[agent] = 1 / len(winners)
