"""What the README shows is what happens: its commands, its Python session, its table of games."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import solver
from solver import deviations, library
from solver.rules import names_with_table

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TEXT = README.read_text("utf-8")
PUBLISHED = tomllib.loads((ROOT / "tests" / "data" / "published.toml").read_text("utf-8"))
INSTALL = "python3 -m pip install . && dicewise advise 1 3 3 4 6"
TEST = 'python3 -m pip install ".[test]" && python3 -m pytest'


class Block(NamedTuple):
    """A fenced block of the README."""

    language: str
    text: str


BLOCKS = [Block(*found) for found in re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)]


def shown_commands() -> list[tuple[str, str]]:
    """Every command of a console block, with the output shown under it."""
    found = []
    for block in BLOCKS:
        if block.language == "console":
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append((command, output))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the README's rules file."""
    made = tmp_path_factory.mktemp("readme")
    rules = [block.text for block in BLOCKS if block.language == "toml"]
    assert len(rules) == 1
    (made / "house.toml").write_text(rules[0], "utf-8")
    return made


def printed(command: str, folder: Path) -> str:
    """Run a command of the README in its folder, with a cache of its own, and return what it prints."""
    words = shlex.split(command)
    given = None
    if words[0] == "echo":
        bar = words.index("|")
        given, words = " ".join(words[1:bar]) + "\n", words[bar + 1 :]
    program, *arguments = words
    assert program == "dicewise"
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "solver", *arguments],
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def same_numbers(shown: Any, given: Any) -> bool:
    """Whether two pieces of JSON are the same, numbers to a millionth."""
    if isinstance(shown, dict):
        return shown.keys() == given.keys() and all(same_numbers(shown[key], given[key]) for key in shown)
    if isinstance(shown, list):
        return len(shown) == len(given) and all(map(same_numbers, shown, given))
    return bool(given == pytest.approx(shown, abs=1.01e-6)) if isinstance(shown, float) else shown == given


@pytest.mark.parametrize(("command", "shown"), shown_commands())
def test_commands_print_what_is_shown(command: str, shown: str, folder: Path) -> None:
    given = printed(command, folder)
    if "--json" in shlex.split(command):
        (answer,) = [json.loads(block.text) for block in BLOCKS if block.language == "json"]
        assert same_numbers(answer, json.loads(given)), given
    else:
        options = doctest.ELLIPSIS | doctest.REPORT_NDIFF
        example = doctest.Example(command, shown)
        checker = doctest.OutputChecker()
        assert checker.check_output(shown, given, options), checker.output_difference(example, given, options)


def test_python_session() -> None:
    found = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert found.attempted > 10
    assert found.failed == 0


def figures(name: str) -> tuple[float, float, float]:
    """Expected score, deviation, and chance of an upper bonus in percent."""
    if name in names_with_table():
        found: solver.Moments | None = solver.moments(name)
        expected = float(library.manifest()[name]["value"])
    else:
        found, expected = deviations.known(solver.ruleset(name)), PUBLISHED["games"][name]["expected"]
    assert found, f"dicewise tables moments {name}"
    assert found.mean == pytest.approx(expected, abs=1e-9)
    return found.mean, found.standard_deviation, 100 * found.upper_bonus


@pytest.mark.parametrize(("place", "name"), list(enumerate(solver.names())))
def test_the_table_of_games_says_what_is_so(place: int, name: str) -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| .* \| (\d+) \| (.+) \| (.+) \| (.+) \|$", TEXT, re.MULTILINE)
    assert len(rows) == len(solver.names())
    rules = solver.ruleset(name)
    expected, deviation, bonus = figures(name)
    share = f"{bonus:.2f} %" if rules.upper_bonus else "-"
    boxes = str(len(rules.categories))
    assert rows[place] == (name, boxes, f"{expected:.4f}", f"{deviation:.2f}", share)


def test_tables_are_as_precise_as_said() -> None:
    assert "rounded to a millionth of a point" in TEXT
    assert max(solver.load(name).precision for name in names_with_table()) == pytest.approx(0.5e-6)


def test_first_commands_are_the_ones_that_are_checked() -> None:
    shell = [block.text.strip() for block in BLOCKS if block.language == "sh"]
    assert shell == [INSTALL, TEST]
    script = ROOT / ".ci" / "run"
    if script.exists():  # Not in a source archive.
        lines = [line.strip() for line in script.read_text("utf-8").splitlines()]
        assert INSTALL in lines
        assert TEST in lines


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []
