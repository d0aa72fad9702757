"""Statistics of the final score: published figures, and tiny games in fractions."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from random import Random
from typing import Any

import pytest
from games import TINY, solved, spread
from test_distribution import middle, plain_card, strategy, tiny, tiny_table, whole_games

import solver
from solver import dynamic
from solver.distributions import distribution
from solver.plan import Plan
from solver.states import States
from solver.summary import QUANTILES, Statistics, statistics

PUBLISHED: dict[str, Any] = tomllib.loads(
    (Path(__file__).parent / "data" / "published.toml").read_text("utf-8")
)["distributions"]
FREE_JOKER = PUBLISHED["yahtzee-free-joker"]
YATZY = PUBLISHED["yatzy"]


def check_boxes(found: Statistics, path: Path, card: str) -> None:
    table = tiny_table(path)
    held = table.ruleset.card(card)
    games = whole_games(path) if card == "-" else strategy(path).games(plain_card(held))
    assert [box.key for box in found.boxes] == list(table.ruleset.keys)
    for box, mean, zero, turn in zip(found.boxes, games.mean, games.zero, games.turn, strict=True):
        assert box.mean == pytest.approx(float(mean), abs=1e-12)
        assert box.zero == pytest.approx(float(zero), abs=1e-12)
        assert box.turn == (None if turn is None else pytest.approx(float(turn), abs=1e-12))
        assert found.parts[box.key] == box.mean
    assert found.yahtzee_bonuses == pytest.approx(float(games.bonuses), abs=1e-12)
    assert found.upper_bonus == pytest.approx(float(sum(games.upper.values())), abs=1e-12)
    upper_points = sum(points * probability for points, probability in games.upper.items())
    assert found.upper_bonus_points == pytest.approx(float(upper_points), abs=1e-12)
    assert found.parts["upper_bonus"] == found.upper_bonus_points
    each = table.ruleset.yahtzee.bonus if table.ruleset.yahtzee else 0
    assert found.parts["yahtzee_bonuses"] == pytest.approx(float(each * games.bonuses), abs=1e-12)
    assert sum(found.parts.values()) == pytest.approx(found.mean, abs=1e-11)


@tiny
def test_boxes_and_bonuses_in_fractions(path: Path) -> None:
    table, random = tiny_table(path), Random(path.stem)
    check_boxes(statistics(distribution(table)), path, "-")
    for _ in range(5):
        card = str(middle(table, random, random.randint(1, len(table.ruleset.keys) - 1)))
        check_boxes(statistics(distribution(table, card)), path, card)


def test_bonuses_on_the_card_count() -> None:
    path = next(path for path in TINY if path.stem == "forced")
    check_boxes(
        statistics(distribution(tiny_table(path), "pair=10 sixes=12 bonuses=1")),
        path,
        "pair=10 sixes=12 bonuses=1",
    )


# ---------------------------------------------------------------- published figures


@pytest.mark.parametrize("key", FREE_JOKER["boxes"])
def test_published_boxes(key: str) -> None:
    found = statistics(spread("yahtzee-free-joker"))
    if key == "upper_bonus":
        mean, zero = found.upper_bonus_points, 1 - found.upper_bonus
    else:
        box = next(box for box in found.boxes if box.key == key)
        mean, zero = box.mean, box.zero
    published = FREE_JOKER["boxes"][key]
    assert round(mean, 2) == published["mean"]
    if key == "three_of_a_kind":  # Ties move it, see below.
        assert 3.245 < 100 * zero < published["percent_zero"]
    else:
        assert round(100 * zero, 2) == published["percent_zero"]


def test_the_zeros_in_three_of_a_kind_depend_on_how_ties_are_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the strategies with the greatest mean, the one published has the most zeros, this one the least."""
    name, prize = "yahtzee-free-joker", 1e-6
    table, usual = solved(name), dynamic.plan
    box = table.ruleset.keys.index("three_of_a_kind")

    def share_of_zeros(sign: int) -> float:
        """The share where a zero is worth a millionth of a point more, or less: that decides ties only."""

        def plan(game: States) -> Plan:
            arrays = usual(game)
            points = arrays.rows.points.copy()
            points[arrays.rows.first[box]] = sign * prize
            return arrays._replace(rows=arrays.rows._replace(points=points))

        monkeypatch.setattr(dynamic, "plan", plan)
        game, values = dynamic.solve_values(table.ruleset)
        return float(values[game.position(0, 0, 0)] - table.value()) / (sign * prize)

    found = statistics(spread(name)).boxes[box].zero
    assert found == pytest.approx(share_of_zeros(-1), abs=1e-6)
    assert round(100 * share_of_zeros(1), 2) == FREE_JOKER["boxes"]["three_of_a_kind"]["percent_zero"]


