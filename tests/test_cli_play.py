"""The command line at the table: play, match and players."""

from __future__ import annotations

import json
import re
from pathlib import Path
from time import sleep

import command_line
import pytest
from click.testing import CliRunner, Result
from command_line import TINY, misuse, on_terminal, posix, refusal, said
from games import solved
from test_cli_stats import row

import solver
from solver.cli import command
from solver.game import Game
from solver.matches import match
from solver.players import exact_strengths, loss_of

home, tables = command_line.home, command_line.tables
FREE = str(TINY / "free.toml")


def typed(lines: str, *arguments: str) -> str:
    """What `dicewise play` shows to someone who types these lines."""
    result: Result = CliRunner().invoke(command, ["play", *arguments], input=lines, prog_name="dicewise")
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


# play


def test_a_whole_game_alone() -> None:
    """Two dice, two rolls, four boxes; the second pair brings a bonus of 9 as the pair's box is filled."""
    lines = "5 5\npair\n\n66\nf 2\n\n12\n2\n1\n4\n\n11\nfives\n\n"
    text = typed(lines, FREE, "--seats", "human", "--dice", "typed", "--seed", "1")
    assert "you; seed 1; help says what to type" in text
    assert [f"you, turn {turn} of 4" in text for turn in (1, 2, 3, 4, 5)] == [True] * 4 + [False]
    game = Game.new(FREE, 1, 1)
    for dice, choice in (("55", "pair"), ("66", "sixes"), ("12", (2,)), ("12", "run"), ("11", "fives")):
        game.roll(dice)
        if isinstance(choice, tuple):
            game.keep(choice)
        else:
            game.fill(choice)
    assert f"The game is over with {game.totals[0]} points." in text
    table = solver.load(FREE)
    losses = [loss_of(table, decision)[0] for decision in game.decisions]
    shown = text[text.index("What each decision of you gave away") :]
    assert [line.split()[-1] for line in shown.splitlines() if "keep 2" in line] != []
    for loss in losses:
        assert f" {loss:.2f}" in shown
    perfect = sum(loss < 0.005 for loss in losses)
    assert shown.endswith(f"five decisions, {perfect} without loss; in all {sum(losses):.2f} points.\n")


def test_typing_decides_as_it_says() -> None:
    lines = "66612\n6 6 6\n12\n66\nundo\n6 6\n1 1 1\n2\n\n22222\nyacht\n\n13345\nsix\n\n"
    text = typed(lines, "yacht", "--seats", "human", "--dice", "typed")
    # With no reroll left a number alone is a box: the second one, Twos, though no die shows a 2.
    assert "Twos: 0 points. Enter goes on, undo takes it back > " in text
    assert "Yacht: 50 points." in text
    assert "Sixes: 0 points." in text
    assert text.count("one reroll left") >= 1
    assert "Nothing more to read: the game stops here." in text
    assert "The game is not over." in text


def test_what_is_typed_wrongly_is_said_and_changes_nothing() -> None:
    lines = (
        "9\n66612\n5\n66612\nnothing\nf 13\nf " + "9" * 5000 + "\nf x\nt\nsave\nsave no/where.json\nkeep 7\n"
    )
    lines += "? 3\nhelp\ncard\n?\nquit\n"
    text = typed(lines, "yacht", "--seats", "human", "--dice", "typed")
    for line in (
        "dice '9': found '9', expected faces 1 to 6",
        "keep 5: expected some of the dice 1 2 6 6 6",
        "keep 1 2 6 6 6: expected fewer than all dice, or a box to fill",
        "fill 'nothing': there is no such box; expected ones, twos",
        "fill 13: expected the number of a box, from 1 to 12",
        f"fill {'9' * 59}…: expected the number of a box, from 1 to 12",
        "fill 't': it may be twos or threes",
        "save: expected the name of a file",
        "'no/where.json' cannot be written: there is no folder 'no'",
        "dice '7': found '7', expected faces 1 to 6",
        "  quit                         stop",
        "  keep 6 6 6  ",
    ):
        assert line in text, line
    assert "Nothing more to read" not in text
    assert "What each decision" not in text


