"""Long solves and sweeps by executors of concurrent.futures: the same bits, stopped and gone on with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import TINY, home, misuse, refusal, tables

import solver
from solver import pieces, reach_pieces, saving_files, saving_pieces, saving_simulation, simulation
from solver.chances import Chances, Windows
from solver.comparison import Comparison
from solver.levels import Progress, shares
from solver.lookup import Table
from solver.saving_files import level_path
from solver.saving_pieces import pieces_folder
from solver.saving_table import SavingTable, solved_in_files, solved_in_memory
from solver.tasks import Task, run_tasks

__all__ = ["home", "tables"]  # fixtures

SAVED = f"{TINY / 'card.toml'}[rolls=3,save_rolls=true]"
SAVED_WIDE = f"{TINY / 'tiers.toml'}[rolls=2,save_rolls=true]"
PLAIN = [TINY / "tiers.toml", TINY / "required_pair.toml"]


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    """Levels and simulations of many tasks, also in processes that are forked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saving_pieces, "PIECE_PASSES", 1)
        patch.setattr(saving_pieces, "SETS", 2)
        patch.setattr(saving_files, "SETS", 2)
        patch.setattr(reach_pieces, "PIECE_NUMBERS", 200)
        patch.setattr(simulation, "_BLOCK", 300)
        patch.setattr(simulation, "SAVED_BLOCK", 200)
        patch.setattr(saving_simulation, "SAVED_BLOCK", 200)
        patch.setattr(simulation, "_MOST_TASKS", 3)
        yield


@pytest.fixture(scope="module", params=["threads", "processes"])
def executor(request: pytest.FixtureRequest, small: None) -> Iterator[Executor]:
    if request.param == "threads":
        with ThreadPoolExecutor(3) as pool:
            yield pool
    else:
        with ProcessPoolExecutor(2, mp_context=get_context("fork")) as processes:
            yield processes


class Cancelled(Exception):
    pass


def cancelling(share: float) -> Progress:
    def cancel(done: int, total: int) -> None:
        if done > share * total:
            raise Cancelled

    return cancel


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# ---------------------------------------------------------------- saved rolls


@pytest.mark.parametrize(("name", "count"), [(SAVED, 5), (SAVED_WIDE, 9)], ids=["card order", "any order"])
def test_saved_rolls(name: str, count: int, executor: Executor, tmp_path: Path) -> None:
    rules = solver.ruleset(name)
    solved_in_files(rules, tmp_path / "here", threads=1)
    reports: list[tuple[int, int]] = []
    there = tmp_path / "there"
    table = solved_in_files(rules, there, executor=executor, progress=lambda *now: reports.append(now))
    assert [path.name for path in there.iterdir() if path.is_dir()] == []
    assert contents(there) == contents(tmp_path / "here")
    assert table.expected_score == solved_in_memory(rules).expected_score
    assert table.resumed is None
    assert reports == sorted(reports) and reports[-1][0] == reports[-1][1]
    assert len(reports) == count


def stopped(folder: Path, share: float, executor: Executor | None) -> dict[str, bytes]:
    """Solve a game up to a share of the work; return what is final by then."""
    with pytest.raises(Cancelled):
        solved_in_files(
            solver.ruleset(SAVED_WIDE), folder, threads=1, executor=executor, progress=cancelling(share)
        )
    return {name: data for name, data in contents(folder).items() if name.startswith("level-")}


@pytest.mark.parametrize(
    ("first", "then"), [(True, True), (True, False), (False, True)], ids=["pool", "here", "here first"]
)
def test_stopped_saved_rolls_go_on(first: bool, then: bool, tmp_path: Path) -> None:
    rules = solver.ruleset(SAVED_WIDE)
    wanted = tmp_path / "wanted"
    solved_in_files(rules, wanted, threads=1)
    part = tmp_path / "part"
    with ThreadPoolExecutor(2) as pool:
        whole = stopped(part, 0.6, pool if first else None)
        assert 0 < len(whole) < len(rules.keys) and whole.items() <= contents(wanted).items()
        # Nothing counts as done before its level is whole.
        assert pieces_folder(part).exists() == first
        lowest = min(int(name[6:8]) for name in whole)
        reports: list[int] = []
        table = solved_in_files(
            rules, part, executor=pool if then else None, progress=lambda done, _: reports.append(done)
        )
    assert table.resumed in (lowest, lowest - 1)  # The pieces of a level are whole before its file is.
    assert contents(part) == contents(wanted)
    assert [path for path in part.iterdir() if path.is_dir()] == []
    if first and then:
        assert reports[0] > 0.5 * reports[-1]


