"""Requests as data: answers are the library's, errors are in its words, and no request costs too much."""

from __future__ import annotations

import gc
import json
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from games import NAMES, TINY, random_position, solved

import solver
from solver import distributions, states, strength
from solver.distributions import MOST_BYTES
from solver.errors import ArgumentError, DicewiseError
from solver.game import Game
from solver.levels import thread_count
from solver.plan import bytes_of_steps
from solver.players import player
from solver.pursuit import most_values_to_win, pursue
from solver.rules import build, names, settings
from solver.scope import Scope
from solver.scorecard import Position
from solver.scoring import scoring
from solver.service import Limits, RequestError, Service, WorkError, limits
from solver.service.requests import as_answer
from solver.service.shapes import SHAPES
from solver.shelf import Shelf
from solver.situations import Situation

SERVICE = Service()
TINY_RULES = {path.stem: settings(path) for path in TINY}


def answer(request: str, **body: Any) -> dict[str, Any]:
    """What a request is answered with, as it comes out of JSON at the other end."""
    found: dict[str, Any] = json.loads(json.dumps(SERVICE.answer(request, json.loads(json.dumps(body)))))
    return found


def fault(request: str, **body: Any) -> tuple[str, str]:
    """The kind and the message of a request that is refused."""
    found = SERVICE.respond(request, body)
    assert found.keys() == {"error"}, found
    return found["error"]["kind"], found["error"]["message"]


def raised(call: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(DicewiseError) as caught:
        call()
    return type(caught.value).__name__, str(caught.value)


# -------------------------------------------------------------------- advice


@pytest.mark.parametrize("name", NAMES)
def test_advice_is_that_of_the_table(name: str) -> None:
    table = solver.load(name)
    random = Random(name)
    for _ in range(5):
        where = random_position(table, random)
        told = json.loads(json.dumps(table.advise_position(where).as_dict()))
        card = where.card
        assert answer("advise", position=str(where)) == told
        parts = {"rules": name, "dice": list(where.dice), "rerolls": where.rerolls}
        assert answer("advise", card=str(card), **parts) == told
        assert answer("advise", card=card.as_dict(), **parts) == told
        assert answer("advise", card=card.as_dict(), top=2, **parts) == told | {
            "options": told["options"][:2]
        }


def test_what_is_left_out_is_the_start_of_the_first_game() -> None:
    told = solver.load(NAMES[0]).advise(None, "1 3 3 4 6").as_dict()
    assert answer("advise", dice="13346") == json.loads(json.dumps(told))
    assert answer("advise", dice="13346", rerolls=None, card=None, rules=None) == answer(
        "advise", dice="13346"
    )


def test_explanations_are_those_of_the_library() -> None:
    table = solver.load("yatzy")
    advice = table.advise("ones=3 chance=20", "2 2 5 6 6", 1)
    told = [json.loads(json.dumps(one.as_dict())) for one in solver.explain(table, advice, 4)]
    asked = {"rules": "yatzy", "card": "ones=3 chance=20", "dice": "22566", "rerolls": 1}
    found = answer("advise", explain=4, **asked)
    assert found["explanations"] == told
    assert found["boxes_total"] == 23
    assert answer("advise", explain=[4, 2], top=1, **asked)["explanations"] == [told[3], told[1]]
    assert "explanations" not in answer("advise", **asked)


@pytest.mark.parametrize("name", sorted(TINY_RULES))
def test_rules_may_come_with_the_request(name: str) -> None:
    path = next(path for path in TINY if path.stem == name)
    table = solver.solve(path)
    random = Random(3)
    for _ in range(3):
        where = random_position(table, random)
        found = answer(
            "advise",
            rules=TINY_RULES[name],
            card=where.card.as_dict(),
            dice=list(where.dice),
            rerolls=where.rerolls,
        )
        told = json.loads(json.dumps(table.advise_position(where).as_dict()))
        assert found == told | {"rules": "inline"}


def test_rules_may_extend_a_game_or_change_it_by_name() -> None:
    told = solver.solve(solver.ruleset("yacht", {"rolls": 2})).advise(None, "11345").value
    for rules in ({"extends": "yacht", "rolls": 2}, "yacht[rolls=2]"):
        assert answer("advise", rules=rules, dice="11345")["value"] == told
    assert answer("advise", position="yacht[rolls=2] | - | 1 1 3 4 5 | 1")["value"] == told


GOALS: list[tuple[dict[str, Any], Callable[[], Any]]] = [
    ({"reach": 20}, lambda: solver.Reach(20)),
    ({"risk": 0.05}, lambda: solver.Risk(0.05)),
    ({"floor": True}, solver.Floor),
    ({"ceiling": True}, solver.Ceiling),
    ({"utility": [0, 1, 4, 9, 16, 25]}, lambda: solver.Utility([0, 1, 4, 9, 16, 25])),
    (
        {"utility": {"scores": [0, 10, 20], "values": [0, 1, 5]}},
        lambda: solver.Utility([0.1 * s if s < 10 else 0.4 * s - 3 for s in range(21)]),
    ),
]


@pytest.mark.parametrize(("wish", "goal"), GOALS, ids=[str(wish) for wish, _ in GOALS])
def test_goals_are_those_of_the_library(wish: dict[str, Any], goal: Callable[[], Any]) -> None:
    path = next(path for path in TINY if path.stem == "groups")
    table = solver.solve(path)
    where = random_position(table, Random(5))
    pursuit = pursue(table, goal(), where.card)
    told = json.loads(json.dumps(pursuit.advise_position(where).as_dict()))
    found = answer(
        "advise",
        rules=TINY_RULES["groups"],
        card=where.card.as_dict(),
        dice=list(where.dice),
        rerolls=where.rerolls,
        goal=wish,
    )
    assert found.pop("unit") == pursuit.unit
    assert [option["value"] for option in found["options"]] == pytest.approx(
        [option["value"] for option in told["options"]], abs=1e-12
    )
    assert [option["expected"] for option in found["options"]] == [
        option["expected"] for option in told["options"]
    ]


def test_winning_looks_at_the_opponents_and_their_dice() -> None:
    table = solved("yacht")
    ours, theirs = "ones=3 twos=6 threes=9 fours=12 fives=15 full_house=0", "ones=2 twos=4 threes=6 yacht=50"
    goal = solver.Win((solver.distribution(table, theirs, "33366", 1), solver.distribution(table, ours)))
    told = pursue(table, goal, ours).advise(ours, "22566", 2).as_dict(3)
    wish = {"win": [{"card": theirs, "dice": [3, 3, 3, 6, 6], "rerolls": 1}, ours]}
    found = answer("advise", rules="yacht", card=ours, dice="22566", goal=wish, top=3)
    assert found == json.loads(json.dumps(told)) | {"unit": "probability"}


# -------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("body", "library"),
    [
        ({"dice": "13347"}, lambda: solver.load("yahtzee").advise(None, "13347")),
        ({"dice": "1334"}, lambda: solver.load("yahtzee").advise(None, "1334")),
        ({"dice": [1, 3, 3, 4, 9]}, lambda: solver.load("yahtzee").advise(None, [1, 3, 3, 4, 9])),
        ({"dice": "13346", "rerolls": 3}, lambda: solver.load("yahtzee").advise(None, "13346", 3)),
        (
            {"dice": "13346", "card": "ones=7"},
            lambda: solver.load("yahtzee").advise("ones=7", "13346"),
        ),
        (
            {"dice": "13346", "card": {"onse": 3}},
            lambda: solver.load("yahtzee").advise("onse=3", "13346"),
        ),
        (
            {"dice": "13346", "card": {"ones": True}},
            lambda: solver.Scorecard.of(solver.ruleset("yahtzee"), {"ones": True}),
        ),
        ({"position": "yahtzee | -"}, lambda: Position.parse("yahtzee | -")),
        (
            {"dice": "13346", "rules": "yacht[roll=4]"},
            lambda: solver.ruleset("yacht", {"roll": 4}),
        ),
        ({"dice": "13346", "goal": {"risk": 9}}, lambda: solver.Risk(9)),
        ({"dice": "13346", "goal": {"reach": 2.5}}, lambda: solver.Reach(2.5)),
    ],
)
def test_errors_are_in_the_words_of_the_library(body: dict[str, Any], library: Callable[[], object]) -> None:
    assert fault("advise", **body) == raised(library)


