"""Where tables are found, what is done with bad ones, and that the shipped ones are what the code makes."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from games import NAMES, TINY, solved

import solver
from solver import library
from solver.errors import DamagedTable, TableError, TableNotFound, WrongRulesTable
from solver.table import encode


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("solver.folders.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv(library.FOLDER_VARIABLE, raising=False)
    library.manifest.cache_clear()
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_shipped_tables_are_what_the_code_makes(name: str) -> None:
    entry = library.manifest()[name]
    table = solved(name)
    header, made = encode(table.ruleset, table.states, table.values)
    shipped = (library.shipped_folder() / entry["file"]).read_bytes()
    assert entry["value"] == header.root == table.value()
    assert entry["digest"] == table.states.scoring.digest
    assert entry["payload_sha256"] == header.sha256
    if zlib.ZLIB_RUNTIME_VERSION == "1.2.13" or len(made) == len(shipped):
        assert made == shipped


def test_shipped_tables_are_small_and_close() -> None:
    sizes = {path.name: path.stat().st_size for path in library.shipped_folder().glob("*.dwt")}
    assert len(sizes) == len(NAMES)
    assert sizes["yahtzee.dwt"] <= 750_000
    assert sum(sizes.values()) <= 8_000_000
    opened, exact = solver.load("yahtzee"), solved("yahtzee")
    assert abs(opened.values - exact.values).max() <= opened.precision + 1e-12 <= 1e-4
    assert opened.expected_score == exact.value()


def test_a_game_that_is_not_shipped_is_solved_once_and_kept(folders: Path) -> None:
    assert library.get(TINY[0]) is None
    first = solver.load(TINY[0])
    assert [path.suffix for path in (folders / "cache").iterdir()] == [".dwt"]
    kept = library.get(TINY[0])
    assert kept.value() == pytest.approx(first.value(), abs=1e-12)
    assert kept.expected_score == solver.solve(TINY[0]).value()


def test_a_damaged_table_in_the_cache_is_made_again(folders: Path) -> None:
    value = solver.load(TINY[0]).value()
    (path,) = (folders / "cache").iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    assert library.get(TINY[0]) is None
    assert solver.load(TINY[0]).value() == value
    assert library.get(TINY[0]).value() == value


def test_a_table_where_it_was_asked_for_is_refused_by_name_of_its_fault(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = solved("yacht").states.scoring.digest
    (folders / f"{digest[:32]}.dwt").write_bytes((library.shipped_folder() / "kniffel.dwt").read_bytes())
    monkeypatch.setenv(library.FOLDER_VARIABLE, str(folders))
    for find in (solver.load, library.get):
        with pytest.raises(WrongRulesTable):
            find("yacht")
    with pytest.raises(WrongRulesTable):
        solver.load("yatzy", path=library.shipped_folder() / "yacht.dwt")


@pytest.mark.parametrize("text", ["{", "[]", '{"tables": 5}', '{"tables": [{"name": "yahtzee"}]}', "\udcff"])
def test_a_bad_manifest_is_refused(folders: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (folders / "manifest.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    monkeypatch.setenv(library.FOLDER_VARIABLE, str(folders))
    with pytest.raises(DamagedTable, match="found no manifest of tables, expected one or none"):
        solver.load("yacht")


def test_a_manifest_that_cannot_be_read_is_refused(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folders / "manifest.json"
    path.mkdir()
    monkeypatch.setenv(library.FOLDER_VARIABLE, str(folders))
    with pytest.raises(TableError) as caught:
        solver.load("yacht")
    assert re.fullmatch(re.escape(f"{str(path)!r} cannot be read: ") + ".+", str(caught.value))


def test_a_manifest_is_written_whole_or_not_at_all(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads it while a new one is written, or after that failed, finds the old one."""
    entry = library.ship("yacht", folders)
    library.write_manifest([entry], folders)
    before = (folders / "manifest.json").read_bytes()

    def fail(_: int) -> None:
        assert (folders / "manifest.json").read_bytes() == before
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(TableError, match=os.strerror(errno.ENOSPC)):
        library.write_manifest([], folders)
    monkeypatch.undo()
    assert (folders / "manifest.json").read_bytes() == before


def test_a_folder_of_tables_is_found_by_its_manifest(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = library.ship("yacht-sum", folders)
    library.write_manifest([entry], folders)
    assert json.loads((folders / "manifest.json").read_text("utf-8"))["tables"] == [entry]
    monkeypatch.setenv(library.FOLDER_VARIABLE, str(folders))
    monkeypatch.setattr(library, "shipped_folder", lambda: folders / "nothing")
    assert library.get("yacht-sum").expected_score == entry["value"]
    monkeypatch.setenv(library.FOLDER_VARIABLE, str(folders / "missing"))
    with pytest.raises(TableNotFound, match="expected a folder of tables"):
        solver.load("yacht-sum")


def test_two_processes_at_once_both_succeed(folders: Path) -> None:
    program = f"import solver; print(solver.load({str(TINY[1])!r}).expected_score)"
    environment = {"XDG_CACHE_HOME": str(folders), "HOME": str(folders), "PATH": ""}
    running = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    answers = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert answers == [f"{solver.solve(TINY[1]).value()}\n"] * 2
