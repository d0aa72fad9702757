"""Tests of the oracle: compared with what is worked out by hand, with published values, and with itself."""

import tomllib
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import oracle
import pytest

from solver.rules import ruleset
from solver.rules.model import Category, Pattern, Points, Ruleset, Tier, YahtzeeRule

HERE = Path(__file__).parent
PUBLISHED = tomllib.loads((HERE / "data" / "published.toml").read_text(encoding="utf-8"))
TINY = sorted(path.stem for path in (HERE / "tiny").glob("*.toml"))


@cache
def tiny(name: str) -> Ruleset:
    """The tiny game of that name."""
    return ruleset(str(HERE / "tiny" / f"{name}.toml"))


@cache
def tiny_exact(name: str) -> oracle.Exact:
    """The tiny game of that name, every reachable state solved exactly."""
    solved = oracle.Exact(tiny(name))
    solved.value()
    return solved


def box(key: str, pattern: Pattern, points: Points, joker: int | None = None) -> Category:
    """A box of a card made in a test: an upper one where the pattern is a face alone."""
    return Category(key, key, "upper" if pattern.face else "lower", pattern, points, joker)


def game(dice: int, rolls: int, *categories: Category) -> Ruleset:
    """A game made in a test, without any bonus."""
    return Ruleset("test", "Test", "", dice, rolls, categories)


MATCHED, SUM = Points("matched"), Points("sum")


def fixed(points: int) -> Points:
    """Points that do not depend on the dice."""
    return Points("fixed", plus=points)


# The card of the worked joker cases, without the boxes that play no part in them.
JOKER_CARD = replace(
    game(
        5,
        3,
        box("fours", Pattern(face=4), MATCHED),
        box("fives", Pattern(face=5), MATCHED),
        box("full_house", Pattern(groups=(3, 2)), fixed(25), joker=25),
        box("large_straight", Pattern(run=5), fixed(40), joker=40),
        box("yahtzee", Pattern(alike=5), fixed(50)),
        box("chance", Pattern(), SUM),
    ),
    yahtzee=YahtzeeRule("yahtzee", 100, "forced"),
)
FIVES = (5, 5, 5, 5, 5)


def legal(rules: Ruleset, filled: set[str], dice: tuple[int, ...] = FIVES) -> dict[str, int]:
    """Legal fills by key."""
    return {rules.keys[index]: points for index, points in oracle.legal_fills(rules, filled, dice)}


# ---------------------------------------------------------------- points and legal fills, by hand


@pytest.mark.parametrize(
    ("pattern", "points", "dice", "expected"),
    [
        (Pattern(face=4), MATCHED, (1, 4, 4, 4, 6), 12),
        (Pattern(face=4), MATCHED, (1, 2, 3, 5, 6), 0),
        (Pattern(face=4), fixed(9), (1, 2, 3, 5, 6), 0),
        (Pattern(alike=4), MATCHED, (1, 4, 4, 4, 4), 16),
        (Pattern(alike=4), MATCHED, (6, 6, 6, 6, 6), 24),
        (Pattern(alike=4), SUM, (1, 4, 4, 4, 4), 17),
        (Pattern(alike=4), SUM, (6, 6, 6, 6, 6), 30),
        (Pattern(alike=2), MATCHED, (3, 3, 5, 5, 6), 10),
        (Pattern(groups=(2, 2)), MATCHED, (3, 3, 5, 5, 6), 16),
        (Pattern(groups=(2, 2)), MATCHED, (3, 3, 3, 3, 6), 0),
        (Pattern(groups=(2, 2), same_face=True), MATCHED, (3, 3, 3, 3, 6), 12),
        (Pattern(groups=(3, 2)), SUM, (3, 3, 3, 5, 5), 19),
        (Pattern(groups=(3, 2)), SUM, (3, 3, 3, 3, 5), 0),
        (Pattern(groups=(3, 2)), SUM, FIVES, 0),
        (Pattern(groups=(3, 2), same_face=True), SUM, FIVES, 25),
        (Pattern(groups=(3, 2)), MATCHED, (1, 1, 1, 6, 6, 6), 20),
        (Pattern(groups=(2, 2)), MATCHED, (1, 1, 4, 4, 6, 6), 20),
        (Pattern(run=4), fixed(30), (2, 3, 4, 5, 5), 30),
        (Pattern(run=4), MATCHED, (1, 2, 3, 4, 5), 14),
        (Pattern(run=4), fixed(30), (1, 2, 3, 5, 6), 0),
        (Pattern(faces=((1, 2, 3, 4, 5),)), fixed(15), (1, 2, 3, 4, 5), 15),
        (Pattern(faces=((1, 2, 3, 4, 5),)), fixed(15), (2, 3, 4, 5, 6), 0),
        (Pattern(faces=((1, 3), (6,), (3, 3))), MATCHED, (1, 2, 3), 4),
        (Pattern(faces=((1, 3), (3, 3))), MATCHED, (2, 3, 4), 0),
        (Pattern(total=13), fixed(26), (3, 4, 6), 26),
        (Pattern(alike=2, total=13), fixed(50), (3, 4, 6), 0),
        (Pattern(alike=2, total=13), fixed(50), (3, 5, 5), 50),
        (Pattern(), Points("sum", times=2, plus=3), (1, 1, 2), 11),
        (Pattern(colour="all"), fixed(35), (1, 1, 6, 6, 6), 35),
        (Pattern(colour="all"), fixed(35), (1, 1, 6, 6, 5), 0),
        (Pattern(groups=(2, 2), same_face=True, colour="matched"), SUM, (1, 1, 5, 6, 6), 19),
        (Pattern(groups=(2, 2), same_face=True, colour="matched"), SUM, (1, 1, 5, 5, 6), 0),
        (Pattern(groups=(2, 2), same_face=True, colour="matched"), SUM, (4, 4, 4, 4, 6), 22),
    ],
)
def test_points_worked_by_hand(
    pattern: Pattern, points: Points, dice: tuple[int, ...], expected: int
) -> None:
    rules = replace(game(len(dice), 3, box("box", pattern, points)), colours=((1, 6), (2, 5), (3, 4)))
    assert oracle.points(rules, rules.categories[0], dice) == expected


