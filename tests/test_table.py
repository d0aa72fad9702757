"""The table file: what is read is what was written, here and by the reader that tables/README.md shows."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import zlib
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from solver import table
from solver.rules import Ruleset, ruleset
from solver.scoring import scoring
from solver.states import States, states

HERE = Path(__file__).parent
DAMAGED = HERE / "damaged"
SOUND = DAMAGED / "sound.dwt"
README = HERE.parent / "tables" / "README.md"
TINY = sorted(path.stem for path in (HERE / "tiny").glob("*.toml"))


@cache
def tiny(name: str) -> tuple[Ruleset, States]:
    """Rules and states of a tiny game."""
    rules = ruleset(HERE / "tiny" / f"{name}.toml")
    return rules, states(scoring(rules))


def numbered(game: States, start: float = 0.5, step: float = 0.75) -> NDArray[np.float64]:
    """Values of which no two are the same, with 0 in the padding."""
    values = start + step * np.arange(game.size, dtype=np.float64)
    values[game.padding] = 0
    return values


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for files that do not matter after a test."""
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def yahtzee(folder: Path) -> tuple[Path, States, NDArray[np.float64]]:
    """The table of the official rules, its states, and the exact values."""
    from solver.dynamic import solve_values

    rules = ruleset("yahtzee")
    game, values = solve_values(rules)
    table.write(folder / "yahtzee.dwt", rules, game, values)
    return folder / "yahtzee.dwt", game, values


# ---------------------------------------------------------------- what is read is what was written


@given(st.data())
@settings(deadline=None)
def test_exact_values_come_back_to_the_bit(folder: Path, data: st.DataObject) -> None:
    rules, game = tiny(data.draw(st.sampled_from(TINY)))
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    values = data.draw(hnp.arrays(np.float64, game.size, elements=numbers))
    values[game.padding] = 0
    written = table.write(folder / "exact.dwt", rules, game, values, scale=None)
    header, read = table.read(folder / "exact.dwt", game)
    assert header == written
    assert (header.steps, header.scale, header.root) == (0, None, values[0])
    assert read.tobytes() == values.tobytes()


@given(st.data())
@settings(deadline=None)
def test_values_are_off_by_half_a_step_at_most(folder: Path, data: st.DataObject) -> None:
    rules, game = tiny(data.draw(st.sampled_from(TINY)))
    scale = data.draw(st.sampled_from([1e-6, 2e-5, 1e-4, 0.125, 1.0]))
    numbers = st.floats(-2147, 2147)
    values = data.draw(hnp.arrays(np.float64, game.size, elements=numbers))
    values[game.padding] = 0
    written = table.write(folder / "steps.dwt", rules, game, values, scale=scale)
    header, read = table.read(folder / "steps.dwt", game)
    assert header == written
    assert header.scale == pytest.approx(scale, rel=1e-12)
    assert header.root == values[0]
    assert np.max(np.abs(read - values)) <= scale / 2 * (1 + 1e-9)
    assert not read[game.padding].any()


def test_whole_points_are_exact(folder: Path) -> None:
    rules, game = tiny("forced")
    values = np.floor(numbered(game))
    table.write(folder / "whole.dwt", rules, game, values)
    assert np.array_equal(table.read(folder / "whole.dwt", game)[1], values)


@pytest.mark.parametrize("most", [2147.4837, 1e5, 1e300])
def test_values_beyond_the_steps_are_kept_exactly(folder: Path, most: float) -> None:
    rules, game = tiny("forced")
    values = numbered(game)
    values[game.position(1, 0, 0)] = -most
    header = table.write(folder / "large.dwt", rules, game, values)
    assert header.steps == 0
    assert np.array_equal(table.read(folder / "large.dwt", game)[1], values)


def test_what_is_read_cannot_be_written_to() -> None:
    values = table.read(SOUND, tiny("forced")[1])[1]
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1


