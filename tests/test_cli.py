"""The command line: help, advice, and what real processes and terminals show."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import command_line
import pytest
from command_line import (
    GAMES,
    TINY,
    environment,
    misuse,
    on_terminal,
    posix,
    process,
    refusal,
    run,
    said,
)

import solver
from solver import library
from solver.game import Game

home, tables = command_line.home, command_line.tables


def test_help_of_every_command_says_what_it_does() -> None:
    assert "dicewise advise 1 3 3 4 6" in said("-h")
    assert said("--help") == said("-h")
    for words in (["advise"], ["solve"], ["rules"], ["tables"], ["tables", "build"], ["tables", "check"]):
        text = said(*words, "--help")
        assert text.startswith(f"Usage: dicewise {' '.join(words)} ")
        assert "-h, --help" in text


def test_version() -> None:
    assert said("--version").startswith("dicewise ")


def test_unknown_command() -> None:
    assert "No such command 'advize'" in misuse("advize")


# what a script with a variable that is not set gives


@pytest.mark.parametrize(
    "arguments",
    [
        ["advise", "13346", "--rules", ""],
        ["match", "optimal", "-n", "1", "--rules", ""],
        ["play", ""],
        ["rules", "new", "house", "--from", ""],
        ["stats", ""],
    ],
)
def test_an_empty_name_is_no_game(arguments: list[str], home: Path) -> None:
    assert refusal(*arguments).startswith('rules: found "", expected a game or the path of a .toml file; ')
    assert list(home.iterdir()) == []


def test_an_empty_name_beside_a_game_to_go_on_with_is_no_game(home: Path) -> None:
    (home / "game.json").write_text(f"{Game.new('yacht', 1, 1)}\n")
    assert refusal("play", "", "--load", "game.json").startswith('rules: found "", expected a game')


@pytest.mark.parametrize(
    "arguments",
    [
        ["advise", "12345", "--rules", "yacht", "--utility="],
        ["advise", "12345", "--rules", "yacht", "--duel", "-", "--folder="],
        ["compare", "yacht", "--plot="],
        ["duel", str(TINY / "free.toml"), "--folder="],
        ["export", "yacht", "-n", "1", "--output="],
        ["play", "--load="],
        ["reach", "yacht", "--cluster", "tcp://127.0.0.1:1", "--folder="],
        ["rules", "new", "house", "--output="],
        ["solve", "yacht", "--output="],
        ["tables", "build", "yacht", "--output="],
        ["tables", "check", "--folder="],
        ["tables", "moments", "--output="],
    ],
)
def test_an_empty_path_is_not_the_current_folder(arguments: list[str], home: Path) -> None:
    option = arguments[-1].removesuffix("=")
    assert refusal(*arguments) == f"{option} '': expected a path"
    assert list(home.iterdir()) == []


def test_an_empty_address_is_no_cluster() -> None:
    expected = "--cluster '': expected the address of a scheduler"
    for arguments in (["solve", "maxi-yatzy"], ["simulate", "yacht", "-n", "1"], ["compare", "yacht"]):
        assert refusal(*arguments, "--cluster", "") == expected


# advise


def test_advice_at_a_glance() -> None:
    assert said("advise", "1", "3", "3", "4", "6", "--top", "4") == (
        "Keep 3 3, reroll three dice: expected final score 251.41\n"
        "\n"
        "  Otherwise                      Value   Loss\n"
        "  ───────────────────────────────────────────\n"
        "  Keep 3 3 4, reroll two dice   249.98   1.43\n"
        "  Keep 4, reroll four dice      249.88   1.53\n"
        "  Keep 3 4, reroll three dice   249.87   1.53\n"
        "  32 more; --top 36 shows all.\n"
        "\n"
        "Position: yahtzee | - | 1 3 3 4 6 | 2\n"
    )


def test_advice_shows_ten_moves_unless_told_otherwise() -> None:
    lines = said("advise", "13346").splitlines()
    assert lines[0].startswith("Keep 3 3,")
    assert sum(line.startswith("  Keep ") or line.startswith("  Reroll ") for line in lines) == 9
    assert "  Reroll all five dice          249.47   1.93" in lines
    assert "  26 more; --top 36 shows all." in lines
    all_lines = said("advise", "13346", "--top", "36")
    assert "more" not in all_lines
    assert len(all_lines.splitlines()) == 35 + 6


def test_the_best_move_alone() -> None:
    assert said("advise", "13346", "--top", "1").splitlines()[:3] == [
        "Keep 3 3, reroll three dice: expected final score 251.41",
        "",
        "  35 more; --top 36 shows all.",
    ]


def test_advice_without_rerolls_is_fills_only() -> None:
    text = said("advise", "1 3 3 4 6", "--rerolls", "0", "--top", "99")
    assert text.startswith("Fill Threes for 6 points: expected final score 239.95\n")
    assert "  Fill Ones for 1 point               239.63    0.32\n" in text
    assert "eep" not in text


def test_a_forced_joker_with_its_bonus() -> None:
    text = said("advise", "55555", "--rerolls", "0", "--card", "yahtzee=50")
    assert text.startswith("Fill Fives for 25 points and a bonus of 100: expected final score 438.05\n")
    assert "\nNothing else is allowed.\n" in text


def test_small_losses_and_ties_are_told_apart() -> None:
    from solver.cli.advise import _loss

    assert [_loss(loss) for loss in (0.0, 0.004, 0.005001, 1.5)] == ["0.00", "<0.01", "0.01", "1.50"]


def test_moves_in_words() -> None:
    from solver.cli.advise import in_words
    from solver.lookup import Option

    rules = solver.ruleset("yacht")
    one = solver.ruleset("yacht", {"dice": 1} | {f"categories.{key}": False for key in rules.keys[6:]})
    keep = Option("keep", (1, 1, 1, 6), None, None, 0, 1.0, 0.0)
    assert in_words(keep, rules) == "Keep 1 1 1 6, reroll one die"
    assert in_words(Option("keep", (), None, None, 0, 1.0, 0.0), one) == "Reroll the die"


@pytest.mark.parametrize("dice", [["1", "3", "3", "4", "6"], ["13346"], ["1,3,3,4,6"], ["6", "4", "33", "1"]])
def test_json_is_what_the_library_says(dice: list[str]) -> None:
    advice = solver.load("yahtzee").advise("", "1 3 3 4 6")
    assert json.loads(said("advise", *dice, "--json")) == advice.as_dict()
    assert json.loads(said("advise", *dice, "--json", "--top", "3")) == advice.as_dict(3)
    assert said("advise", *dice, "--json").count("\n") == 1


def test_advice_with_all_options() -> None:
    found = json.loads(
        said(
            *("advise", "13346", "--rules", "yacht", "--rerolls", "1"),
            *("--card", "ones=3 choice=22", "--json"),
        )
    )
    assert found == solver.load("yacht").advise("ones=3 choice=22", "13346", 1).as_dict()
    assert (found["rules"], found["rerolls"], found["card"]) == ("yacht", 1, {"ones": 3, "choice": 22})
    assert found["best"]["dice"] == [3, 3]
    line = "yacht | ones=3 choice=22 | 1 3 3 4 6 | 1"
    assert json.loads(said("advise", "--position", line, "--json")) == found
    assert said("advise", "--position", line).endswith(f"\nPosition: {line}\n")


@pytest.mark.parametrize("card", ["-", "", "  "])
def test_an_empty_card(card: str) -> None:
    assert json.loads(said("advise", "13346", "--card", card, "--json"))["card"] == {}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["1 3 3 4"], "dice '1 3 3 4': found 4 dice, expected 5"),
        (["1", "3", "3", "4", "7"], "dice '1 3 3 4 7': found '7', expected faces 1 to 6"),
        (["13346", "--rerolls", "3"], "rerolls 3: expected a whole number from 0 to 2"),
        (["13346", "--rerolls", "-1"], "rerolls -1: expected a whole number from 0 to 2"),
        (["13346", "--card", "ones=9"], "card: ones is 9, expected one of 0, 1, 2, 3, 4, 5"),
        (["13346", "--card", "ones=3 ones=3"], "card 'ones=3 ones=3': ones is filled twice"),
        (
            ["13346", "--rules", "yatzee"],
            'rules: found "yatzee", expected a game or the path of a .toml file (did you mean "yahtzee" or '
            f'"yatzy"?); the games: {GAMES}',
        ),
        (["13346", "--rules", "no.toml"], "no.toml: found no such file, expected a rules file (.toml)"),
        (
            ["13346", "--set", "rols=4"],
            "yahtzee[rols=4]: rols: found an unknown key, expected one of: title, summary, dice, rolls, "
            'save_rolls, order, upper_bonus, colours, yahtzee, categories, box_order (did you mean "rolls"?)',
        ),
        (
            ["13346", "--set", "rolls"],
            '--set: found "rolls", expected changes such as rolls=4, with commas between them',
        ),
        (
            ["--position", "yahtzee | - | 1 3 3 4 6"],
            "position 'yahtzee | - | 1 3 3 4 6': expected one line 'rules | card | dice | rerolls'",
        ),
        (
            ["--position", "yahtzee | - | 13346 | 2 | 3"],
            "position 'yahtzee | - | 13346 | 2 | 3': found 5 parts, "
            "expected four parts: 'rules | card | dice | rerolls'",
        ),
    ],
)
def test_advice_refused(arguments: list[str], line: str) -> None:
    assert refusal("advise", *arguments) == line


@pytest.mark.skipif(os.name != "posix", reason="needs a file with a | in its name")
def test_a_position_whose_rules_have_a_bar_in_their_name(home: Path) -> None:
    """What is wrong in such rules is said, not that the position has too many parts."""
    shutil.copy(TINY / "forced.toml", "a|b.toml")
    found = run("advise", "--position", "a|b.toml | - | 1 2 | 1").stdout
    assert found.endswith("Position: a|b.toml | - | 1 2 | 1\n")
    Path("a|c.toml").write_text("rolls = 0\n")
    assert refusal("advise", "--position", "a|c.toml | - | 1 2 | 1").startswith("a|c.toml: ")
    refused = refusal("advise", "--position", "a|d.toml | - | 1 2 | 1")
    assert refused == "a|d.toml: found no such file, expected a rules file (.toml)"
    refused = refusal("advise", "--position", "yacht[title='a|b',rols=2] | - | 12345 | 1")
    assert "rols: found an unknown key" in refused


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "Error: found no dice, expected those on the table: dicewise advise 1 3 3 4 6"),
        (
            ["13346", "--card", "ones=3", "sixes=6"],
            "Error: found 'sixes=6' among the dice; quote a whole card: --card \"ones=3 sixes=6\"",
        ),
        (
            ["1", "--position", "yahtzee | - | 1 3 3 4 6 | 2"],
            "Error: --position says it all: no DICE, --rules, --rerolls, --card or --set beside it",
        ),
        (["13346", "--top", "-1"], "Error: Invalid value for '--top': -1 is not in the range x>=1."),
        (["13346", "--rerolls", "x"], "Error: Invalid value for '--rerolls': 'x' is not a valid integer."),
    ],
)
def test_advice_called_wrongly(arguments: list[str], line: str) -> None:
    assert misuse("advise", *arguments) == line


def test_a_folder_without_tables_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.FOLDER_VARIABLE, "nowhere")
    assert refusal("advise", "13346") == "DICEWISE_TABLES is 'nowhere': expected a folder of tables"


def test_a_game_without_a_table_is_solved_once(home: Path) -> None:
    first = run("advise", "1 2 2", "--rules", str(TINY / "tiers.toml"), "--json")
    assert first.exit_code == 0
    assert first.stderr.startswith(f"Solved {TINY / 'tiers.toml'} in ")
    assert first.stderr.endswith(f" s; the table is kept for next time in {home / 'cache' / 'dicewise'}.\n")
    again = run("advise", "1 2 2", "--rules", str(TINY / "tiers.toml"), "--json")
    assert (again.stderr, again.stdout) == ("", first.stdout)


def test_a_cache_that_cannot_be_written_costs_no_answer(home: Path) -> None:
    (home / "cache").write_text("a file where a folder should be")
    result = run("advise", "1 2 2", "--rules", str(TINY / "tiers.toml"))
    assert result.exit_code == 0
    assert f" s; the table could not be kept in {home / 'cache' / 'dicewise'}.\n" in result.stderr


def test_changed_rules_for_advice() -> None:
    found = json.loads(
        said(
            "advise",
            "13346",
            "--set",
            "rolls=4",
            "--set",
            "order=card",
            "--set",
            "rolls=3,order=free",
            "--json",
        )
    )
    assert found["rules"] == "yahtzee[rolls=3,order=free]"
    assert found["value"] == json.loads(said("advise", "13346", "--json"))["value"]


# real processes


def test_advice_needs_no_compiler_and_help_no_arrays() -> None:
    code = """
