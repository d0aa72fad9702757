"""Every way a table file can be wrong, and exactly what is said about it.

The files in `damaged/` are made by `damaged_tables.py`; `damaged/README.md` says what each one is.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from damaged_tables import DAMAGED, RULES, SOUND, broken, flipped, parts, signed

from solver import table
from solver.errors import (
    DamagedTable,
    ForeignTable,
    MangledTable,
    TableError,
    TableNotFound,
    TruncatedTable,
    VersionTable,
    WrongRulesTable,
)
from solver.scoring import scoring
from solver.states import states

GAME = states(scoring(RULES))


def test_the_files_are_as_made() -> None:
    made = broken(SOUND.read_bytes())
    sources = {"sound", "sound_exact", "other_rules"}
    assert {path.stem for path in DAMAGED.glob("*.dwt")} == {*made, *sources}
    for name, contents in made.items():
        # Another build of zlib may pack the made planes otherwise.
        if name not in ("planes_short", "planes_bomb"):
            assert (DAMAGED / f"{name}.dwt").read_bytes() == contents, name


def test_each_file_is_described() -> None:
    described = re.findall(r"^\| `(\w+)\.dwt` \|", (DAMAGED / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(described) == sorted(path.stem for path in DAMAGED.glob("*.dwt"))


# ---------------------------------------------------------------- what is said


SIZE = SOUND.stat().st_size
HEADER, PAYLOAD = parts(SOUND.read_bytes())
START = SIZE - len(PAYLOAD)
AGAIN = "; copy it again, or solve the game again"
MAGIC = r"b'\x89DWT\r\n\x1a\n'"
TEXT = f"was changed by a text-mode transfer: it starts with {{}} instead of {MAGIC}"
TEXT += "; copy it again in binary mode"
HEADER_FAULT = f"is damaged: its header does not say what a table says{AGAIN}"
VALUES_FAULT = f"is damaged: it does not hold {HEADER['values']} values, one for each class of states{AGAIN}"
DIGEST = GAME.scoring.digest[:12]

REFUSED: dict[str, tuple[type[TableError], str]] = {
    "empty": (TruncatedTable, f"ends within its header, after 0 bytes{AGAIN}"),
    "foreign": (
        ForeignTable,
        rf"is not a dicewise table: it starts with b'\x89PNG\r\n\x1a\n', expected {MAGIC}",
    ),
    "text_to_crlf": (MangledTable, TEXT.format(r"b'\x89DWT\r\r\n\x1a'")),
    "text_to_lf": (MangledTable, TEXT.format(r"b'\x89DWT\n\x1a\n\x01'")),
    "text_to_cr": (MangledTable, TEXT.format(r"b'\x89DWT\r\x1a\r\x01'")),
    "text_seven_bits": (MangledTable, TEXT.format(r"b'\tDWT\r\n\x1a\n'")),
    "text_utf8": (MangledTable, TEXT.format(r"b'\xc2\x89DWT\r\n\x1a'")),
    "text_replaced": (MangledTable, TEXT.format(r"b'\xef\xbf\xbdDWT\r\n'")),
    "text_question_marks": (MangledTable, TEXT.format(r"b'?DWT\r\n\x1a\n'")),
    "version_later": (
        VersionTable,
        "is of table format 2, and this program reads format 1: update dicewise, or solve the game again",
    ),
    "version_earlier": (
        VersionTable,
        "is of table format 0, and this program reads format 1 only: solve the game again",
    ),
    "cut_in_magic": (TruncatedTable, f"ends within its header, after 5 bytes{AGAIN}"),
    "cut_in_header": (TruncatedTable, f"ends within its header, after 200 bytes{AGAIN}"),
    "cut_in_payload": (TruncatedTable, f"ends after {START + 20} of {SIZE} bytes{AGAIN}"),
    "longer": (DamagedTable, f"is damaged: it goes on after its {SIZE} bytes, to {SIZE + 3}{AGAIN}"),
    "flipped_in_header": (DamagedTable, f"is damaged: its header does not match its checksum{AGAIN}"),
    "flipped_in_payload": (DamagedTable, f"is damaged: its values do not match their checksum{AGAIN}"),
    "header_length": (TruncatedTable, f"ends within its header, after {SIZE} bytes{AGAIN}"),
    "header_not_json": (DamagedTable, HEADER_FAULT),
    "header_not_text": (DamagedTable, HEADER_FAULT),
    "header_deep": (DamagedTable, HEADER_FAULT),
    "header_list": (DamagedTable, HEADER_FAULT),
    "header_without_root": (DamagedTable, HEADER_FAULT),
    "header_root_infinite": (DamagedTable, HEADER_FAULT),
    "header_steps_text": (DamagedTable, HEADER_FAULT),
    "header_steps_negative": (DamagedTable, HEADER_FAULT),
    "header_steps_huge": (DamagedTable, HEADER_FAULT),
    "header_plane_negative": (DamagedTable, HEADER_FAULT),
    "header_planes_text": (DamagedTable, HEADER_FAULT),
    "planes_three": (DamagedTable, VALUES_FAULT),
    "planes_not_deflated": (DamagedTable, VALUES_FAULT),
    "planes_short": (DamagedTable, VALUES_FAULT),
    "planes_bomb": (DamagedTable, VALUES_FAULT),
    "planes_with_more": (DamagedTable, VALUES_FAULT),
    "planes_unfinished": (DamagedTable, VALUES_FAULT),
    "values_fewer": (DamagedTable, VALUES_FAULT),
    "other_rules": (
        WrongRulesTable,
        f"is a table of 'tiers.toml' (rules %s), expected one of 'forced' (rules {DIGEST})",
    ),
    "other_objective": (WrongRulesTable, r"holds values of 'chance of\n100', expected 'expected score'"),
}
ONLY_WHEN_READ = ("flipped_in_payload", "planes_", "values_", "other_")


def test_every_damaged_file_is_refused_somewhere() -> None:
    assert set(REFUSED) == {path.stem for path in DAMAGED.glob("*.dwt")} - {"sound", "sound_exact"}


@pytest.mark.parametrize("name", REFUSED)
def test_a_damaged_table_is_refused(name: str) -> None:
    path = DAMAGED / f"{name}.dwt"
    kind, message = REFUSED[name]
    if name == "other_rules":
        message %= table.read_header(path).digest[:12]
    with pytest.raises(TableError) as caught:
        table.read(path, GAME, name="forced")
    assert str(caught.value) == f"{str(path)!r} {message}"
    assert type(caught.value) is kind
    if name.startswith(ONLY_WHEN_READ):
        table.read_header(path)
        return
    for look in (table.read_header, table.manifest_entry):
        with pytest.raises(kind) as caught:
            look(path)
        assert str(caught.value) == f"{str(path)!r} {message}"


def test_the_wrong_game_may_have_no_name() -> None:
    path = DAMAGED / "other_rules.dwt"
    with pytest.raises(WrongRulesTable, match=rf" is a table of .*, expected one of rules {DIGEST}$"):
        table.read(path, GAME)


def test_another_objective_may_be_what_is_wanted() -> None:
    header, values = table.read(DAMAGED / "other_objective.dwt", GAME, objective="chance of\n100")
    assert header.objective == "chance of\n100"
    assert np.array_equal(values, table.read(SOUND, GAME)[1])


def test_a_header_may_say_more(tmp_path: Path) -> None:
    (tmp_path / "more.dwt").write_bytes(signed({**HEADER, "colour": "blue", "root": 20}, PAYLOAD))
    header, values = table.read(tmp_path / "more.dwt", GAME)
    assert (header.root, type(header.root)) == (20.0, float)
    assert np.array_equal(values, table.read(SOUND, GAME)[1])


def refusal(path: Path) -> TableError:
    with pytest.raises(TableError) as caught:
        table.read(path, GAME)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


def test_what_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = tmp_path / "not\nthere.dwt"
    missing = refusal(odd)
    assert type(missing) is TableNotFound
    assert str(missing) == f"{str(odd)!r}: there is no such file"
    folder = refusal(tmp_path)
    assert type(folder) is TableNotFound
    assert str(folder) == f"{str(tmp_path)!r} is a folder, expected a table file"
    assert type(refusal(SOUND / "x.dwt")) is TableError
    long = tmp_path / ("x" * 5000)
    assert str(refusal(long)).startswith(f"{str(long)!r} cannot be read: ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.dwt")
    pipe = refusal(tmp_path / "pipe.dwt")
    assert type(pipe) is ForeignTable
    assert str(pipe) == f"{str(tmp_path / 'pipe.dwt')!r} is not a regular file, expected a table file"


# ---------------------------------------------------------------- whatever else may happen to it


@pytest.mark.parametrize("name", ["sound", "sound_exact"])
def test_every_cut_is_a_truncated_table(tmp_path: Path, name: str) -> None:
    contents = (DAMAGED / f"{name}.dwt").read_bytes()
    path = tmp_path / "cut.dwt"
    for length in range(len(contents)):
        path.write_bytes(contents[:length])
        assert type(refusal(path)) is TruncatedTable, length


@pytest.mark.parametrize("name", ["sound", "sound_exact"])
def test_every_flipped_bit_is_noticed(tmp_path: Path, name: str) -> None:
    contents = (DAMAGED / f"{name}.dwt").read_bytes()
    path = tmp_path / "flipped.dwt"
    for place in range(len(contents)):
        for bit in range(8):
            path.write_bytes(flipped(contents, place, bit))
            refusal(path)
