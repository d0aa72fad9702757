"""The command line with games that save rolls."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from command_line import TINY, home, refusal, said, tables

import solver
from solver.saving_files import level_path
from solver.saving_table import SavingTable, solved_in_memory

__all__ = ["home", "tables"]  # Fixtures for every test here.

NAME = f"{TINY / 'forced.toml'}[rolls=3,save_rolls=true]"
RULES = solver.ruleset(NAME)
LEVELS = [f"level-{level:02d}.dwl" for level in range(len(RULES.keys))]


@cache
def exact() -> SavingTable:
    return solved_in_memory(RULES)


def test_the_command_line_from_solving_to_advice(home: Path) -> None:
    assert f"Expected score  {exact().expected_score:.10f} points" in said("solve", NAME)
    answer = json.loads(said("solve", NAME, "--json"))
    assert answer["expected_score"] == exact().expected_score
    assert answer["values"] == exact().count and answer["resumed"] is None
    assert answer["bytes"] == sum(path.stat().st_size for path in Path(answer["table"]).iterdir())
    tables = said("tables")
    assert f"{exact().expected_score:.10f}" in tables and ".levels" in tables
    asked = ("--rules", NAME, "--card", "pair=10 saved=2", "--top", "1")
    words = said("advise", "5", "5", *asked)
    assert words.startswith("Fill Fives for 10 points and a bonus of 9, saving two rolls: expected final")
    assert words.rstrip().endswith("| pair=10 saved=2 | 5 5 | 4")
    best = json.loads(said("advise", "5", "5", *asked, "--json"))
    assert best["card"] == {"pair": 10, "saved": 2} and best["rerolls"] == 4
    assert best["best"]["saved"] == 4
    assert best["best"]["value"] == pytest.approx(exact().advise("pair=10 saved=2", "5 5").value, abs=1e-6)
    assert "saved for any later turn" in said("rules", NAME)
    played = json.loads(said("simulate", NAME, "-n", "2000", "--card", "pair=10 saved=2", "--json"))
    assert abs(played["mean"] - played["expected_score"]) < 5 * played["standard_error"]
    assert "How the turn ends" in said("advise", "2", "5", *asked, "--explain", "1")


def test_stats_say_mean_deviation_and_upper_bonus() -> None:
    asked = ("--card", "pair=10 saved=2", "--dice", "2 5", "--rerolls", "3")
    found = solver.moments(RULES, asked[1], asked[3], 3)
    assert 0 < found.upper_bonus < 1
    assert said("stats", NAME, *asked).splitlines()[1:] == [
        f"  Rules               {NAME}",
        "  Card                pair=10 saved=2",
        "  Dice                2 5, rerolls left: 3",
        f"  Mean                {found.mean:.10f} points",
        f"  Standard deviation  {found.standard_deviation:.6f} points",
        f"  Upper bonus         {100 * found.upper_bonus:.2f} %",
        "",
        "Exact; with saved rolls the chance of every score is not worked out.",
    ]
    answer = json.loads(said("stats", NAME, *asked, "--json"))
    needed = answer.pop("distribution_bytes")
    assert answer == found.as_dict() | {"dice": [2, 5], "rerolls": 3}
    # Two boxes open, three or five rows of saved rolls, and the finished states: by hand.
    assert needed % 1300 == 0 and 0 < needed < 10**6
    assert json.loads(said("stats", NAME, "--json"))["mean"] == exact().expected_score
    refused = refusal("stats", NAME, "--plot", "never.png")
    assert refused == (
        "--plot 'never.png': with saved rolls the chance of every score is not worked out; expected no plot"
    )


def test_an_unfinished_game_is_listed_as_such(home: Path) -> None:
    table = solver.load(NAME)
    assert isinstance(table, SavingTable) and table.folder
    for name in LEVELS[:3]:
        (table.folder / name).unlink()
    assert "(solved from three boxes on)" in said("tables")
    level_path(table.folder, 3).write_bytes(b"nothing")
    assert "(ForeignTable)" in said("tables")


def test_output_is_a_folder_for_games_with_saved_rolls(home: Path) -> None:
    assert "new" in said("solve", NAME, "--output", "new")
    assert sorted(path.name for path in (home / "new").iterdir()) == LEVELS
    (home / "file").write_text("mine")
    refused = refusal("solve", NAME, "--output", "file")
    expected = "expected a folder: rules with saved rolls take a file for each number of filled boxes"
    assert refused == f"--output 'file': found a file, {expected}"
    assert (home / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("stats", "maxi-yatzy", "--floor"), "goals"),
        (("compare", "maxi-yatzy", "yacht"), "comparisons"),
        (("reach", "maxi-yatzy"), "chances of scores"),
        (("export", "maxi-yatzy", "-n", "3", "-o", "never.jsonl"), "exports"),
        (("solve", "maxi-yatzy", "--goal", "300"), "goals"),
        (("simulate", "maxi-yatzy", "-n", "3", "--floor"), "goals"),
        (("advise", "112345", "--rules", "maxi-yatzy", "--goal", "300"), "goals"),
    ],
)
def test_commands_refuse_at_once_what_is_not_offered(words: tuple[str, ...], what: str) -> None:
    assert refusal(*words) == (
        f"maxi-yatzy: found rules with saved rolls, for which {what} are not offered; "
        "expected rules without save_rolls"
    )
