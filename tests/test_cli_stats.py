"""The command line on what games are worth: stats and compare, and what real processes show."""

from __future__ import annotations

import importlib
import json
import re
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import command_line
import pytest
from command_line import TINY, misuse, on_terminal, posix, process, refusal, said
from games import solved, spread

import solver
from solver.cli.output import percent
from solver.distributions import bytes_to_hold
from solver.scope import Scope

home, tables = command_line.home, command_line.tables

PUBLISHED = tomllib.loads((Path(__file__).parent / "data" / "published.toml").read_text("utf-8"))


def exact(name: str, *where: Any) -> dict[str, Any]:
    """What `stats --json` is to say, from Python."""
    scores = solver.distribution(solved(name), *where)
    found = solver.statistics(scores).as_dict() | {"dice": None, "rerolls": None}
    found |= {"scores": scores.scores.tolist(), "probabilities": scores.probabilities.tolist()}
    return json.loads(json.dumps(found))


def row(text: str, label: str) -> list[str]:
    """The cells of the first line with this label."""
    line = next(line for line in text.splitlines() if line.strip().startswith(label))
    return re.split(r"\s{2,}", line.strip().removeprefix(label).strip())


# stats


def test_scores_too_many_to_hold_still_have_mean_and_deviation(monkeypatch: pytest.MonkeyPatch) -> None:
    known = exact_moments("yacht-clubhouse")
    monkeypatch.setattr(sys.modules["solver.distributions"], "MOST_BYTES", 10**6)
    text = said("stats", "yacht-clubhouse")
    assert row(text, "Mean") == [f"{known['mean']:.10f} points"]
    assert row(text, "Standard deviation") == [f"{known['standard_deviation']:.6f} points"]
    assert row(text, "Upper bonus") == ["69.02 %"]
    table = solved("yacht-clubhouse")
    needed = bytes_to_hold(Scope.of(table.states, table.ruleset.card()))
    assert needed > 1300 * table.states.following(0)
    held = f"the chance of every score would take {needed / 1e6:.2f} MB to hold"
    assert text.endswith(f"\n\nExact; {held}.\n")
    answer = json.loads(said("stats", "yacht-clubhouse", "--json"))
    assert answer == known | {"dice": None, "rerolls": None, "distribution_bytes": needed}
    refused = refusal("stats", "yacht-clubhouse", "--plot", "never.svg")
    assert refused == f"--plot 'never.svg': {held}; expected no plot"
    # With few boxes open all scores are said, and a goal is refused as before.
    card = "ones=1 twos=2 threes=3 fours=4 fives=5 sixes=6 choice=20 four_of_a_kind=0 full_house=0 yacht=0"
    assert "Histogram" in said("stats", "yacht-clubhouse", "--card", card)
    refused = refusal("stats", "yacht-clubhouse", "--floor")
    assert refused.startswith("distribution of 'yacht-clubhouse': found")
    assert refused.endswith(" GB; start from a card with more boxes filled")


def exact_moments(name: str) -> dict[str, Any]:
    """What is left of `stats --json` where the scores are too many."""
    found = solver.moments(name).as_dict()
    scores = spread(name)
    assert found["mean"] == pytest.approx(scores.mean)
    assert found["standard_deviation"] == pytest.approx(scores.standard_deviation)
    return found


def test_published_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    # Worked out once in a run of all tests; that the command does so itself is seen with a smaller game.
    scores = spread("yahtzee-free-joker")
    monkeypatch.setattr("solver.library.solve", lambda *_, **__: scores.table)
    module = sys.modules["solver.distributions"]
    monkeypatch.setattr(module, "distribution", lambda *_, **__: scores)
    known = PUBLISHED["distributions"]["yahtzee-free-joker"]
    text = said("stats", "yahtzee-free-joker")
    assert text.startswith("Yahtzee, free joker: ")
    assert row(text, "Mean") == ["254.5896094820 points"]
    assert row(text, "Upper bonus") == ["68.12 %"]
    assert row(text, "Points in Yahtzee") == ["33.74 %"]
    assert row(text, "Bonuses of 100") == ["0.0958 a game"]
    assert row(text, "Least score")[0].startswith("12, probability 2.")
    assert row(text, "Greatest score")[0].startswith("1575, probability ")
    shares, quantiles = (line.split() for line in text.splitlines() if re.match(r"\s+(1 %|151)", line))
    assert quantiles[[share for share in shares if share != "%"].index("50")] == str(known["median"])
    boxes = text[text.index("\nBoxes") :]
    for rule in solver.ruleset("yahtzee-free-joker").categories:
        mean, zero, *_ = row(boxes, rule.title)
        assert float(mean) == pytest.approx(known["boxes"][rule.key]["mean"], abs=0.0051)
        assert float(zero.removesuffix(" %")) == pytest.approx(
            known["boxes"][rule.key]["percent_zero"], abs=0.0101
        )
    assert row(boxes, "Upper bonus")[1] == "31.88 %"
    assert row(boxes, "Sum") == ["254.5896"]
    assert all(line == line.rstrip() for line in text.splitlines())


