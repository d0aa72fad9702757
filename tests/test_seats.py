"""Several seats at a table: the official checkers, the rules, who wins, what is shown and refused."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np
import pytest
from games import TINY, solved
from observed import any_action, game_of

import solver
from solver.environments import Coding, Seats, Solitaire

with warnings.catch_warnings():
    # The checkers import one of PettingZoo's own games by a name that it deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, seed_test

from pettingzoo.utils.wrappers import TerminateIllegalWrapper

# PettingZoo's checker says these of every game with masks but its own ones, which it knows by name.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning"),
]


@pytest.mark.parametrize("reward", ["win", "points"])
@pytest.mark.parametrize("seats", [1, 2, 5])
def test_pettingzoo_finds_no_fault(reward: Any, seats: int) -> None:
    api_test(Seats("yahtzee-upper-first", seats, reward=reward), num_cycles=200)
    seed_test(lambda: Seats("yatzy-forced", seats, reward=reward), num_cycles=100)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_seats_are_shown_side_by_side(mode: str) -> None:
    seats = Seats("yahtzee", 3, render_mode=mode)
    seats.reset(seed=1)
    first = seats.render()
    seats.step(12)
    second = seats.render()
    if mode == "ansi":
        assert first.splitlines()[1].split() == ["seat_0", "seat_1", "seat_2"]
        assert second.splitlines()[-1].split()[:2] != first.splitlines()[-1].split()[:2]
    else:
        assert first.shape == second.shape
        alone = Solitaire("yahtzee", render_mode=mode)
        alone.reset()
        assert first.shape[1] > alone.render().shape[1]
        assert np.any(first != second)


@pytest.mark.parametrize("reward", ["win", "points"])
@pytest.mark.parametrize("rules", ["yahtzee", str(TINY[0])])
def test_seats_play_by_the_rules_and_share_the_win(rules: str, reward: Any) -> None:
    """Every seat's card is kept by hand from what the seats see, and its points and mask compared."""
    random, count = Random(6), 3
    seats, coding = Seats(rules, count, reward=reward), Coding(rules)
    single = Solitaire(rules)
    for game in range(6):
        seats.reset(seed=game)
        cards = {agent: coding.ruleset.card() for agent in seats.possible_agents}
        gained = dict.fromkeys(cards, 0.0)
        for agent in seats.agent_iter():
            seen, got, over, _, _ = seats.last()
            gained[agent] += got
            numbers, mask = seen["observation"], seen["action_mask"]
            place = seats.possible_agents.index(agent)
            width = coding.boxes + 3
            for ahead in range(count):
                card = cards[seats.possible_agents[(place + ahead) % count]]
                own = numbers[7 + ahead * width : 7 + (ahead + 1) * width].tolist()
                assert own == game_of(card, (), 0)[7:]
            if over:
                assert mask.all()
                seats.step(None)
                continue
            dice = tuple(face for face in range(1, 7) for _ in range(int(numbers[face - 1])))
            start = {"card": cards[agent], "dice": dice, "rerolls": int(numbers[6])}
            _, info = single.reset(options=start)
            assert mask.tolist() == info["action_mask"].tolist()
            others = [other for other in seats.possible_agents if other != agent]
            assert not any(seats.observe(other)["action_mask"].any() for other in others)
            action = any_action(mask, random)
            if action < coding.boxes:
                table = solved(rules).advise(cards[agent], dice, int(numbers[6]))
                (option,) = [o for o in table.options if o.category == coding.ruleset.keys[action]]
                cards[agent] = cards[agent].fill(option.category, option.points, option.bonus > 0)
            seats.step(action)
        totals = {agent: card.total for agent, card in cards.items()}
        if reward == "points":
            assert gained == totals
        else:
            best = [agent for agent, total in totals.items() if total == max(totals.values())]
            assert gained == {agent: (agent in best) / len(best) for agent in totals}


