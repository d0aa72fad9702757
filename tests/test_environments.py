"""One game: the official checkers, the rules, the rewards, what is shown and refused."""

from __future__ import annotations

import subprocess
import sys
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest
from games import NAMES, TINY, random_position, solved, spread
from gymnasium.utils.env_checker import check_env
from observed import any_action, game_of

import solver
from solver.environments import ID, Coding, ManyGames, Seats, Solitaire

NO_ACTIONS: list[Any] = [
    True, np.True_, np.array(True), 3.0, np.array(3.0), np.array([3]), np.zeros((99, 99)), [3], "3", None,
    float("nan"),
]  # fmt: skip
"""Neither whole numbers nor arrays of one without axes."""

OPTIONS_ARRAY = "options array([[0., 0... 0., 0., 0.]]): expected a dictionary or None"


def number_of(coding: Coding, option: solver.Option) -> int:
    """An option's action, counted by hand."""
    if option.action == "fill":
        return coding.ruleset.keys.index(option.category or "")
    return coding.boxes + coding.lattice.keeps.index(option.dice)


@pytest.mark.parametrize("rules", [*NAMES[:3], str(TINY[0])])
@pytest.mark.parametrize("optimal", [False, True])
def test_gymnasium_finds_no_fault(rules: str, optimal: bool) -> None:
    check_env(gymnasium.make(ID, rules=rules, optimal=optimal).unwrapped)


def test_gymnasium_finds_no_fault_in_a_game_without_rerolls() -> None:
    once = solver.ruleset("yacht", {"rolls": 1})
    env = gymnasium.make(ID, rules=once, illegal="end", illegal_reward=-10).unwrapped
    check_env(env)
    assert env.observation_space.high[6] == 1


@pytest.mark.parametrize("rules", [*NAMES, *map(str, TINY)])
def test_masks_and_observations_are_those_of_the_card(rules: str) -> None:
    random, table, env = Random(1), solved(rules), Solitaire(rules)
    for _ in range(40):
        position = random_position(table, random)
        start = {"card": position.card, "dice": position.dice, "rerolls": position.rerolls}
        seen, info = env.reset(options=start)
        legal = {number_of(env.coding, option) for option in table.advise_position(position).options}
        assert set(np.flatnonzero(info["action_mask"]).tolist()) == legal
        assert np.flatnonzero(env.action_masks()).tolist() == sorted(legal)
        assert seen.tolist() == game_of(position.card, position.dice, position.rerolls)
        assert seen in env.observation_space


@pytest.mark.parametrize("rules", [*NAMES, *map(str, TINY)])
def test_a_fill_gains_what_advice_says(rules: str) -> None:
    random, table, env = Random(2), solved(rules), Solitaire(rules)
    for _ in range(30):
        position = random_position(table, random)
        start = {"card": str(position.card), "dice": position.dice, "rerolls": position.rerolls}
        for option in table.advise_position(position).options:
            if option.action == "fill":
                env.reset(options=start)
                _, reward, over, _, _ = env.step(number_of(env.coding, option))
                after = position.card.fill(option.category or "", option.points or 0, option.bonus > 0)
                upper = after.upper_bonus if after.finished else 0
                assert reward == (option.points or 0) + option.bonus + upper
                assert over == after.finished


@pytest.mark.parametrize("rules", ["yahtzee", "yatzy", *map(str, TINY)])
def test_rewards_sum_to_the_total_of_the_card(rules: str) -> None:
    random, env = Random(3), Solitaire(rules, render_mode="ansi")
    for game in range(8):
        gained, over = 0.0, False
        seen, info = env.reset(seed=game)
        while not over:
            action = any_action(info["action_mask"], random)
            before = seen
            seen, reward, over, truncated, info = env.step(action)
            gained += reward
            assert not truncated
            if action >= env.coding.boxes:
                kept = env.coding.lattice.keeps[action - env.coding.boxes]
                assert all(seen[face - 1] >= kept.count(face) for face in kept)
                assert seen[:6].sum() == env.coding.ruleset.dice
                assert seen[6] == before[6] - 1
                assert seen[7:].tolist() == before[7:].tolist()
                assert reward == 0
            elif not over:
                assert seen[6] == env.coding.ruleset.rolls - 1
        final = env._play.card
        assert final.finished
        assert gained == final.total == seen[-1]
        assert info["action_mask"].all()
        assert not seen[:7].any()
        with pytest.raises(solver.ActionError, match=r"^action 0: the game is over, expected a reset$"):
            env.step(0)


