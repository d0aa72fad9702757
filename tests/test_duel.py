"""Two players, exactly: against plain recursion, and in files that are whole and the same however made."""

from __future__ import annotations

import contextlib
import json
import math
import zlib
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from command_line import TINY
from oracle import Action, Exact
from oracle_duel import PlainDuel, Policy

import solver
from solver import pairs as pairs_module
from solver.duel import Duel, solve_duel, solve_piece
from solver.duel_evaluation import evaluate, found, tie_rate
from solver.duel_files import Folder
from solver.lookup import Option
from solver.pairs import pairs, points_to_come
from solver.rules import Ruleset, ruleset
from solver.scorecard import Scorecard
from solver.scoring import scoring

SMALL = TINY / "joker_alone.toml"
GAMES = ["colours", "groups", "thirteen", "joker_alone"]
SERVED = {"categories.pair.served": 3, "categories.run.served": 5}
UNFLAGGED = {"upper_bonus": [], "yahtzee.bonus": 0}
TINY_PIECE = 40


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("duels")


@pytest.fixture(scope="module")
def small(folders: Path) -> Duel:
    return solve_duel(SMALL, folders / "small")


@cache
def plain() -> PlainDuel:
    """The smallest game in fractions, its ties followed."""
    recursion = PlainDuel(ruleset(SMALL))
    recursion.position(0, 0, 0)
    return recursion


def action(option: Option) -> Action:
    return ("keep", option.dice) if option.action == "keep" else ("fill", option.category or "")


@cache
def cards_by_total(rules: Ruleset, boxes: int) -> dict[int, Scorecard]:
    """A card with these boxes filled for each total that one can have."""
    distinct = scoring(rules).distinct
    chosen = [(key, distinct[box].tolist()) for box, key in enumerate(rules.keys) if boxes >> box & 1]
    found = {}
    for points in product(*(of_box for _, of_box in chosen)):
        if sum(points) not in found:
            with contextlib.suppress(solver.CardError):
                filled = {key: p for (key, _), p in zip(chosen, points, strict=True)}
                found[sum(points)] = Scorecard.of(rules, filled)
    return found


def cards_with(rules: Ruleset, filled: tuple[int, int], ahead: int) -> tuple[Scorecard, Scorecard] | None:
    """Two cards with these boxes filled, the first one so many points ahead."""
    own, other = (cards_by_total(rules, boxes) for boxes in filled)
    return next(((own[total], other[total - ahead]) for total in own if total - ahead in other), None)


# ---------------------------------------------------------------- values


def test_every_position_of_a_tiny_game_is_that_of_plain_recursion(small: Duel) -> None:
    rules, game = ruleset(SMALL), small.files.game
    compared = {0: 0, 1: 0}
    for (own, other, ahead), chances in plain().seen.items():
        cards = cards_with(rules, (own, other), ahead)
        assert cards is not None
        assert small.value(*cards) == pytest.approx(float(chances.chance), abs=1e-14)
        compared[other.bit_count() - own.bit_count()] += 1
    assert compared[0] > 150 and compared[1] > 150
    assert small.chance == small.value() == small.head_starts()[0]
    assert game.positions == (35, sum(game.length(a, b) for a, b in every_pair(game)))
    assert game.kept == sum(game.block_length(b, level) for level in range(4) for b in game.sets(level))


def every_pair(game: pairs_module.Pairs) -> list[tuple[int, int]]:
    levels = [game.sets(level) for level in range(game.boxes + 1)]
    same = [pair for sets in levels for pair in product(sets, sets)]
    return same + [pair for own, more in pairwise(levels) for pair in product(own, more)]


