"""Cards, dice and positions: what is read, what is written, and what is refused."""

from __future__ import annotations

import re
from random import Random

import pytest
from games import NAMES, random_position, solved
from hypothesis import given
from hypothesis import strategies as st

import solver
from solver import CardError, DiceError, Position, PositionError, RulesError, Scorecard
from solver.scorecard import check_rerolls, parse_dice

YAHTZEE = solver.ruleset("yahtzee")
BOXES = ", ".join(YAHTZEE.keys)


def test_a_card_holds_points_and_bonuses() -> None:
    card = YAHTZEE.card("sixes=18, ones=3; yahtzee=50 bonuses=1 full_house=25")
    assert str(card) == "ones=3 sixes=18 full_house=25 yahtzee=50 bonuses=1"
    assert card.filled == 0b0100100100001
    assert card.upper_subtotal == 21
    assert card.armed
    assert card.boxes_total == card.total == 196
    assert not card.finished


def test_the_upper_bonus_is_in_the_total_once_reached() -> None:
    card = YAHTZEE.card("twos=6 threes=9 fours=12 fives=15 sixes=18")
    assert card.upper_subtotal == 60
    assert card.upper_bonus == 0
    card = card.fill("ones", 3)
    assert card.upper_bonus == 35
    assert card.total == 98
    assert card.boxes_total == 63
    assert solver.ruleset("yatzy").card("ones=3 twos=6 threes=9 fours=12 fives=15 sixes=18").total == 63 + 50


def test_a_card_of_a_game_without_the_bonus_is_never_armed() -> None:
    assert not solver.ruleset("kniffel").card("yahtzee=50").armed
    assert not YAHTZEE.card("yahtzee=0").armed


@pytest.mark.parametrize("text", ["", "-", "  ", " - "])
def test_the_empty_card(text: str) -> None:
    assert YAHTZEE.card(text) == Scorecard.empty(YAHTZEE)
    assert str(YAHTZEE.card(text)) == "-"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ones=3 ones=3", "card 'ones=3 ones=3': ones is filled twice"),
        ("ones=7", "card: ones is 7, expected one of 0, 1, 2, 3, 4, 5"),
        ("sixes=7", "card: sixes is 7, expected one of 0, 6, 12, 18, 24, 30"),
        ("yahtzee=100", "card: yahtzee is 100, expected one of 0, 50"),
        ("full_house=24", "card: full_house is 24, expected one of 0, 25"),
        ("ones=-1", "card 'ones=-1': ones is '-1', expected a whole number of points"),
        ("ones=x", "card 'ones=x': ones is 'x', expected a whole number of points"),
        ("ones=1.5", "card 'ones=1.5': ones is '1.5', expected a whole number of points"),
        (
            "ones=9999999999",
            "card 'ones=9999999999': ones is '9999999999', expected a whole number of points",
        ),
        ("ones", "card 'ones': found 'ones', expected BOX=POINTS such as ones=3"),
        (
            "full_houze=25",
            f"card: there is no box 'full_houze', did you mean full_house; the boxes are {BOXES}",
        ),
        ("bonuses=1", "card: bonuses is 1, but yahtzee holds no points"),
        ("yahtzee=0 ones=5 bonuses=1", "card: bonuses is 1, but yahtzee holds no points"),
        ("yahtzee=50 bonuses=1", "card: bonuses is 1, but the boxes filled can have brought 0 at the most"),
        (
            "yahtzee=50 ones=3 bonuses=1",
            "card: bonuses is 1, but the boxes filled can have brought 0 at the most",
        ),
        # A joker goes into the upper box of its face while that is open.
        (
            "yahtzee=50 full_house=25 bonuses=1",
            "card: bonuses is 1, but the boxes filled can have brought 0 at the most",
        ),
        (
            "yahtzee=50 ones=5 full_house=25 bonuses=3",
            "card: bonuses is 3, but the boxes filled can have brought 2 at the most",
        ),
    ],
)
def test_cards_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(CardError, match=f"^{re.escape(message)}$"):
        YAHTZEE.card(text)


LOWER = "three_of_a_kind=18 four_of_a_kind=18 full_house=25 small_straight=30 large_straight=40"
UPPER = "ones=5 twos=10 threes=15 fours=20 fives=25 sixes=30"


@pytest.mark.parametrize(
    ("name", "text", "most"),
    [
        # Each zero needs the other box filled before: one of them came about in another way.
        ("yahtzee", f"{LOWER} chance=7 yahtzee=50 ones=0 twos=0", 4),
        ("yahtzee", f"{LOWER} chance=7 yahtzee=50 ones=0 twos=0 fives=20", 5),
        # Boxes filled before the Yahtzee box bring nothing.
        ("yahtzee[order=card]", f"{UPPER} {LOWER} yahtzee=50", 0),
        ("yahtzee[order=card]", f"{UPPER} {LOWER} yahtzee=50 chance=30", 1),
        ("yahtzee-upper-first", f"{UPPER} yahtzee=50", 0),
        ("yahtzee-upper-first", f"{UPPER} yahtzee=50 full_house=25", 1),
    ],
)
def test_most_bonuses_that_a_card_can_have_brought(name: str, text: str, most: int) -> None:
    rules = solver.ruleset(name)
    if most:
        assert rules.card(f"{text} bonuses={most}").bonuses == most
    with pytest.raises(CardError, match=f"the boxes filled can have brought {most} at the most"):
        rules.card(f"{text} bonuses={most + 1}")