def test_forced_joker_scores_a_lower_box_once_the_upper_box_is_filled() -> None:
    fills = legal(JOKER_CARD, {"yahtzee", "fives"})
    assert fills == {"full_house": 25, "large_straight": 40, "chance": 25}
    assert oracle.yahtzee_bonus(JOKER_CARD, True, FIVES) == 100
    assert oracle.yahtzee_bonus(JOKER_CARD, False, FIVES) == 0
    assert oracle.yahtzee_bonus(JOKER_CARD, True, (5, 5, 5, 5, 6)) == 0


def test_forced_joker_must_take_the_open_upper_box_of_its_face() -> None:
    assert legal(JOKER_CARD, {"yahtzee"}) == {"fives": 25}


def test_forced_joker_without_a_lower_box_is_a_zero_in_an_upper_box() -> None:
    filled = {"yahtzee", "fives", "full_house", "large_straight", "chance"}
    assert legal(JOKER_CARD, filled) == {"fours": 0}
    options = oracle.option_values(JOKER_CARD, filled, 25, True, FIVES, 0)
    assert options == {("fill", "fours"): 100}


def test_no_joker_while_the_yahtzee_box_is_open() -> None:
    fills = legal(JOKER_CARD, {"fives"})
    assert fills == {"fours": 0, "full_house": 0, "large_straight": 0, "yahtzee": 50, "chance": 25}


def test_free_joker_may_go_anywhere_and_scores_once_the_upper_box_is_filled() -> None:
    rules = replace(JOKER_CARD, yahtzee=YahtzeeRule("yahtzee", 100, "free"))
    everywhere = {"fours": 0, "fives": 25, "full_house": 0, "large_straight": 0, "chance": 25}
    assert legal(rules, {"yahtzee"}) == everywhere
    assert legal(rules, {"yahtzee", "fives"}) == {
        "fours": 0,
        "full_house": 25,
        "large_straight": 40,
        "chance": 25,
    }


def test_without_joker_the_boxes_score_by_their_own_rule() -> None:
    rules = replace(JOKER_CARD, yahtzee=YahtzeeRule("yahtzee", 100, "none"))
    assert legal(rules, {"yahtzee", "fives"}) == {
        "fours": 0,
        "full_house": 0,
        "large_straight": 0,
        "chance": 25,
    }


def test_order_comes_before_the_joker() -> None:
    upper_first = replace(JOKER_CARD, order="upper-first")
    assert legal(upper_first, {"yahtzee", "fives"}) == {"fours": 0}
    assert legal(upper_first, {"yahtzee", "fives", "fours"}) == {
        "full_house": 25,
        "large_straight": 40,
        "chance": 25,
    }
    in_card_order = replace(JOKER_CARD, order="card")
    assert legal(in_card_order, {"yahtzee"}) == {"fours": 0}
    assert legal(in_card_order, {"yahtzee", "fours"}) == {"fives": 25}
    # The upper box of the face is open but not allowed yet: the only box allowed takes the joker.
    yahtzee_first = replace(
        in_card_order, categories=JOKER_CARD.categories[4:1:-1] + JOKER_CARD.categories[:2]
    )
    assert legal(yahtzee_first, {"yahtzee"}) == {"large_straight": 40}


def test_joker_without_an_upper_box_of_its_face() -> None:
    assert legal(JOKER_CARD, {"yahtzee"}, (1, 1, 1, 1, 1)) == {
        "full_house": 25,
        "large_straight": 40,
        "chance": 5,
    }


def test_upper_bonus_pays_the_highest_tier_reached() -> None:
    rules = tiny("tiers")
    won = [oracle.upper_bonus(rules, subtotal) for subtotal in (9, 10, 21, 22, 29, 30, 99)]
    assert won == [0, 3, 3, 8, 8, 20, 20]


# ---------------------------------------------------------------- values, by hand