def test_head_starts_are_those_of_plain_recursion(small: Duel) -> None:
    starts = small.head_starts()
    low, high = min(starts), max(starts)
    for points in (low, -8, high):
        assert starts[points] == pytest.approx(float(plain().position(0, 0, points).chance), abs=1e-14)
    for decided in (low - 1, high + 1):
        assert plain().position(0, 0, decided).chance == int(decided > 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"order": "card"},
        {"order": "card", "yahtzee.joker": "forced", "box_order": ["pair", "sixes", "run"]},
        {"order": "upper-first", "rolls": 3},
        {"yahtzee.joker": "none", "rolls": 1},
        {**SERVED, "rolls": 3},
        {**SERVED, "yahtzee.joker": "forced", "order": "upper-first"},
        {**SERVED, "rolls": 1, "order": "card"},
    ],
)
def test_other_orders_and_jokers(changes: dict[str, object], tmp_path: Path) -> None:
    rules = ruleset(SMALL, changes)
    chances = PlainDuel(rules).position(0, 0, 0)
    solved = solve_duel(rules, tmp_path)
    assert solved.chance == pytest.approx(float(chances.chance), abs=1e-14)
    ties = tie_rate(rules, tmp_path)
    assert float(chances.least) - 1e-14 <= ties <= float(chances.greatest) + 1e-14
    evaluation = evaluate(rules, tmp_path)
    assert evaluation.both_optimum == solved.chance
    assert evaluation.tie == ties


@pytest.mark.parametrize(
    ("name", "changes", "opens"),
    [
        ("groups", {}, [(1, 1), (1, 0), (2, 1)]),
        ("colours", {}, [(1, 1), (1, 0), (2, 1)]),
        ("thirteen", {}, [(1, 1), (1, 0), (2, 1), (2, 2)]),
        ("served", UNFLAGGED, [(1, 1), (1, 0), (2, 1), (2, 2)]),
    ],
)
def test_late_positions_of_tiny_games(
    name: str, changes: dict[str, object], opens: list[tuple[int, int]], folders: Path
) -> None:
    rules = ruleset(TINY / f"{name}.toml", changes)
    solved = solve_duel(rules, folders / name)
    game, recursion, random = solved.files.game, PlainDuel(rules, float), Random(name)
    full = (1 << game.boxes) - 1
    for own_open, other_open in opens:
        own = full & ~sum(1 << box for box in random.sample(range(game.boxes), own_open))
        other = full & ~sum(1 << box for box in random.sample(range(game.boxes), other_open))
        leads = [ahead for ahead in range(-30, 31) if cards_with(rules, (own, other), ahead)]
        for ahead in random.sample(leads, min(3, len(leads))):
            wanted = float(recursion.position(own, other, ahead).chance)
            cards = cards_with(rules, (own, other), ahead)
            assert cards is not None
            assert solved.value(*cards) == pytest.approx(wanted, abs=1e-13)


@pytest.mark.parametrize("name", GAMES)
def test_a_lead_never_hurts(name: str, folders: Path) -> None:
    solved = solve_duel(TINY / f"{name}.toml", folders / name)
    game = solved.files.game
    for level in range(game.boxes + 1):
        for other in game.sets(level):
            block = solved.files.block(other, level)[0]
            for own in game.sets(level):
                start = game.start(own, other, level)
                run = block[start : start + game.length(own, other)]
                assert np.all(np.diff(run) >= 0)
                assert run[0] >= 0 and run[-1] <= 1 + 1e-12


def test_what_one_player_wins_the_other_loses(small: Duel) -> None:
    rules = ruleset(SMALL)
    card, other = rules.card("pair=10"), rules.card("sixes=6")
    for option in small.advise(card, "66", 0, other=other).options:
        after = card.fill(str(option.category), int(option.points or 0))
        assert option.value + small.value(other, after) == pytest.approx(1, abs=1e-15)


# ---------------------------------------------------------------- advice


