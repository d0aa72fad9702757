"""The command line with games that save rolls."""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from command_line import TINY, home, refusal, run, said, tables

import solver
from solver import library, saving_table
from solver.distributions import bytes_to_hold
from solver.files import size
from solver.matches import check_players
from solver.saving_files import level_path
from solver.saving_table import SavingTable, solved_following, solved_in_memory
from solver.scope import Scope
from solver.scoring import scoring
from solver.states import states

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


def test_a_small_game_is_solved_where_nothing_can_be_kept(home: Path) -> None:
    (home / "cache").write_text("a file where a folder should be")
    text = said("solve", NAME)
    assert f"Expected score  {exact().expected_score:.10f} points" in text
    assert f"Tables          could not be kept in {home / 'cache' / 'dicewise'}\n" in text
    answer = json.loads(said("solve", NAME, "--json"))
    assert (answer["expected_score"], answer["values"]) == (exact().expected_score, exact().count)
    assert (answer["table"], answer["bytes"], answer["resumed"]) == (None, 0, None)
    # A folder that was asked for is another matter, as is a game that does not fit in memory.
    assert "cannot be written" in refusal("solve", NAME, "--output", str(home / "cache" / "own"))


def test_a_large_game_is_refused_where_nothing_can_be_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "cache").write_text("a file where a folder should be")
    monkeypatch.setattr(saving_table, "MOST_IN_MEMORY", 8)
    assert "cannot be written" in refusal("solve", NAME)