def test_a_draw_is_shared() -> None:
    """Under rules with one box and no choice, seats that throw the same dice share the win."""
    rules = solver.ruleset("yacht", {f"categories.{k}": False for k in solver.ruleset("yacht").keys[:-1]})
    seats = Seats(rules, 3)
    shares = set()
    for game in range(10):
        seats.reset(seed=game)
        for _ in range(3):
            seats.step(0)
        assert sum(seats.rewards.values()) == pytest.approx(1)
        shares.add(tuple(seats.rewards.values()))
    assert (1 / 3, 1 / 3, 1 / 3) in shares


def test_seats_refuse_what_is_not_legal() -> None:
    seats = Seats("yatzy-forced", 2, illegal="raise")
    with pytest.raises(solver.ActionError, match=r"^no game has begun: expected a reset first$"):
        seats.step(0)
    seats.reset(seed=0)
    with pytest.raises(solver.ActionError, match=r"^action 1 \(fill twos\): .* may go in ones$"):
        seats.step(1)
    with pytest.raises(solver.ActionError, match=r"^action array\(3\.\): expected a whole number from 0"):
        seats.step(np.array(3.0))  # type: ignore[arg-type]
    with pytest.raises(solver.ArgumentError, match=r"^options \[1\]: expected a dictionary or None$"):
        seats.reset(options=[1])  # type: ignore[arg-type]
    assert seats.agent_selection == "seat_0"
    wrapped = TerminateIllegalWrapper(Seats("yatzy-forced", 2), illegal_reward=-1)
    wrapped.reset(seed=0)
    wrapped.step(1)
    assert wrapped.terminations == {"seat_0": True, "seat_1": True}
    assert wrapped.rewards == {"seat_0": -1, "seat_1": 0}


@pytest.mark.parametrize("reward", ["win", "points"])
def test_an_illegal_action_changes_nothing_unless_asked_to(reward: Any) -> None:
    seats = Seats("yatzy-forced", 2, reward=reward, illegal_reward=-3)
    seats.reset(seed=0)
    before = {agent: seats.observe(agent) for agent in seats.agents}
    assert seats.infos == {"seat_0": {"illegal": False}, "seat_1": {"illegal": False}}
    for _ in range(2):
        seats.step(1)
        assert seats.agent_selection == "seat_0"
        _, got, over, truncated, info = seats.last()
        assert (got, over, truncated, info) == (-3, False, False, {"illegal": True})
        for agent, seen in before.items():
            for name, numbers in seats.observe(agent).items():
                assert np.array_equal(numbers, seen[name])  # type: ignore[literal-required]
        assert seats.rewards == {"seat_0": -3, "seat_1": 0}
    ones = before["seat_0"]["observation"][0]
    seats.step(np.array(0))  # type: ignore[arg-type]
    assert seats.agent_selection == "seat_1"
    assert seats.rewards == {"seat_0": ones if reward == "points" else 0, "seat_1": 0}
    assert seats.infos["seat_0"] == {"illegal": False}
    seats.step(1)
    assert seats.rewards == {"seat_0": 0, "seat_1": -3}


def test_an_illegal_action_may_end_the_game_for_all() -> None:
    seats = Seats("yatzy-forced", 3, illegal="end", illegal_reward=-1)
    for _ in range(2):
        seats.reset(seed=0)
        seats.step(0)
        gained = dict.fromkeys(seats.possible_agents, 0.0)
        dead = []
        for agent in seats.agent_iter():
            seen, got, over, _, info = seats.last()
            gained[agent] += got
            if over:
                assert seen["action_mask"].all()
                assert not seen["observation"][:7].any()
                assert info == {"illegal": agent == "seat_1"}
                dead.append(agent)
            seats.step(None if over else 5)
        assert sorted(dead) == seats.possible_agents
        assert gained == {"seat_0": 0, "seat_1": -1, "seat_2": 0}


@pytest.mark.parametrize("illegal", ["stay", "end"])
def test_choosing_blindly_comes_to_the_end_of_a_game(illegal: Any) -> None:
    seats = Seats("crag", 2, illegal=illegal)
    seats.reset(seed=1)
    space = seats.action_space("seat_0")
    space.seed(1)
    gained = 0.0
    for _ in seats.agent_iter():
        _, got, over, _, _ = seats.last()
        gained += got
        seats.step(None if over else space.sample())
    assert not seats.agents
    assert gained == (illegal == "stay")