@pytest.mark.parametrize(("card", "other"), [("", ""), ("pair=10", "run=8"), ("run=0", "sixes=6 pair=0")])
def test_advice_in_a_tiny_game(card: str, other: str, small: Duel) -> None:
    rules = ruleset(SMALL)
    cards = rules.card(card), rules.card(other)
    ahead = cards[0].boxes_total - cards[1].boxes_total
    for dice, rerolls in (((6, 6), 1), ((1, 2), 1), ((5, 5), 0), ((3, 6), 0)):
        advice = small.advise(cards[0], dice, rerolls, other=cards[1])
        wanted = plain().options(cards[0].filled, cards[1].filled, ahead, dice, rerolls)
        assert {action(option): option.value for option in advice.options} == pytest.approx(
            {act: float(chances.chance) for act, chances in wanted.items()}, abs=1e-14
        )
        table = small.table.advise(cards[0], dice, rerolls)
        assert {action(o): o.expected for o in advice.options} == {action(o): o.value for o in table.options}
        best = max(chances.chance for chances in wanted.values())
        assert wanted[action(advice.best)].chance == best


def last_levels(name: str, path: Path) -> Duel:
    """The last levels of a whole game, made as they are made when it is solved."""
    rules = ruleset(name)
    files = Folder(path, pairs(rules))
    for level in range(files.game.boxes, files.game.boxes - 3, -1):
        for piece in files.pieces(level):
            solve_piece(rules, str(files.path), level, piece.number)
    return Duel(solver.solve(rules), files)


@pytest.fixture(scope="module")
def late(folders: Path) -> Duel:
    return last_levels("yacht", folders / "late")


@pytest.fixture(scope="module")
def late_served(folders: Path) -> Duel:
    return last_levels("generala", folders / "late served")


REST = "twos=6 threes=9 fours=8 fives=10 sixes=18 full_house=0 four_of_a_kind=0 big_straight=0"


@pytest.mark.parametrize(
    ("card", "other", "dice", "rerolls"),
    [
        (f"{REST} little_straight=0 choice=20", f"{REST} ones=2 choice=20", "11355", 1),
        (f"{REST} ones=2 choice=20", f"{REST} little_straight=30 yacht=0 choice=28", "12355", 1),
        (
            f"{REST} little_straight=0 yacht=0 choice=20",
            f"{REST} ones=1 little_straight=0 yacht=0",
            "11444",
            2,
        ),
        (
            f"{REST} little_straight=0 yacht=0 ones=1",
            f"{REST} little_straight=0 yacht=0 ones=3 choice=25",
            "22666",
            2,
        ),
    ],
)
def test_late_advice_in_a_whole_game(card: str, other: str, dice: str, rerolls: int, late: Duel) -> None:
    check_advice(late, card, other, dice, rerolls)


UPPER = "ones=2 twos=6 threes=9 fours=8 fives=10 sixes=18"
POKER_TO_COME = "ones=3 twos=6 threes=9 fours=8 fives=20 sixes=0 full_house=0 generala=0 straight=20"
STRAIGHT_TO_COME = "ones=3 twos=8 threes=9 fours=16 fives=10 sixes=30 full_house=0 generala=0 poker=0"


@pytest.mark.parametrize(
    ("card", "other", "dice", "rerolls"),
    [
        # With the points of a first roll only a first roll of the other is more; with others any is.
        (f"{UPPER} full_house=30 generala=0 poker=0", POKER_TO_COME, "12345", 2),
        (f"{UPPER} full_house=30 generala=0 poker=0", POKER_TO_COME, "12345", 1),
        (f"{UPPER} full_house=0 straight=0 generala=0", STRAIGHT_TO_COME, "14444", 2),
        (f"{UPPER} straight=0 generala=0", f"{UPPER} full_house=0 straight=20 generala=0", "22444", 2),
    ],
)
def test_late_advice_where_first_rolls_score_more(
    card: str, other: str, dice: str, rerolls: int, late_served: Duel
) -> None:
    check_advice(late_served, card, other, dice, rerolls)