def test_the_best_actions_meet_the_expected_score() -> None:
    env = gymnasium.make(ID, rules="yacht", optimal=True)
    exact = spread("yacht")
    games, totals = 60, []
    for game in range(games):
        _, info = env.reset(seed=game)
        total, over = 0.0, False
        while not over:
            _, reward, over, _, info = env.step(info.get("optimal_action"))
            assert info["loss"] == 0
            total += reward
        assert info["optimal_value"] == total
        totals.append(total)
    assert abs(np.mean(totals) - exact.mean) < 4 * exact.standard_deviation / np.sqrt(games)


def test_info_says_what_advice_says() -> None:
    table, random = solver.load("yahtzee"), Random(4)
    env = Solitaire("yahtzee", optimal=True)
    _, info = env.reset(options={"card": "ones=3 yahtzee=50", "dice": "55555", "rerolls": 1})
    over = False
    while not over:
        advice = table.advise_position(env._play.position)
        assert info["optimal_value"] == advice.value
        assert info["optimal_action"] == number_of(env.coding, advice.best)
        option = random.choice(advice.options)
        _, _, over, _, info = env.step(number_of(env.coding, option))
        assert info["loss"] == option.loss


def test_a_seed_gives_the_same_game() -> None:
    def played(seed: int) -> list[list[float]]:
        random, env = Random(5), Solitaire("yahtzee")
        seen, info = env.reset(seed=seed)
        found, over = [seen.tolist()], False
        while not over:
            seen, reward, over, _, info = env.step(any_action(info["action_mask"], random))
            found.append([*seen.tolist(), reward])
        return found

    assert played(1) == played(1) != played(2)


def test_what_is_not_legal_is_refused_and_changes_nothing() -> None:
    env = Solitaire("yahtzee", illegal="raise")
    with pytest.raises(solver.ActionError, match=r"^no game has begun: expected a reset first$"):
        env.step(0)
    seen, _ = env.reset(options={"card": "ones=3", "dice": "13346", "rerolls": 1})
    keep = env.coding.boxes + env.coding.lattice.number[(2,)]
    refused = [
        (0, r"^action 0 \(fill ones\): 1 3 3 4 6 may go in twos, threes,.* chance$"),
        (keep, rf"^action {keep} \(keep 2\): expected dice out of 1 3 3 4 6$"),
        (-1, r"^action -1: expected a whole number from 0 to 222$"),
        (223, r"^action 223: expected a whole number from 0 to 222$"),
        (1.0, r"^action 1\.0: expected a whole number"),
        *[(action, r"^action .+: expected a whole number from 0 to 222$") for action in NO_ACTIONS],
    ]
    for action, message in refused:
        with pytest.raises(solver.ActionError, match=message):
            env.step(action)
    after, *_ = env.step(env.coding.boxes)
    assert after[7:].tolist() == seen[7:].tolist()
    with pytest.raises(solver.ActionError, match=r"\(keep -\): no reroll is left, expected a fill$"):
        env.step(env.coding.boxes)


@pytest.mark.parametrize("action", [*NO_ACTIONS, 223, -1])
def test_what_is_no_action_always_raises(action: Any) -> None:
    env = Solitaire("yahtzee")
    seen, _ = env.reset(options={"dice": "13346"})
    with pytest.raises(solver.ActionError, match=r"^action .+: expected a whole number from 0 to 222$"):
        env.step(action)
    assert env._observation().tolist() == seen.tolist()


@pytest.mark.parametrize("action", [12, np.int64(12), np.uint8(12), np.array(12), np.array(12, np.int32)])
def test_whole_numbers_of_all_kinds_are_actions(action: Any) -> None:
    env = Solitaire("yahtzee", optimal=True)
    env.reset(options={"card": "ones=3 yahtzee=50", "dice": "13346"})
    seen, reward, _, _, info = env.step(action)
    assert reward == 17
    assert seen[7 + 12] == 1
    assert round(info["loss"], 2) == 15.92