@pytest.mark.parametrize(
    ("name", "examples", "number", "filled"),
    [
        ("yacht", "full_house, full house, f 7", "7", "Full House"),
        ("crag", "odd_straight, odd straight, f 7", "7", "Odd Straight"),
        (FREE, "run, f 4", "4", "Run"),
    ],
)
def test_help_has_a_box_of_the_game_as_its_example(
    name: str, examples: str, number: str, filled: str
) -> None:
    text = typed("help\nquit\n", name, "--seats", "human", "--seed", "1")
    assert f"  {examples} " in text
    assert re.search(rf"^  {number} +the same, where no reroll is left$", text, re.MULTILINE)
    for example in examples.split(", "):
        text = typed(f"{example}\n", name, "--seats", "human", "--seed", "1")
        assert f"{filled}: " in text


@pytest.mark.parametrize("line", ["keep", "k", "keep ,", ",", "keep --"])
def test_all_dice_are_rerolled_only_where_that_is_said(line: str) -> None:
    """A reroll is not to be taken back, so half a command must not be one."""
    text = typed(f"66612\n{line}\n", "yacht", "--seats", "human", "--dice", "typed")
    assert "keep: expected dice such as keep 3 3, or keep none\n" in text
    assert text.count("1 2 6 6 6   two rerolls left > ") == 2


@pytest.mark.parametrize("line", ["keep none", "k none", "keep nothing", "keep -", "-"])
def test_keeping_nothing(line: str) -> None:
    text = typed(f"66612\n{line}\n12345\n", "yacht", "--seats", "human", "--dice", "typed")
    assert "1 2 3 4 5   one reroll left > " in text
    assert "keep nothing" in text[text.index("What each decision of you gave away") :]


def test_dice_are_kept_as_they_are_typed() -> None:
    for line in ("keep 6 6", "k 66", "keep 6-6", "66", "6,6"):
        text = typed(f"66612\n{line}\n12345\n666\n", "yacht", "--seats", "human", "--dice", "typed")
        assert "Dice of you beside 6 6: " in text


def test_taking_back() -> None:
    text = typed(
        "66612\nundo\nsixes\nwhat\nundo\nchoice\n\n11111\nundo\n",
        "yacht",
        "--seats",
        "human",
        "--dice",
        "typed",
    )
    assert text.count("undo: expected a decision after which no dice were rolled") == 2
    assert "expected Enter, undo, card, save FILE or quit" in text
    end = text[text.index("Nothing more to read") :]
    assert row(end, "11   Choice") == ["21"]
    assert "one decision, 0 without loss" in end


def test_saving_and_going_on(home: Path) -> None:
    whole = typed("6\n\n\n", "yacht", "--seed", "4", "--seats", "human,greedy")
    first = typed("6\nsave g.json\n", "yacht", "--seed", "4", "--seats", "human,greedy")
    assert "Saved; dicewise play --load g.json goes on with it." in first
    saved = Path("g.json").read_text("utf-8")
    assert saved.count("\n") == 1
    game = Game.from_record(saved)
    assert game.players == ("human", "greedy")
    second = typed("quit\n", "--load", "g.json")
    assert "you, greedy; seed 4" in second
    dice = " ".join(map(str, game.dice or ()))
    assert f"{dice}   one reroll left > quit" in second
    assert f"{dice}   one reroll left > " in whole
    assert "quit\n" in typed("quit\n", "yacht", "--load", "g.json")


def test_a_file_that_is_no_saved_game_is_not_replaced(home: Path) -> None:
    """Its name may be typed by mistake; a saved game may be written over."""
    contents = {"house.toml": b'extends = "yacht"\n', "a.json": b'{"a": 1}', "empty": b"", "raw": b"\xff\x00"}
    for name, held in contents.items():
        Path(name).write_bytes(held)
    Path("folder").mkdir()
    Path("g.json").write_text(str(Game.new("crag", 1, 1)), "utf-8")
    names = [*contents, "folder", "g.json", "new.json"]
    lines = "".join(f"save {name}\n" for name in names)
    text = typed(f"{lines}save a\0b\n", "yacht", "--seed", "4", "--seats", "human")
    for name, held in contents.items():
        line = f"save {name!r}: found another file there, expected none or a saved game to replace"
        assert line in text
        assert Path(name).read_bytes() == held
    assert "'folder' cannot be written: it is a folder" in text
    assert "'a\\x00b' cannot be written: embedded null byte" in text
    assert text.count("Saved; dicewise play --load") == 2
    for name in ("g.json", "new.json"):
        assert Game.from_record(Path(name).read_text("utf-8")).ruleset.name == "yacht"
    assert sorted(path.name for path in home.iterdir() if path.name != "cache") == sorted(names)