def test_the_header_says_what_the_table_is() -> None:
    rules, game = tiny("forced")
    header = table.read_header(SOUND)
    assert header.digest == game.scoring.digest
    assert (header.name, header.title) == ("forced.toml", "Tiny forced")
    assert (header.objective, header.generator, header.version) == ("expected score", "dicewise 1", 1)
    assert (header.states, header.values, header.steps) == (game.count, int(game.lanes.sum()), 1_000_000)
    assert header.boxes == rules.keys
    assert header.upper == (0, 1)
    assert header.arming == rules.keys.index("pair")
    assert header.subtotals == tuple(tuple(least.tolist()) for least in game.upper.lowest)
    assert header == table.read(SOUND, game)[0]


def test_a_table_written_long_ago_is_read() -> None:
    from solver.dynamic import solve_values

    game, values = solve_values(tiny("forced")[0])
    header, read = table.read(SOUND, game)
    assert header.root == pytest.approx(values[0], rel=1e-12)
    assert np.max(np.abs(read - values)) <= 5e-7 * (1 + 1e-9)
    assert np.array_equal(table.read(DAMAGED / "sound_exact.dwt", game)[1], numbered(game))


def test_no_folder_of_this_machine_is_in_a_table(folder: Path) -> None:
    rules = ruleset(f"{HERE / 'tiny' / 'forced.toml'}[rolls=2]")
    game = states(scoring(rules))
    header = table.write(folder / "changed.dwt", rules, game, numbered(game))
    assert header.name == "forced.toml[rolls=2]"
    assert os.fsencode(HERE) not in (folder / "changed.dwt").read_bytes()
    assert table.encode(ruleset("yacht"), *unsolved("yacht"))[0].name == "yacht"


@cache
def unsolved(name: str) -> tuple[States, NDArray[np.float64]]:
    """States of a game, and values that are not those of the game."""
    game = states(scoring(ruleset(name)))
    return game, numbered(game)


@pytest.mark.parametrize("fault", ["shape", "nan", "infinity", "rules"])
def test_values_of_something_else_are_not_written(folder: Path, fault: str) -> None:
    rules, game = tiny("forced")
    values = numbered(game)
    if fault == "shape":
        values = values[:-1]
    elif fault == "rules":
        rules = tiny("free")[0]
    else:
        values[1] = float(fault)
    with pytest.raises(ValueError, match=rf"expected {game.size} finite values, of the states of .*\.toml"):
        table.write(folder / "never.dwt", rules, game, values)
    assert not (folder / "never.dwt").exists()


@pytest.mark.parametrize("scale", [3e-5, 2.0, 1.5])
def test_a_scale_divides_one_point(folder: Path, scale: float) -> None:
    rules, game = tiny("forced")
    with pytest.raises(ValueError, match=f"the scale is {scale}: expected one point to be a whole number"):
        table.write(folder / "never.dwt", rules, game, numbered(game), scale=scale)


# ---------------------------------------------------------------- the same bytes each time


DIGEST_PROGRAM = """
import hashlib, sys
import numpy as np
from solver import table
from solver.rules import ruleset
from solver.scoring import scoring
from solver.states import states
rules = ruleset(sys.argv[1])
game = states(scoring(rules))
values = 0.5 + 0.75 * np.arange(game.size, dtype=float)
print(hashlib.sha256(table.encode(rules, game, values)[1]).hexdigest())
loaded = {"numba", "platformdirs", "click", "rich"} & set(sys.modules)
assert not loaded, loaded
"""


@pytest.mark.parametrize("seed", ["1", "2"])
def test_another_process_writes_the_same_bytes_without_optional_packages(seed: str) -> None:
    rules, game = tiny("tiers")
    command = [sys.executable, "-c", DIGEST_PROGRAM, str(HERE / "tiny" / "tiers.toml")]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "PYTHONHASHSEED": seed}
    output = subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60).stdout
    here = table.encode(rules, game, 0.5 + 0.75 * np.arange(game.size, dtype=np.float64))[1]
    assert output.decode().strip() == hashlib.sha256(here).hexdigest()