def test_stats_say_mean_deviation_and_upper_bonus(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("--card", "pair=10 saved=2", "--dice", "2 5", "--rerolls", "3")
    found = solver.moments(RULES, asked[1], asked[3], 3)
    assert 0 < found.upper_bonus < 1
    spread = json.loads(said("stats", NAME, *asked, "--json"))
    for key in ("mean", "standard_deviation", "upper_bonus"):
        assert spread[key] == pytest.approx(getattr(found, key), rel=1e-12)
    assert sum(spread["probabilities"]) == pytest.approx(1, abs=1e-12)
    monkeypatch.setattr(sys.modules["solver.distributions"], "MOST_BYTES", 1000)
    words = said("stats", NAME, *asked).splitlines()[1:]
    answer = json.loads(said("stats", NAME, *asked, "--json"))
    needed = answer.pop("distribution_bytes")
    assert answer == found.as_dict() | {"dice": [2, 5], "rerolls": 3}
    game = states(scoring(RULES))
    assert needed == bytes_to_hold(Scope.of(game, RULES.card(asked[1])))
    # Three saved rolls more or fewer in each of few states: some hundred at the most.
    assert 6000 < needed < 10**7
    held = f"the chance of every score would take {size(needed)} to hold"
    assert words == [
        f"  Rules               {NAME}",
        "  Card                pair=10 saved=2",
        "  Dice                2 5, rerolls left: 3",
        f"  Mean                {found.mean:.10f} points",
        f"  Standard deviation  {found.standard_deviation:.6f} points",
        f"  Upper bonus         {100 * found.upper_bonus:.2f} %",
        "",
        f"Exact; {held}.",
    ]
    assert json.loads(said("stats", NAME, "--json"))["mean"] == exact().expected_score
    assert re.fullmatch(
        r"--plot 'never.png': the chance of every score would take [0-9.]+ MB to hold; expected no plot",
        refusal("stats", NAME, "--plot", "never.png"),
    )


def test_a_cache_that_cannot_be_written_costs_no_answer(home: Path) -> None:
    (home / "cache").write_text("a file where a folder should be")
    result = run("advise", "5", "5", "--rules", NAME)
    assert result.exit_code == 0
    assert result.stderr.endswith(f" s; the table could not be kept in {home / 'cache' / 'dicewise'}.\n")
    (home / "cache").unlink()
    result = run("advise", "5", "5", "--rules", NAME)
    assert result.stderr.endswith(f" s; the table is kept for next time in {home / 'cache' / 'dicewise'}.\n")


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


CARD = (
    "ones=3 twos=6 threes=9 fours=12 sixes=18 one_pair=12 two_pairs=22 three_pairs=24 three_of_a_kind=18 "
    "four_of_a_kind=20 five_of_a_kind=0 small_straight=15 large_straight=0 full_straight=21 villa=27 "
    "tower=26 maxi_yatzy=0 saved=4"
)
"""A card of the large game with three boxes open."""


def test_statistics_and_goals_from_a_late_card_of_the_large_game(home: Path) -> None:
    spread = json.loads(said("stats", "maxi-yatzy", "--card", CARD, "--json"))
    assert spread["mean"] == pytest.approx(
        solved_following(solver.ruleset("maxi-yatzy"), CARD).value(CARD), abs=1e-9
    )
    begun = json.loads(said("stats", "maxi-yatzy", "--card", CARD, "--dice", "115566", "--json"))
    assert begun["rerolls"] == 6 and begun["mean"] != spread["mean"]
    reach = json.loads(said("solve", "maxi-yatzy", "--card", CARD, "--goal", "300", "--json"))
    assert reach["value"] > sum(
        p for score, p in zip(spread["scores"], spread["probabilities"], strict=True) if score >= 300
    )
    chances = json.loads(said("reach", "maxi-yatzy", "--card", CARD, "--json"))
    assert chances["chances"][chances["scores"].index(300)] == pytest.approx(reach["value"], abs=1e-12)
    assert chances["within"] == 0 and chances["scores"][-1] == spread["scores"][-1]
    asked = ("advise", "115566", "--rules", "maxi-yatzy", "--card", CARD)
    for goal in (("--goal", "300"), ("--risk", "0.1"), ("--floor",), ("--ceiling",), ("--against", CARD)):
        advice = json.loads(said(*asked, *goal, "--json"))
        assert advice["rerolls"] == 6
        assert advice["best"].get("saved", 6) == 6
    played = json.loads(
        said("simulate", "maxi-yatzy", "-n", "500", "--card", CARD, "--goal", "300", "--json")
    )
    assert abs(played["goal"]["value"] - reach["value"]) < 0.1


def test_comparing_what_saving_brings(home: Path) -> None:
    rows = json.loads(said("compare", str(TINY / "forced.toml"), "--vary", "save_rolls=false,true", "--json"))
    assert rows["rows"][1]["expected_score"] == pytest.approx(
        solver.solve(f"{TINY / 'forced.toml'}[save_rolls=true]").expected_score
    )
    assert rows["rows"][1]["difference"] > 0


def test_comparing_games_whose_scores_are_too_many(home: Path) -> None:
    asked = ("compare", "maxi-yatzy", "yatzy-forced")
    rows = json.loads(said(*asked, "--json"))["rows"]
    known = solver.moments("maxi-yatzy")
    assert [rows[0][key] for key in ("expected_score", "standard_deviation", "upper_bonus", "median")] == [
        known.mean,
        known.standard_deviation,
        known.upper_bonus,
        None,
    ]
    assert rows[1]["median"] == solver.distribution(solver.load("yatzy-forced")).quantile(0.5)
    assert said(*asked, "--plot", "two.svg").endswith("\n\nPlot: two.svg, without maxi-yatzy\n")
    assert refusal("compare", "maxi-yatzy", "--plot", "none.svg") == (
        "--plot 'none.svg': the chance of every score of maxi-yatzy is too much to hold; expected no plot"
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("stats", "maxi-yatzy", "--floor"), "distribution of 'maxi-yatzy': found up to 3,707.8 GB"),
        (("reach", "maxi-yatzy"), "maxi-yatzy: found 617,351,616 expected scores to hold"),
        (("solve", "maxi-yatzy", "--goal", "300"), "maxi-yatzy: found 617,351,616 expected scores to hold"),
        (("simulate", "maxi-yatzy", "-n", "3", "--floor"), "maxi-yatzy: found 617,351,616 expected scores"),
        (("advise", "112345", "--rules", "maxi-yatzy", "--goal", "300"), "maxi-yatzy: found 617,351,616"),
    ],
)
def test_commands_refuse_by_its_size_what_is_too_large(
    home: Path, words: tuple[str, ...], found: str
) -> None:
    refused = refusal(*words)
    assert refused.startswith(found)
    assert refused.endswith("; start from a card with more boxes filled")


