"""Long solves and sweeps on workers of a dask scheduler, other processes; one is killed, one joins late."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import PATIENCE, Cluster, slowed, wait_for
from command_line import TINY, home, process, said, tables

import solver
from solver import reach_pieces, saving_files, saving_pieces
from solver.cluster import connected
from solver.saving_pieces import pieces_folder
from solver.saving_table import solved_in_files

__all__ = ["home", "tables"]  # fixtures

pytestmark = pytest.mark.filterwarnings("default")  # of what dask imports
SAVED = f"{TINY / 'tiers.toml'}[rolls=2,save_rolls=true]"
PLAIN = str(TINY / "tiers.toml")
SMALL = """
import solver.reach_pieces, solver.saving_files, solver.saving_pieces, solver.simulation
solver.saving_files.SETS = solver.saving_pieces.SETS = solver.saving_pieces.PIECE_PASSES = 1
solver.reach_pieces.PIECE_NUMBERS = 200
solver.simulation._BLOCK = 300
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(
        tmp_path_factory.mktemp("cluster"), SMALL + slowed("solver.saving_pieces", "solve_saving_piece")
    )
    running.wait()
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving_files, "SETS", 1)
    monkeypatch.setattr(saving_pieces, "SETS", 1)
    monkeypatch.setattr(saving_pieces, "PIECE_PASSES", 1)
    monkeypatch.setattr(reach_pieces, "PIECE_NUMBERS", 200)
    monkeypatch.setattr("solver.simulation._BLOCK", 300)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


class Cancelled(Exception):
    pass


def test_saved_rolls_survive_a_killed_worker(cluster: Cluster, tmp_path: Path) -> None:
    rules = solver.ruleset(SAVED)
    solved_in_files(rules, tmp_path / "here", threads=1)
    wanted = contents(tmp_path / "here")
    there = tmp_path / "there"

    def cancel(done: int, total: int) -> None:
        if done > total / 4:
            raise Cancelled

    with pytest.raises(Cancelled), connected(cluster.address) as executor:
        solved_in_files(rules, there, executor=executor, progress=cancel)
    assert contents(there).items() < wanted.items()

    names: set[str] = set()
    reports: list[int] = []

    def kill(done: int, total: int) -> None:
        reports.append(done)
        if names:
            return
        with cluster.held() as left:
            if not left:
                return  # That was the last piece of its level.
            names.update(left)
            # In the middle of a level: some of its pieces are there, and it has no file.
            (level,) = {name.split("-level-")[1][:2] for name in names if "solve_saving_piece-" in name}
            here = len(list(pieces_folder(there).glob(f"exact-{level}-*")))
            assert here > 0
            assert not (there / f"level-{level}.dwl").exists()
            cluster.workers[0].send_signal(signal.SIGKILL)
            assert cluster.workers[0].wait(PATIENCE) == -signal.SIGKILL
        cluster.workers[0] = cluster.start_worker("late")
        wait_for(lambda: "late" in cluster.worker_names())

    with connected(cluster.address) as executor:
        table = solved_in_files(rules, there, executor=executor, progress=kill)
    assert contents(there) == wanted
    assert not pieces_folder(there).exists()
    assert names and reports[0] > 0
    assert cluster.workers[0].pid in cluster.made_by()
    assert table.expected_score == solver.solve(SAVED).value()

    again = tmp_path / "again"
    code = f"{SMALL}\nfrom solver.cli import main; main()"
    line = ("solve", SAVED, "--cluster", cluster.address, "--output", str(again), "--json")
    done = process(*line, code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["expected_score"] == table.expected_score
    assert contents(again) == wanted


def test_chances_comparisons_and_simulations(cluster: Cluster, tmp_path: Path) -> None:
    table = solver.solve(PLAIN)
    varied = solver.variants(PLAIN, {"rolls": [1, 2, 3]})
    goal = solver.pursue(table, solver.Reach(30))
    solver.keep_chances(table, tmp_path / "here.dwc")
    names: set[str] = set()

    def look(done: int, total: int) -> None:
        names.update(cluster.task_names_so_far())

    with connected(cluster.address) as executor:
        solver.keep_chances(table, tmp_path / "there.dwc", executor=executor, progress=look)
        assert solver.compare(varied, executor=executor, progress=look) == solver.compare(varied)
        for played in (table, goal):
            there = solver.simulate(played, 2000, seed=3, executor=executor, progress=look)
            here = solver.simulate(played, 2000, seed=3)
            assert there.scores.tolist() == here.scores.tolist()
            assert there.by_row.tolist() == here.by_row.tolist()
    assert (tmp_path / "there.dwc").read_bytes() == (tmp_path / "here.dwc").read_bytes()
    kinds = {"solve_reach_piece-", "compare-", "simulate-"}
    assert all(any(name.startswith(kind) for name in names) for kind in kinds)

    for line in (
        ("compare", PLAIN, "--vary", "rolls=1,2,3"),
        ("compare", PLAIN, "--vary", "rolls=1,2", "--goal", "30"),
        ("reach", PLAIN),
        ("simulate", PLAIN, "-n", "2000", "--floor"),
    ):
        here, there = (said(*line, "--json", *where) for where in ((), ("--cluster", cluster.address)))
        assert untimed(there) == untimed(here)


def untimed(text: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(text)
    return {key: value for key, value in found.items() if not key.startswith(("seconds", "games_per"))}


def test_a_task_that_kills_workers_and_a_scheduler_that_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = "import os, solver.saving_pieces as module\nmodule.solve_saving_piece = lambda *_: os._exit(1)\n"
    running = Cluster(tmp_path, deadly, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    monkeypatch.setattr("solver.cluster._PATIENCE", 2)
    try:
        running.wait()
        given_up = r"gave up 'solve_saving_piece-.*-level-04-000-\w+', expected a worker that does not die"
        with pytest.raises(solver.ClusterError, match=given_up), connected(running.address) as executor:
            solved_in_files(solver.ruleset(SAVED), tmp_path / "there", executor=executor)
        varied = solver.variants(PLAIN, {"rolls": [1, 2, 3, 4]})
        lost = "its tasks were lost, expected a scheduler and a worker that stay"
        with pytest.raises(solver.ClusterError, match=lost), connected(running.address) as executor:
            solver.compare(varied, executor=executor, progress=lambda *_: running.scheduler.kill())
    finally:
        running.stop()
