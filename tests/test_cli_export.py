"""`dicewise export`: files of labelled positions, from the command line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import command_line
from command_line import misuse, on_terminal, posix, process, refusal, said
from games import solved
from pyarrow import parquet

import solver
from solver.cli import export as command
from solver.export import EPSILON, SOURCES, positions
from solver.scorecard import Position

home, tables = command_line.home, command_line.tables


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_command_writes_what_the_module_does(home: Path) -> None:
    line = said("export", "yacht", "-n", "30", "--seed", "4", "--output", "found.jsonl")
    size = (home / "found.jsonl").stat().st_size
    assert line.startswith(f"Wrote 30 positions of yacht to found.jsonl ({size / 1e3:.1f} kB) in ")
    expected = [record.as_dict() for record in positions(solved("yacht"), 30, seed=4)]
    assert rows(home / "found.jsonl") == expected
    arguments = [
        "export",
        "yacht",
        "-n",
        "30",
        "--seed",
        "4",
        "-o",
        "found.PARQUET",
        "--threads",
        "1",
        "--json",
    ]
    written = json.loads(said(*arguments))
    assert written["positions"] == 30
    assert written["bytes"] == (home / "found.PARQUET").stat().st_size
    assert list(written) == ["rules", "positions", "source", "epsilon", "seed", "output", "bytes", "seconds"]
    assert parquet.read_table(home / "found.PARQUET").to_pylist() == expected


def test_the_command_takes_sources_and_changes(home: Path) -> None:
    arguments = ["export", "yacht", "-n", "5", "--output", "found.jsonl"]
    said(*arguments, "--source", "perturbed", "--epsilon", "0.5", "--set", "rolls=2")
    table = solver.solve(solver.ruleset("yacht", {"rolls": 2}))
    expected = positions(table, 5, source="perturbed", epsilon=0.5)
    found = rows(home / "found.jsonl")
    assert found == [record.as_dict() for record in expected]
    assert found[0]["position"].startswith("yacht[rolls=2] | ")
    assert Position.parse(found[0]["position"]).card.ruleset.rolls == 2
    assert command.SOURCES == SOURCES
    assert command.EPSILON == EPSILON


def test_what_the_command_refuses(home: Path) -> None:
    whole = ["export", "yacht", "-n", "5", "--output"]
    assert refusal(*whole, "found.csv") == (
        "export 'found.csv': found the ending '.csv', expected .jsonl or .parquet"
    )
    assert refusal(*whole, "nowhere/found.jsonl") == (
        "--output 'nowhere/found.jsonl': found no folder 'nowhere', expected one that is there"
    )
    (home / "folder.jsonl").mkdir()
    assert refusal(*whole, "folder.jsonl").startswith("--output 'folder.jsonl': found a folder")
    assert "--epsilon is for --source perturbed" in misuse(*whole, "found.jsonl", "--epsilon", "0.1")
    assert "Missing option '--output'" in misuse("export", "yacht", "-n", "5")
    assert "Invalid value for '--positions' / '-n'" in misuse("export", "yacht", "-n", "0", "-o", "x.jsonl")
    assert "Invalid value for '--source'" in misuse(*whole, "found.jsonl", "--source", "best")
    assert refusal("export", "yachd", "-n", "5", "-o", "x.jsonl").startswith('rules: found "yachd"')
    assert os.listdir(home) == ["folder.jsonl"]


@posix
def test_a_progress_bar_on_a_terminal(home: Path) -> None:
    shown, code = on_terminal("export", "yacht", "-n", "2000", "--output", "found.jsonl")
    assert code == 0
    assert "Writing positions of yacht" in shown
    assert "Wrote 2,000 positions of yacht to found.jsonl" in shown


@posix
def test_stopping_leaves_no_file(home: Path) -> None:
    shown, code = on_terminal(
        "export", "yacht", "-n", "10000000", "-o", "found.jsonl", when=lambda text: "Writing" in text
    )
    assert code == 130
    assert "stopped, no file is left half written" in shown
    assert not [name for name in os.listdir(home) if "found" in name or "part" in name]


def test_help_and_json_lines_need_no_pyarrow(home: Path) -> None:
    code = "import sys, solver.export, solver.cli.export; print({'pyarrow', 'numba'} & set(sys.modules))"
    assert process(code=code).stdout == "set()\n"
    code = "import sys, solver.cli.export; print('numpy' in sys.modules)"
    assert process(code=code).stdout == "False\n"


@posix
def test_a_file_is_written_where_a_link_leads_and_over_nothing_but_files(home: Path) -> None:
    (home / "there").mkdir()
    (home / "link.jsonl").symlink_to(Path("there", "a.jsonl"))
    for _ in range(2):
        said("export", "yacht", "-n", "2", "-o", "link.jsonl")
        assert (home / "link.jsonl").is_symlink()
        assert len((home / "there" / "a.jsonl").read_text("utf-8").splitlines()) == 2
    os.mkfifo(home / "pipe.jsonl")
    assert refusal("export", "yacht", "-n", "2", "-o", "pipe.jsonl") == (
        "--output 'pipe.jsonl': found something that is no regular file, expected a file or nothing"
    )
    assert (home / "pipe.jsonl").is_fifo()
    (home / "lost.jsonl").symlink_to(Path("none", "a.jsonl"))
    assert re.fullmatch(
        r"--output 'lost\.jsonl': found no folder '.*none', expected one that is there",
        refusal("export", "yacht", "-n", "2", "-o", "lost.jsonl"),
    )
    assert sorted(path.name for path in home.iterdir()) == ["link.jsonl", "lost.jsonl", "pipe.jsonl", "there"]