@pytest.mark.parametrize(
    ("rolls", "expected"), [(1, Fraction(7, 2)), (2, Fraction(17, 4)), (3, Fraction(14, 3))]
)
@pytest.mark.parametrize("dice", [1, 2, 3])
def test_chance_alone_is_each_die_for_itself(dice: int, rolls: int, expected: Fraction) -> None:
    rules = game(dice, rolls, box("chance", Pattern(), SUM))
    assert oracle.exact(rules) == dice * expected
    assert oracle.solve(rules).value() == pytest.approx(float(dice * expected), rel=1e-14)


def test_two_dice_alike_within_two_rolls() -> None:
    # 1/6 at once; else keep one die and match it with chance 1/6.
    rules = game(2, 2, box("pair", Pattern(alike=2), fixed(36)))
    assert oracle.exact(rules) == 6 + 30 * Fraction(1, 6)


def test_five_alike_within_three_rolls() -> None:
    # Number of dice alike after one, two and three rolls, going for the face shown most: 347,897 / 7,558,272.
    rules = game(5, 3, box("five_alike", Pattern(alike=5), fixed(1)))
    assert oracle.solve(rules).value() == pytest.approx(347897 / 7558272, rel=1e-13)


def test_yahtzee_bonus_by_hand() -> None:
    # One roll a turn, two dice; the pair box first. A pair, 1/6: 10 points, and then 1/6 of the 60 in chance.
    rules = replace(
        game(2, 1, box("pair", Pattern(alike=2), fixed(10)), box("chance", Pattern(), SUM)),
        order="card",
        yahtzee=YahtzeeRule("pair", 60, "none"),
    )
    assert oracle.exact(rules) == Fraction(1, 6) * (10 + 10) + 7
    assert oracle.Exact(rules).value({"pair"}, 0, True) == 17
    assert oracle.Exact(rules).value({"pair"}, 0, False) == 7


# ---------------------------------------------------------------- the two solvers against each other


@pytest.mark.parametrize("name", TINY)
def test_dense_agrees_with_exact_in_every_state(name: str) -> None:
    values = tiny_exact(name).values
    dense = oracle.solve(tiny(name))
    for state, value in values.items():
        assert dense.value(*state) == pytest.approx(float(value), rel=1e-12, abs=1e-12)
    assert dense.states == len(
        {(filled, min(subtotal, dense.cap), flag) for filled, subtotal, flag in values}
    )


@pytest.mark.parametrize("name", TINY)
def test_dense_agrees_with_exact_in_the_middle_of_a_turn(name: str) -> None:
    rules, exact = tiny(name), tiny_exact(name)
    finished = (1 << len(rules.categories)) - 1
    states = sorted(state for state in exact.values if state[0] != finished)
    for state in states[:: max(1, len(states) // 4)]:
        from_here = oracle.solve(rules, from_filled=state[0])
        for dice in ((1, 1, 1), (2, 6, 5), (3, 1, 3), (6, 6, 6)):
            for rerolls in range(rules.rolls):
                position = (*state, dice[: rules.dice], rerolls)
                expected = {action: float(value) for action, value in exact.option_values(*position).items()}
                assert from_here.option_values(*position) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_filled_boxes_may_be_given_by_key() -> None:
    rules = tiny("forced")
    by_key = oracle.option_values(rules, {"pair", "fives"}, 10, True, (6, 6), 1)
    assert by_key == oracle.option_values(rules, 0b101, 10, True, (6, 6), 1)
    assert set(by_key) == {("fill", "sixes"), ("keep", ()), ("keep", (6,))}


# ---------------------------------------------------------------- published values


def test_counts_of_five_dice() -> None:
    rules = game(5, 1, box("chance", Pattern(), SUM))
    rolls = oracle.solve(rules).rolls
    proper_keeps = [keep for roll in rolls for keep in oracle.proper_keeps(roll)]
    # Published counts hold the keep of all dice, too.
    assert len(rolls) == PUBLISHED["five_dice"]["rolls"]
    assert len(set(proper_keeps)) + len(rolls) == PUBLISHED["five_dice"]["keeps"]
    assert len(proper_keeps) + len(rolls) == PUBLISHED["five_dice"]["roll_keep_pairs"]


@pytest.mark.parametrize(("name", "dice", "cap"), [("yahtzee", 5, 63), ("maxi-yatzy-no-saving", 6, 84)])
def test_reachable_upper_pairs(name: str, dice: int, cap: int) -> None:
    known = PUBLISHED["games"][name]
    upper = [box(f"face_{face}", Pattern(face=face), MATCHED) for face in range(1, 7)]
    solved = oracle.solve(replace(game(dice, 1, *upper), upper_bonus=(Tier(cap, 35),)))
    assert solved.states == known["upper_pairs"]
    assert (solved.cap + 1) * len(solved.values) == known["upper_pairs_possible"]


@pytest.mark.parametrize("name", ["yatzy-forced", "yahtzee-upper-first"])
def test_whole_game(name: str) -> None:
    assert oracle.solve(ruleset(name)).value() == pytest.approx(
        PUBLISHED["games"][name]["expected"], rel=1e-12
    )
