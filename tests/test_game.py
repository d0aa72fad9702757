"""The game at the table: scored as by the oracle, refused where the rules do, replayed from its record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import oracle_rules
import pytest
from games import TINY

import solver
from solver.errors import ActionError, CardError, DiceError, GameError
from solver.game import HIGHEST, Game
from solver.records import VERSION
from solver.situations import Move, legal_fills

PLAYED = [*solver.names(), *(str(path) for path in TINY)]


def random_step(game: Game, random: Random) -> None:
    """Roll, or do any legal thing."""
    if game.phase != "decide":
        alike = game.kept is None and random.random() < 0.2
        game.roll([random.randint(1, 6)] * game.ruleset.dice if alike else None)
    elif game.rerolls and random.random() < 0.6:
        assert game.dice is not None
        game.keep(random.sample(game.dice, random.randrange(len(game.dice))))
    else:
        game.fill(random.choice(game.fills).category)


def played(name: str, seed: int, seats: int = 2, first: int | str = 0) -> Game:
    game, random = Game.new(name, seats, seed, first), Random(seed)
    while not game.over:
        random_step(game, random)
    return game


# ---------------------------------------------------------------- like the oracle


@pytest.mark.parametrize("name", PLAYED, ids=lambda name: name[-20:])
def test_games_are_scored_as_the_oracle_does(name: str) -> None:
    rules = solver.ruleset(name)
    for seed in range(4):
        random = Random(seed)
        game = Game.new(rules, 2, seed)
        filled, totals, uppers = [0, 0], [0, 0], [0, 0]
        armed, saved, left = [False, False], [0, 0], 0
        kept: tuple[int, ...] = ()
        rolls = 0
        while not game.over:
            seat, phase = game.seat, game.phase
            dice, choices = game.dice, game.fills
            if phase == "decide":
                assert dice is not None
                assert oracle_rules.is_contained(kept, dice)
                assert game.rerolls == rules.rolls - rolls + saved[seat]
                assert game.card().saved == saved[seat]
                left = game.rerolls
                won = dict(oracle_rules.legal_fills(rules, filled[seat], dice, rolls == 1, armed[seat]))
                bonus = oracle_rules.yahtzee_bonus(rules, armed[seat], dice)
                found = {rules.keys.index(c.category): (c.points, c.bonus) for c in choices}
                assert found == {box: (points, bonus) for box, points in won.items()}
            before = len(game.events)
            random_step(game, random)
            kind, what = game.events[before]
            if kind in ("roll", "given"):
                rolls += 1
            elif kind == "keep":
                kept = tuple(what)  # type: ignore[arg-type]
            else:
                box = rules.keys.index(str(what))
                totals[seat] += won[box] + bonus
                if rules.categories[box].section == "upper":
                    uppers[seat] += won[box]
                armed[seat] |= oracle_rules.is_flag_box(rules, box) and won[box] > 0
                filled[seat] |= 1 << box
                kept, rolls = (), 0
                # What the turn has left is there for the seat's next one, where rolls are saved.
                saved[seat] = left if rules.save_rolls else 0
                assert game.over or game.seat == 1 - seat
        wanted = [
            total + oracle_rules.upper_bonus(rules, upper)
            for total, upper in zip(totals, uppers, strict=True)
        ]
        assert list(game.totals) == wanted
        assert game.winners == tuple(seat for seat in (0, 1) if wanted[seat] == max(wanted))


def test_dice_of_a_seed_are_fair_and_the_same_again() -> None:
    faces = [
        face
        for seed in range(60)
        for kind, what in played("yacht", seed).events
        if kind == "roll"
        for face in what
    ]
    counts = [faces.count(face) for face in range(1, 7)]
    assert sum(counts) == len(faces)
    assert min(counts) > 0.8 * len(faces) / 6
    assert played("yacht", 3).events == played("yacht", 3).events
    assert played("yacht", 3).events != played("yacht", 4).events
    first, second = Game.new("yacht", seed=9), Game.new("yacht", seed=9)
    assert first.roll() == second.roll()
    assert Game.new("yacht").seed != Game.new("yacht").seed


def test_the_highest_roll_begins() -> None:
    game = Game.new("yahtzee", 3, 1, HIGHEST)
    assert (game.phase, game.contenders, game.seat) == ("start", (0, 1, 2), 0)
    game.roll("1 1 1 1 2")
    assert game.seat == 1
    game.roll("6 6 6 1 1")
    game.roll("4 4 4 4 4")
    assert (game.phase, game.contenders, game.seat) == ("start", (1, 2), 1)
    game.roll("1 1 1 1 1")
    assert (game.phase, game.contenders, game.seat) == ("start", (1, 2), 2)
    game.roll("1 1 1 1 2")
    assert (game.phase, game.contenders, game.seat) == ("roll", (), 2)
    game.roll()
    assert game.position is not None
    order = []
    while not game.over:
        if game.phase == "decide":
            order.append(game.seat)
            game.fill(game.fills[0].category)
        else:
            game.roll()
    assert order == [2, 0, 1] * 13


def test_dice_from_a_table() -> None:
    game = Game.new("yahtzee", 1)
    assert game.roll((4, 3, 1, 6, 3)) == (1, 3, 3, 4, 6)
    game.keep("33")
    assert game.kept == (3, 3)
    assert game.position is None
    assert game.roll("1 2 3") == (1, 2, 3, 3, 3)
    assert game.rerolls == 1
    game.keep("3 3 3")
    assert game.roll("3 3 3 5 6") == (3, 3, 3, 5, 6)
    assert game.rerolls == 0
    assert game.fill("threes") == ("threes", 9, 0)
    assert game.totals == (9,)
    assert [kind for kind, _ in game.events] == ["given", "keep", "given", "keep", "given", "fill"]


def test_a_bonus_for_a_further_yahtzee() -> None:
    card = solver.ruleset("yahtzee").card("yahtzee=50 sixes=18")
    choices = legal_fills(solver.Position.of(card, (6, 6, 6, 6, 6)))
    assert [choice for choice in choices if choice.category == "large_straight"] == [
        ("large_straight", 40, 100)
    ]
    game = Game.new("yahtzee", 1)
    for category in ("yahtzee", "sixes"):
        game.roll("66666")
        game.fill(category)
    assert game.card().bonuses == 1
    assert game.totals == (50 + 30 + 100,)


def test_decisions_are_remembered() -> None:
    game = Game.new("yahtzee", 2, 5)
    game.roll("13346")
    game.keep("33")
    game.roll("123")
    game.fill("threes")
    assert [(d.seat, d.position.rerolls, d.move) for d in game.decisions] == [
        (0, 2, Move("keep", (3, 3))),
        (0, 1, Move("fill", (1, 2, 3, 3, 3), "threes")),
    ]
    game.undo()
    assert len(game.decisions) == 1


# ---------------------------------------------------------------- taken back


def test_a_fill_is_taken_back() -> None:
    game = Game.new("yahtzee", 2, 5)
    game.roll("13346")
    before = str(game)
    game.fill("chance")
    assert (game.seat, game.phase, game.can_undo) == (1, "roll", True)
    game.undo()
    assert str(game) == before
    assert (game.seat, game.dice, game.rerolls, game.totals) == (0, (1, 3, 3, 4, 6), 2, (0, 0))
    with pytest.raises(ActionError, match=r"^undo: expected a decision after which no dice were rolled$"):
        game.undo()


def test_a_keep_is_taken_back_until_dice_are_rolled() -> None:
    game = Game.new("yahtzee", 1, 5)
    game.roll("13346")
    game.keep("3 3")
    game.undo()
    assert (game.dice, game.kept, game.rerolls) == ((1, 3, 3, 4, 6), None, 2)
    game.keep("")
    assert game.kept == ()
    game.roll()
    assert not game.can_undo
    with pytest.raises(ActionError, match="undo"):
        game.undo()


def test_the_last_fill_of_a_game_is_taken_back() -> None:
    game = played("yatzy-forced", 2)
    assert game.phase == "over"
    winners = game.winners
    seat, category = game.seat, game.events[-1][1]
    game.undo()
    assert (game.phase, game.seat, game.winners) == ("decide", seat, ())
    game.fill(str(category))
    assert game.winners == winners


@pytest.mark.parametrize("name", ["yahtzee", "yacht", str(TINY[0])], ids=lambda name: name[-10:])
def test_what_was_taken_back_leaves_no_trace(name: str) -> None:
    game, random = Game.new(name, 2, 7), Random(7)
    while not game.over:
        before = str(game)
        random_step(game, random)
        if game.can_undo and random.random() < 0.5:
            game.undo()
            assert str(game) == before


# ---------------------------------------------------------------- refused


def after(*steps: Callable[[Game], Any], name: str = "yahtzee") -> Game:
    game = Game.new(name, 2, 1)
    for step in steps:
        step(game)
    return game


ROLLED: list[Callable[[Game], Any]] = [lambda game: game.roll("1 3 3 4 6")]
LAST = [
    *ROLLED,
    lambda game: game.keep("3"),
    lambda game: game.roll(),
    lambda game: game.keep("3"),
    lambda game: game.roll("3 1 1 1 1"),
]


@pytest.mark.parametrize(
    ("steps", "illegal", "error", "message"),
    [
        ([], lambda g: g.keep("3"), ActionError, "keep: the dice are to be rolled first, expected a roll"),
        (
            [],
            lambda g: g.fill("ones"),
            ActionError,
            "fill ones: the dice are to be rolled first, expected a roll",
        ),
        ([], lambda g: g.situation(), ActionError, "move: the dice are to be rolled first, expected a roll"),
        (
            ROLLED,
            lambda g: g.roll(),
            ActionError,
            "roll: the dice lie on the table, expected dice to keep or a box to fill",
        ),
        (ROLLED, lambda g: g.keep("5"), ActionError, "keep 5: expected some of the dice 1 3 3 4 6"),
        (ROLLED, lambda g: g.keep("3 3 3"), ActionError, "keep 3 3 3: expected some of the dice 1 3 3 4 6"),
        (
            ROLLED,
            lambda g: g.keep("13346"),
            ActionError,
            "keep 1 3 3 4 6: expected fewer than all dice, or a box to fill",
        ),
        (ROLLED, lambda g: g.keep("7"), DiceError, "dice '7': found '7', expected faces 1 to 6"),
        (ROLLED, lambda g: g.keep("x"), DiceError, "dice 'x': found 'x', expected faces 1 to 6"),
        (LAST, lambda g: g.keep("3"), ActionError, "keep 3: no reroll is left, expected a box to fill"),
        (LAST, lambda g: g.keep(""), ActionError, "keep nothing: no reroll is left, expected a box to fill"),
        (
            ROLLED,
            lambda g: g.fill("three"),
            ActionError,
            "fill 'three': there is no such box, did you mean threes; expected ones, twos",
        ),
        (ROLLED, lambda g: g.fill(""), ActionError, "fill '': there is no such box; expected ones"),
        (
            [*ROLLED, lambda g: g.keep("3 3")],
            lambda g: g.roll("1 1 1 1 3"),
            ActionError,
            "roll 1 1 1 1 3: expected the kept 3 3 among the dice",
        ),
        (
            [*ROLLED, lambda g: g.keep("3 3")],
            lambda g: g.roll("1 1"),
            DiceError,
            "dice '1 1': found 2 dice, expected 5",
        ),
        (
            [*ROLLED, lambda g: g.keep("3 3")],
            lambda g: g.keep("3"),
            ActionError,
            "keep: the dice are to be rolled first, expected a roll",
        ),
        ([], lambda g: g.roll("1 1"), DiceError, "dice '1 1': found 2 dice, expected 5"),
        ([], lambda g: g.undo(), ActionError, "undo: expected a decision after which no dice were rolled"),
    ],
)
def test_what_is_not_legal_changes_nothing(
    steps: list[Any], illegal: Callable[[Game], Any], error: type[Exception], message: str
) -> None:
    game = after(*steps)
    before, phase = str(game), game.phase
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        illegal(game)
    assert (str(game), game.phase) == (before, phase)


def test_boxes_that_these_rules_do_not_allow() -> None:
    game = Game.new("yatzy-forced", 1)
    game.roll("66666")
    with pytest.raises(ActionError, match=r"^fill yatzy: these rules allow only ones with these dice$"):
        game.fill("yatzy")
    game = Game.new("yahtzee", 1)
    for dice, category in (("66666", "yahtzee"), ("11123", "ones")):
        game.roll(dice)
        game.fill(category)
    game.roll("66666")
    with pytest.raises(ActionError, match=r"^fill chance: these rules allow only sixes with these dice$"):
        game.fill("chance")
    with pytest.raises(ActionError, match=r"^fill ones: it is filled already, expected sixes$"):
        game.fill("ones")


def test_nothing_is_done_when_the_game_is_over_or_has_not_begun() -> None:
    game = played("yacht", 1)
    for step in (game.roll, lambda: game.keep("1"), lambda: game.fill("ones"), game.situation):
        with pytest.raises(ActionError, match=r"the game is over$"):
            step()
    game = Game.new("yacht", 2, 1, HIGHEST)
    for step in (lambda: game.keep("1"), lambda: game.fill("ones"), game.situation):
        with pytest.raises(ActionError, match=r"the seats roll for the first turn, expected a roll$"):
            step()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"seats": 0}, "seats 0: expected a whole number from 1 to 100"),
        ({"seats": 101}, "seats 101: expected"),
        ({"seats": True}, "seats True: expected"),
        ({"seats": 1.0}, "seats 1.0: expected"),
        ({"first": 2}, "first 2: expected a seat from 0 to 1 or 'highest roll'"),
        ({"first": -1}, "first -1: expected"),
        ({"first": "lowest"}, "first 'lowest': expected"),
        ({"first": True}, "first True: expected"),
        ({"seed": -1}, "seed -1: expected a whole number from 0"),
        ({"seed": 0.5}, "seed 0.5: expected"),
        ({"players": ["a"]}, "players ['a']: expected a text for each of 2 seats"),
        ({"players": ["a", 1]}, "players ['a', 1]: expected"),
    ],
)
def test_games_that_cannot_be_set_up(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(GameError, match=f"^{re.escape(message)}"):
        Game.new("yacht", **setting)


# ---------------------------------------------------------------- records


@pytest.mark.parametrize("name", PLAYED, ids=lambda name: name[-20:])
def test_a_record_replays_to_the_same_end(name: str) -> None:
    game = played(name, 11, 3, HIGHEST)
    line = str(game)
    assert "\n" not in line
    rules = game.ruleset if name not in solver.names() else None
    again = Game.from_record(line, rules)
    assert str(again) == line
    assert (again.totals, again.winners, again.cards) == (game.totals, game.winners, game.cards)
    assert Game.from_record(game.as_record(), rules).events == game.events
    assert Game.from_record(line, game.ruleset).totals == game.totals


def test_a_record_goes_on_with_the_same_dice_at_any_point() -> None:
    game, random = Game.new("yahtzee", 2, 21, HIGHEST, ["human", "optimal"]), Random(3)
    other_random = Random()
    while not game.over:
        other = Game.from_record(str(game))
        assert (other.phase, other.seat, other.dice, other.rerolls, other.kept) == (
            game.phase,
            game.seat,
            game.dice,
            game.rerolls,
            game.kept,
        )
        assert (other.players, other.can_undo, other.contenders) == (
            game.players,
            game.can_undo,
            game.contenders,
        )
        other_random.setstate(random.getstate())
        random_step(game, random)
        random_step(other, other_random)
        assert str(other) == str(game)


def changed(**parts: Any) -> dict[str, Any]:
    return played("yacht", 5).as_record() | parts


def with_event(place: int, event: Any) -> dict[str, Any]:
    record = changed()
    record["events"][place] = event
    return record


EVENTS = played("yacht", 5).as_record()["events"]
FIRST_FILL = next(place for place, event in enumerate(EVENTS) if event[0] == "fill")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("", "record '': expected one object of JSON"),
        ("{" * 60, "record '" + "{" * 58 + "…: expected one object of JSON"),
        ("[" * 100_000, "record '" + "[" * 40),
        ("[]", "record: found no key 'dicewise_game', expected the record of a game"),
        ({}, "record: found no key 'dicewise_game'"),
        (changed(dicewise_game=2), f"record: version 2, expected {VERSION}"),
        (changed(dicewise_game=True), f"record: version True, expected {VERSION}"),
        (changed(dicewise_game=1.0), f"record: version 1.0, expected {VERSION}"),
        (changed(seats=True), "record: seats is True, expected what"),
        (changed(seed="1" * 100_000), f"record: seed is '{'1' * 58}…, expected what"),
        (changed(totals=[0.0, False]), "record: totals are [0.0, False], expected a whole number for each"),
        (changed(more=1), "record: found an unknown key 'more'"),
        (changed(digest="0" * 64), "record: the rules 'yacht' are not those that it was made with"),
        (changed(rules="yatzy"), "record: the rules 'yatzy' are not those that it was made with"),
        (changed(events="fill"), "record: events is 'fill', expected what"),
        (changed(seed=None), "record: seed is None, expected what"),
        (changed(seed=6), "record: event 0: dice are"),
        (changed(seats=3), "record: event "),
        (changed(totals=[0, 0]), "record: totals are [0, 0], expected ["),
        (changed(players="me"), "record: players is 'me', expected a list of texts"),
        (changed(first=7), "first 7: expected a seat"),
        (with_event(0, ["roll", [1, 1, 1, 1, 1]]), "record: event 0: dice are [1, 1, 1, 1, 1], expected ["),
        (with_event(0, ["given", [1, 1, 1, 1, 7]]), "record: event 0: dice"),
        (with_event(0, ["given", [1, 1]]), "record: event 0: dice '1 1': found 2 dice, expected 5"),
        (with_event(0, ["fill", "ones"]), "record: event 0: fill ones: the dice are to be rolled first"),
        (with_event(0, ["throw", [1]]), "record: event 0: found ['throw', [1]], expected one of"),
        (with_event(0, ["roll", "13346"]), "record: event 0: found"),
        (with_event(0, ["roll", [True] * 5]), "record: event 0: found"),
        (with_event(0, 5), "record: event 0: found 5, expected one of"),
        (with_event(0, [["roll"], 5]), "record: event 0: found"),
        (
            with_event(FIRST_FILL, ["fill", "one"]),
            f"record: event {FIRST_FILL}: fill 'one': there is no such box",
        ),
        (changed(events=EVENTS[:-1]), "record: totals are"),
    ],
)
def test_records_that_are_refused(record: Any, message: str) -> None:
    with pytest.raises(GameError, match=f"^{re.escape(message)}"):
        Game.from_record(record)
    if isinstance(record, dict):
        with pytest.raises(GameError, match=f"^{re.escape(message)}"):
            Game.from_record(json.dumps(record))


def nest(depth: int) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for _ in range(depth):
        held = {"in": held}
    return held


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (nest(100_000), "record: found no key 'dicewise_game'"),
        (changed(players=nest(100_000)), "record: players is <dict>, expected a list of texts"),
        (changed(totals=[nest(100_000)]), "record: totals are <list>, expected a whole number"),
        (with_event(0, nest(100_000)), "record: event 0: found <dict>, expected one of"),
        (with_event(0, {1, 2}), "record: event 0: found {1, 2}, expected one of"),
        (5, "record: found no key"),
    ],
)
def test_objects_that_are_no_json_are_refused(record: Any, message: str) -> None:
    with pytest.raises(GameError, match=f"^{re.escape(message)}"):
        Game.from_record(record)


def test_a_record_opens_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that are not a shipped game's have to be given beside it, also where a file has their name."""
    monkeypatch.chdir(tmp_path)
    Path("house.toml").write_text('extends = "yacht"\nrolls = 2\n', "utf-8")
    record = Game.new("house.toml", 1, seed=1).as_record()
    assert record["rules"] == "house.toml"
    for name in ("house.toml", "/etc/passwd", "nowhere.toml", "./yacht", "x" * 1000):
        with pytest.raises(solver.RulesError, match=r"^rules: found .{1,62}, expected a game.*; the games: "):
            Game.from_record(record | {"rules": name})
    assert Game.from_record(record, solver.ruleset("house.toml")).ruleset.rolls == 2
    changed_rules = Game.new("yacht[rolls=2]", 1, seed=1)
    assert Game.from_record(str(changed_rules)).ruleset == changed_rules.ruleset


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Game.new("crag", players=5), GameError, "players 5: expected a text for each of 2 seats"),
        (lambda: Game.new("crag", players="ab"), GameError, "players 'ab': expected a text for each"),
        (lambda: Game.new("crag", players=[]), GameError, "players []: expected a text for each of 2 seats"),
        (lambda: Game.new(None), GameError, "rules None: expected the name of a game, a rules file or its"),
        (lambda: Game.new("crag").roll(123), DiceError, "dice 123: expected faces, as text or a list"),
        (lambda: rolled("crag").keep(None), DiceError, "dice None: expected faces, as text or a list"),
        (lambda: rolled("crag").keep("9" * 999), DiceError, f"dice '{'9' * 58}…: found '9', expected faces"),
        (lambda: rolled("crag").fill("x" * 999), ActionError, f"fill '{'x' * 58}…: there is no such box"),
        (lambda: Game.new("crag").card(5), GameError, "seat 5: expected a seat from 0 to 1"),
        (lambda: Game.new("crag").card(-1), GameError, "seat -1: expected a seat from 0 to 1"),
        (lambda: Game.new("crag").card(True), GameError, "seat True: expected a seat from 0 to 1"),
    ],
)
def test_arguments_that_are_none_are_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        call()


def rolled(rules: str) -> Game:
    game = Game.new(rules, seed=1)
    game.roll()
    return game


def test_a_full_card_has_no_position() -> None:
    with pytest.raises(CardError, match="every box is filled"):
        solver.Position.of(played("yacht", 1).card(0), "11111")