def check_advice(late: Duel, card: str, other: str, dice: str, rerolls: int) -> None:
    rules = late.table.ruleset
    cards = rules.card(card), rules.card(other)
    ahead = cards[0].boxes_total - cards[1].boxes_total
    advice = late.advise(cards[0], dice, rerolls, other=cards[1])
    rolled = advice.position.dice
    recursion = PlainDuel(rules, float)
    wanted = recursion.options(cards[0].filled, cards[1].filled, ahead, rolled, rerolls)
    assert {action(option): option.value for option in advice.options} == pytest.approx(
        {act: chances.chance for act, chances in wanted.items()}, abs=1e-12
    )
    assert 0.01 < advice.value < 0.99


def test_cards_that_cannot_meet(small: Duel) -> None:
    with pytest.raises(
        solver.CardError, match=r"card 'sixes=6 run=0' of the other player: found 2 boxes filled"
    ):
        small.value("", "sixes=6 run=0")
    with pytest.raises(solver.CardError, match="found 0 boxes filled, expected 1 or 2"):
        small.advise("pair=0", "66", other="")
    with pytest.raises(solver.CardError, match="sixes is 7"):
        small.value("sixes=7", "pair=0")


@pytest.mark.parametrize(
    ("name", "reason", "room"),
    [
        ("yacht-clubhouse", "an upper bonus, expected", "5.9e+12"),
        ("yahtzee", "an upper bonus and a bonus for further rolls of all dice alike, expected", "2.4e+14"),
        (str(TINY / "none.toml"), "a bonus for further rolls of all dice alike, expected", "4.4e+03"),
        ("generala-double", "found a box that requires another to hold points, expected", "4.4e+09"),
        (
            str(TINY / "requires.toml"),
            "found an upper bonus and a box that requires another to hold points, expected",
            "1.9e+05",
        ),
    ],
)
def test_games_whose_states_are_more_than_filled_boxes(
    name: str, reason: str, room: str, tmp_path: Path
) -> None:
    with pytest.raises(solver.GoalError, match=reason) as refused:
        solve_duel(name, tmp_path)
    assert "\n" not in str(refused.value) and "pairs of states" in str(refused.value)
    assert str(refused.value).endswith(f"with their differences, {room} bytes to keep")
    assert not list(tmp_path.iterdir())


def test_a_bonus_that_both_are_certain_of_changes_nothing(tmp_path: Path) -> None:
    plain_rules = {"categories.sixes.pattern": {}, "categories.sixes.points": "sum"}
    without = ruleset(SMALL, plain_rules)
    bonus = ruleset(SMALL, plain_rules | {"upper_bonus": [{"at": 1, "points": 100_000}]})
    there, here = (solve_duel(rules, tmp_path / str(len(rules.upper_bonus))) for rules in (without, bonus))
    assert here.head_starts() == there.head_starts()
    assert evaluate(bonus, here.files.path) == evaluate(without, there.files.path)
    least, greatest = points_to_come(here.files.game.states)
    assert (least[0], greatest[0]) == (100_000 + 2, 100_000 + 12 + 10 + 11)


def test_a_game_with_saved_rolls_is_refused(tmp_path: Path) -> None:
    for name, reason in (("yacht[save_rolls=true]", "saved"), ("maxi-yatzy", "an upper bonus and saved")):
        message = f"found {reason} rolls, expected .* has "
        with pytest.raises(solver.GoalError, match=message):
            solve_duel(name, tmp_path)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- who plays how


def for_points(rules: Ruleset) -> Policy:
    """The strategy for the expected score with the tie rule of advice, in fractions."""
    game = Exact(rules)

    @cache
    def policy(filled: int, dice: tuple[int, ...], rerolls: int) -> Action:
        options = game.option_values(filled, 0, False, dice, rerolls)
        best = max(options.values())
        equal = [action for action, value in options.items() if value == best]
        fills = [action for action in equal if action[0] == "fill"]
        if fills:
            return min(fills, key=lambda action: rules.keys.index(str(action[1])))
        return max(equal, key=lambda action: (len(action[1]), tuple(reversed(action[1]))))

    return policy


