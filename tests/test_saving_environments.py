"""Learning environments with saved rolls: the official checkers, and games kept by hand."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest
from games import random_dice
from gymnasium.utils.env_checker import check_env
from observed import any_action, game_of
from test_saving import NAMES, random_card, saving

import solver
from solver.batch import decide
from solver.environments import ID, ManyGames, Seats, Solitaire

with warnings.catch_warnings():
    # The checkers import one of PettingZoo's own games by a name that it deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, seed_test

# PettingZoo's checker says these of every game with masks but its own ones, which it knows by name.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning"),
]

GAMES = [(NAMES[2], 3), (NAMES[7], 2)]
games = pytest.mark.parametrize(("name", "rolls"), GAMES, ids=lambda value: str(value)[-16:])


@games
def test_the_checkers_find_no_fault(name: str, rolls: int) -> None:
    rules = saving(name, rolls).ruleset
    for optimal in (False, True):
        check_env(gymnasium.make(ID, rules=rules, optimal=optimal).unwrapped)
    api_test(Seats(rules, 2), num_cycles=200)
    seed_test(lambda: Seats(rules, 3, reward="points"), num_cycles=100)


def test_the_large_game_is_stepped() -> None:
    rules = solver.ruleset("maxi-yatzy")
    env = Solitaire(rules)
    check_env(gymnasium.make(ID, rules=rules).unwrapped)
    assert env.observation_space.high[6] == 40
    many = ManyGames(3, rules)
    seen, info = many.reset(seed=1)
    while not many._over.any():
        seen, *_, info = many.step(np.argmax(info["action_mask"], axis=1))
    assert seen[:, -1].tolist() == [40] * 3


@games
def test_what_is_seen_is_the_card_with_its_saved_rolls(name: str, rolls: int) -> None:
    table, random = saving(name, rolls), Random(1)
    env = Solitaire(table.ruleset, optimal=True)
    for _ in range(40):
        card, dice = random_card(table, random), random_dice(table, random)
        rerolls = random.randint(0, card.rerolls)
        seen, info = env.reset(options={"card": card, "dice": dice, "rerolls": rerolls})
        assert seen.tolist() == [*game_of(card, dice, rerolls), card.saved]
        assert seen in env.observation_space
        advice = table.advise(card, dice, rerolls)
        assert info["optimal_value"] == pytest.approx(advice.value, abs=1e-5)
        assert np.count_nonzero(info["action_mask"]) == len(advice.options)


@games
def test_rolls_that_a_turn_leaves_are_there_for_the_next(name: str, rolls: int) -> None:
    """Each game is kept by hand, the rolls among them; its rewards sum to the total of the card."""
    rules, random = saving(name, rolls).ruleset, Random(3)
    env, saved_at_all = Solitaire(rules, render_mode="ansi"), 0
    for game in range(12):
        seen, info = env.reset(seed=game)
        left, saved, gained, over = rolls - 1, 0, 0.0, False
        while not over:
            assert (seen[6], seen[-1]) == (left, saved)
            assert ("Saved rolls" in env.render()) and env.render().splitlines()
            action = any_action(info["action_mask"], random)
            seen, reward, over, _, info = env.step(action)
            gained += reward
            if action >= env.coding.boxes:
                left -= 1
            else:
                saved, left = left, left + rolls - 1
                saved_at_all += saved
        assert env._play.card.saved == seen[-1] == saved
        assert gained == env._play.card.total
    assert saved_at_all


@games
def test_many_games_are_single_games_with_the_same_dice(name: str, rolls: int) -> None:
    rules, random = saving(name, rolls).ruleset, np.random.default_rng(1)
    many, one = ManyGames(16, rules), Solitaire(rules)
    cards = [rules.card()] * 16
    seen, info = many.reset(seed=1)
    ended = 0
    for _ in range(80):
        masks = info["action_mask"]
        actions = np.argmax(masks * (1 + random.random(masks.shape)), axis=1)
        over, gains = many._over.copy(), np.zeros(16)
        for game in range(16):
            if over[game]:
                cards[game] = rules.card()
                continue
            dice = [face for face in range(1, 7) for _ in range(int(seen[game, face - 1]))]
            start: dict[str, Any] = {"card": cards[game], "dice": dice, "rerolls": int(seen[game, 6])}
            single, single_info = one.reset(options=start)
            assert single.tolist() == seen[game].tolist()
            assert single_info["action_mask"].tolist() == masks[game].tolist()
            _, gains[game], *_ = one.step(actions[game])
            cards[game] = one._play.card
        seen, rewards, *_, info = many.step(actions)
        assert rewards.tolist() == gains.tolist()
        assert many._over.tolist() == [card.finished for card in cards]
        assert seen[:, -1].tolist() == [card.saved for card in cards]
        assert seen in many.observation_space
        ended += int(many._over.sum())
    assert ended > 20


def test_batches_play_many_games_as_well_as_can_be() -> None:
    table, count = saving(*GAMES[0]), 4000
    many = ManyGames(count, table.ruleset)
    many.reset(seed=1)
    total, ended = np.zeros(count), np.zeros(count, bool)
    while not ended.all():
        actions, playing = np.zeros(count, np.int64), ~many._over
        actions[playing] = decide(table, **many.positions(playing)).actions
        _, rewards, over, _, _ = many.step(actions)
        total[~ended] += rewards[~ended]
        ended |= over
    assert abs(total.mean() - table.expected_score) < 4 * total.std() / count**0.5


def test_a_seat_sees_what_the_others_have_saved() -> None:
    rules = saving(*GAMES[0]).ruleset
    seats = Seats(rules, 2)
    seats.reset(seed=2)
    box = int(np.flatnonzero(seats.observe("seat_0")["action_mask"])[0])
    seats.step(box)
    seen = seats.observe("seat_1")["observation"]
    numbers = seats.coding.card_numbers
    assert seen[6] == 2
    assert seen[7 + numbers - 1] == 0
    assert seen[7 + 2 * numbers - 1] == 2
    first = seats.observe("seat_0")["observation"]
    assert first[7 + numbers - 1] == 2