def test_unsound_pieces_are_made_again(tmp_path: Path) -> None:
    rules = solver.ruleset(SAVED_WIDE)
    wanted, part = tmp_path / "wanted", tmp_path / "part"
    solved_in_files(rules, wanted, threads=1)
    with ThreadPoolExecutor(2) as pool:
        stopped(part, 0.6, pool)
        held = sorted(pieces_folder(part).glob("exact-*"))
        assert len(held) > 2
        for path in held[:-1]:
            path.write_bytes(path.read_bytes()[:-1])
        held[-1].write_bytes(b"something else")
        assert solved_in_files(rules, part, executor=pool).resumed is None
        assert contents(part) == contents(wanted)
        # Without the file of a level, pieces of those before it are of no use.
        other = tmp_path / "other"
        final = stopped(other, 0.6, pool)
        (other / max(final)).unlink()
        solved_in_files(rules, other, executor=pool)
    assert contents(other) == contents(wanted)


def test_values_that_do_not_match_their_checksum_are_refused(tmp_path: Path) -> None:
    rules = solver.ruleset(SAVED_WIDE)
    with ThreadPoolExecutor(2) as pool:
        stopped(tmp_path, 0.6, pool)
        for path in pieces_folder(tmp_path).glob("exact-*"):
            sound = path.read_bytes()
            path.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
        with pytest.raises(
            solver.DamagedTable, match=r"exact-.*do not match their checksum; .*delete its folder"
        ):
            solved_in_files(rules, tmp_path, executor=pool)