def test_statistics_in_json_are_those_of_python() -> None:
    found = json.loads(said("stats", "yacht", "--json"))
    assert found == exact("yacht")
    assert found["mean"] == pytest.approx(166.955067704572, abs=1e-11)
    assert sum(found["probabilities"]) == pytest.approx(1, abs=1e-12)
    assert sum(s * p for s, p in zip(found["scores"], found["probabilities"], strict=True)) == pytest.approx(
        found["mean"], abs=1e-9
    )
    assert sum(found["parts"].values()) == pytest.approx(found["mean"], abs=1e-9)
    assert json.loads(said("stats", "yacht", "--json", "--threads", "1")) == found


def test_the_histogram_adds_up() -> None:
    found = json.loads(said("stats", "yacht", "--json"))
    bars = found["histogram"]
    assert sum(one["probability"] for one in bars) == pytest.approx(1, abs=1e-12)
    assert (bars[0]["low"], bars[-1]["high"]) == (found["least"]["score"], found["greatest"]["score"])
    for one, following in pairwise(bars):
        assert following["low"] == one["high"] + 1
    assert {one["high"] + 1 - one["low"] for one in bars[1:-1]} == {10}
    inside = [p for s, p in zip(found["scores"], found["probabilities"], strict=True) if 160 <= s < 170]
    (one,) = (one for one in bars if one["low"] == 160)
    assert one["probability"] == pytest.approx(sum(inside), abs=1e-15)
    text = said("stats", "yacht")
    lines = [line for line in text.splitlines() if "–" in line]
    assert len(lines) == len(bars)
    assert max(line.count("█") for line in lines) > 45
    assert f"  160–169   {100 * one['probability']:.2f} %  █" in text


def test_from_a_card_and_dice() -> None:
    card = "ones=3 yacht=50"
    where = ("--card", card, "--dice", "1 3 3 4 6", "--rerolls", "1")
    found = json.loads(said("stats", "yacht", "--json", *where))
    wanted = exact("yacht", card, "13346", 1) | {"dice": [1, 3, 3, 4, 6], "rerolls": 1}
    assert found == wanted
    assert found["mean"] == pytest.approx(solved("yacht").advise(card, "13346", 1).value, abs=1e-9)
    text = said("stats", "yacht", *where)
    assert row(text, "Card") == [card]
    assert row(text, "Dice") == ["1 3 3 4 6, rerolls left: 1"]
    assert row(text, "Ones") == ["3.0000", "0.00 %", "0.00 %"]
    assert "\n  100  > 99.99 %\n  150    91.35 %\n" in text
    assert json.loads(said("stats", "yacht", "--json", "--dice", "13346"))["rerolls"] == 2


def test_a_full_card_has_one_score() -> None:
    card = " ".join(f"{key}=0" for key in solver.ruleset("yacht").keys if key != "choice") + " choice=7"
    text = said("stats", "yacht", "--card", card)
    assert row(text, "Mean") == ["7.0000000000 points"]
    assert row(text, "Least score") == ["7, probability 100.00 %"]
    assert "  7  100.00 %  ████" in text
    assert "Chance of so many" not in text


def test_changed_rules_and_files() -> None:
    one = json.loads(said("stats", "yacht", "--set", "rolls=2", "--json"))
    assert one == json.loads(said("stats", "yacht[rolls=2]", "--json"))
    assert (one["rules"], one["mean"]) == ("yacht[rolls=2]", pytest.approx(125.89951541312, abs=1e-9))
    for path in sorted(TINY.glob("*.toml")):
        assert json.loads(said("stats", str(path), "--json"))["mean"] == pytest.approx(
            solved(str(path)).value(), abs=1e-9
        )
        assert said("stats", str(path)).count("\n  Sum ") == 1


