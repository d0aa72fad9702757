"""Boxes that score otherwise on the first roll of a turn, and boxes that require another to hold points."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from games import solved

import solver
import solver.export
from solver import library
from solver.errors import CardError, RulesError
from solver.oddities import oddities
from solver.rules import Ruleset, build, names, ruleset
from solver.rules.describe import describe
from solver.scoring import scoring

SERVED = "kniffel[categories.large_straight.served=5,categories.full_house.served=7]"


def pair_game(rolls: int, served: int) -> Ruleset:
    """One box, two dice: a pair scores 10."""
    box = {"title": "Pair", "section": "lower", "pattern": {"alike": 2}, "points": 10, "served": served}
    return build({"title": "Pair", "dice": 2, "rolls": rolls, "categories": {"pair": box}}, "pair")


def test_arrays() -> None:
    rules, plain = ruleset(SERVED), ruleset("kniffel")
    arrays, before = scoring(rules), scoring(plain)
    assert np.array_equal(arrays.points, before.points)
    assert arrays.serves
    assert not before.serves
    for number, box in enumerate(rules.categories):
        assert arrays.served_points[number].tolist() == [
            oracle.points(rules, box, roll, first=True) for roll in arrays.lattice.rolls
        ]
    straight = rules.keys.index("large_straight")
    assert arrays.distinct[straight].tolist() == [0, 40, 45]
    assert arrays.served_points[straight, arrays.lattice.roll((2, 3, 4, 5, 6))] == 45
    assert arrays.served_points[straight, arrays.lattice.roll((2, 3, 4, 5, 5))] == 0


def test_a_box_of_no_points_but_served() -> None:
    arrays = scoring(ruleset("kniffel[categories.yahtzee.points=0,categories.yahtzee.served=9]"))
    assert arrays.distinct[11].tolist() == [0, 9]


def test_digests_of_other_games_stay() -> None:
    known = {entry["name"]: entry["digest"] for entry in library.manifest().values()}
    assert all(
        scoring(ruleset(name)).digest == known.get(name, scoring(ruleset(name)).digest) for name in names()
    )
    one = scoring(ruleset(SERVED)).digest
    assert len({one, known["kniffel"], scoring(ruleset(SERVED.replace("7", "8"))).digest}) == 3


def test_a_joker_scores_its_own_points_and_is_served_where_it_has_none() -> None:
    arrays = scoring(ruleset("yahtzee[categories.full_house.served=5,categories.chance.served=3]"))
    full, chance = 8, 12
    assert arrays.served_joker_points[full].tolist() == [25] * 6
    assert arrays.served_joker_points[chance].tolist() == [8, 13, 18, 23, 28, 33]
    assert arrays.joker_points[chance].tolist() == [5, 10, 15, 20, 25, 30]


def test_cards_hold_served_points() -> None:
    rules = ruleset(SERVED)
    assert rules.card("large_straight=45 full_house=32").total == 77
    assert rules.card("large_straight=40 full_house=25").total == 65
    with pytest.raises(CardError, match="large_straight is 44, expected one of 0, 40, 45"):
        rules.card("large_straight=44")
    with pytest.raises(CardError, match="large_straight is 45, expected one of 0, 40"):
        ruleset("kniffel").card("large_straight=45")


def test_in_words_and_refused() -> None:
    row = next(row for row in describe(ruleset(SERVED)).rows if row.key == "large_straight")
    assert row.scores == "40, 5 more on the first roll"
    with pytest.raises(
        RulesError, match="served: found 5, expected points for a served roll in lower boxes only"
    ):
        ruleset("kniffel[categories.ones.served=5]")
    with pytest.raises(RulesError, match="served: found -1, expected a whole number from 0 to 100000"):
        ruleset("kniffel[categories.chance.served=-1]")


@pytest.mark.parametrize(
    ("rolls", "served", "value"),
    [
        # A pair has a chance of 1/6 with each roll; all rolls are first ones where there is one alone.
        (1, 5, Fraction(15, 6)),
        (2, 5, Fraction(15, 6) + Fraction(5, 6) * Fraction(10, 6)),
        (3, 0, 10 * (1 - Fraction(5, 6) ** 3)),
        (3, 5, Fraction(15, 6) + Fraction(5, 6) * 10 * (1 - Fraction(5, 6) ** 2)),
    ],
)
def test_the_oracle_by_hand(rolls: int, served: int, value: Fraction) -> None:
    rules = pair_game(rolls, served)
    assert oracle.exact(rules) == value
    assert oracle.Dense(rules).value() == pytest.approx(float(value), abs=1e-12)
    if rolls > 1:
        first = oracle.Dense(rules).option_values(0, 0, False, (4, 4), rolls - 1)
        later = oracle.Dense(rules).option_values(0, 0, False, (4, 4), rolls - 2)
        assert first["fill", "pair"] == 10 + served
        assert later["fill", "pair"] == 10


# ---------------------------------------------------------------- boxes that require another


def box(title: str, pattern: dict[str, Any], points: Any, **more: Any) -> dict[str, Any]:
    return {"title": title, "section": "lower", "pattern": pattern, "points": points} | more


def twice(**more: Any) -> Ruleset:
    """Two dice, one roll: a pair scores 10, and then another one 20."""
    boxes = {"pair": box("Pair", {"alike": 2}, 10), "again": box("Again", {"alike": 2}, 20, requires="pair")}
    return build({"title": "Twice", "dice": 2, "rolls": 1, "categories": boxes} | more, "twice")


def test_a_required_box_by_hand() -> None:
    # A pair (1/6) goes into its box for 10, and the next one scores 20; in card order the zeros go first.
    hit = Fraction(1, 6)
    in_order = hit * (10 + 20 * hit)
    # With the choice, a first roll without a pair fills the box that scores nothing now: 10 are left to win.
    free = hit * (10 + 20 * hit) + (1 - hit) * 10 * hit
    assert in_order < free
    for rules, value in ((twice(order="card"), in_order), (twice(), free)):
        assert oracle.exact(rules) == value
        assert solver.solve(rules).value() == pytest.approx(float(value), abs=1e-12)


def test_a_required_box_in_the_upper_section_against_fractions() -> None:
    sixes = box("Sixes", {"face": 6}, "matched", section="upper")
    boxes = {
        "sixes": sixes,
        "again": box("Again", {"alike": 2}, 20, requires="sixes", served=3),
        "ones": box("Ones", {"face": 1}, "matched", section="upper"),
    }
    tiers = [{"at": 7, "points": 4}]
    rules = build({"title": "U", "dice": 2, "rolls": 2, "upper_bonus": tiers, "categories": boxes}, "u")
    table, exact = solver.solve(rules), oracle.Exact(rules)
    assert table.value() == pytest.approx(float(exact.value()), abs=1e-12)
    for (filled, subtotal, flag), value in exact.values.items():
        position = table.states.position(filled, subtotal, int(flag))
        assert table.values[position] == pytest.approx(float(value), abs=1e-12)
    drawn = list(solver.export.positions(table, 300, seed=3, source="uniform"))
    assert {record.flag for record in drawn} == {0, 1}
    for record in drawn:
        card = rules.card(record.position.split(" | ")[1])
        assert (card.armed, card.points[1] or 0) in ((True, 0), (True, 20), (True, 23), (False, 0))


def test_values_are_those_of_the_dense_oracle_in_late_states_of_generala() -> None:
    table = solved("generala-double")
    dense = oracle.solve(table.ruleset, from_filled={"ones", "twos", "threes", "fours", "poker", "generala"})
    compared = 0
    for filled, values in dense.values.items():
        for subtotal, flag in zip(*np.nonzero(~np.isnan(values)), strict=True):
            position = table.states.position(filled, int(subtotal), int(flag))
            assert table.values[position] == pytest.approx(values[subtotal, flag], abs=1e-11)
            compared += 1
    assert compared == 2 * 2**5


def test_what_is_known_of_generala() -> None:
    plain, double = solved("generala"), solved("generala-double")
    # With Double Generala alone to fill, 100 for five alike: by the published chance of five alike in a turn.
    full = "ones=1 twos=2 threes=3 fours=4 fives=5 sixes=6 straight=0 full_house=35 poker=45 "
    chance = plain.value(full) - plain.ruleset.card(full).total
    assert chance / 50 == pytest.approx(347897 / 7558272, abs=1e-12)
    assert double.value(full + "generala=50") == pytest.approx(151 + 100 * chance / 50, abs=1e-9)
    assert double.value(full + "generala=0") == pytest.approx(101, abs=1e-9)
    # The card without Double Generala left is that of the game without it.
    assert double.value("double_generala=0") == pytest.approx(plain.value(), abs=1e-9)
    served = solver.solve("generala[categories.generala.served=7]")
    five_alike = Fraction(6, 6**5)
    assert served.value(full) - plain.value(full) == pytest.approx(float(7 * five_alike), abs=1e-12)


def test_advice_on_a_required_box() -> None:
    table = solved("generala-double")
    for card, points in (("-", 0), ("generala=0", 0), ("generala=50", 100)):
        fills = {option.category: option.points for option in table.advise(card, "4 4 4 4 4").options}
        assert fills["double_generala"] == points
        assert (fills["poker"], fills["straight"]) == (45, 0)
    later = {option.category: option.points for option in table.advise("-", "4 4 4 4 4", 1).options}
    assert later["poker"] == 40


def test_cards_of_a_required_box() -> None:
    rules = ruleset("generala-double")
    assert rules.card("generala=50 double_generala=100").armed
    assert not rules.card("generala=0 double_generala=0").armed
    for card in ("double_generala=100", "generala=0 double_generala=100"):
        with pytest.raises(CardError, match="double_generala is 100, expected 0 as generala holds no points"):
            rules.card(card)


def test_where_the_required_box_always_scores_nothing_changes() -> None:
    boxes = {"any": box("Any", {}, "sum"), "pair": box("Pair", {"alike": 2}, 10)}
    game = {"title": "Any", "dice": 2, "rolls": 2, "order": "card", "categories": boxes}
    free = build(game, "any")
    boxes["pair"] = boxes["pair"] | {"requires": "any"}
    tied = build(game, "any")
    assert solver.solve(tied).value() == pytest.approx(solver.solve(free).value(), abs=1e-12)
    assert scoring(tied).digest != scoring(free).digest


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            "yacht[categories.ones.requires=yacht]",
            'found "yacht", expected a required box for lower boxes only',
        ),
        ("yacht[categories.yacht.requires=yacht]", 'found "yacht", expected the key of another box: ones,'),
        ("yacht[categories.yacht.requires=3]", "found 3, expected the key of another box: ones,"),
        (
            "yacht[categories.yacht.requires=ones,categories.choice.requires=twos]",
            'yacht.requires: found "ones", expected twos, which choice requires: one box for all',
        ),
        (
            "yahtzee[categories.chance.requires=full_house]",
            'found "full_house", expected yahtzee, which brings the bonus of the table yahtzee',
        ),
        (
            "yatzy-forced[categories.one_pair.requires=yatzy]",
            'found "yatzy", expected a box that comes before, as boxes are filled in card order',
        ),
    ],
)
def test_required_boxes_refused(rules: str, message: str) -> None:
    with pytest.raises(RulesError) as refused:
        ruleset(rules)
    assert message in str(refused.value)


def test_odd_boxes() -> None:
    found = {one.key: one.text for one in oddities(ruleset("generala-double[categories.generala.points=0]"))}
    assert found["categories.double_generala"] == "no roll scores here: generala never holds points"
    assert oddities(ruleset("generala-double[categories.double_generala.points=50]")) == ()