@pytest.mark.parametrize(
    ("request_name", "body", "message"),
    [
        ("advice", {}, "request 'advice': expected one of: "),
        ("advise", {"dcie": "1"}, "advise: found an unknown field 'dcie', expected one of: position, "),
        ("advise", {}, "advise: found no dice, expected those on the table"),
        ("advise", {"dice": 5}, "advise: dice is 5, expected text or a list"),
        ("advise", {"dice": [1, 2, 3.0, 4, 5]}, "advise: dice: a die is 3.0, expected a whole number"),
        ("advise", {"dice": [1] * 21}, "advise: dice: found 21 dice, expected 20 at the most"),
        ("advise", {"dice": "1", "rerolls": "2"}, "advise: rerolls is '2', expected a whole number"),
        ("advise", {"dice": "1", "rerolls": True}, "advise: rerolls is True, expected a whole number"),
        ("advise", {"dice": "13346", "top": 0}, "advise: top is 0, expected 1 or more"),
        (
            "advise",
            {"dice": "13346", "explain": [99]},
            "advise: explain has 99, expected places from 1 to 36",
        ),
        ("advise", {"position": "x", "dice": "1"}, "advise: found dice beside position, which says it all"),
        ("advise", {"dice": "13346", "goal": {"floor": 1}}, "goal: floor is 1, expected true"),
        ("advise", {"dice": "1", "rules": []}, "advise: rules is [], expected text or an object"),
        ("move", {"dice": "1"}, "move: found no player, expected one"),
        ("move", {"player": "optimal"}, "move: found no dice, expected those on the table"),
        (
            "move",
            {"player": "optimal", "dice": "13346", "turn": 1},
            "move: turn is 1, expected a seat from 0",
        ),
        ("stats", {"rerolls": 1}, "stats: found rerolls but no dice, expected both or neither"),
        ("game", {"actions": [{"jump": True}]}, "game: found action {'jump': True}, expected one of roll, "),
        ("game", {"actions": [{"roll": False}]}, "game: roll is False, expected text or a list"),
        ("health", {"now": 1}, "health: found an unknown field 'now', expected no fields"),
    ],
)
def test_what_is_no_request_is_refused(request_name: str, body: dict[str, Any], message: str) -> None:
    kind, said = fault(request_name, **body)
    assert kind == "RequestError"
    assert said.startswith(message)


