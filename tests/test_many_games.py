"""Many games at once: equal to single games with the same dice, and to exact play in the mean."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from games import NAMES, TINY, solved, spread
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import solver
from solver.batch import decide
from solver.environments import ID, ManyGames, Solitaire


def drawn(masks: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A legal action of each game."""
    return np.argmax(masks * (1 + random.random(masks.shape)), axis=1)


def alike(games: ManyGames, masks: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Mostly keep the face that shows most: all dice alike come often, and with them the jokers."""
    lattice, boxes = games.coding.lattice, games.coding.boxes
    actions = drawn(masks, random)
    for game, roll in enumerate(games._games.roll.tolist()):
        dice = lattice.rolls[roll]
        face = max(dice, key=dice.count)
        keep = lattice.number[(face,) * dice.count(face)]
        if keep < lattice.short and masks[game, boxes + keep] and random.random() < 0.9:
            actions[game] = boxes + keep
    return actions


def start_of(numbers: np.ndarray, card: solver.Scorecard) -> dict[str, Any]:
    dice = [face for face in range(1, 7) for _ in range(int(numbers[face - 1]))]
    return {"card": card, "dice": dice, "rerolls": int(numbers[6])}


@pytest.mark.parametrize("rules", [*NAMES, *map(str, TINY)])
def test_games_are_single_games_with_the_same_dice(rules: str) -> None:
    """Each step is taken by a single game from the same start: its mask, reward and card must be the same."""
    random, games, one = np.random.default_rng(1), ManyGames(12, rules), Solitaire(rules)
    empty = games.coding.ruleset.card()
    cards = [empty] * games.num_envs
    seen, info = games.reset(seed=1)
    over = np.zeros(games.num_envs, bool)
    special = ended = 0
    for _ in range(max(60, 3 * games.coding.boxes * games.coding.ruleset.rolls)):
        actions = alike(games, info["action_mask"], random)
        gains = np.zeros(games.num_envs)
        for game in np.flatnonzero(~over).tolist():
            single, single_info = one.reset(options=start_of(seen[game], cards[game]))
            assert single.tolist() == seen[game].tolist()
            assert single_info["action_mask"].tolist() == info["action_mask"][game].tolist()
            _, gains[game], _, _, _ = one.step(actions[game])
            special += len(set(start_of(seen[game], empty)["dice"])) == 1
            cards[game] = one._play.card
        for game in np.flatnonzero(over).tolist():
            cards[game] = empty
        before, was_over = seen, over
        seen, rewards, over, truncated, info = games.step(actions)
        assert rewards.tolist() == gains.tolist()
        assert over.tolist() == [card.finished for card in cards]
        assert not truncated.any()
        assert seen in games.observation_space
        for game, action in enumerate(actions.tolist()):
            if over[game]:
                assert info["action_mask"][game].all()
                assert not seen[game, :7].any()
                assert seen[game, -1] == cards[game].total
                ended += 1
            elif not was_over[game] and action >= games.coding.boxes:
                kept = games.coding.lattice.keeps[action - games.coding.boxes]
                assert all(seen[game, face - 1] >= kept.count(face) for face in kept)
                assert seen[game, 6] == before[game, 6] - 1
            else:
                assert seen[game, 6] == games.coding.ruleset.rolls - 1
                assert seen[game, :6].sum() == games.coding.ruleset.dice
    assert special > 5 or not games.coding.scoring.special
    assert ended > games.num_envs


@pytest.mark.parametrize("rules", ["yacht", "yahtzee"])
def test_optimal_play_meets_the_exact_mean(rules: str) -> None:
    count, table = 8_000, solved(rules)
    games = gymnasium.make_vec(ID, num_envs=count, rules=rules, autoreset_mode=AutoresetMode.SAME_STEP)
    games.reset(seed=3)
    totals, over = np.zeros(count), np.zeros(count, bool)
    while not over.all():
        actions = decide(table, **games.positions()).actions
        _, rewards, ends, _, _ = games.step(actions)
        totals += np.where(over, 0, rewards)
        over |= ends
    exact = spread(rules)
    error = exact.standard_deviation / np.sqrt(count)
    assert abs(totals.mean() - exact.mean) < 4 * error
    assert totals.std() == pytest.approx(exact.standard_deviation, rel=0.05)


def test_every_first_roll_has_its_probability() -> None:
    count = 200_000
    games = ManyGames(count, "yacht")
    seen, _ = games.reset(seed=4)
    rolls = games.coding.lattice.rolls
    dice = np.array([[roll.count(face) for face in range(1, 7)] for roll in rolls])
    number = {tuple(counts): n for n, counts in enumerate(dice.tolist())}
    found = np.bincount([number[tuple(c)] for c in seen[:, :6].astype(int).tolist()], minlength=len(rolls))
    expected = games.coding.lattice.probability * count
    assert found.all()
    # Chi-squared with 251 degrees of freedom: mean 251, standard deviation 22.4.
    assert 251 - 5 * 22.4 < np.sum((found - expected) ** 2 / expected) < 251 + 5 * 22.4


def play(games: ManyGames, seed: int, steps: int) -> list[Any]:
    random = np.random.default_rng(5)
    seen, info = games.reset(seed=seed)
    found = [seen.tolist()]
    for _ in range(steps):
        seen, rewards, over, _, info = games.step(drawn(info["action_mask"], random))
        found.append((seen.tolist(), rewards.tolist(), over.tolist()))
    return found


def test_a_seed_gives_the_same_games() -> None:
    games = ManyGames(20, "yahtzee")
    first = play(games, 1, 80)
    assert first == play(ManyGames(20, "yahtzee"), 1, 80) == play(games, 1, 80)
    assert first != play(games, 2, 80)


def test_nothing_that_was_returned_is_changed_later() -> None:
    games, random = ManyGames(5, "yacht"), np.random.default_rng(6)
    seen, info = games.reset(seed=1)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    over = np.zeros(5, bool)
    for _ in range(80):
        kept += [(array, array.copy()) for array in (seen, info["action_mask"], over)]
        actions = drawn(info["action_mask"], random)
        seen, _, over, _, info = games.step(actions)
        info["action_mask"] = info["action_mask"].copy()
    for array, copy in kept:
        assert array.tolist() == copy.tolist()
    seen[:] = 0
    over[:] = True
    assert games.step(drawn(info["action_mask"], random))[0].any()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_finished_games_begin_anew_as_gymnasium_says(mode: AutoresetMode) -> None:
    """The same calls to Gymnasium's own vector of single games return the same kinds of things."""
    rules = str(TINY[0])
    ours = ManyGames(3, rules, autoreset_mode=mode.value)
    theirs = SyncVectorEnv([lambda: Solitaire(rules)] * 3, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is mode
    assert ours.action_space == theirs.action_space
    assert ours.observation_space == theirs.observation_space
    random, boxes = np.random.default_rng(7), ours.coding.boxes
    (our_seen, our_info), (their_seen, their_info) = ours.reset(seed=1), theirs.reset(seed=1)
    assert our_info.keys() == their_info.keys()
    ends = 0
    for _ in range(4 * boxes):
        # Fills only: the boxes are open in both, though the dice are not the same.
        both = (our_info["action_mask"] & their_info["action_mask"])[:, :boxes]
        if not both.any(axis=1).all():
            (our_seen, our_info), (their_seen, their_info) = ours.reset(), theirs.reset()
            continue
        actions = drawn(both, random)
        our_seen, _, our_over, our_cut, our_info = ours.step(actions)
        their_seen, _, their_over, their_cut, their_info = theirs.step(actions)
        assert our_over.tolist() == their_over.tolist()
        assert our_cut.tolist() == their_cut.tolist()
        assert our_seen.dtype == their_seen.dtype
        assert our_seen[:, 7 : 7 + boxes].tolist() == their_seen[:, 7 : 7 + boxes].tolist()
        assert our_info.keys() == their_info.keys()
        if our_over.any():
            ends += 1
            if mode is AutoresetMode.SAME_STEP:
                assert not our_seen[:, 7 : 7 + boxes].any()
                assert our_info["_final_obs"].tolist() == their_info["_final_obs"].tolist()
                assert our_info["final_info"].keys() == their_info["final_info"].keys()
                for ended, final, other in zip(
                    our_over, our_info["final_obs"], their_info["final_obs"], strict=True
                ):
                    assert (final is None) == (other is None) == (not ended)
                    assert final is None or final[7 : 7 + boxes].all()
            if mode is AutoresetMode.DISABLED:
                options = {"reset_mask": our_over}
                our_seen, our_info = ours.reset(options=dict(options))
                their_seen, their_info = theirs.reset(options=dict(options))
                assert our_seen[:, 7 : 7 + boxes].tolist() == their_seen[:, 7 : 7 + boxes].tolist()
    assert ends > 2
    theirs.close()


def test_positions_are_those_that_batch_takes() -> None:
    games = ManyGames(50, "yahtzee")
    random = np.random.default_rng(8)
    seen, info = games.reset(seed=1)
    for _ in range(15):
        seen, _, _, _, info = games.step(drawn(info["action_mask"], random))
    positions = games.positions()
    for game, numbers in enumerate(seen):
        filled = [positions["filled"][game] >> box & 1 for box in range(13)]
        dice = [positions["dice"][game].tolist().count(face) for face in range(1, 7)]
        state = [positions[name][game] for name in ("subtotals", "flags")]
        assert numbers[:-1].tolist() == [*dice, positions["rerolls"][game], *filled, *state]
    answers = decide(solved("yahtzee"), **positions)
    assert info["action_mask"][np.arange(50), answers.actions].all()


def test_what_is_not_legal_is_refused_and_changes_nothing() -> None:
    games = ManyGames(3, "yatzy-forced", illegal="raise")
    with pytest.raises(solver.ActionError, match=r"^no game has begun: expected a reset first$"):
        games.step([0, 0, 0])
    with pytest.raises(solver.ArgumentError, match=r"^reset_mask: expected a reset of all games first$"):
        games.reset(options={"reset_mask": np.array([True, False, False])})
    games.reset(seed=1)
    before = games.positions()
    dice = " ".join(map(str, before["dice"][2]))
    refused: list[tuple[Any, str]] = [
        ([0, 0, 1], rf"^action 1 of game 2: 'fill twos' cannot be done with {dice} and 2 rerolls left"),
        ([0, 225, 0], r"^action 225 of game 1: expected a whole number from 0 to 224$"),
        ([0, 0, -1], r"^action -1 of game 2: expected a whole number"),
        ([0.0, 0, 0], r"^actions: found float64 of shape \(3,\), expected integers of shape \(3,\)$"),
        (np.array([0, 1 << 63, 0], np.uint64), rf"^action {1 << 63} of game 1: expected a whole number"),
        ([0, [1, 2], 0], r"^actions: found object of shape \(\), expected integers of shape \(3,\)$"),
        (None, r"^actions: found object of shape \(\), expected"),
        ([0, 0], r"^actions: found int64 of shape \(2,\), expected integers of shape \(3,\)$"),
    ]
    for actions, message in refused:
        with pytest.raises(solver.ActionError, match=message):
            games.step(actions)
    assert {name: array.tolist() for name, array in games.positions().items()} == {
        name: array.tolist() for name, array in before.items()
    }


@pytest.mark.parametrize("illegal", ["stay", "end"])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_illegal_actions_do_what_they_do_to_single_games(mode: AutoresetMode, illegal: Any) -> None:
    """Blind fills in our games and in Gymnasium's vector of single ones, from the same forced cards."""
    rules, reward = "yatzy-forced", -2.5
    ours = ManyGames(4, rules, autoreset_mode=mode, illegal=illegal, illegal_reward=reward)
    single = [lambda: Solitaire(rules, illegal=illegal, illegal_reward=reward)] * 4
    theirs = SyncVectorEnv(single, autoreset_mode=mode)
    random, boxes = np.random.default_rng(9), ours.coding.boxes
    (seen, info), (their_seen, their_info) = ours.reset(seed=1), theirs.reset(seed=1)
    refused = ended = 0
    for step in range(60):
        # The open box is the first; one game a step fills another one, often filled already.
        actions = seen[:, 7 : 7 + boxes].sum(axis=1).astype(int) % boxes
        actions[step % 4] = random.integers(boxes)
        before = seen
        seen, rewards, over, cut, info = ours.step(actions)
        their_seen, their_rewards, their_over, _, their_info = theirs.step(actions)
        assert over.tolist() == their_over.tolist()
        assert not cut.any()
        assert info["illegal"].tolist() == their_info["illegal"].tolist()
        assert info["_illegal"].tolist() == their_info["_illegal"].tolist()
        assert info["illegal"].dtype == their_info["illegal"].dtype
        assert info.keys() == their_info.keys()
        assert seen[:, 7 : 7 + boxes].tolist() == their_seen[:, 7 : 7 + boxes].tolist()
        marks = info["illegal"]
        if "final_info" in info:
            finals, their_finals = info["final_info"], their_info["final_info"]
            assert finals.keys() == their_finals.keys()
            for name in ("illegal", "_illegal"):
                assert finals[name].tolist() == their_finals[name].tolist()
            for game in np.flatnonzero(over).tolist():
                final, other = info["final_obs"][game], their_info["final_obs"][game]
                assert final[:7].tolist() == other[:7].tolist() == [0] * 7
                assert final[7 : 7 + boxes].tolist() == other[7 : 7 + boxes].tolist()
            assert finals["action_mask"][over].all()
            marks = marks | finals["illegal"]
        assert (rewards[marks] == their_rewards[marks]).all()
        assert (rewards[marks] == reward).all()
        assert (rewards[~marks] >= 0).all()
        if illegal == "stay":
            assert seen[marks].tolist() == before[marks].tolist()
            assert not over[marks].any()
        else:
            assert over[marks].all()
            if mode is not AutoresetMode.SAME_STEP:
                assert not seen[marks, :7].any()
                assert seen[marks, 7:].tolist() == before[marks, 7:].tolist()
                assert info["action_mask"][marks].all()
        refused += marks.sum()
        ended += over.sum()
        if mode is AutoresetMode.DISABLED and over.any():
            with pytest.raises(solver.ActionError, match="the game is over, expected a reset"):
                ours.step(actions)
            seen, info = ours.reset(options={"reset_mask": over.copy()})
            theirs.reset(options={"reset_mask": over.copy()})
            assert info["illegal"].tolist() == [False] * 4
    assert refused > 30
    assert ended > 3
    theirs.close()


def test_what_is_no_action_always_raises() -> None:
    games = ManyGames(2, "yacht")
    seen, _ = games.reset(seed=1)
    for action in (-1, games.coding.actions):
        with pytest.raises(solver.ActionError, match=rf"^action {action} of game 1: expected a whole number"):
            # The illegal first action is not what is complained of.
            games.step([games.coding.actions - 1, action])
    assert games._seen(games._all)[0].tolist() == seen.tolist()


def test_choosing_blindly_plays_games() -> None:
    games = gymnasium.make_vec(ID, num_envs=50, rules="crag")
    games.action_space.seed(1)
    seen, _ = games.reset(seed=1)
    ends, totals, over = 0, np.zeros(50), np.zeros(50, bool)
    for _ in range(1500):
        totals[over] = 0
        seen, rewards, over, _, _ = games.step(games.action_space.sample())
        totals += rewards
        assert totals[over].tolist() == seen[over, -1].tolist()
        ends += over.sum()
    assert ends > 50


def test_a_game_that_is_over_is_refused_where_none_begins_by_itself() -> None:
    rules = str(TINY[0])
    games = ManyGames(2, rules, autoreset_mode="Disabled")
    _, info = games.reset(seed=1)
    over = np.zeros(2, bool)
    while not over.any():
        boxes = games.coding.boxes
        _, _, over, _, info = games.step(np.argmax(info["action_mask"][:, :boxes], axis=1))
    with pytest.raises(solver.ActionError, match=r"of game 0: the game is over, expected a reset$"):
        games.step([0, 0])
    with pytest.raises(solver.ArgumentError, match=r"^game 0 is over: expected games under way$"):
        games.positions()
    games.reset(options={"reset_mask": np.array([False, True])})
    with pytest.raises(solver.ArgumentError, match=r"^game 0 is over"):
        games.positions(np.array([True, True]))
    assert games.positions(np.array([False, True]))["filled"].tolist() == [0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs 0: expected a whole number from 1 to 16777216"),
        ({"render_mode": "ansi"}, "render mode 'ansi': expected None for many games"),
        (
            {"autoreset_mode": "Never"},
            "autoreset mode 'Never': expected one of 'NextStep', 'SameStep', 'Disabled'",
        ),
    ],
)
def test_arguments_are_checked(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(solver.ArgumentError) as caught:
        ManyGames(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (5, "options 5: expected a dictionary or None"),
        ("x", "options 'x': expected a dictionary or None"),
        ([], "options []: expected a dictionary or None"),
        (
            {"reset_mask": [[True], True]},
            "reset_mask: found object of shape (), expected bool of shape (2,)",
        ),
        ({"card": "ones=3"}, "option 'card': expected reset_mask"),
        ({"reset_mask": [1, 0]}, "reset_mask: found int64 of shape (2,), expected bool of shape (2,)"),
        ({"reset_mask": [True]}, "reset_mask: found bool of shape (1,), expected bool of shape (2,)"),
    ],
)
def test_options_are_checked(options: Any, message: str) -> None:
    games = ManyGames(2, "yacht")
    games.reset()
    with pytest.raises(solver.ArgumentError) as caught:
        games.reset(options=options)
    assert str(caught.value) == message