@pytest.mark.parametrize("reward", [0.0, -5.0])
def test_an_illegal_action_changes_nothing_unless_asked_to(reward: float) -> None:
    env = Solitaire("yahtzee", illegal_reward=reward, optimal=True)
    seen, info = env.reset(options={"card": "ones=3 twos=4", "dice": "13346", "rerolls": 0})
    assert info["illegal"] is False
    keep_none = env.coding.boxes
    for action in (0, 1, keep_none):
        again, gained, over, truncated, info_again = env.step(action)
        assert again.tolist() == seen.tolist()
        assert (gained, over, truncated) == (reward, False, False)
        assert info_again["illegal"] is True
        assert info_again["action_mask"].tolist() == info["action_mask"].tolist()
        assert info_again["optimal_value"] == info["optimal_value"]
        assert info_again["optimal_action"] == info["optimal_action"]
        assert info_again["loss"] == 0
    _, gained, _, _, info = env.step(12)
    assert (gained, info["illegal"]) == (17, False)


def test_choosing_blindly_comes_to_the_end_of_a_game() -> None:
    env = gymnasium.make(ID, rules="crag")
    env.action_space.seed(1)
    for game in range(3):
        seen, _ = env.reset(seed=game)
        total, over, illegal = 0.0, False, 0
        while not over:
            seen, reward, over, _, info = env.step(env.action_space.sample())
            total += float(reward)
            illegal += info["illegal"]
        assert illegal > 10
        assert total == seen[-1] == env.unwrapped._play.card.total  # type: ignore[attr-defined]


def test_an_illegal_action_may_end_the_game_at_a_price() -> None:
    env = Solitaire("yahtzee", illegal="end", illegal_reward=-5, optimal=True)
    _, info = env.reset(options={"card": "ones=3 twos=4", "dice": "13346"})
    value = info["optimal_value"]
    seen, reward, over, truncated, info = env.step(0)
    assert (reward, over, truncated) == (-5.0, True, False)
    assert seen in env.observation_space
    assert info["optimal_value"] == 7
    assert info["loss"] == value - 7
    assert info["illegal"] is True
    with pytest.raises(solver.ActionError, match="the game is over"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        *[
            (given, solver.ArgumentError, f"options {given!r}: expected a dictionary or None")
            for given in (5, 0, "x", "", [1], [], [("dice", "12345")])
        ],
        (np.zeros((9, 9)), solver.ArgumentError, OPTIONS_ARRAY),
        ({"dices": "1"}, solver.ArgumentError, "option 'dices': expected card, dice or rerolls"),
        ({"rerolls": 1}, solver.ArgumentError, "rerolls 1: expected the dice as well"),
        ({"card": "ones=7"}, solver.CardError, "card: ones is 7, expected one of 0, 1, 2, 3, 4, 5"),
        ({"dice": "1 2 3"}, solver.DiceError, "dice '1 2 3': found 3 dice, expected 5"),
        ({"dice": "12345", "rerolls": 3}, solver.DiceError, "rerolls 3: expected a whole number from 0 to 2"),
        ({"card": 3}, solver.CardError, "card 3: expected a card or its text"),
        (
            {"card": solver.ruleset("yatzy").card()},
            solver.CardError,
            "card of 'yatzy': expected one of 'yahtzee'",
        ),
    ],
)
def test_a_start_that_cannot_be_is_refused(options: Any, error: type[Exception], message: str) -> None:
    env = Solitaire("yahtzee")
    seen, _ = env.reset(seed=1)
    with pytest.raises(error) as caught:
        env.reset(seed=2, options=options)
    assert str(caught.value) == message
    # The game under way goes on as if nothing had been asked.
    assert env._observation().tolist() == seen.tolist()
    other = Solitaire("yahtzee")
    other.reset(seed=1)
    assert env.step(13)[0].tolist() == other.step(13)[0].tolist()


def test_a_full_card_is_refused() -> None:
    rules = solver.ruleset("yacht")
    full = rules.card(" ".join(f"{key}=0" for key in rules.keys if key != "choice") + " choice=20")
    with pytest.raises(solver.CardError, match="every box is filled"):
        Solitaire(rules).reset(options={"card": full})


