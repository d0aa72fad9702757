"""The files of a game for two: the same however made, gone on with, and refused by name if not sound."""

from __future__ import annotations

import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import TINY, environment

import solver
from solver import duel as module
from solver import library, pieces
from solver import pairs as pairs_module
from solver.duel import Duel, open_duel, solve_duel
from solver.duel_evaluation import Evaluation, evaluate, tie_rate
from solver.rules import ruleset

SMALL = TINY / "joker_alone.toml"
TINY_PIECE = 40


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("duels")


@pytest.fixture(scope="module")
def small(folders: Path) -> Duel:
    return solve_duel(SMALL, folders / "small")


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels of many pieces."""
    monkeypatch.setattr(pairs_module, "PIECE_TILES", TINY_PIECE)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.usefixtures("tiny_pieces")
def test_threads_and_processes_give_the_same_files(tmp_path: Path) -> None:
    name = TINY / "thirteen.toml"
    one = solve_duel(name, tmp_path / "one", threads=1)
    assert len(one.files.pieces(2)) > 2
    solve_duel(name, tmp_path / "two", threads=2)
    with ProcessPoolExecutor(2, mp_context=get_context("fork"), initializer=_many_pieces) as pool:
        solve_duel(name, tmp_path / "processes", executor=pool)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "processes")
    whole = solve_duel(name, tmp_path / "again", threads=1)
    assert whole.chance == one.chance


def _many_pieces() -> None:
    pairs_module.PIECE_TILES = TINY_PIECE


STOPPED = f"""
import os, signal, sys
import solver.pairs
from solver.duel import solve_duel
solver.pairs.PIECE_TILES = {TINY_PIECE}

def progress(done, total):
    if done > total / 2:
        os.kill(os.getpid(), signal.SIGKILL)