@pytest.mark.parametrize(
    "body",
    [
        {"goal": {"reach": 3, "floor": True}},
        {"goal": {}},
        {"goal": {"win": []}},
        {"goal": {"win": ["-"] * 8}},
        {"goal": {"utility": []}},
        {"goal": {"utility": [0.0] * 20_001}},
        {"goal": {"utility": [10**400]}},
        {"goal": {"utility": {"scores": [1, 1], "values": [0, 1]}}},
        {"goal": {"utility": {"scores": [1, 2], "values": [0]}}},
    ],
)
def test_goals_that_make_no_sense_are_refused(body: dict[str, Any]) -> None:
    assert fault("advise", dice="13346", **body)[0] == "GoalError"


def test_no_request_names_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules files that lie where the service runs, under any name, are not read."""
    house = 'extends = "yacht"\nrolls = 5\n'
    for name in ("house.toml", "house", "yacht[rolls=2]"):
        (tmp_path / name).write_text(house, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert solver.ruleset("house.toml").rolls == solver.ruleset("yacht[rolls=2]").rolls == 5
    for rules in ("house.toml", "house", "./house.toml", str(tmp_path / "house.toml"), "house.toml[rolls=3]"):
        kind, message = fault("rules", rules=rules)
        assert kind == "RulesError"
        assert message.endswith(", ".join(names()))
        assert fault("advise", position=f"{rules} | - | 1 2 3 4 5 | 0")[0] == "RulesError"
        assert fault("advise", rules={"extends": rules}, dice="12345")[0] == "RulesError"
        record = Game.new("yacht", 1, seed=1).as_record() | {"rules": rules}
        assert fault("game", record=record)[0] == "RulesError"
        assert fault("move", record=record, player="optimal")[0] == "RulesError"
    assert answer("rules", rules="yacht[rolls=2]")["rolls"] == 2


# -------------------------------------------------------------------- the other requests


def test_rules_say_all_of_a_game() -> None:
    games = answer("rules")["games"]
    assert [game["rules"] for game in games] == list(names())
    for name in NAMES:
        rules, found = solver.ruleset(name), answer("rules", rules=name)
        assert [row["key"] for row in found["card"]] == list(rules.keys)
        assert found["upper_bonus"] == [{"at": t.at, "points": t.points} for t in rules.upper_bonus]
        assert (found["dice"], found["rolls"], found["order"]) == (rules.dice, rules.rolls, rules.order)
        assert found["expected_score"] == pytest.approx(solver.load(name).expected_score, abs=1e-9)
    # Joker points included, an upper box holds multiples of its face.
    held = {row["key"]: row["points"] for row in answer("rules", rules="yahtzee")["card"]}
    assert held["threes"] == [0, 3, 6, 9, 12, 15]
    assert held["full_house"] == [0, 25]


def test_stats_are_the_exact_distribution() -> None:
    card, dice = "ones=3 choice=22 yacht=50 fives=10 sixes=18", "22566"
    scores = solver.distribution(solved("yacht"), card, dice, 1)
    found = answer("stats", rules="yacht", card=card, dice=dice, rerolls=1)
    assert found["scores"] == scores.scores.tolist()
    assert found["probabilities"] == scores.probabilities.tolist()
    told = json.loads(json.dumps(solver.statistics(scores).as_dict()))
    assert {key: found[key] for key in told} == told
    assert (found["dice"], found["rerolls"]) == ([2, 2, 5, 6, 6], 1)
    start = answer("stats", rules="yacht")
    assert start["mean"] == pytest.approx(solved("yacht").value(), abs=1e-9)


@pytest.mark.parametrize("name", ["maxi-yatzy", "maxi-yatzy-no-saving"])
def test_stats_of_what_is_too_much_to_hold_are_mean_and_deviation(name: str) -> None:
    known = solver.moments(name)
    found = answer("stats", rules=name)
    size = found.pop("distribution_bytes")
    assert size > MOST_BYTES
    assert found == known.as_dict() | {"dice": None, "rerolls": None}
    # From elsewhere they would have to be worked out.
    with pytest.raises(WorkError, match=r"mean and deviation from card 'ones=3' would take about [\d.e+]+ s"):
        SERVICE.answer("stats", {"rules": name, "card": "ones=3"})
    assert fault("stats", rules=name, dice="112233")[0] == "WorkError"


def test_stats_of_what_is_too_much_to_hold_are_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rules, card, dice = f"{NAMES[0]}[order=card]", "ones=3 twos=6", "22566"
    monkeypatch.setattr(distributions, "MOST_BYTES", 0)
    for thrown, told in ((None, {}), (dice, {"dice": dice, "rerolls": 1})):
        exact = solver.moments(rules, card, thrown, 1 if thrown else None)
        found = answer("stats", rules=rules, card=card, **told)
        assert {key: found[key] for key in exact.as_dict()} == exact.as_dict()
        assert found["dice"] == ([2, 2, 5, 6, 6] if thrown else None)
        assert "scores" not in found and found["distribution_bytes"] > 0


def test_a_game_goes_on_from_its_record() -> None:
    """A whole game, one request a step, is the game that the library plays with the same seed."""
    game = Game.new("yacht", 2, seed=11, players=("ann", "bob"))
    found = answer("game", rules="yacht", seed=11, players=["ann", "bob"])
    while not game.over:
        assert found["record"] == game.as_record()
        assert (found["phase"], found["seat"]) == (game.phase, game.seat)
        assert [card["total"] for card in found["cards"]] == list(game.totals)
        if game.phase == "roll":
            assert found["legal"] == {"roll": True, "undo": game.can_undo, "keeps": [], "fills": []}
            game.roll()
            found = answer("game", record=found["record"], actions=[{"roll": True}])
            continue
        assert not found["legal"]["roll"]
        keeps = {tuple(keep) for keep in found["legal"]["keeps"]}
        subsets = {c for size in range(5) for c in combinations(game.dice or (), size)}
        assert keeps == (subsets if game.rerolls else set())
        assert [choice["category"] for choice in found["legal"]["fills"]] == [c.category for c in game.fills]
        seat_moves = answer("move", player="optimal", record=found["record"])
        move = player("optimal", solver.load("yacht")).move(game.situation())
        assert seat_moves["action"] == move.action
        game.play(move)
        step = {"keep": list(move.dice)} if move.action == "keep" else {"fill": move.category}
        found = answer("game", record=found["record"], actions=[step])
        assert found["legal"]["undo"] is game.can_undo is True
    assert found["winners"] == list(game.winners)
    assert found["record"] == game.as_record()


def test_undo_and_dice_from_the_table() -> None:
    first = answer("game", rules="yatzy", seats=1, seed=3, actions=[{"roll": [1, 1, 2, 2, 6]}])
    assert first["dice"] == [1, 1, 2, 2, 6]
    kept = answer("game", record=first["record"], actions=[{"keep": "1122"}])
    assert kept["kept"] == [1, 1, 2, 2]
    assert answer("game", record=kept["record"], actions=[{"undo": True}]) == first
    assert fault("game", record=kept["record"], actions=[{"fill": "ones"}])[0] == "ActionError"
    tampered = kept["record"] | {"totals": [99]}
    assert fault("game", record=tampered)[0] == "GameError"


def test_the_first_roll_of_a_turn_scores_more_where_it_does() -> None:
    straight = {"rules": "generala", "dice": "23456"}
    begun = answer("game", rules="generala", seats=1, seed=2, actions=[{"roll": "23456"}])
    later = answer("game", record=begun["record"], actions=[{"keep": "2345"}, {"roll": "6"}])
    for found, rerolls, points in ((begun, 2, 25), (later, 1, 20)):
        assert found["rerolls"] == rerolls
        fills = {choice["category"]: choice["points"] for choice in found["legal"]["fills"]}
        assert (fills["straight"], fills["poker"], fills["sixes"]) == (points, 0, 6)
        options = answer("advise", rerolls=rerolls, **straight)["options"]
        assert {o["category"]: o["points"] for o in options if o["action"] == "fill"} == fills
        filled = answer("game", record=found["record"], actions=[{"fill": "straight"}])
        assert filled["cards"][0]["card"] == {"straight": points}
        assert filled["cards"][0]["total"] == points
        for spec in ("greedy", "optimal"):
            move = answer("move", rerolls=rerolls, player=spec, **straight)
            assert (move["action"], move["category"]) == ("fill", "straight")
            assert answer("move", record=found["record"], player=spec) == move
    boxes = {row["key"]: row for row in answer("rules", rules="generala")["card"]}
    assert boxes["straight"]["points"] == [0, 20, 25]
    assert boxes["straight"]["scores"] == "20, 5 more on the first roll"
    assert boxes["generala"]["points"] == [0, 50]


def test_a_box_that_requires_another_in_requests() -> None:
    five = {"rules": "generala-double", "dice": "44444", "rerolls": 0}
    for card, points in (({}, 0), ({"generala": 0}, 0), ({"generala": 50}, 100)):
        options = answer("advise", card=card, **five)["options"]
        assert next(o["points"] for o in options if o.get("category") == "double_generala") == points
    move = answer("move", cards=["generala=50"], player="greedy", **five)
    assert (move["action"], move["category"]) == ("fill", "double_generala")
    boxes = {row["key"]: row["points"] for row in answer("rules", rules="generala-double")["card"]}
    assert boxes["double_generala"] == [0, 100]


def test_inline_rules_are_played_too() -> None:
    rules = TINY_RULES["free"]
    found = answer("game", rules=rules, seats=1, seed=5, actions=[{"roll": True}])
    again = answer("game", rules=rules, record=found["record"])
    assert again == found
    assert fault("game", record=found["record"])[0] == "RulesError"
    move = answer("move", rules=rules, record=found["record"], player="optimal")
    advice = answer("advise", rules=rules, dice=found["dice"], rerolls=found["rerolls"])
    assert move["action"] == advice["best"]["action"]


@pytest.mark.parametrize("spec", ["optimal", "greedy", "random", "beginner", "club", "win", "strength:140"])
def test_a_move_is_that_of_the_player(spec: str) -> None:
    table, cards = solver.load("yacht"), ["ones=3 twos=6 threes=9 yacht=0", "sixes=24 fives=20 fours=16"]
    held = tuple(table.card(card) for card in cards)
    for turn in (0, 1):
        at = Situation(Position.of(held[turn], "22566", 1), held, turn)
        exact = solved("yacht") if spec == "win" else table
        told = player(spec, exact, seed=4).move(at)
        found = answer(
            "move", rules="yacht", cards=cards, turn=turn, dice="22566", rerolls=1, player=spec, seed=4
        )
        assert (found["action"], tuple(found["dice"]), found.get("category")) == (
            told.action,
            told.dice,
            told.category,
        )
        assert found["seat"] == turn


def test_players_with_a_goal_play_for_it() -> None:
    card = "ones=3 twos=6 threes=9 fours=12 fives=15 full_house=0 yacht=0"
    for spec, goal in (("reach:170", solver.Reach(170)), ("risk:-0.05", solver.Risk(-0.05))):
        best = pursue(solved("yacht"), goal, card).advise(card, "22566", 2).best
        found = answer("move", rules="yacht", cards=[card], dice="22566", player=spec)
        assert (found["action"], found["dice"]) == (best.action, list(best.dice))


def test_players_that_are_none_are_refused_in_the_words_of_the_library() -> None:
    for spec in ("wim", "reach:x", "risk:99", "strength:x"):
        assert fault("move", rules="yacht", dice="22566", player=spec) == raised(
            lambda spec=spec: player(spec, solver.load("yacht"))
        )


def test_a_player_that_a_game_is_too_large_for_is_refused_whatever_the_limits() -> None:
    large = Service(Limits(work=1e9))
    with pytest.raises(
        ArgumentError, match=r"player 'strength:200': maxi-yatzy: found 1,203,771,152 expected"
    ):
        large.answer("move", {"rules": "maxi-yatzy", "dice": "112233", "player": "strength:200"})


def test_health_names_the_requests_and_limits() -> None:
    found = answer("health")
    assert found["status"] == "ok"
    assert found["requests"] == list(SHAPES)
    assert found["limits"] == {"work": 20.0, "cards": 8, "body": 262144}


# -------------------------------------------------------------------- limits


def test_work_is_refused_by_its_estimate() -> None:
    """What would take too long is not begun: rules to solve, scores to follow, goals."""
    small = Service(Limits(work=0.01))
    for request, body in (
        ("advise", {"rules": "yatzy[rolls=4]", "dice": "13346"}),
        ("stats", {"rules": "yahtzee"}),
    ):
        with pytest.raises(WorkError, match=r"would take about [\d.]+ s, expected 0.01 s at the most"):
            small.answer(request, body)
    few = "player 'strength:200': to find how it slips would take about"
    with pytest.raises(WorkError, match=few):
        small.answer("move", {"player": "strength:200", "dice": "13346"})
    with pytest.raises(WorkError, match=r"goal: to solve it from card '-' would take about [\d.]+ s"):
        Service(Limits(work=5)).answer("advise", {"dice": "13346", "goal": {"reach": 300}})
    # The same service answers what costs nothing.
    assert small.answer("advise", {"dice": "13346"})["best"]["dice"] == [3, 3]


def box(number: int, section: str, points: object = "matched") -> dict[str, Any]:
    pattern = {"face": 1 + number % 6}
    return {"title": f"Box {number}", "section": section, "pattern": pattern, "points": points}


@pytest.mark.parametrize(
    "rules",
    [
        {"categories": {f"b{n}": box(n, "upper") for n in range(20)}},
        {"categories": {f"b{n}": box(n, "lower") for n in range(20)}},
        {"categories": {f"b{n}": box(n, "upper", {"of": "sum", "times": 99}) for n in range(12)}},
    ],
)
def test_rules_with_too_many_states_are_refused_at_once(rules: dict[str, Any]) -> None:
    given = {"title": "Large", "dice": 6, "rolls": 3, "upper_bonus": [{"at": 40000, "points": 5}], **rules}
    with pytest.raises(WorkError, match=r"rules 'inline': (to \w+ (the states|them) would|the states) take "):
        Service(Limits(work=5)).answer("advise", {"rules": given, "dice": "123456"})


def test_subtotals_that_take_too_much_memory_are_never_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "upper_classes", lambda *_: pytest.fail("worked out"))
    boxes = {f"b{n}": box(n, "upper", 1) | {"pattern": {}} for n in range(11)}
    bonus = [{"at": 99_990, "points": 5}]
    rules = {"title": "Large", "dice": 1, "rolls": 1, "upper_bonus": bonus, "categories": boxes}
    message = "rules 'inline': the states take 1.02 GB, expected 134.22 MB at the most"
    for request, body in (
        ("advise", {"dice": "1"}),
        ("stats", {}),
        ("move", {"dice": "1", "player": "random"}),
        ("game", {}),
    ):
        assert fault(request, rules=rules, **body) == ("WorkError", message)


def test_all_that_states_take_is_counted() -> None:
    """Values, sets, subtotals, and where these go when a box is filled: to the byte."""
    points = {"of": "sum", "times": 100}
    boxes = {f"b{n}": box(n, "upper", points | {"plus": n}) | {"pattern": {}} for n in range(4)}
    bonus = [{"at": at, "points": at} for at in range(7, 3000, 7)]
    rules = {"title": "Large", "dice": 2, "rolls": 1, "upper_bonus": bonus, "categories": boxes}
    arrays = scoring(build(rules, "large"))
    found = states.states(arrays)
    needed = states.bytes_of_classes(arrays) + bytes_of_steps(found) + 8 * found.size + 64 * 16
    Service(Limits(memory=4 * needed)).answer("advise", {"rules": rules, "dice": "12"})
    with pytest.raises(
        WorkError, match=r"rules 'inline': the states take \d+\.\d kB, expected \d+\.\d kB at the most"
    ):
        Service(Limits(memory=4 * needed - 1)).answer("advise", {"rules": rules, "dice": "12"})


def test_work_that_lasts_longer_than_estimated_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(limits, "perf_counter", lambda: now[0])
    work = limits.Work(Limits(work=2.0), threading.Event())
    told = work.watch("this")
    told(1, 10)
    now[0] += 1.9
    told(5, 10)
    now[0] += 0.2
    with pytest.raises(WorkError, match="this: stopped after 2 s with 60% of the work done"):
        told(6, 10)
    told(10, 10)


def test_the_passes_of_a_request_share_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(limits, "perf_counter", lambda: now[0])
    work = limits.Work(Limits(work=2.0), threading.Event())
    told = work.watch("this")
    told(1, 10)
    now[0] += 1.5
    told(10, 10)
    now[0] += 50  # The next pass waits for its compiler.
    told(1, 10)
    now[0] += 0.3
    told(2, 10)
    now[0] += 50
    other = work.watch("that")
    other(1, 4)
    now[0] += 0.3
    with pytest.raises(WorkError, match="that: stopped after 2 s with 50% of the work done"):
        other(2, 4)


def test_all_parts_of_a_request_are_counted_once() -> None:
    work = limits.Work(Limits(work=10.0), threading.Event())
    work.claim("first", {"solve": 4.0})
    work.claim("again", {"solve": 4.0, "follow": 5.0})
    with pytest.raises(WorkError, match=r"^goal would take about 10.5 s, expected 10 s at the most$"):
        work.claim("goal", {"values": 1.5})
    work.claim("less", {"values": 1.0})


def test_a_goal_is_refused_before_anything_of_it_is_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven opponents' cards and the goal against them are counted before the first is followed."""
    cards = [f"ones={n % 5} twos={2 * (n % 4)}" for n in range(7)]
    body = {"dice": "13346", "goal": {"win": cards}}
    monkeypatch.setattr("solver.distributions.distribution", lambda *_, **__: pytest.fail("worked out"))
    monkeypatch.setattr("solver.library.solve", lambda *_, **__: pytest.fail("solved"))
    with pytest.raises(
        WorkError, match=r"goal: to solve it from card '-' would take about [\d.]+ s, expected"
    ):
        Service().answer("advise", body)
    # With few boxes open, the opponents alone are too much.
    late = (
        "ones=3 twos=6 threes=9 fours=12 fives=15 sixes=18 yahtzee=0 chance=20 full_house=0 small_straight=0"
    )
    with pytest.raises(WorkError, match=r"goal: to solve it from card .ones=3 .+ would take about"):
        Service(Limits(work=1)).answer("advise", body | {"card": late})


