"""Advice against the dense oracle, the tie rule, and the values that a person would check."""

from __future__ import annotations

import threading
from random import Random

import oracle
import pytest
from games import NAMES, random_fill, random_position, solved

import solver
from solver import dice
from solver.lookup import Option


@pytest.mark.parametrize("name", NAMES)
def test_every_action_of_random_positions_agrees_with_the_oracle(name: str) -> None:
    table, random = solved(name), Random(name)
    rules = table.ruleset
    checked = 0
    for _ in range(4):
        start = rules.card()
        while start.points.count(None) > 5:
            start = random_fill(table, start, random)
        dense = oracle.solve(rules, from_filled=start.filled)
        for _ in range(30):
            position = random_position(table, random, start)
            card = position.card
            expected = dense.option_values(
                card.filled, card.upper_subtotal, card.armed, position.dice, position.rerolls
            )
            advice = table.advise_position(position)
            found = {_key(option): option for option in advice.options}
            assert len(found) == len(advice.options)
            assert found.keys() == expected.keys(), position
            best = max(expected.values())
            for key, value in expected.items():
                assert found[key].value == pytest.approx(card.boxes_total + value, abs=1e-9), (
                    str(position),
                    key,
                )
                assert found[key].loss == pytest.approx(best - value, abs=1e-8)
            assert advice.value == pytest.approx(card.boxes_total + best, abs=1e-9)
            checked += 1
    assert checked == 120


def test_every_action_on_an_empty_yacht_card_agrees_with_the_oracle() -> None:
    table, random = solved("yacht"), Random(5)
    dense = oracle.solve(table.ruleset)
    for _ in range(40):
        position = random_position(table, random)
        expected = dense.option_values(
            position.card.filled, position.card.upper_subtotal, False, position.dice, position.rerolls
        )
        for option in table.advise_position(position).options:
            value = position.card.boxes_total + expected[_key(option)]
            assert option.value == pytest.approx(value, abs=1e-9)


def _key(option: Option) -> tuple[str, object]:
    return ("fill", option.category) if option.action == "fill" else ("keep", option.dice)


def test_value_of_a_card_is_the_mean_over_first_rolls() -> None:
    table = solved("kniffel")
    card = "ones=3 twos=6 threes=9 fours=12 fives=15 chance=20 kniffel=0 full_house=25 small_straight=30"
    card = card.replace("kniffel", table.ruleset.keys[11])
    lattice = table.states.scoring.lattice
    mean = sum(
        probability * table.advise(card, roll).value
        for roll, probability in zip(lattice.rolls, lattice.probability, strict=True)
    )
    assert table.value(card) == pytest.approx(mean, abs=1e-10)


def test_the_keeps_of_a_roll_are_listed_once_each() -> None:
    options = solved("yahtzee").advise(None, "1 3 3 4 6").options
    keeps = [option.dice for option in options if option.action == "keep"]
    assert len(keeps) == len(set(keeps)) == 2 * 3 * 2 * 2 - 1
    assert (3,) in keeps
    assert (3, 3) in keeps
    assert () in keeps
    assert (1, 3, 3, 4, 6) not in keeps
    assert sum(option.action == "fill" for option in options) == 13


def test_without_rerolls_only_boxes_are_left() -> None:
    options = solved("yahtzee").advise("chance=20", (6, 6, 6, 6, 6), 0).options
    assert {option.action for option in options} == {"fill"}
    assert len(options) == 12
    assert options[0].category == "yahtzee"
    assert options[0].points == 50


@pytest.mark.parametrize(
    ("name", "card", "dice", "fills"),
    [
        # The upper box of the face is open: nothing else is legal, whatever the Yahtzee box holds.
        ("yahtzee", "yahtzee=50", "55555", {"fives": (25, 100)}),
        ("yahtzee", "yahtzee=0", "55555", {"fives": (25, 0)}),
        # It is filled: lower boxes only, straights and full house at full points.
        (
            "yahtzee",
            "yahtzee=50 fives=15 chance=20 three_of_a_kind=22",
            "55555",
            {
                "four_of_a_kind": (25, 100),
                "full_house": (25, 100),
                "small_straight": (30, 100),
                "large_straight": (40, 100),
            },
        ),
        (
            "yahtzee",
            "yahtzee=0 fives=15 chance=20 three_of_a_kind=22 four_of_a_kind=0",
            "55555",
            {"full_house": (25, 0), "small_straight": (30, 0), "large_straight": (40, 0)},
        ),
        # No lower box is open: a zero in any upper box, and still the bonus.
        (
            "yahtzee",
            "yahtzee=50 fives=15 chance=20 three_of_a_kind=22 four_of_a_kind=0 full_house=25 small_straight=0"
            " large_straight=0 ones=1 twos=2 threes=3",
            "55555",
            {"fours": (0, 100), "sixes": (0, 100)},
        ),
        # The Yahtzee box is open: no joker yet.
        (
            "yahtzee",
            "fives=15 ones=1 twos=2 threes=3 fours=4 sixes=6 chance=20 three_of_a_kind=22 four_of_a_kind=0",
            "55555",
            {"full_house": (0, 0), "small_straight": (0, 0), "large_straight": (0, 0), "yahtzee": (50, 0)},
        ),
        (
            "yahtzee-free-joker",
            "yahtzee=50 ones=1 twos=2 threes=3 fours=4 sixes=6 chance=20 three_of_a_kind=22 four_of_a_kind=0",
            "55555",
            {
                "fives": (25, 100),
                "full_house": (0, 100),
                "small_straight": (0, 100),
                "large_straight": (0, 100),
            },
        ),
        (
            "yahtzee-no-joker",
            "yahtzee=50 ones=1 twos=2 threes=3 fours=4 fives=5 sixes=6 chance=20 three_of_a_kind=22",
            "55555",
            {
                "four_of_a_kind": (25, 100),
                "full_house": (0, 100),
                "small_straight": (0, 100),
                "large_straight": (0, 100),
            },
        ),
        (
            "yahtzee-upper-first",
            "ones=1 twos=2 threes=3 fours=4",
            "55555",
            {"fives": (25, 0), "sixes": (0, 0)},
        ),
        ("yatzy-forced", "ones=1 twos=2", "55555", {"threes": (0, 0)}),
    ],
)
def test_legal_boxes(name: str, card: str, dice: str, fills: dict[str, tuple[int, int]]) -> None:
    options = solved(name).advise(card, dice, 0).options
    assert {option.category: (option.points, option.bonus) for option in options} == fills