def test_the_four_pairings_and_ties(small: Duel) -> None:
    rules = ruleset(SMALL)
    assert found(small.files) is None
    evaluation = evaluate(SMALL, small.files.path, threads=2)
    policy = for_points(rules)

    def between(policies: dict[int, Policy], follow: Literal["tie", "chance"], value: float) -> None:
        recursion = PlainDuel(rules, Fraction, policies, follow) if policies else plain()
        chances = recursion.position(0, 0, 0)
        assert float(chances.least) - 1e-14 <= value <= float(chances.greatest) + 1e-14
        assert float(chances.greatest - chances.least) < 0.01

    assert evaluation.both_optimum == small.chance
    between({}, "tie", evaluation.tie)
    between({1: policy}, "chance", evaluation.first_optimum)
    between({0: policy}, "chance", evaluation.second_optimum)
    between({0: policy, 1: policy}, "chance", evaluation.neither_optimum)
    between({0: policy, 1: policy}, "tie", evaluation.neither_optimum_tie)
    assert evaluation.second_optimum < evaluation.both_optimum < evaluation.first_optimum
    assert found(small.files) == evaluation == evaluate(SMALL, small.files.path)
    assert not list(small.files.path.glob("followed-*"))


def checksum(kept: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(kept).encode())


def test_ties_alone(folders: Path) -> None:
    solved = solve_duel(SMALL, folders / "ties")
    recursion = plain().position(0, 0, 0)
    ties = tie_rate(SMALL, solved.files.path, threads=2)
    assert found(solved.files) is None
    assert float(recursion.least) - 1e-14 <= ties <= float(recursion.greatest) + 1e-14
    assert recursion.greatest - recursion.least < 0.01 < recursion.least
    assert {path.name[:5] for path in solved.files.path.iterdir()} == {"level", "ties."}

    def never(done: int, total: int) -> None:
        raise AssertionError("worked out again")

    assert tie_rate(SMALL, solved.files.path, progress=never) == ties
    (solved.files.path / "ties.json").write_text('{"tie": 0.5, "digest": "another"}')
    assert tie_rate(SMALL, solved.files.path) == ties
    assert evaluate(SMALL, solved.files.path).tie == ties
    kept = json.loads((solved.files.path / "evaluation.json").read_text())
    game = {"digest": kept["digest"], "chance": solved.chance}
    assert kept.pop("crc32") == checksum(kept) and game.items() <= kept.items()

    def refused(name: str, numbers: dict[str, Any]) -> None:
        (solved.files.path / "evaluation.json").unlink(missing_ok=True)
        (solved.files.path / name).write_text(json.dumps(numbers))
        assert found(solved.files) is None
        assert tie_rate(SMALL, solved.files.path) == ties

    for name, numbers in (("ties.json", game | {"tie": ties}), ("evaluation.json", kept)):
        # Written as if by this program: out of range, or of another game.
        for damaged in ({"tie": 7.5}, {"tie": -0.1}, {"tie": math.nan}, {"tie": "0.5"}, {"chance": 0.125}):
            changed = numbers | damaged
            refused(name, changed | {"crc32": checksum(changed)})
        # Written by hand: a chance that may be, under the checksum of the true one or under none.
        for crc32 in ({"crc32": checksum(numbers)}, {}):
            refused(name, numbers | {"tie": 0.5} | crc32)
        # As older programs kept it.
        refused(name, {key: value for key, value in numbers.items() if key != "chance"} | {"tie": 0.5})
    assert evaluate(SMALL, solved.files.path).as_dict() | game == kept
    (solved.files.path / "ties.json").unlink()
    assert tie_rate(SMALL, solved.files.path, progress=never) == ties