def test_the_most_values_to_win_are_those_that_are_solved() -> None:
    table = solved("yacht")
    for card, others in (
        ("ones=3 twos=6 threes=9 fours=12 fives=15 full_house=0", ["ones=2 twos=4 threes=6 yacht=50"]),
        ("ones=3 twos=6 yacht=0 choice=20", ["ones=3 yacht=0 choice=9 fours=8 fives=5", "ones=3 yacht=50"]),
    ):
        goal = solver.Win(tuple(solver.distribution(table, other) for other in others))
        counted: list[int] = []
        pursue(table, goal, card, check=counted.append)
        most = most_values_to_win(table.states, table.card(card), map(table.card, others))
        assert counted[0] <= most <= 1.1 * counted[0]
    # Against a card that is full, little is left to decide.
    full = solver.Scorecard.parse(
        table.ruleset, " ".join(f"{key}={5 * (key == 'choice')}" for key in table.ruleset.keys)
    )
    start = table.card("ones=3 twos=6 yacht=0 choice=20")
    assert (
        most_values_to_win(table.states, start, [full]) < most_values_to_win(table.states, start, [start]) / 9
    )


def test_a_strength_is_stopped_between_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both when it lasts too long and when the service ends; the next request begins anew."""
    rules = "yacht[rolls=2,categories.choice.points=7]"
    body = {"rules": rules, "player": "strength:100", "dice": "13346"}
    service = Service()
    service.answer("advise", {"rules": rules, "dice": "13346"})
    begun = threading.Event()
    soften = strength.soften

    def softened(*given: Any, **named: Any) -> Any:
        begun.set()
        service.stop()
        return soften(*given, **named)

    monkeypatch.setattr(strength, "soften", softened)
    with pytest.raises(WorkError, match="player 'strength:100': to find how it slips: stopped, since the"):
        service.answer("move", body)
    assert begun.is_set()
    monkeypatch.setattr(strength, "soften", soften)
    assert Service().answer("move", body)["player"] == "strength:100"


def test_one_strength_does_not_wait_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    table = solved("yacht")
    waiting, go_on = threading.Event(), threading.Event()
    search = strength._search

    def slow(table: Any, mean: float, progress: Any) -> float:
        if mean == 131.25:
            waiting.set()
            assert go_on.wait(60)
        return search(table, mean, progress)

    monkeypatch.setattr(strength, "_search", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(strength.temperature_for, table, 131.25)
        assert waiting.wait(60)
        second = strength.temperature_for(table, 130.75)
        assert not first.done()
        go_on.set()
        assert first.result() < second


def test_every_shipped_game_has_strengths_within_the_limits() -> None:
    service = Service()
    for name in NAMES:
        table = solver.load(name)
        seconds = limits.SOFTENING * limits.solving_seconds(table.states) * strength.tries(table)
        assert seconds < service.limits.work / 2, name


def test_a_service_that_ends_stops_its_work() -> None:
    ending = Service()
    ending.stop()
    with pytest.raises(WorkError, match="stopped, since the service ends"):
        ending.answer("advise", {"rules": "yacht[rolls=4]", "dice": "13346"})


def test_the_time_to_follow_scores_is_that_of_all_numbers_of_saved_rolls() -> None:
    card = "ones=3 twos=6 threes=9 fours=12 fives=15 sixes=18 one_pair=0 two_pairs=0 three_pairs=0"
    rules = solver.ruleset("maxi-yatzy")
    seconds = {}
    for saved in (0, 6, 18):
        held = rules.card(f"{card} saved={saved}")
        game = states.states(scoring(rules))
        scope = Scope.of(game, held)
        assert scope.rows == 11 * 2 + saved + 1
        lanes, sets = int(scope.game.lanes.sum()), int(scope.game.flags.sum())
        followed = (lanes * scope.rows * limits.FOLLOWING + sets * limits.FOLLOWING_SETS) / thread_count(None)
        spread = sum(distributions.scores_to_hold(scope)) * limits.SPREADING
        seconds[saved] = limits.following_seconds(game, held)
        assert seconds[saved] == pytest.approx(followed + spread)
    assert seconds[0] < seconds[6] < seconds[18]


def test_sets_of_lower_boxes_are_counted_before_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few subtotals, but 2**20 sets of boxes: as many as a second of work is for."""
    boxes = {f"b{n}": box(n, "lower") for n in range(20)}
    rules = {"title": "Large", "dice": 1, "rolls": 1, "categories": boxes}
    monkeypatch.setattr(limits, "states", lambda _: pytest.fail("worked out"))
    with pytest.raises(WorkError, match=r"^rules 'inline': to count the states would take about 3\.15 s,"):
        Service(Limits(work=1)).answer("advise", {"rules": rules, "dice": "1"})
    with pytest.raises(WorkError, match=r"^rules 'inline': the states take 67\.11 MB, expected 50\.00 MB at"):
        Service(Limits(memory=200_000_000)).answer("advise", {"rules": rules, "dice": "1"})