def test_names_in_a_record_are_names(home: Path) -> None:
    """A record of the page has "you" in it, others have names of people: they type."""
    game = Game.new("yacht", 2, 4, players=("you", "club"))
    Path("page.json").write_text(str(game), "utf-8")
    assert "you, club; seed 4; help says what to type" in typed("quit\n", "--load", "page.json")
    people = Game.new("yacht", 3, 4, players=("Ann", "human", "strengthen"))
    Path("people.json").write_text(str(people), "utf-8")
    assert "Ann, you, strengthen; seed 4" in typed("quit\n", "--load", "people.json")
    wrong = Game.new("yacht", 2, 4, players=("you", "reach:x"))
    Path("wrong.json").write_text(str(wrong), "utf-8")
    assert refusal("play", "--load", "wrong.json").startswith("player 'reach:x': expected reach:N")


def test_a_record_of_other_rules_needs_their_file(home: Path) -> None:
    Path("house.toml").write_text('extends = "yacht"\nrolls = 2\n', "utf-8")
    Path("g.json").write_text(str(Game.new("house.toml", 1, 4)), "utf-8")
    said = refusal("play", "--load", "g.json")
    assert said.startswith('rules: found "house.toml", expected a game')
    assert said.endswith("; or their rules file beside --load")
    assert "quit\n" in typed("quit\n", "house.toml", "--load", "g.json")


def test_players_of_the_computer_among_themselves() -> None:
    arguments = ("yatzy-forced", "--seats", "optimal,random,optimal", "--seed", "3", "--first", "roll")
    text = typed("", *arguments)
    assert text == typed("", *arguments)
    assert "optimal 1, random, optimal 2; seed 3\n" in text
    line = r"^(optimal 1|random|optimal 2) for the first turn: (\d ){4}\d, \d+ points$"
    assert len(re.findall(line, text, re.MULTILINE)) >= 3
    assert text.count(", turn 15 of 15") == 3
    totals = [int(points) for points in row(text[text.rindex("Box") :], "Total")]
    assert f"wins with {max(totals)} points." in text
    assert "What each decision" not in text


def test_a_player_to_win_says_what_it_does() -> None:
    text = typed("", "yatzy-forced", "--seats", "win,random", "--seed", "1", "--seconds", "60")
    assert re.search(r"\(played to win: \d+\.\d\d %\)", text)


def test_playing_called_wrongly(home: Path) -> None:
    assert refusal("play", "yacht", "--seats", "best").startswith("player 'best': expected one of optimal")
    assert refusal("play", "yacht", "--seats", "").startswith("player ''")
    for first in ("3", "0", "-1", "x", "", "highest roll"):
        refused = refusal("play", "yacht", "--first", first)
        assert refused == f"--first {first!r}: expected a seat from 1 to 2, or roll"
    refused = refusal("play", "yacht", "--seats", "optimal", "--first", "2")
    assert refused == "--first '2': expected a seat from 1 to 1, or roll"
    assert refusal("play", "yacht", "--seats", "strength:9").startswith("strength 9: expected points from")
    for option in ("--seats=human", "--seed=1", "--first=1", "--set=rolls=4"):
        ends = "no --seats, --seed, --first or --set beside it"
        assert misuse("play", "--load", "a", option).endswith(ends)
    assert refusal("play", "--load", "none.json") == "none.json: No such file or directory"
    Path("bad.json").write_text("{}", "utf-8")
    assert refusal("play", "--load", "bad.json").startswith("record: found no key 'dicewise_game'")
    Path("cut.json").write_text(str(Game.new("yacht"))[:-9], "utf-8")
    assert refusal("play", "--load", "cut.json").startswith("record '")
    Path("other.json").write_text(str(Game.new("yacht")), "utf-8")
    assert refusal("play", "yatzy", "--load", "other.json").startswith(
        "record: the rules 'yatzy' are not those"
    )


