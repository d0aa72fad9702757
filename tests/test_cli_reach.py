"""`dicewise reach`, and `advise --goal` beside the file that it keeps."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import environment, home, misuse, refusal, run, said, tables
from games import solved

import solver
from solver import folders, reaching
from solver.chances_file import kept_path
from solver.cli.output import within

__all__ = ["home", "tables"]  # fixtures

LATE = "ones=3 twos=6 threes=9 fours=8 fives=15 full_house=20 choice=22 yacht=0"


def rows(text: str) -> dict[int, tuple[str, str]]:
    """The lines of the table: points, the best chance, that of play for points."""
    found = {}
    for line in text.splitlines():
        words = line.replace(" %", "%").replace("> ", ">").split()
        if len(words) == 3 and words[0].isdigit():
            found[int(words[0])] = (words[1], words[2])
    return found


def test_the_table_says_what_the_library_does() -> None:
    table = solved("yacht")
    best, usual = solver.reach(table, LATE), solver.distribution(table, LATE)
    text = said("reach", "yacht", "--card", LATE, "--step", "25")
    assert rows(text) == {
        score: (f"{best.chance(None, score):.2%}", f"{usual.at_least(score):.2%}")
        for score in range(100, 200, 25)
    }
    assert "Card   " + str(table.card(LATE)) in text
    assert "Each best chance is within 0.00040 percentage points of the exact one." in text
    assert sorted(rows(said("reach", "yacht", "--card", LATE))) == [100, 120, 140, 160, 180]


def test_json_has_every_score() -> None:
    table = solved("yacht")
    best, usual = solver.reach(table, LATE), solver.distribution(table, LATE)
    found = json.loads(said("reach", "yacht", "--card", LATE, "--json"))
    curve = best.curve()
    assert found == {
        "rules": "yacht",
        "card": table.card(LATE).as_dict(),
        "within": best.within,
        "kept": None,
        "scores": curve.scores.tolist(),
        "chances": curve.chances.tolist(),
        "for_points": [usual.at_least(score) for score in curve.scores.tolist()],
    }
    assert len(found["scores"]) > 80


def test_a_full_card_and_changed_rules() -> None:
    full = LATE + " sixes=18 four_of_a_kind=20 little_straight=0 big_straight=30"
    assert rows(said("reach", "yacht", "--card", full)) == {151: ("100.00%", "100.00%")}
    found = json.loads(said("reach", "yacht", "--set", "rolls=1", "--card", LATE, "--json"))
    other = solver.reach(solver.ruleset("yacht", {"rolls": 1}), LATE)
    assert found["chances"] == other.curve().chances.tolist()


def test_the_plot(home: Path) -> None:
    text = said("reach", "yacht", "--card", LATE, "--plot", "chances.svg")
    assert text.endswith("Plot: chances.svg\n")
    drawn = (home / "chances.svg").read_text("utf-8")
    for part in (
        "Chance of a final score or more: yacht",
        "playing for this very score",
        "playing for points",
    ):
        assert f"<!-- {part}" in drawn


def test_a_file_is_kept_and_then_looked_up(home: Path) -> None:
    path = kept_path(solved("yacht").states)
    assert path.parent == folders.cache_folder() == home / "cache" / "dicewise"
    text = said("reach", "yacht", "--keep", "--card", LATE)
    about = f"{path.stat().st_size / 1e6:.2f} MB"
    assert f"Kept for `dicewise advise --goal`: {path} ({about}, " in text
    assert "within 0.0020 percentage points of the exact one" in text
    again = said("reach", "yacht", "--card", LATE)
    assert again.endswith(f"Looked up in {path}\n")
    assert rows(again) == rows(text)

    asked = ("advise", "66251", "--rules", "yacht", "--goal", "200")
    found = json.loads(said(*asked, "--json"))
    wanted = solver.pursue(solved("yacht"), solver.Reach(200), exact=True).advise(None, "66251")
    assert (found["kept"], found["within"]) == (str(path), pytest.approx(1.963e-5, rel=1e-3))
    assert found["value"] == pytest.approx(wanted.value, abs=found["within"])
    assert found["best"]["dice"] == list(wanted.best.dice)
    line = f"Looked up in {path}: within 0.0020 percentage points of the exact chances.\n"
    assert line in said(*asked)
    # Only a score to reach is looked up.
    assert "Looked up" not in said("advise", "66251", "--rules", "yacht", "--floor")


def test_advice_from_a_file_needs_no_compiler(tables: Path, home: Path) -> None:
    said("reach", "yacht", "--keep")
    code = "import sys\nfrom solver.cli import command\n"
    code += "command(['advise', '66251', '--rules', 'yacht', '--goal', '200'], standalone_mode=False)\n"
    code += "print(*sorted({'numba', 'llvmlite'} & set(sys.modules)), 'none')"
    where = environment() | {"XDG_CACHE_HOME": str(home / "cache")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=where, check=True)
    assert "Looked up in" in done.stdout
    assert done.stdout.endswith("\n none\n") or done.stdout.endswith("\nnone\n")


def test_a_damaged_file_is_refused_by_name_of_its_fault() -> None:
    said("reach", "yacht", "--keep")
    path = kept_path(solved("yacht").states)
    path.write_bytes(path.read_bytes()[:-1])
    again = "copy it again, or make it again: dicewise reach NAME --keep"
    size = path.stat().st_size
    fault = f"{str(path)!r} ends after {size} of {size + 1} bytes; {again}"
    assert refusal("advise", "66251", "--rules", "yacht", "--goal", "200") == fault
    assert refusal("reach", "yacht") == fault
    assert "Kept for" in said("reach", "yacht", "--keep")
    assert "Looked up" in said("reach", "yacht")


def test_what_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        refusal("reach", "yacht", "--card", "ones=9") == "card: ones is 9, expected one of 0, 1, 2, 3, 4, 5"
    )
    assert refusal("reach", "yacht", "--plot", "a.pdf").startswith("plot 'a.pdf': found the ending '.pdf'")
    assert misuse("reach", "yacht", "--step", "0").startswith("Error: Invalid value for '--step'")
    monkeypatch.setattr(reaching, "MOST_BYTES", 2**20)
    assert refusal("reach", "yacht").startswith("chances of 'yacht': found up to 0.0 GB to hold in memory")
    (home / "cache").mkdir(exist_ok=True)
    (home / "cache" / "dicewise").write_bytes(b"")
    monkeypatch.setattr(reaching, "MOST_BYTES", 2**30)
    result = run("reach", "yacht", "--keep")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "cannot be written" in result.stderr


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (2.062951e-5, "within 0.0021 percentage points"),
        (4e-6, "within 0.00040 percentage points"),
        (1.2e-5, "within 0.0012 percentage points"),
        (0.0013001, "within 0.14 percentage points"),
        (0.2, "within 20 percentage points"),
        (0, "within rounding"),
    ],
)
def test_a_bound_is_rounded_up(bound: float, text: str) -> None:
    assert within(bound) == text