def test_messages_are_cut() -> None:
    class Long(DicewiseError):
        pass

    for length in (1, 999, 1000):
        assert as_answer(Long("x" * length)) == {"error": {"kind": "Long", "message": "x" * length}}
    for length in (1001, 5000):
        assert as_answer(Long("x" * length))["error"]["message"] == "x" * 999 + "…"


def test_actions_are_limited() -> None:
    def after(count: int) -> dict[str, Any]:
        steps = [{"roll": "11123"}, *[{"keep": "111"}, {"undo": True}] * (count // 2)][:count]
        assert len(steps) == count
        return {"rules": "yacht", "seats": 1, "seed": 1, "actions": steps}

    assert answer("game", **after(100))["kept"] == [1, 1, 1]
    assert fault("game", **after(101)) == (
        "RequestError",
        "game: found 101 actions, expected 100 at the most",
    )


def test_cards_are_limited() -> None:
    few = Service(Limits(cards=2))
    with pytest.raises(RequestError, match="found 3 cards, expected 1 to 2"):
        few.answer("move", {"player": "optimal", "cards": ["-"] * 3, "dice": "13346"})
    with pytest.raises(RequestError, match="found 3 seats, expected 2 at the most"):
        few.answer("game", {"seats": 3})
    with pytest.raises(RequestError, match="found 3 seats, expected 2 at the most"):
        few.answer("game", {"record": Game.new("yahtzee", 3, seed=1).as_record()})


# -------------------------------------------------------------------- the shelf


def test_a_result_is_made_once_whoever_asks() -> None:
    shelf, made = Shelf(1000), []
    begun, go_on = threading.Event(), threading.Event()

    def make() -> int:
        made.append(1)
        begun.set()
        go_on.wait(10)
        return 7

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(shelf.get, "key", make, lambda _: 1)
        begun.wait(10)
        others = [pool.submit(shelf.get, "key", make, lambda _: 1) for _ in range(7)]
        assert "key" not in shelf
        go_on.set()
        assert [one.result(10) for one in (first, *others)] == [7] * 8
    assert made == [1]
    assert "key" in shelf


def test_the_result_used_longest_ago_goes_first() -> None:
    shelf = Shelf(10)
    for key in "abc":
        shelf.get(key, lambda key=key: key, lambda _: 4)
    assert [key in shelf for key in "abc"] == [False, True, True]
    assert shelf.get("b", lambda: "made again", lambda _: 4) == "b"
    shelf.get("d", lambda: "d", lambda _: 4)
    assert [key in shelf for key in "bcd"] == [True, False, True]
    shelf.get("large", lambda: 1, lambda _: 99)
    assert [key in shelf for key in ("b", "d", "large")] == [False, False, True]


def test_an_error_is_not_kept() -> None:
    shelf = Shelf(10)
    with pytest.raises(ZeroDivisionError):
        shelf.get("key", lambda: 1 // 0, lambda _: 1)
    assert shelf.get("key", lambda: 5, lambda _: 1) == 5


def test_no_more_tables_are_held_than_there_is_memory_for() -> None:
    """All of each is counted, the subtotals of its states too; players and scores hold a table as well."""
    memory = 9_000_000
    service = Service(Limits(memory=memory))
    alive = []
    for points in range(20):
        changes = {"upper_bonus": [{"at": 3000, "points": 1}], "categories.choice.points": points}
        rules = f"yacht[upper_bonus=[{{at=3000, points=1}}],categories.choice.points={points}]"
        for spec in ("random", "greedy", "optimal"):
            service.answer("move", {"rules": rules, "dice": "13346", "player": spec})
        service.answer("stats", {"rules": rules, "card": "ones=3 twos=6 threes=9 fours=12 fives=15 sixes=18"})
        found = solver.ruleset("yacht", changes)
        alive.append(weakref.ref(service.table(found, limits.Work(Limits(), threading.Event()))))
    gc.collect()
    left = [table() for table in alive]
    held = [table for table in left if table is not None]
    assert held[-1] is left[-1]
    assert sum(table.nbytes + table.states.upper.number.nbytes for table in held) <= memory
    assert len(held) == memory // (held[-1].nbytes + sum(held[-1].states.parts.values()))


# -------------------------------------------------------------------- what is documented


def test_every_example_works_and_answers_are_as_documented() -> None:
    for name, shape in SHAPES.items():
        found = answer(name, **shape.example)
        known = shape.answer["properties"]
        documented = {key for key in found if key in known}
        assert len(documented) >= min(len(known), 3), name
        for key in documented:
            check(found[key], known[key], f"{name}.{key}")


def check(value: Any, schema: dict[str, Any], place: str) -> None:
    """Whether a value is of the documented type, inside lists and objects, too."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    types = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
        "array": list,
        "object": dict,
        "null": type(None),
    }
    assert any(isinstance(value, types[kind]) for kind in kinds), place
    if isinstance(value, list):
        for one in value:
            check(one, schema["items"], f"{place}[]")
    if isinstance(value, dict):
        for key, inner in schema.get("properties", {}).items():
            if key in value:
                check(value[key], inner, f"{place}.{key}")