def test_points_that_only_a_joker_scores_need_one() -> None:
    rules = solver.ruleset("yahtzee", {"categories.full_house.points": "sum"})
    assert rules.card("yahtzee=0 fives=10 full_house=25").total == 35
    with pytest.raises(CardError, match="full_house is 25, expected one of"):
        rules.card("full_house=25")
    with pytest.raises(CardError, match="full_house is 25, expected one of"):
        rules.card("yahtzee=0 full_house=25")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("kniffel", "yahtzee=50 ones=5 bonuses=1", "card: bonuses is 1, but these rules have no such bonus"),
        (
            "yahtzee-upper-first",
            "ones=3 chance=20",
            "card: chance is filled while twos is open, but upper boxes go first",
        ),
        ("yatzy-forced", "twos=4", "card: twos is filled while ones is open, but boxes go in card order"),
        # Upper boxes of a face hold its multiples only, so that no other subtotal can arise.
        ("yatzy", "threes=10", "card: threes is 10, expected one of 0, 3, 6, 9, 12, 15"),
        ("yacht", "four_of_a_kind=17", "card: four_of_a_kind is 17, expected one of 0, 4, 8, 12, 16, 20, 24"),
    ],
)
def test_cards_that_other_rules_refuse(name: str, text: str, message: str) -> None:
    with pytest.raises(CardError, match=f"^{re.escape(message)}$"):
        solver.ruleset(name).card(text)


def test_a_filled_box_cannot_be_filled_again() -> None:
    with pytest.raises(CardError, match="ones is filled already"):
        YAHTZEE.card("ones=3").fill("ones", 2)


@pytest.mark.parametrize("key", ["once", 5, None])
def test_a_box_that_there_is_not_cannot_be_filled(key: object) -> None:
    message = f"^card: there is no box {re.escape(repr(key))}.*the boxes are ones, "
    with pytest.raises(CardError, match=message):
        YAHTZEE.card("ones=3").fill(key, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "dice", ["1 3 3 4 6", "13346", "6,4,3,3,1", (6, 3, 1, 4, 3), ["1", "3", "3", "4", "6"]]
)
def test_dice_are_read_in_any_form_and_order(dice: object) -> None:
    assert parse_dice(YAHTZEE, dice) == (1, 3, 3, 4, 6)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("dice", "message"),
    [
        ("1334", "dice '1334': found 4 dice, expected 5"),
        ("1 3 3 4 6 6", "dice '1 3 3 4 6 6': found 6 dice, expected 5"),
        ("", "dice '': found 0 dice, expected 5"),
        ("13347", "dice '13347': found '7', expected faces 1 to 6"),
        ("1 3 3 4 0", "dice '1 3 3 4 0': found '0', expected faces 1 to 6"),
        ("1 3 3 4 ٣", "dice '1 3 3 4 ٣': found '٣', expected faces 1 to 6"),
        ((1, 2, 3, 4, 55), "dice '1 2 3 4 55': found '55', expected faces 1 to 6"),
        ((1, 2, 3, 4, True), "dice '1 2 3 4 True': found 'True', expected faces 1 to 6"),
    ],
)
def test_dice_that_are_refused(dice: object, message: str) -> None:
    with pytest.raises(DiceError, match=f"^{re.escape(message)}$"):
        parse_dice(YAHTZEE, dice)  # type: ignore[arg-type]


@pytest.mark.parametrize("rerolls", [-1, 3, 1.0, True, "2", None])
def test_rerolls_that_are_refused(rerolls: object) -> None:
    with pytest.raises(DiceError, match=f"^rerolls {rerolls!r}: expected a whole number from 0 to 2$"):
        check_rerolls(YAHTZEE.card(), rerolls)  # type: ignore[arg-type]


def test_a_full_card_has_no_position() -> None:
    card = solver.ruleset("yatzy-forced").card(
        "ones=0 twos=0 threes=0 fours=0 fives=0 sixes=0 one_pair=0 two_pairs=0 three_of_a_kind=0"
        " four_of_a_kind=0 small_straight=0 large_straight=0 full_house=0 chance=5 yatzy=0"
    )
    assert card.finished
    with pytest.raises(CardError, match="every box is filled, there is nothing left to decide"):
        Position(card, (1, 2, 3, 4, 5), 0)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("yahtzee | - | 1 3 3 4 6", PositionError, "expected one line 'rules | card | dice | rerolls'"),
        ("yahtzee | - | 1 3 3 4 6 | two", PositionError, "rerolls is 'two', expected a whole number"),
        ("yahtzee | - | 1 3 3 4 6 | 3", DiceError, "rerolls 3: expected a whole number from 0 to 2"),
        ("yahtzee | ones=7 | 1 3 3 4 6 | 2", CardError, "ones is 7"),
        ("yahtsee | - | 1 3 3 4 6 | 2", RulesError, "yahtsee"),
        ("", PositionError, "position ''"),
    ],
)
def test_positions_that_are_refused(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        Position.parse(text)


@given(st.sampled_from(NAMES), st.integers(0, 10**9))
def test_cards_and_positions_round_trip_through_text(name: str, seed: int) -> None:
    position = random_position(solved(name), Random(seed))
    assert Position.parse(str(position)) == position
    assert "\n" not in str(position)
    assert Scorecard.parse(position.card.ruleset, str(position.card)) == position.card
    assert Scorecard.of(position.card.ruleset, position.card.as_dict()) == position.card