@pytest.mark.parametrize("steps", [None, 8])
@pytest.mark.parametrize("work", [tie_rate, evaluate])
def test_two_that_follow_the_players_in_one_folder(tmp_path: Path, work: Any, steps: int | None) -> None:
    """One overtakes the other by all of its levels, or by some and is stopped; the result is the same."""
    folder = solve_duel(SMALL, tmp_path / "duel").files.path
    alone = work(SMALL, folder)
    for path in folder.glob("*.json"):
        path.unlink()
    calls: list[int] = []

    def stopped(done: int, total: int) -> None:
        if done == steps_done[-1]:
            raise KeyboardInterrupt

    def overtaken(done: int, total: int) -> None:
        calls.append(done)
        if len(calls) == 2:
            with contextlib.suppress(KeyboardInterrupt):
                work(SMALL, folder, threads=1, progress=stopped if steps else None)

    steps_done = [0]
    if steps:
        with contextlib.suppress(KeyboardInterrupt):
            work(SMALL, folder, threads=1, progress=lambda done, total: steps_done.append(done))
        for path in [*folder.glob("*.json"), *folder.glob("ties-*"), *folder.glob("followed-*")]:
            path.unlink()
        del steps_done[steps:]
    assert work(SMALL, folder, threads=1, progress=overtaken) == alone
    assert {path.name[:5] for path in folder.iterdir()} <= {"level", "ties.", "evalu"}


def test_pairings_where_first_rolls_score_more(tmp_path: Path) -> None:
    rules = ruleset(SMALL, SERVED)
    solve_duel(rules, tmp_path)
    evaluation, policy = evaluate(rules, tmp_path), for_points(rules)
    for seat, value in ((1, evaluation.first_optimum), (0, evaluation.second_optimum)):
        chances = PlainDuel(rules, Fraction, {seat: policy}, "chance").position(0, 0, 0)
        assert float(chances.least) - 1e-14 <= value <= float(chances.greatest) + 1e-14
        assert float(chances.greatest - chances.least) < 0.01


def test_followed_chances_of_optimum_players_are_their_own(folders: Path) -> None:
    """Where the other kind of player is in truth an optimum one, following gives the same to the bit."""
    from solver.duel_evaluation import FOLLOWED
    from solver.duel_pieces import blocks_after, room_for
    from solver.evaluation_kernels import follow_turns
    from solver.pairs import pair_plan
    from solver.plan import plan, work_arrays
    from solver.states import LANES

    solved = solve_duel(TINY / "thirteen.toml", folders / "thirteen")
    game = solved.files.game
    arrays = plan(game.states)
    assert FOLLOWED.planes == 3
    for other in game.sets(2):
        (values,), first = blocks_after(solved.files, other, 2)
        between = [room_for(game, other, 3) for _ in range(3)]
        block = [room_for(game, other, 2) for _ in range(3)]
        for array in (*between, *block):
            array[:] = 0
        pairs_of_work = [work_arrays(arrays) for _ in range(3)]
        rows, keeps = (tuple(pair[i] for pair in pairs_of_work) for i in range(2))
        level = pair_plan(game, 2)
        follow_turns(
            arrays, level, other, False, (values, values, values), first, tuple(between), rows, keeps, True
        )
        first[:] = LANES
        follow_turns(arrays, level, other, True, tuple(between), first, tuple(block), rows, keeps, True)
        wanted = solved.files.block(other, 2)[0]
        for own in game.sets(2):
            ahead = game.low(own, other) + np.arange(game.length(own, other))
            start = game.start(own, other, 2)
            # What two filled boxes each can have brought.
            most = [int(game.greatest[0] - game.greatest[number]) for number in (own, other)]
            met = start + np.flatnonzero((ahead >= -most[1]) & (ahead <= most[0]))
            assert np.array_equal(block[0][LANES + met], wanted[met])
            assert np.array_equal(block[2][LANES + met], wanted[met])