def test_published_figures_with_a_free_joker() -> None:
    found = statistics(spread("yahtzee-free-joker"))
    assert round(found.mean, 4) == FREE_JOKER["mean"]
    assert round(found.standard_deviation, 2) == FREE_JOKER["standard_deviation"]
    assert found.median == FREE_JOKER["median"]
    assert found.least[0] == FREE_JOKER["minimum"]
    assert found.greatest[0] == FREE_JOKER["maximum_possible"]
    assert 0 < found.greatest[1] < 1e-15
    assert 0 < found.least[1] < 1e-3
    assert round(100 * found.upper_bonus, 2) == FREE_JOKER["percent_upper_bonus"]
    assert round(100 * next(box.full for box in found.boxes if box.key == "yahtzee"), 2) == pytest.approx(
        FREE_JOKER["percent_yahtzee_50"]
    )
    assert found.top_box == "yahtzee"
    assert round(100 * found.top_box_probability, 2) == pytest.approx(FREE_JOKER["percent_yahtzee_50"])
    assert round(found.yahtzee_bonuses, 4) == FREE_JOKER["expected_yahtzee_bonuses"]


def test_the_last_of_equal_boxes_is_the_one_that_can_hold_most() -> None:
    rules = solver.ruleset("yacht", {"categories.full_house.points": 50})
    found = statistics(distribution(solver.solve(rules), "choice=20 little_straight=0"))
    assert found.top_box == "yacht"


def test_the_greatest_score_of_the_official_rules_has_its_tiny_probability() -> None:
    found = spread("yahtzee")
    assert found.greatest == 1575
    assert 1e-21 < found.probability(1575) < 1e-19
    assert found.at_least(1575) == found.probability(1575)


def test_published_figures_of_yatzy() -> None:
    scores = spread("yatzy")
    found = statistics(scores)
    assert round(found.standard_deviation, 4) == YATZY["standard_deviation"]
    assert round(100 * found.upper_bonus, 1) == YATZY["percent_upper_bonus"]
    assert found.greatest[0] == YATZY["maximum"]
    assert found.greatest[1] > 0
    for percent, score in YATZY["percentiles"].items():
        assert scores.quantile(int(percent) / 100) == score
        assert found.quantiles[int(percent) / 100] == score


# ---------------------------------------------------------------- names and JSON


def test_what_is_written_in_json() -> None:
    scores = spread("yacht")
    found = statistics(scores)
    written = json.loads(json.dumps(found.as_dict()))
    assert written["rules"] == "yacht"
    assert written["card"] == "-"
    assert written["mean"] == found.mean == scores.mean
    assert list(written["quantiles"]) == [f"{share:g}" for share in QUANTILES]
    assert written["quantiles"]["0.5"] == found.median
    assert written["least"] == {"score": found.least[0], "probability": found.least[1]}
    assert written["greatest"] == {"score": 297, "probability": scores.probability(297)}
    assert written["at_least"] == {str(score): scores.at_least(score) for score in range(50, 298, 50)}
    assert [box["key"] for box in written["boxes"]] == list(solved("yacht").ruleset.keys)
    assert list(written["boxes"][0]) == ["key", "title", "mean", "zero", "full", "turn"]
    assert list(written["parts"]) == [*solved("yacht").ruleset.keys, "upper_bonus", "yahtzee_bonuses"]


def test_a_box_that_is_filled_is_certain() -> None:
    card = "ones=0 yacht=50 choice=22"
    found = statistics(distribution(solved("yacht"), card))
    boxes = {box.key: box for box in found.boxes}
    assert (boxes["ones"].mean, boxes["ones"].zero, boxes["ones"].full, boxes["ones"].turn) == (0, 1, 0, None)
    assert (boxes["yacht"].mean, boxes["yacht"].zero, boxes["yacht"].full) == (50, 0, 1)
    assert boxes["choice"].mean == 22
    assert found.card == card.replace("yacht=50 choice=22", "choice=22 yacht=50")
    assert all(box.turn is None or 4 <= box.turn <= 12 for box in found.boxes)
    assert sum(found.parts.values()) == pytest.approx(found.mean, abs=1e-10)
