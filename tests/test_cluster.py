"""Pieces of a game for two on the workers of a dask scheduler: other processes, one of which is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import TINY, environment, process

import solver
from solver import pairs
from solver.cluster import connected
from solver.duel import solve_duel

distributed = pytest.importorskip("distributed")

NAME = TINY / "thirteen.toml"
PIECE = 40
PATIENCE = 120
# Pieces are small, and each takes a while: there is time to kill a worker with some to do.
PRELOAD = f"""
import time
import solver.duel, solver.pairs
solver.pairs.PIECE_TILES = {PIECE}

def solve_piece(*arguments):
    time.sleep(0.05)
    return solver.duel.plain_piece(*arguments)

if not hasattr(solver.duel, "plain_piece"):  # A preload is imported more than once.
    solver.duel.plain_piece = solver.duel.solve_piece
    solver.duel.solve_piece = solve_piece
"""


class Cluster:
    """A scheduler and two workers, each a process."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        (folder / "preload.py").write_text(PRELOAD)
        self.scheduler = self._start(
            folder,
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(self.file),
        )
        wait_for(self.file.exists)
        self.address = str(json.loads(self.file.read_text())["address"])
        worker = ("--no-nanny", "--no-dashboard", "--nthreads", "1", "--host", "127.0.0.1")
        preload = ("--preload", str(folder / "preload.py"))
        self.workers = [
            self._start(folder, "worker", self.address, *worker, *preload, "--name", f"worker-{number}")
            for number in range(2)
        ]

    def _start(self, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-m", "dask", *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(line, cwd=folder, env=environment(), **quiet)  # type: ignore[call-overload]

    def stop(self) -> None:
        for running in (*self.workers, self.scheduler):
            running.kill()
            running.wait()


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    running = Cluster(folder)
    with distributed.Client(running.address) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
    yield running
    running.stop()


@pytest.mark.filterwarnings("default")  # of what dask imports
def test_a_killed_worker_and_a_cancelled_run(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "PIECE_TILES", PIECE)
    here = solve_duel(NAME, tmp_path / "here", threads=1).files.path
    there = tmp_path / "there"

    class Cancelled(Exception):
        pass

    def cancel(done: int, total: int) -> None:
        if done > total / 4:
            raise Cancelled

    with pytest.raises(Cancelled), connected(cluster.address) as executor:
        solve_duel(NAME, there, executor=executor, progress=cancel)
    wanted = {path.name: path.read_bytes() for path in here.iterdir()}
    left = {path.name: path.read_bytes() for path in there.iterdir() if path.name in wanted}
    assert 0 < len(left) < len(wanted) and left.items() <= wanted.items()

    names: set[str] = set()

    def kill(done: int, total: int) -> None:
        if not names and done > total / 2:
            with distributed.Client(cluster.address) as client:
                busy = client.processing()
                names.update(str(key) for keys in busy.values() for key in keys)
            cluster.workers[0].send_signal(signal.SIGKILL)
            assert len(list(there.glob("level-*"))) < len(wanted)

    with connected(cluster.address) as executor:
        solve_duel(NAME, there, executor=executor, progress=kill)
    assert {path.name: path.read_bytes() for path in there.iterdir()} == wanted
    assert cluster.workers[0].wait(PATIENCE) == -signal.SIGKILL
    assert names and all("solve_piece-" in name and "-level-0" in name for name in names)

    # The command, with what is left of the workers.
    again = tmp_path / "again"
    code = f"import solver.pairs; solver.pairs.PIECE_TILES = {PIECE}\nfrom solver.cli import main; main()"
    line = ("duel", str(NAME), "--cluster", cluster.address, "--folder", str(again), "--json")
    done = process(*line, code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["chance"] == solver.open_duel(NAME, here).chance
    assert {path.name: path.read_bytes() for path in again.iterdir()} == wanted


def test_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    from solver import cluster

    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    message = r"cluster '127\.0\.0\.1:1': found no scheduler there, expected the address of one"
    with pytest.raises(solver.DicewiseError, match=message), connected("127.0.0.1:1"):
        pass


def test_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(solver.DicewiseError, match=r"expected dask\.distributed to be installed"),
        connected("x"),
    ):
        pass
