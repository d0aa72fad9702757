"""Rulesets side by side: the figures of each, differences, and the values of a rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from games import TINY, solved

import solver
from solver import comparison
from solver.distributions import distribution
from solver.errors import RulesError
from solver.summary import statistics


def test_a_row_is_what_statistics_say_of_the_game() -> None:
    found = solver.compare(["yacht", solver.ruleset("yacht-sum"), TINY[0]])
    assert [row.rules for row in found.rows] == ["yacht", "yacht-sum", str(TINY[0])]
    assert [row.expected_score for row in found.rows[:2]] == pytest.approx(
        [166.955067704572, 169.773889052638], abs=1e-11
    )
    assert found.rows[0].difference == 0
    assert found.rows[1].difference == pytest.approx(169.773889052638 - 166.955067704572, abs=1e-11)
    for row, scores in zip(found.rows, found.distributions, strict=True):
        known = statistics(scores)
        assert row.expected_score == pytest.approx(known.mean, abs=1e-9)
        assert row.standard_deviation == known.standard_deviation
        assert (row.quantile_5, row.median, row.quantile_95) == (
            known.quantiles[0.05],
            known.median,
            known.quantiles[0.95],
        )
        assert (row.upper_bonus, row.top_box) == (known.upper_bonus, known.top_box)
        assert row.top_box_probability == known.top_box_probability


def test_a_comparison_as_it_is_written_in_json() -> None:
    found = solver.compare(["yacht"])
    (row,) = found.as_dict()["rows"]
    assert row == {key: getattr(found.rows[0], key) for key in row}
    assert list(row)[:3] == ["rules", "title", "expected_score"]
    assert solver.compare(["yacht"], threads=1) == found


def test_all_games_unless_some_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "names_with_table", lambda: ("yacht", "yacht-sum"))
    assert [row.rules for row in solver.compare().rows] == ["yacht", "yacht-sum"]


def test_progress_rises_to_all_of_it() -> None:
    calls: list[tuple[int, int]] = []
    solver.compare([TINY[0], TINY[1]], progress=lambda done, total: calls.append((done, total)))
    done = [first for first, _ in calls]
    assert done == sorted(done)
    assert {total for _, total in calls} == {done[-1]}


def test_what_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="found 'yacht', expected several, in a list"):
        solver.compare("yacht")
    with pytest.raises(ValueError, match="found none, expected one or more"):
        solver.compare([])
    with pytest.raises(RulesError, match='found "yahct"'):
        solver.compare(["yacht", "yahct"])


def test_variants_are_the_rules_written_out() -> None:
    found = solver.variants("yahtzee", {"upper_bonus.points": [0, 35, 50]})
    separate = [
        solver.ruleset("yahtzee", {"upper_bonus": []}),
        solver.ruleset("yahtzee"),
        solver.ruleset("yahtzee", {"upper_bonus": [{"at": 63, "points": 50}]}),
    ]
    assert [rules.upper_bonus for rules in found] == [rules.upper_bonus for rules in separate]
    assert [rules.name for rules in found] == [
        f"yahtzee[upper_bonus.points={points}]" for points in (0, 35, 50)
    ]
    assert [solver.ruleset(rules.name) for rules in found] == list(found)


def test_variants_of_several_keys_and_fixed_ones() -> None:
    found = solver.variants("yacht", {"rolls": [2, 3], "order": ["free", "card"]}, {"rolls": 9, "title": "T"})
    assert [(rules.rolls, rules.order, rules.title) for rules in found] == [
        (2, "free", "T"),
        (2, "card", "T"),
        (3, "free", "T"),
        (3, "card", "T"),
    ]
    assert solver.variants("yacht", {}) == (solver.ruleset("yacht"),)


def test_varied_rules_score_as_those_written_in_a_file(tmp_path: Path) -> None:
    known = next(path for path in TINY if path.stem == "card")
    file = tmp_path / "none.toml"
    file.write_text(f"extends = '{known}'\nupper_bonus = []\n")
    varied = solver.compare(solver.variants(known, {"upper_bonus.points": [0, 5]})).rows
    written = solver.compare([file, known]).rows
    for one, other in zip(varied, written, strict=True):
        assert one.expected_score == other.expected_score
        assert one.difference == other.difference
        assert (one.median, one.upper_bonus) == (other.median, other.upper_bonus)
    assert varied[0].upper_bonus == 0.0
    assert varied[1].difference == pytest.approx(5 * varied[1].upper_bonus, abs=1e-12)  # Nothing to decide.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"upper_bonus.point": 3},
            "upper_bonus.point: found an unknown key, expected one of: at, points (did you mean",
        ),
        ({"upper_bonus.points": -1}, "upper_bonus[0].points: found -1, expected a whole number from 1"),
        ({"upper_bonus.points": False}, "upper_bonus[0].points: found false, expected a whole number"),
        ({"upper_bonus.at": "x"}, 'upper_bonus[0].at: found "x", expected a whole number from 1'),
        (
            {"upper_bonus.points": 0, "upper_bonus.at": 60},
            "upper_bonus.at: found no tiers, expected one tier to change, or all tiers anew: "
            "upper_bonus=[{at=63,points=35}]",
        ),
        (
            {"upper_bonus": [{"at": 1, "points": 1}, {"at": 2, "points": 2}], "upper_bonus.at": 60},
            "upper_bonus.at: found 2 tiers, expected one tier to change",
        ),
        ({"upper_bonus": 3, "upper_bonus.at": 60}, "upper_bonus.at: found 3, expected one tier to change"),
        (
            {"upper_bonus.at.x": 3},
            "upper_bonus.at.x: found an unknown key, expected upper_bonus.at, which has no keys below it",
        ),
    ],
)
def test_tiers_that_cannot_be_changed(changes: dict[str, object], message: str) -> None:
    with pytest.raises(RulesError) as caught:
        solver.ruleset("yahtzee", changes)
    assert f"]: {message}" in str(caught.value)


def test_the_names_of_modules_do_not_hide_functions() -> None:
    from solver import distribution as function

    assert function is distribution
    assert solver.statistics is statistics
    scores = solver.distribution(solved("yacht"), "ones=3")
    assert solver.statistics(scores).card == "ones=3"