def test_arguments_are_checked() -> None:
    with pytest.raises(
        solver.ArgumentError, match=r"^render mode 'human': expected None, 'ansi' or 'rgb_arr"
    ):
        Solitaire("yacht", render_mode="human")
    with pytest.raises(solver.ArgumentError, match=r"^seats 0: expected a whole number from 1 to 100$"):
        Seats("yacht", 0)
    with pytest.raises(solver.ArgumentError, match=r"^reward 'score': expected 'win' or 'points'$"):
        Seats("yacht", reward="score")  # type: ignore[arg-type]
    with pytest.raises(solver.RulesError):
        Solitaire("no-such-game")


@pytest.mark.parametrize("make", [Solitaire, Seats, ManyGames])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"illegal": "ignore"}, "illegal 'ignore': expected 'stay', 'end' or 'raise'"),
        ({"illegal": ["end"]}, "illegal ['end']: expected 'stay', 'end' or 'raise'"),
        ({"illegal_reward": "low"}, "illegal_reward 'low': expected a finite number"),
        ({"illegal_reward": None}, "illegal_reward None: expected a finite number"),
        ({"illegal_reward": True}, "illegal_reward True: expected a finite number"),
        ({"illegal_reward": float("nan")}, "illegal_reward nan: expected a finite number"),
        ({"illegal_reward": -np.inf}, "illegal_reward -inf: expected a finite number"),
    ],
)
def test_what_illegal_actions_do_is_checked(make: Any, arguments: Any, message: str) -> None:
    with pytest.raises(solver.ArgumentError) as caught:
        make(rules="yacht", **arguments)
    assert str(caught.value) == message


def test_text_shows_the_dice_and_the_card() -> None:
    env = Solitaire("yacht", render_mode="ansi")
    env.reset(options={"card": "ones=3 choice=20", "dice": "13346", "rerolls": 1})
    lines = env.render().splitlines()
    assert lines[0] == "1 3 3 4 6  1 reroll left"
    assert [line.split() for line in lines[1:4]] == [["Yacht"], ["Ones", "3"], ["Twos", "."]]
    assert lines[-1].split() == ["Total", "23"]
    assert len({len(line) for line in lines[1:]}) == 1
    assert Solitaire("yacht").render() is None


def test_pictures_show_the_dice() -> None:
    env = Solitaire("yahtzee", render_mode="rgb_array")
    shown = {}
    for dice in ("11111", "11112", "66666"):
        env.reset(options={"dice": dice})
        picture = env.render()
        assert picture.dtype == np.uint8
        assert picture.ndim == 3
        assert picture.shape[2] == 3
        shown[dice] = picture.astype(int)
    changed = np.argwhere(np.any(shown["11111"] != shown["11112"], axis=2))
    # Only the last die differs; a six has five pips more than a one.
    assert changed[:, 1].min() > 250
    assert changed[:, 0].max() < 70
    dark = {dice: np.count_nonzero(picture[:64].max(axis=2) < 60) for dice, picture in shown.items()}
    pip = dark["11112"] - dark["11111"]
    assert pip > 50
    assert dark["66666"] - dark["11111"] == pytest.approx(25 * pip, rel=0.02)


@pytest.mark.parametrize("missing", ["gymnasium", "pettingzoo"])
def test_a_missing_library_is_named(missing: str) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "import solver\n"
        "try:\n    import solver.environments\n"
        "except solver.MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    advice = 'python3 -m pip install "dicewise[rl]"'
    assert done.stdout == f"environments need {missing}, which is not installed: {advice}\n"


def test_missing_pillow_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(solver.MissingExtra, match=r"^pictures need Pillow, which is not installed: python3"):
        Solitaire("yacht", render_mode="rgb_array")


def test_playing_needs_no_compiler_and_the_package_no_gymnasium() -> None:
    program = (
        "import sys, solver, solver.cli\nassert 'gymnasium' not in sys.modules\n"
        "import gymnasium, solver.environments\n"
        "gymnasium.make('dicewise/Solitaire-v0', optimal=True).reset()\n"
        "solver.environments.Seats().reset()\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