solve_duel(sys.argv[1], sys.argv[2], threads=1, progress=progress)
"""


@pytest.mark.usefixtures("tiny_pieces")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    name = TINY / "thirteen.toml"
    solve_duel(name, tmp_path / "whole", threads=1)
    command = [sys.executable, "-c", STOPPED, str(name), str(tmp_path / "killed")]
    killed = subprocess.run(command, env=environment(), check=False)
    assert killed.returncode == -signal.SIGKILL
    left = contents(tmp_path / "killed")
    wanted = contents(tmp_path / "whole")
    assert 0 < len(left) < len(wanted) and left.items() <= wanted.items()
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").iterdir()}
    with pytest.raises(solver.TableNotFound, match="found no solved game"):
        open_duel(name, tmp_path / "killed")
    reports: list[tuple[int, int]] = []
    solve_duel(name, tmp_path / "killed", progress=lambda done, total: reports.append((done, total)))
    assert contents(tmp_path / "killed") == wanted
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    assert reports[0][0] > reports[0][1] / 2 and reports[-1][0] == reports[-1][1]


@pytest.mark.parametrize(
    ("game", "free", "said"),
    [
        ("yacht", 1000, "found 1.0 kB free, expected 6.34 GB or more"),
        (str(SMALL), 0, "found 0.0 kB free, expected 5.4 kB or more"),
        (str(SMALL), 5439, "found 5,439 bytes free, expected 5,440 bytes or more"),
        ("yacht", 6_330_000_000, "found 6.33 GB free, expected 6.34 GB or more"),
        ("yacht", 6_338_541_663, "found 6,338,541,663 bytes free, expected 6,338,541,664 bytes or more"),
    ],
)
def test_a_disk_without_room(
    game: str, free: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = SimpleNamespace(free=free)
    monkeypatch.setattr(pieces, "disk_usage", lambda path: usage)
    with pytest.raises(solver.TableError) as refused:
        solve_duel(game, tmp_path / "none" / "there")
    assert str(refused.value) == f"{str(tmp_path / 'none' / 'there')!r}: {said}"
    assert not (tmp_path / "none").exists()


def flipped(contents: bytes, place: int) -> bytes:
    return contents[:place] + bytes([contents[place] ^ 1]) + contents[place + 1 :]


FAULTS = {
    "empty": (lambda sound: b"", solver.TruncatedTable, "ends within its header"),
    "foreign": (
        lambda sound: b"\x89PNG\r\n\x1a\n" + sound[8:],
        solver.ForeignTable,
        "is not a dicewise duel file",
    ),
    "table": (
        lambda sound: sound.replace(b"DWD", b"DWT"),
        solver.ForeignTable,
        "is not a dicewise duel file",
    ),
    "text": (lambda sound: sound.replace(b"\r\n", b"\n"), solver.MangledTable, "text-mode transfer"),
    "later": (
        lambda sound: sound[:8] + b"\x02" + sound[9:],
        solver.VersionTable,
        "format 2, and this program",
    ),
    "cut in header": (lambda sound: sound[:60], solver.TruncatedTable, "ends within its header, after 60"),
    "cut in values": (lambda sound: sound[:-8], solver.TruncatedTable, "ends after"),
    "longer": (lambda sound: sound + b"0", solver.DamagedTable, "goes on after"),
    "header": (lambda sound: flipped(sound, 40), solver.DamagedTable, "header does not match its checksum"),
    "values": (lambda sound: flipped(sound, len(sound) - 5), solver.DamagedTable, "values do not match"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_damaged_files_are_refused_by_name(name: str, tmp_path: Path, small: Duel) -> None:
    change, kind, message = FAULTS[name]
    for file in small.files.path.glob("level-*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    for damaged in ("level-00-000.dwd", "level-01-000.dwd"):
        path = tmp_path / damaged
        sound = path.read_bytes()
        path.write_bytes(change(sound))
        with pytest.raises(kind, match=message) as refused:
            opened = open_duel(SMALL, tmp_path)
            _ = opened.chance
            opened.advise("", "66", other="run=8")
        assert str(path) in str(refused.value) and "\n" not in str(refused.value)
        path.write_bytes(sound)


def test_files_of_something_else_are_refused_by_name(tmp_path: Path, small: Duel, folders: Path) -> None:
    def refused(kind: type[Exception], message: str) -> None:
        with pytest.raises(kind, match=message):
            solve_duel(SMALL, tmp_path)

    first = tmp_path / "level-00-000.dwd"
    other = solve_duel(TINY / "thirteen.toml", folders / "thirteen")
    first.write_bytes((other.files.path / first.name).read_bytes())
    refused(solver.WrongRulesTable, "is of rules [0-9a-f]{12}, expected [0-9a-f]{12}")
    first.write_bytes((small.files.path / "level-01-000.dwd").read_bytes())
    refused(solver.WrongRulesTable, "is of level 1, expected 0")
    first.write_bytes((small.files.path / first.name).read_bytes())
    sound = first.read_bytes()
    kind, (length,) = small.files.kind.front, struct.unpack_from("<I", sound, 10)
    header = sound[14 : 14 + length].replace(b"dicewise duel 1", b"dicewise duel 0")
    first.write_bytes(kind.front(header) + sound[18 + length :])
    refused(solver.VersionTable, "was written by 'dicewise duel 0', and this program reads 'dicewise duel 1'")
    assert module.duel_folder(ruleset(SMALL)).name == small.table.states.scoring.digest[:32]


def test_a_level_with_other_pieces_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "PIECE_TILES", TINY_PIECE)
    solve_duel(TINY / "thirteen.toml", tmp_path)
    monkeypatch.undo()
    with pytest.raises(solver.VersionTable, match="is a piece with other filled sets than expected"):
        solve_duel(TINY / "thirteen.toml", tmp_path)


def test_looking_up_needs_no_compiler(small: Duel, tmp_path: Path) -> None:
    table = solver.solve(SMALL)
    solver.save(table, tmp_path / f"{table.states.scoring.digest[:32]}.dwt")
    code = "import sys\nfrom solver.duel import open_duel\n"
    code += "open_duel(sys.argv[1], sys.argv[2]).advise('', '66', other='run=8')\n"
    code += "print(*sorted({'numba', 'llvmlite', 'distributed'} & set(sys.modules)))"
    command = [sys.executable, "-c", code, str(SMALL), str(small.files.path)]
    described = environment() | {library.FOLDER_VARIABLE: str(tmp_path)}
    done = subprocess.run(command, env=described, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.usefixtures("tiny_pieces")
def test_ties_by_processes(tmp_path: Path) -> None:
    name = TINY / "thirteen.toml"
    solve_duel(name, tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "processes")
    one = tie_rate(name, tmp_path / "one", threads=1)
    with ProcessPoolExecutor(2, mp_context=get_context("fork"), initializer=_many_pieces) as pool:
        assert tie_rate(name, tmp_path / "processes", executor=pool) == one
    assert contents(tmp_path / "processes") == contents(tmp_path / "one")


@pytest.mark.parametrize(("follow", "kind"), [(evaluate, "followed"), (tie_rate, "ties")])
@pytest.mark.usefixtures("tiny_pieces")
def test_a_stopped_evaluation_goes_on_where_it_was(
    follow: Callable[..., Evaluation | float], kind: str, tmp_path: Path
) -> None:
    name = TINY / "thirteen.toml"
    for folder in ("whole", "stopped"):
        solve_duel(name, tmp_path / folder)
    wanted = follow(name, tmp_path / "whole", threads=2)

    class Stopped(Exception):
        pass

    reports: list[int] = []

    def stop(done: int, total: int) -> None:
        reports.append(done)
        if done > total * 0.7:
            raise Stopped

    with pytest.raises(Stopped):
        follow(name, tmp_path / "stopped", threads=1, progress=stop)
    left = sorted(path.name for path in (tmp_path / "stopped").glob(f"{kind}-*"))
    assert left and f"{kind}-04-000.dwd" not in left
    again: list[int] = []
    found = follow(name, tmp_path / "stopped", progress=lambda done, total: again.append(done))
    assert found == wanted
    assert again[0] > reports[-1]
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")