def test_worked_forced_joker() -> None:
    """Large Straight takes 40 for a joker of fives; with 50 in the Yahtzee box 100 more."""
    full = "fives=15 yahtzee={} ones=1 twos=2 threes=3 fours=4 sixes=6 chance=20 three_of_a_kind=22"
    full += " four_of_a_kind=0 full_house=25 small_straight=0"
    table = solved("yahtzee")
    with_bonus = table.advise(full.format(50), "55555", 0)
    without = table.advise(full.format(0), "55555", 0)
    assert with_bonus.value == 148 + 40 + 100
    assert without.value == 98 + 40


def test_ties_are_broken_by_the_documented_rule() -> None:
    # One box left that scores the same whatever is kept: filling comes before keeping.
    zeros = "ones=0 twos=0 threes=0 fours=0 fives=0 sixes=0 one_pair=0 two_pairs=0 three_of_a_kind=0"
    zeros += " four_of_a_kind=0 small_straight=0 large_straight=0 full_house=0 chance=5"
    table = solved("yatzy")
    assert table.advise(zeros, "66666", 2).best.category == "yatzy"
    # Nothing is worth keeping but a Yatzy's faces: among equals the keep of more and higher dice leads.
    options = table.advise(zeros, "22336", 1).options
    assert options[0].action == "keep"
    assert options[0].dice == (3, 3)
    assert options[1].dice == (2, 2)
    assert options[1].loss == 0


def test_keeps_are_in_the_order_in_which_ties_are_broken() -> None:
    """Those of more dice first, among these those of the highest die, then of the next."""
    lattice = dice.lattice(4)
    first, inside = lattice.inside
    roll = lattice.roll((1, 2, 3, 5))
    keeps = [lattice.keeps[keep] for keep in inside[first[roll] : first[roll + 1]]]
    assert keeps[:4] == [(2, 3, 5), (1, 3, 5), (1, 2, 5), (1, 2, 3)]
    assert keeps[4:] == [(3, 5), (2, 5), (1, 5), (2, 3), (1, 3), (1, 2), (5,), (3,), (2,), (1,), ()]


def test_stopping_is_a_fill_and_never_beaten_by_keeping_less() -> None:
    advice = solved("yahtzee").advise(None, "66666", 2)
    assert advice.best.action == "fill"
    assert advice.best.category == "yahtzee"


def test_advice_as_it_is_written() -> None:
    found = solved("yahtzee").advise("ones=3 yahtzee=50", "1 3 3 4 6", 2).as_dict(top=2)
    assert list(found) == ["rules", "dice", "rerolls", "card", "value", "best", "options"]
    assert found["rules"] == "yahtzee"
    assert found["dice"] == [1, 3, 3, 4, 6]
    assert found["rerolls"] == 2
    assert found["card"] == {"ones": 3, "yahtzee": 50}
    assert len(found["options"]) == 2
    assert found["best"] == found["options"][0]
    assert found["best"]["action"] == "keep"
    assert found["best"]["dice"] == [3, 3]
    assert found["best"]["loss"] == 0
    fill = solved("yahtzee").advise("yahtzee=50", "55555", 0).as_dict()["best"]
    assert fill["category"] == "fives"
    assert fill["points"] == 25
    assert fill["bonus"] == 100


def test_a_card_of_other_rules_is_refused() -> None:
    with pytest.raises(ValueError, match="card of 'yatzy': expected one of 'yahtzee'"):
        solved("yahtzee").advise(solver.ruleset("yatzy").card(), "12345")


def test_many_threads_read_one_table() -> None:
    table = solved("yahtzee")
    expected = table.advise(None, "1 3 3 4 6")
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.extend(table.advise(None, "13346") for _ in range(20)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 160


def test_values_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        solved("yahtzee").values[0] = 1
