"""What rolls score: expectations written by hand from each game's own rules, and the oracle on every roll."""

from __future__ import annotations

import oracle
import pytest

import solver
from solver.rules import names
from solver.scoring import scoring

MAXI, KISMET = "maxi-yatzy-no-saving", "kismet"


def points_of(name: str, box: str, dice: str) -> int:
    """Points of the dice in a box, from the arrays that games are solved with."""
    rules = solver.ruleset(name)
    arrays = scoring(rules)
    return int(arrays.points[rules.keys.index(box), arrays.lattice.roll(map(int, dice))])


@pytest.mark.parametrize(
    ("name", "box", "expected"),
    [
        (MAXI, "ones", {"111111": 6, "123456": 1, "222222": 0}),
        (MAXI, "sixes", {"666666": 36, "166234": 12}),
        (MAXI, "one_pair", {"112233": 6, "556612": 12, "666661": 12, "123456": 0}),
        (MAXI, "two_pairs", {"112233": 10, "556612": 22, "666661": 0, "666655": 22, "112345": 0}),
        (MAXI, "three_pairs", {"112233": 12, "445566": 30, "333344": 0, "666655": 0, "222222": 0}),
        (MAXI, "three_of_a_kind", {"444123": 12, "222555": 15, "112233": 0}),
        (MAXI, "four_of_a_kind", {"444412": 16, "555555": 20, "444123": 0}),
        (MAXI, "five_of_a_kind", {"444441": 20, "666666": 30, "444412": 0}),
        (MAXI, "small_straight", {"123456": 15, "123455": 15, "234566": 0}),
        (MAXI, "large_straight", {"123456": 20, "234566": 20, "123455": 0}),
        (MAXI, "full_straight", {"123456": 21, "234566": 0}),
        (MAXI, "full_house", {"111662": 15, "111666": 20, "555663": 27, "444466": 24, "444444": 0}),
        (MAXI, "villa", {"111666": 21, "555666": 33, "444466": 0, "333333": 0}),
        (MAXI, "tower", {"444466": 28, "666655": 34, "666665": 0, "444555": 0, "333333": 0}),
        (MAXI, "chance", {"123456": 21, "666666": 36}),
        (MAXI, "maxi_yatzy", {"333333": 100, "333334": 0}),
        (KISMET, "two_pair_same_colour", {"11663": 17, "11662": 16, "11553": 0, "22225": 13, "44444": 20}),
        (KISMET, "two_pair_same_colour", {"33441": 15, "33341": 0, "33344": 17, "34341": 15}),
        (KISMET, "three_of_a_kind", {"33312": 12, "33322": 13, "33333": 15, "33122": 0}),
        (KISMET, "straight", {"12345": 30, "23456": 30, "12346": 0}),
        (KISMET, "flush", {"11666": 35, "22222": 35, "34343": 35, "11662": 0}),
        (KISMET, "full_house", {"22255": 31, "33322": 28, "33333": 0, "33221": 0}),
        (KISMET, "full_house_same_colour", {"22255": 36, "11166": 35, "33322": 0, "33333": 0}),
        (KISMET, "four_of_a_kind", {"44441": 42, "55555": 50, "44411": 0}),
        (KISMET, "yarborough", {"12346": 16, "66666": 30}),
        (KISMET, "kismet", {"11111": 55, "66666": 80, "66661": 0}),
        ("cheerio", "little_straight", {"12345": 20, "23456": 0}),
        ("cheerio", "big_straight", {"12345": 0, "23456": 25}),
        ("cheerio", "full_house", {"11122": 7, "22211": 8, "66655": 28, "66666": 0}),
        ("cheerio", "big_hand", {"66666": 30, "12346": 16}),
        ("cheerio", "cheerio", {"11111": 50, "66665": 0}),
        ("crag", "fives", {"155": 10, "555": 15, "123": 0}),
        ("crag", "odd_straight", {"135": 20, "246": 0, "123": 0}),
        ("crag", "even_straight", {"246": 20, "135": 0}),
        ("crag", "low_straight", {"123": 20, "234": 0}),
        ("crag", "high_straight", {"456": 20, "345": 0}),
        ("crag", "three_of_a_kind", {"111": 25, "112": 0}),
        ("crag", "thirteen", {"346": 26, "355": 26, "166": 26, "256": 26, "445": 26, "356": 0}),
        ("generala", "straight", {"12345": 20, "23456": 20, "12346": 0}),
        ("generala", "full_house", {"22555": 30, "55555": 0}),
        ("generala", "poker", {"22225": 40, "22222": 40, "22255": 0}),
        ("generala-double", "double_generala", {"22222": 100, "22225": 0}),
        ("crag", "crag", {"346": 0, "256": 0, "355": 50, "166": 50, "445": 50, "446": 0}),
    ],
)
def test_points_by_the_rules_of_the_game(name: str, box: str, expected: dict[str, int]) -> None:
    assert {dice: points_of(name, box, dice) for dice in expected} == expected


@pytest.mark.parametrize(
    ("change", "box", "dice", "points"),
    [
        ("categories.two_pair_same_colour.pattern.same_face=false", "two_pair_same_colour", "22225", 0),
        ("categories.full_house.pattern.same_face=true", "full_house", "33333", 30),
        ("categories.full_house_same_colour.pattern.same_face=true", "full_house_same_colour", "33333", 35),
    ],
)
def test_where_kismet_is_played_otherwise(change: str, box: str, dice: str, points: int) -> None:
    assert points_of(KISMET, box, dice) != points_of(f"{KISMET}[{change}]", box, dice) == points


@pytest.mark.parametrize("name", names())
def test_every_roll_scores_as_the_oracle_says(name: str) -> None:
    rules = solver.ruleset(name)
    arrays = scoring(rules)
    for category, points in zip(rules.categories, arrays.points.tolist(), strict=True):
        assert points == [oracle.points(rules, category, roll) for roll in arrays.lattice.rolls], category.key
