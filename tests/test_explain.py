"""The chances behind an advice: against plain enumeration in fractions, and adding up on real games."""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from random import Random

import oracle_distribution as plain
import pytest
from games import NAMES, random_position, solved
from test_distribution import plain_card, strategy, tiny, tiny_table

from solver.explanation import Explanation, explain
from solver.lookup import Option, Table
from solver.scorecard import Position


def ends_of(path: Path, position: Position, option: Option) -> dict[plain.End, Fraction]:
    """How the turn ends after an option, by enumeration."""
    follower, card = strategy(path), plain_card(position.card)
    if option.action == "keep":
        return follower.ends_of_keep(card, option.dice, position.rerolls)
    box = position.card.ruleset.keys.index(str(option.category))
    rules, card_now = position.card.ruleset, position.card
    first = position.rerolls == rules.rolls - 1
    won = dict(plain.legal_fills(rules, card_now.filled, position.dice, first, card_now.armed))[box]
    bonus = plain.yahtzee_bonus(rules, card_now.armed, position.dice)
    return {plain.End(box, won, bonus, position.dice): Fraction(1)}


def check(path: Path, found: Explanation, position: Position) -> None:
    follower, rules, card = strategy(path), position.card.ruleset, plain_card(position.card)
    ends = ends_of(path, position, found.option)
    expected: dict[str, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    with_bonus: dict[str, Fraction] = defaultdict(Fraction)
    for end, probability in ends.items():
        expected[rules.keys[end.box]][end.won] += probability
        with_bonus[rules.keys[end.box]] += probability * (end.won + end.bonus)
    assert {box.key for box in found.boxes} == expected.keys(), str(position)
    for box in found.boxes:
        chance = sum(expected[box.key].values())
        assert box.probability == pytest.approx(float(chance), abs=1e-12)
        assert box.points == pytest.approx(float(with_bonus[box.key] / chance), abs=1e-12)
        exactly = {points: float(p) for points, p in expected[box.key].items()}
        assert box.by_points == pytest.approx(exactly, abs=1e-12)
        assert list(box.by_points) == sorted(box.by_points)
        assert box.title == next(c.title for c in rules.categories if c.key == box.key)
    assert found.turn_points == pytest.approx(float(sum(with_bonus.values())), abs=1e-12)
    after = sum(probability * follower.value_after(card, end) for end, probability in ends.items())
    assert found.after == pytest.approx(float(after), abs=1e-11)
    for key, chance_of in found.patterns.items():
        box_number = rules.keys.index(key)
        shown = sum(p for end, p in ends.items() if follower.shows(box_number, end.dice))
        assert chance_of == pytest.approx(float(shown), abs=1e-12), (str(position), key)


def check_sums(found: Explanation, position: Position) -> None:
    """What must hold of any explanation."""
    total = position.card.boxes_total
    assert found.option.value == pytest.approx(total + found.turn_points + found.after, abs=1e-9)
    assert sum(box.probability for box in found.boxes) == pytest.approx(1, abs=1e-12)
    turn_points = sum(box.probability * box.points for box in found.boxes)
    assert found.turn_points == pytest.approx(turn_points, abs=1e-10)
    chances = [box.probability for box in found.boxes]
    assert chances == sorted(chances, reverse=True)
    for box in found.boxes:
        assert sum(box.by_points.values()) == pytest.approx(box.probability, abs=1e-12)
    assert all(0 <= chance <= 1 + 1e-12 for chance in found.patterns.values())


@tiny
def test_every_option_of_tiny_games_in_fractions(path: Path) -> None:
    table, random = tiny_table(path), Random(path.stem)
    fixed = {c.key for c in table.ruleset.categories if c.points.of == "fixed"}
    for _ in range(12):
        position = random_position(table, random)
        advice = table.advise_position(position)
        found = explain(table, advice, top=len(advice.options))
        assert tuple(each.option for each in found) == advice.options
        for each in found:
            check(path, each, position)
            check_sums(each, position)
            assert each.patterns.keys() == fixed


@pytest.mark.parametrize("name", NAMES)
def test_chances_and_points_add_up(name: str) -> None:
    table, random = solved(name), Random(name)
    for _ in range(15):
        position = random_position(table, random)
        found = explain(table, table.advise_position(position))
        assert len(found) == min(3, len(table.advise_position(position).options))
        for each in found:
            check_sums(each, position)


def first(table: Table, card: str, dice: str, rerolls: int) -> Explanation:
    return explain(table, table.advise(card, dice, rerolls), top=1)[0]


def test_a_fill_is_certain() -> None:
    table = solved("yahtzee")
    found = first(table, "yahtzee=50", "55555", 0)
    assert found.option.category == "fives"
    (box,) = found.boxes
    assert (box.key, box.title, box.probability, box.points) == ("fives", "Fives", 1, 125)
    assert box.by_points == {25: 1.0}
    assert found.turn_points == 125
    assert found.after == pytest.approx(table.value("yahtzee=50 fives=25 bonuses=1") - 175, abs=1e-9)
    assert found.patterns["yahtzee"] == 1
    assert found.patterns["full_house"] == found.patterns["large_straight"] == 0


def test_the_last_box_by_hand() -> None:
    """With only the box of all dice alike open, keeping four leaves one chance in six a roll."""
    zeros = " ".join(f"{key}=0" for key in solved("kniffel").ruleset.keys if key not in ("yahtzee", "chance"))
    found = first(solved("kniffel"), f"{zeros} chance=20", "44443", 2)
    assert found.option.dice == (4, 4, 4, 4)
    assert found.patterns["yahtzee"] == pytest.approx(11 / 36, abs=1e-12)
    (box,) = found.boxes
    assert box.by_points == pytest.approx({0: 25 / 36, 50: 11 / 36}, abs=1e-12)
    assert found.turn_points == pytest.approx(50 * 11 / 36, abs=1e-12)
    assert found.after == pytest.approx(0, abs=1e-12)


def test_patterns_by_the_last_roll_whatever_is_filled() -> None:
    """A straight counts although its box is filled."""
    found = first(solved("yahtzee"), "large_straight=40 small_straight=30", "23456", 0)
    assert found.patterns["large_straight"] == found.patterns["small_straight"] == 1
    assert set(found.patterns) == {"full_house", "small_straight", "large_straight", "yahtzee"}


def test_as_it_is_written_in_json() -> None:
    found = first(solved("yahtzee"), "ones=3", "13346", 2)
    written = json.loads(json.dumps(found.as_dict()))
    assert list(written) == ["option", "turn_points", "after", "boxes", "patterns"]
    assert written["option"] == json.loads(json.dumps(found.option.as_dict()))
    assert written["turn_points"] == found.turn_points
    assert list(written["boxes"][0]) == ["key", "title", "probability", "points", "by_points"]
    assert written["boxes"][0]["by_points"] == {str(p): c for p, c in found.boxes[0].by_points.items()}
    assert written["patterns"] == found.patterns