@posix
def test_playing_on_a_terminal() -> None:
    def waits(text: str) -> bool:
        if "rerolls left > " not in text:
            return False
        sleep(0.5)  # The question is there a moment before the answer is waited for.
        return True

    shown, code = on_terminal("play", "yacht", "--seats", "human", "--seed", "1", when=waits)
    assert code == 130
    assert "two rerolls left > " in shown
    assert "stopped, no file is left half written" in shown


# match and players


def test_a_match() -> None:
    arguments = ("match", "optimal", "club", "-n", "2000", "--rules", "yacht", "--seed", "5")
    found = json.loads(said(*arguments, "--json"))
    wanted = match(solved("yacht"), ["optimal", "club"], 2000, seed=5)
    assert found == json.loads(json.dumps(wanted.as_dict()))
    text = said(*arguments)
    seat = wanted.seats[0]
    assert row(text, "optimal") == [
        f"{100 * seat.wins:.2f} %",
        f"{100 * seat.wins_error:.2f} %",
        f"{seat.mean:.2f}",
        f"{seat.mean_error:.2f}",
        f"{seat.standard_deviation:.2f}",
    ]
    assert f"2,000 games, seed 5; {100 * wanted.ties:.2f} % of the games are ties, shared." in text


def test_a_match_of_one_game_has_no_errors() -> None:
    arguments = ("match", "optimal", "greedy", "-n", "1", "--rules", "yacht")
    text = said(*arguments)
    assert [row(text, player)[index] for player in ("optimal", "greedy") for index in (1, 3)] == ["-"] * 4
    assert "  1 game, seed 0; " in text
    seats = json.loads(said(*arguments, "--json"))["seats"]
    assert [(seat["wins_error"], seat["mean_error"]) for seat in seats] == [(None, None)] * 2


def test_a_match_called_wrongly() -> None:
    assert misuse("match", "-n", "3") == "Error: Missing argument 'PLAYER...'."
    assert misuse("match", "optimal") == "Error: Missing option '--games' / '-n'."
    assert refusal("match", "best", "-n", "1", "--rules", "yacht").startswith(
        "player 'best': expected one of"
    )
    assert refusal("match", "risk:9", "-n", "1", "--rules", "yacht").startswith("risk 9.0: expected")


def test_the_players_of_a_game() -> None:
    found = json.loads(said("players", FREE, "--json"))
    wanted = exact_strengths(solver.solve(FREE))
    players = [one._asdict() for one in wanted]
    for one in players:
        one["temperature"] = None if one["player"] == "random" else one["temperature"]
    assert found == {"rules": FREE, "players": json.loads(json.dumps(players))}
    text = said("players", FREE)
    for one in wanted:
        assert row(text, one.player)[:2] == [f"{one.mean:.2f}", f"{one.standard_deviation:.2f}"]
    assert f"averages M points, from {wanted[0].mean:.2f} to {wanted[-1].mean:.2f}" in text


def test_players_called_wrongly() -> None:
    assert misuse("players") == "Error: Missing argument 'NAME|FILE'."
    assert refusal("players", "nowhere.toml") == refusal("solve", "nowhere.toml")


@pytest.mark.parametrize("name", ["play", "match", "players"])
def test_help_has_examples(name: str) -> None:
    assert f"dicewise {name} " in said(name, "--help")


def test_saved_rolls_are_there_in_the_next_turn() -> None:
    game = f"{TINY / 'colours.toml'}[save_rolls=true]"
    text = typed("small\n\n1\n", game, "--seats", "human", "--seed", "3")
    assert re.findall(r"Saved rolls +(\d)", text)[:2] == ["0", "1"]
    assert re.findall(r"\d \d \d   (.*) left > ", text) == ["one reroll", "two rerolls", "one reroll"]