@pytest.mark.parametrize(
    "words",
    [
        ("export", "maxi-yatzy", "-n", "3", "-o", "never.jsonl"),
        ("players", "maxi-yatzy"),
        ("compare", "maxi-yatzy", "yacht", "--floor"),
    ],
)
def test_commands_without_a_card_give_no_advice_to_start_from_one(home: Path, words: tuple[str, ...]) -> None:
    assert refusal(*words) in (
        "maxi-yatzy: found 617,351,616 expected scores to hold in memory, 4.9 GB, expected at most 1 GB",
        "distribution of 'maxi-yatzy': found up to 3,707.8 GB to hold, expected at most 12 GB",
    )


def test_an_opponent_too_large_is_refused_before_anything_is_solved(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.library.solve", None)
    for name, needed in (("maxi-yatzy-no-saving", "53.3"), ("maxi-yatzy", "3,707.8")):
        refused = refusal("advise", "112345", "--rules", name, "--against", "-")
        assert refused == (
            f"--against '-': distribution of {name!r}: found up to {needed} GB to hold, expected at most "
            "12 GB; start from a card with more boxes filled"
        )


def test_rules_show_the_expected_scores_that_the_package_knows(home: Path) -> None:
    scores = {game["rules"]: game["expected_score"] for game in json.loads(said("rules", "--json"))}
    for name, shown in (("maxi-yatzy", "496.6332603702"), ("maxi-yatzy-no-saving", "394.5575068204")):
        assert scores[name] == solver.moments(name).mean
        assert re.search(rf"^{name} .* 20   {shown}   ", said("rules"), re.MULTILINE)
        assert f"  Expected score  {shown}\n" in said("rules", name)
        assert json.loads(said("rules", name, "--json"))["expected_score"] == scores[name]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (
            ("match", "optimal", "strength:150", "-n", "3"),
            "player 'strength:150': maxi-yatzy: found 1,203,771,152",
        ),
        (
            ("match", "win", "strength:150", "-n", "3"),
            "player 'strength:150': maxi-yatzy: found 1,203,771,152",
        ),
        (
            ("match", "club", "-n", "3"),
            "player 'club': maxi-yatzy: found 1,203,771,152 expected scores to hold",
        ),
        (
            ("match", "random", "win", "reach:300", "-n", "3"),
            "player 'reach:300': maxi-yatzy: found 617,351,616",
        ),
        (
            ("match", "win", "club", "someone", "-n", "3"),
            "player 'someone': expected one of optimal, greedy,",
        ),
        (("match", "risk:x", "-n", "3"), "player 'risk:x': expected risk:THETA with a number"),
        (("play", "--seats", "human,strength:150"), "player 'strength:150': maxi-yatzy: found 1,203,771,152"),
        (
            ("play", "--seats", "club,human,risk:0.1"),
            "player 'risk:0.1': maxi-yatzy: found 617,351,616 expected",
        ),
        (("play", "--seats", "human,"), "player '': expected one of optimal, greedy,"),
    ],
)
def test_players_are_refused_before_anything_is_solved(
    home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], found: str
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("it was solved")

    for solving in ("solved_in_files", "solved_in_memory", "solved_following"):
        monkeypatch.setattr(library, solving, never)
    game = ("maxi-yatzy",) if words[0] == "play" else ("--rules", "maxi-yatzy")
    refused = refusal(words[0], *game, *words[1:])
    assert refused.startswith(found)
    assert ("take optimal or greedy, which only look up" in refused) == ("maxi-yatzy" in found)


def test_players_that_only_look_up_are_not_refused_for_the_size_of_a_game() -> None:
    rules = solver.ruleset("maxi-yatzy")
    check_players(["optimal", "greedy", "perfect"], rules)
    check_players(["win", "club", "random", "optimal"], rules)  # Played one by one, move after move.
    check_players(["strength:100", "club", "reach:20", "risk:0.1", "random"], RULES)


def test_a_file_of_chances_is_not_offered(home: Path) -> None:
    assert refusal("reach", "maxi-yatzy", "--keep") == (
        "maxi-yatzy: found rules with saved rolls, for which files of chances are not offered; "
        "expected rules without save_rolls"
    )