def test_solve_takes_an_executor_for_saved_rolls_alone(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        table = solver.solve(SAVED, executor=pool)
        assert isinstance(table, SavingTable) and table.folder is not None
        assert table.folder.is_relative_to(tmp_path)
        assert level_path(table.folder, 0).exists()
        with pytest.raises(solver.ArgumentError, match=r"executor: found .* expected rules with saved rolls"):
            solver.solve(PLAIN[0], executor=pool)


# ---------------------------------------------------------------- the chance of every score


def windows(found: Chances) -> list[list[float]]:
    assert isinstance(found.store, Windows)
    return [found.low.tolist(), found.length.tolist(), *(level.tolist() for level in found.store._levels)]


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
@pytest.mark.parametrize("cut", [1e-6, 0])
def test_chances(path: Path, cut: float, executor: Executor, tmp_path: Path) -> None:
    table = solver.solve(path)
    here, there = tmp_path / "here.dwc", tmp_path / "there.dwc"
    solver.keep_chances(table, here, cut=cut, threads=1)
    kept = solver.keep_chances(table, there, cut=cut, executor=executor)
    assert kept.path == there
    assert there.read_bytes() == here.read_bytes()
    first = table.ruleset.keys[0]
    for card in (None, f"{first}=0"):
        wanted = solver.reach(table, card, cut=cut, threads=1)
        assert windows(solver.reach(table, card, cut=cut, executor=executor, folder=tmp_path)) == windows(
            wanted
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here.dwc", "there.dwc"]


def test_stopped_chances_go_on(tmp_path: Path) -> None:
    table = solver.solve(PLAIN[0])
    wanted, target = tmp_path / "wanted.dwc", tmp_path / "target.dwc"
    solver.keep_chances(table, wanted)
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(Cancelled):
            solver.keep_chances(table, target, executor=pool, progress=cancelling(0.5))
        (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
        assert folder.name.startswith("target.dwc-") and not target.exists()
        assert len(list(folder.iterdir())) > 3
        reports: list[int] = []
        # What is cut elsewhere is other work.
        solver.keep_chances(table, target, cut=1e-3, executor=pool)
        solver.keep_chances(table, target, executor=pool, progress=lambda done, _: reports.append(done))
    assert reports[0] > 0.5 * reports[-1]
    assert target.read_bytes() == wanted.read_bytes()
    assert not folder.exists()


# ---------------------------------------------------------------- sweeps


def reach_20(table: Table) -> solver.Reach:
    return solver.Reach(20)


@pytest.mark.parametrize("goal", [None, reach_20, solver.Floor()], ids=["points", "reach", "floor"])
def test_comparisons(
    goal: solver.goals.Goal | Callable[[Table], solver.Reach] | None, executor: Executor
) -> None:
    varied = solver.variants(TINY / "tiers.toml", {"rolls": [1, 2, 3]})
    here = solver.compare(varied, goal, threads=1)
    reports: list[tuple[int, int]] = []
    there = solver.compare(varied, goal, executor=executor, progress=lambda *now: reports.append(now))
    assert there == here and len(here.rows) == 3
    assert spread(there) == spread(here)
    assert reports == [(1, 3), (2, 3), (3, 3)]


def spread(found: Comparison) -> list[list[float]]:
    return [of.probabilities.tolist() for of in found.distributions]


def simulated(played: Table | solver.Pursuit, **how: object) -> list[object]:
    found = solver.simulate(played, 2000, seed=5, **how)  # type: ignore[arg-type]
    record = None if found.record is None else found.record.tolist()
    return [found.scores.tolist(), found.by_row.tolist(), found.upper_bonus, found.card, record]


@pytest.mark.parametrize("record", [False, True])
def test_simulations(record: bool, executor: Executor) -> None:
    table = solver.solve(TINY / "tiers.toml")
    here = simulated(table, threads=2, record=record)
    reports: list[tuple[int, int]] = []
    how = {"executor": executor, "record": record}
    assert simulated(table, progress=lambda *now: reports.append(now), **how) == here
    assert reports == [(1, 3), (2, 3), (3, 3)]
    goal = solver.pursue(table, solver.Reach(30))
    by_goal = simulated(goal, threads=1, record=record)
    assert simulated(goal, **how) == by_goal != here
    card = f"{table.ruleset.keys[0]}=0"
    assert simulated(table, card=card, **how) == simulated(table, card=card, threads=1, record=record)


def test_simulations_of_saved_rolls(executor: Executor, tmp_path: Path) -> None:
    rules = solver.ruleset(SAVED_WIDE)
    memory = solved_in_memory(rules)
    files = solved_in_files(rules, tmp_path)
    for table in (memory, files):
        assert simulated(table, executor=executor) == simulated(table, threads=2)


def test_a_goal_that_is_looked_up_is_not_simulated_elsewhere() -> None:
    table = solver.solve(TINY / "tiers.toml")
    solver.keep_chances(table)
    goal = solver.pursue(table, solver.Reach(30))
    assert goal.kept is not None
    with ThreadPoolExecutor(1) as pool, pytest.raises(solver.ArgumentError, match="looked up in a file"):
        solver.simulate(goal, 100, executor=pool)


# ---------------------------------------------------------------- tasks


class Nowhere(Executor):
    """Workers that write where nobody looks."""

    def submit(self, fn: Callable[..., object], /, *args: object, **kwargs: object) -> Future[object]:
        future: Future[object] = Future()
        future.set_result(None)
        return future


def test_a_piece_that_is_not_there_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PATIENCE", 0.3)
    with pytest.raises(
        solver.TableError, match=r"is not there after .* workers that reach this folder by the same"
    ):
        solved_in_files(solver.ruleset(SAVED), tmp_path, executor=Nowhere())
    assert contents(tmp_path) == {}


@pytest.mark.parametrize(
    ("work", "most", "least", "count"),
    [([5] * 40, 50, None, 4), ([5] * 40, 1000, 10, 17), ([5] * 40, 50, 100, 4), ([1, 0, 0], 1, 1, 1)],
)
def test_shares(work: list[int], most: int, least: int | None, count: int) -> None:
    found = shares(np.array(work), most, 7, least=least)
    assert len(found) == count
    assert [item for share in found for item in share] == list(range(7, 7 + len(work)))
    sums = [sum(work[item - 7] for item in share) for share in found]
    assert max(sums) - min(sums) <= max(work)


def test_a_task_that_fails_stops_the_others() -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        time.sleep(0.001)
        if number == 1:
            raise ZeroDivisionError
        return 10 * number

    tasks = [Task(f"task-{number}", work, (number,)) for number in range(200)]
    found: dict[int, int] = {}
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(ZeroDivisionError):
            run_tasks(pool, tasks, found.__setitem__)
        assert found.items() <= {0: 0}.items() and len(begun) < 200
        run_tasks(pool, tasks[5:8], found.__setitem__)
    assert [found[place] for place in range(3)] == [50, 60, 70]


class Immediate:
    """Does tasks, but promises nothing."""

    def submit(self, task: Task) -> object:
        return task()


@pytest.mark.parametrize("given", [5, "threads", ThreadPoolExecutor, Immediate()])
def test_what_is_no_executor(given: Any, tmp_path: Path) -> None:
    rules, duel = solver.ruleset(SAVED), TINY / "colours.toml"
    for call in (
        lambda: solver.solve(rules, executor=given),
        lambda: solver.solve_duel(duel, tmp_path / "duel", executor=given),
        lambda: solver.reach(duel, executor=given),
        lambda: solver.keep_chances(duel, executor=given),
        lambda: solver.compare([duel], executor=given),
        lambda: solver.simulate(solver.load("yacht"), 1000, executor=given),
    ):
        with pytest.raises(
            solver.ArgumentError, match=r"^executor .*, expected|: expected an executor of the"
        ):
            call()


def test_what_a_cluster_is_not_for(home: Path) -> None:
    game = str(PLAIN[0])
    for line in (("solve", SAVED), ("reach", game), ("compare", game), ("simulate", game, "-n", "5")):
        assert "--threads is for this machine" in misuse(*line, "--cluster", "tcp://x:1", "--threads", "2")
    assert "which needs none; expected a game with saved rolls" in misuse(
        "solve", game, "--cluster", "tcp://x:1"
    )
    assert "--folder goes with --cluster" in misuse("reach", game, "--folder", "there")
    for line in (("compare", game), ("simulate", game, "-n", "5"), ("reach", game)):
        assert refusal(*line, "--cluster", "nowhere://x").startswith(
            "cluster 'nowhere://x': found no scheduler"
        )


def test_both_kinds_of_progress_are_whole() -> None:
    """Progress of one process is as it was."""
    reports: list[tuple[int, int]] = []
    solver.compare([PLAIN[0]], progress=partial(lambda seen, *now: seen.append(now), reports))
    assert reports[-1] == (2000, 2000)
    assert np.all(np.diff([done for done, _ in reports]) >= 0)


def test_after_a_failure_no_task_begins_that_had_not() -> None:
    """One worker: the task after the failure keeps it busy until the last one is cancelled, or for long."""
    submitted: list[Future[Any]] = []
    began: list[str] = []

    class Watched(ThreadPoolExecutor):
        def submit(self, *given: Any) -> Future[Any]:  # type: ignore[override]
            submitted.append(super().submit(*given))
            return submitted[-1]

    def fail() -> None:
        raise ZeroDivisionError

    def hold() -> None:
        deadline = time.monotonic() + 10
        while not (len(submitted) == 4 and submitted[-1].cancelled()) and time.monotonic() < deadline:
            time.sleep(0.01)

    tasks = [Task("fail", fail, ()), Task("hold", hold, ())]
    tasks += [Task(name, began.append, (name,)) for name in ("third", "fourth")]
    with Watched(1) as pool:
        with pytest.raises(ZeroDivisionError):
            run_tasks(pool, tasks, lambda *_: None)
        assert [future.done() for future in submitted] == [True] * 4
    assert began == []
