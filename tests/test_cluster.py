"""Pieces of a game for two on the workers of a dask scheduler: other processes, one of which is killed."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import PATIENCE, Cluster, slowed
from command_line import TINY, process

import solver
from solver import pairs
from solver.cluster import connected
from solver.duel import solve_duel

NAME = TINY / "thirteen.toml"
PIECE = 40
PRELOAD = f"import solver.pairs; solver.pairs.PIECE_TILES = {PIECE}\n"
PRELOAD += slowed("solver.duel", "solve_piece")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    running = Cluster(folder, PRELOAD)
    running.wait()
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
            with cluster.held() as left:
                if left:
                    names.update(left)
                    assert "solve_piece" in cluster.names_on_the_dashboard()
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
    found = json.loads(done.stdout)
    assert (found["chance"], found["ties"]) == (
        solver.open_duel(NAME, here).chance,
        solver.tie_rate(NAME, here),
    )
    wanted = {path.name: path.read_bytes() for path in here.iterdir()}
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