@pytest.mark.parametrize("name", ["yacht.png", "yacht.svg"])
def test_a_plot_of_a_game(home: Path, name: str) -> None:
    text = said("stats", "yacht", "--plot", name)
    assert text.endswith(f"\nPlot: {name}\n")
    assert (home / name).read_bytes().startswith(b"\x89PNG" if name.endswith("png") else b"<?xml")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--plot", "x.pdf"], "plot 'x.pdf': found the ending '.pdf', expected .png or .svg"),
        (
            ["--plot", "no/x.png"],
            f"--plot {str(Path('no', 'x.png'))!r}: found no folder 'no', expected one that is there",
        ),
        (["--dice", "1 3 3 4"], "dice '1 3 3 4': found 4 dice, expected 5"),
        (["--dice", "13346", "--rerolls", "3"], "rerolls 3: expected a whole number from 0 to 2"),
        (["--card", "ones=9"], "card: ones is 9, expected one of 0, 1, 2, 3, 4, 5"),
        (["--set", "rolls=0"], "yacht[rolls=0]: rolls: found 0, expected a whole number from 1 to 100"),
    ],
)
def test_statistics_refused(arguments: list[str], line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.library.solve", None)
    assert refusal("stats", "yacht", *arguments) == line


def test_a_plot_without_its_library(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = 'plots need matplotlib, which is not installed: python3 -m pip install "dicewise[plot]"'
    assert refusal("stats", "yacht", "--plot", "x.png") == line
    assert refusal("compare", "yacht", "--plot", "x.svg") == line
    assert list(home.iterdir()) == []


def test_statistics_called_wrongly() -> None:
    assert misuse("stats") == "Error: Missing argument 'NAME|FILE'."
    expected = "Error: --rerolls goes with --dice, which says what is on the table"
    assert misuse("stats", "yacht", "--rerolls", "1") == expected


# compare


def test_a_comparison_at_a_glance() -> None:
    assert said("compare", "yacht", "yacht-sum") == (
        "Rules       Expected   Difference   Deviation   5 %   Median   95 %   Upper bonus   Top box\n"
        "───────────────────────────────────────────────────────────────────────────────────────────\n"
        "yacht       166.9551      +0.0000       34.98   111      167    231        0.00 %   27.33 %\n"
        "yacht-sum   169.7739      +2.8188       35.30   114      169    234        0.00 %   27.46 %\n"
    )


def test_a_comparison_in_json_is_that_of_python() -> None:
    found = json.loads(said("compare", "yacht", "yacht-sum", "--json"))
    assert found == solver.compare(["yacht", "yacht-sum"]).as_dict()
    assert found["rows"][1]["difference"] == pytest.approx(2.818821348066, abs=1e-9)


def test_all_games_unless_some_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        importlib.import_module("solver.cli.compare"), "names_with_table", lambda: ("yacht", "yacht-sum")
    )
    found = json.loads(said("compare", "--json", "--set", "rolls=1"))
    assert [one["rules"] for one in found["rows"]] == ["yacht[rolls=1]", "yacht-sum[rolls=1]"]


def test_the_values_of_a_rule(home: Path) -> None:
    name = "yacht-clubhouse"
    text = said("compare", name, "--vary", "upper_bonus.points=0,35", "--plot", "x.svg")
    lines = text.splitlines()
    assert lines[0].split()[0] == name
    assert [line.split()[0] for line in lines[2:4]] == ["upper_bonus.points=0", "upper_bonus.points=35"]
    assert lines[3].split()[1] == "191.7744"
    assert lines[5] == "Plot: x.svg"
    assert "<!-- yacht-clubhouse[upper_bonus.points=35], mean 191.77 -->" in (home / "x.svg").read_text()


def test_values_in_brackets_are_not_split() -> None:
    path = str(TINY / "card.toml")
    listed = json.loads(said("compare", path, "--vary", "upper_bonus=[],[{at=6,points=5}]", "--json"))
    points = json.loads(said("compare", path, "--vary", "upper_bonus.points=0,5", "--json"))
    assert [one["rules"] for one in listed["rows"]] == [
        f"{path}[upper_bonus={value}]" for value in ("[]", "[{at = 6, points = 5}]")
    ]
    for one, other in zip(listed["rows"], points["rows"], strict=True):
        assert {**one, "rules": ""} == {**other, "rules": ""}


def test_what_the_joker_adds() -> None:
    found = json.loads(
        said("compare", str(TINY / "free.toml"), "--vary", "yahtzee.joker=none,free,forced", "--json")
    )
    names = [f"{TINY / 'free.toml'}[yahtzee.joker={kind}]" for kind in ("none", "free", "forced")]
    assert [one["rules"] for one in found["rows"]] == names
    for one in found["rows"]:
        assert one["expected_score"] == solver.solve(one["rules"]).value()
        assert one["difference"] == one["expected_score"] - found["rows"][0]["expected_score"]


def test_combinations_with_what_is_set() -> None:
    text = said("compare", "yacht", "--set", "title=t", "--vary", "rolls=1,2", "--vary", "order=card,free")
    lines = text.splitlines()
    assert lines[0].startswith("yacht[title=t]   ")
    assert [line.split()[0] for line in lines[2:]] == [
        f"rolls={rolls},order={order}" for rolls in (1, 2) for order in ("card", "free")
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["--vary", "yahtzee.joker=none,fre"],
            'yahtzee[yahtzee.joker=fre]: yahtzee.joker: found "fre", expected "none", "free" or "forced"',
        ),
        (
            ["--vary", "yahtzee.jokr=none"],
            "yahtzee[yahtzee.jokr=none]: yahtzee.jokr: found an unknown key, expected one of: category, "
            'bonus, joker (did you mean "joker"?)',
        ),
        (["--vary", "rolls"], '--vary: found "rolls", expected a key with its values, such as rolls=2,3,4'),
        (
            ["--vary", "rolls=2,,3"],
            "--vary: rolls: found nothing, expected a word or a value as in TOML, "
            'such as 50, "text" or [1, 2]',
        ),
        (["--plot", "x.gif"], "plot 'x.gif': found the ending '.gif', expected .png or .svg"),
    ],
)
def test_comparisons_refused(arguments: list[str], line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.library.solve", None)
    assert refusal("compare", "yahtzee", *arguments) == line


def test_comparisons_called_wrongly() -> None:
    expected = "Error: --vary: found rolls twice, expected all its values in one list"
    assert misuse("compare", "yacht", "--vary", "rolls=2", "--vary", "rolls=3") == expected
    expected = "Error: found --set rolls and --vary rolls, expected one of them"
    assert misuse("compare", "yacht", "--vary", "rolls=1,2", "--set", "title=t,rolls=3") == expected


def test_single_tiers_are_shown_with_their_keys() -> None:
    assert said("rules", "yatzy").endswith("categories.KEY.title; upper_bonus has .at and .points\n")
    assert said("rules", "yacht").endswith("categories.KEY.title\n")


# real processes and terminals


def test_help_says_what_each_does() -> None:
    for word in ("stats", "compare", "simulate"):
        assert said(word, "--help").startswith(f"Usage: dicewise {word} ")
        assert word in said("--help")


def test_only_what_is_asked_for_is_imported() -> None:
    code = """
import sys
from solver.cli import command
try:
    command(sys.argv[1:], prog_name="dicewise")
finally:
    print(*sorted({"numba", "numpy", "matplotlib"} & set(sys.modules)))
"""
    assert process("compare", "--help", code=code).stdout.splitlines()[-1] == ""
    assert process("advise", "13346", code=code).stdout.splitlines()[-1] == "numpy"
    done = process("advise", "13346", "--rules", "yacht", "--json", "--explain", code=code)
    assert done.stdout.splitlines()[-1] == "numba numpy"


def test_a_plot_in_a_process_of_its_own(home: Path) -> None:
    path = str(TINY / "tiers.toml")
    done = process("compare", path, "--vary", "rolls=1,2", "--plot", "x.png")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == said("compare", path, "--vary", "rolls=1,2", "--plot", "y.png").replace(
        "y.png", "x.png"
    )
    assert (home / "x.png").read_bytes() == (home / "y.png").read_bytes()


@posix
def test_two_tables_where_a_terminal_is_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    path = str(TINY / "none.toml")
    text, code = on_terminal("compare", path, path)
    assert code == 0
    assert "Comparing" in text
    shown = text.split("\x1b[2K")[-1].replace("\r\n", "\n").splitlines()
    heads = [line.split()[1:] for line in shown if line.startswith("Rules")]
    assert heads == [
        ["Expected", "Difference", "Deviation"],
        ["5", "%", "Median", "95", "%", "Upper", "bonus", "Top", "box"],
    ]


@posix
def test_progress_of_statistics_and_games() -> None:
    path = str(TINY / "none.toml")
    for words in (("stats", path, "--json"), ("simulate", path, "-n", "10", "--json")):
        text, code = on_terminal(*words)
        assert code == 0
        assert ("Adding up the games" if words[0] == "stats" else "Playing") in text
        assert json.loads(text.split("\x1b[2K")[-1])["rules"] == path


@pytest.mark.parametrize(
    ("share", "text"),
    [
        *((0.0, "0.00 %"), (9e-5, "9.0e-03 %"), (1e-4, "0.01 %"), (0.99994, "99.99 %")),
        *((0.99995, "> 99.99 %"), (1 - 1e-11, "> 99.99 %"), (1.0, "100.00 %")),
        (1 - 1e-13, "100.00 %"),  # What sums of float64 make of 1.
    ],
)
def test_what_is_possible_or_uncertain_looks_so(share: float, text: str) -> None:
    assert percent(share) == text