import sys
from solver.cli import command
try:
    command(sys.argv[1:], prog_name="dicewise")
finally:
    print(*sorted({"numba", "llvmlite", "numpy", "rich"} & set(sys.modules)))
"""
    assert process("--help", code=code).stdout.splitlines()[-1] == ""
    assert process("advise", "13346", code=code).stdout.splitlines()[-1] == "numpy rich"
    assert process("advise", "13346", "--json", code=code).stdout.splitlines()[-1] == "numpy"
    assert process("rules", code=code).stdout.splitlines()[-1] == "numpy rich"


def test_the_module_is_the_command() -> None:
    arguments = ("advise", "1", "3", "3", "4", "6", "--top", "3")
    as_module = process(*arguments)
    assert (as_module.returncode, as_module.stderr, as_module.stdout) == (0, "", said(*arguments))
    wrong = process("advise")
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (2, "", run("advise").stderr)
    installed = shutil.which("dicewise", path=os.path.dirname(sys.executable))
    if installed:
        done = subprocess.run(
            [installed, *arguments], capture_output=True, text=True, encoding="utf-8", check=True
        )
        assert done.stdout == as_module.stdout


@posix
def test_a_reader_that_has_enough_is_no_error() -> None:
    line = [sys.executable, "-m", "solver", "rules", "yahtzee"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as running:
        assert running.stdout and running.stderr
        running.stdout.close()
        assert running.stderr.read() == b""


def test_an_encoding_without_the_letters_loses_letters_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp437")
    done = process("rules", str(TINY / "card.toml"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 ? the sum of all dice + 10" in done.stdout


@posix
def test_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text, code = on_terminal("advise", "13346", "--top", "2", width=40)
    assert code == 0
    assert text.startswith("\x1b[1mKeep 3 3, reroll three dice: expected final score 251.41\x1b[0m\r\n")
    assert "  Keep 3 3 4, reroll two dice   249.98   1.43\r\n" in text
    monkeypatch.setenv("NO_COLOR", "1")
    plain, _ = on_terminal("advise", "13346", "--top", "2")
    assert plain.replace("\r\n", "\n") == said("advise", "13346", "--top", "2")


@posix
def test_progress_is_shown_on_a_terminal_and_taken_away() -> None:
    text, code = on_terminal("solve", str(TINY / "none.toml"), "--json")
    assert code == 0
    assert "Solving" in text
    last = text.split("\x1b[2K")[-1]
    assert json.loads(last)["states"] == solver.solve(TINY / "none.toml").states.count