def test_the_checksum_before_packing_is_that_of_the_planes() -> None:
    header = table.read_header(SOUND)
    planes = planes_of(SOUND.read_bytes(), header.planes)
    assert hashlib.sha256(b"".join(planes)).hexdigest() == header.sha256


def planes_of(contents: bytes, lengths: tuple[int, ...]) -> list[bytes]:
    """The inflated planes of a table."""
    ends = np.cumsum([len(contents) - sum(lengths), *lengths]).tolist()
    return [zlib.decompress(contents[a:b], -15) for a, b in pairwise(ends)]


def test_the_entry_of_a_manifest() -> None:
    contents = SOUND.read_bytes()
    header = table.read_header(SOUND)
    assert table.manifest_entry(SOUND) == {
        "name": "forced.toml",
        "title": "Tiny forced",
        "file": "sound.dwt",
        "digest": tiny("forced")[1].scoring.digest,
        "states": header.states,
        "value": header.root,
        "bytes": len(contents),
        "sha256": hashlib.sha256(contents).hexdigest(),
        "payload_sha256": header.sha256,
    }


# ---------------------------------------------------------------- the reader of tables/README.md


@cache
def reader() -> str:
    """The program in the description of the format."""
    found = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize("scale", [table.SCALE, None])
@pytest.mark.parametrize("name", [*TINY, "yatzy-forced", "yahtzee-upper-first"])
def test_the_documented_reader_finds_every_value(folder: Path, name: str, scale: float | None) -> None:
    rules, game = tiny(name) if name in TINY else (ruleset(name), unsolved(name)[0])
    table.write(folder / "all.dwt", rules, game, numbered(game, -3.25), scale=scale)
    values = table.read(folder / "all.dwt", game)[1]
    program: dict[str, Any] = {"__name__": "reader"}
    exec(reader(), program)
    known = program["read"](folder / "all.dwt")
    upper = game.upper_filled(game.filled).tolist()
    for filled, upper_set, flags in zip(game.filled.tolist(), upper, game.flags.tolist(), strict=True):
        keys = [key for number, key in enumerate(rules.keys) if filled >> number & 1]
        for subtotal in np.flatnonzero(game.upper.number[upper_set] >= 0).tolist():
            for flag in range(flags):
                value = program["value"](known, keys, subtotal, flag)
                assert value == values[game.position(filled, subtotal, flag)]


def test_the_documented_reader_needs_no_package(yahtzee: tuple[Path, States, NDArray[np.float64]]) -> None:
    path, game, values = yahtzee
    rules = ruleset("yahtzee")
    asked = [
        ([], 0, 0),
        (["yahtzee"], 0, 1),
        (["yahtzee"], 0, 0),
        (["ones", "sixes", "chance"], 22, 0),
        (["ones", "twos", "threes", "fours", "fives", "yahtzee", "full_house"], 45, 1),
        ([key for key in rules.keys if key != "large_straight"], 63, 1),
        (list(rules.keys), 70, 1),
        (list(rules.keys), 62, 0),
    ]
    program = f"{reader()}\n    import sys\n    table = read(sys.argv[1])\n    print(json.dumps("
    program += f"[value(table, *state) for state in json.loads({json.dumps(json.dumps(asked))})]))\n"
    command = [sys.executable, "-I", "-S", "-c", program, str(path)]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    root, answers = output.splitlines()
    assert root == "254.587729"
    places = [
        game.position(sum(1 << rules.keys.index(key) for key in keys), subtotal, flag)
        for keys, subtotal, flag in asked
    ]
    assert json.loads(answers) == pytest.approx(values[places].tolist(), rel=0, abs=5.001e-7)
    assert json.loads(answers)[-2:] == [35, 0]


def test_the_size_of_the_official_table(yahtzee: tuple[Path, States, NDArray[np.float64]]) -> None:
    path, game, values = yahtzee
    assert path.stat().st_size < 700_000
    header, read = table.read(path, game)
    assert header.root == values[0]
    assert np.max(np.abs(read - values)) <= 5e-7 * (1 + 1e-9)
