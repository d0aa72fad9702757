"""A dask scheduler and its workers on this machine, each a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from command_line import environment

distributed = pytest.importorskip("distributed")

PATIENCE = 120
Found = TypeVar("Found")


def slowed(module: str, function: str) -> str:
    """Code for workers: what makes a piece takes a while, so that there is time to kill one of them.

    Pieces wait while the working folder has a file `hold`; each notes its process in the file `made-by`.
    """
    return f"""
import os, time
import {module} as module
made_by, hold = os.path.abspath("made-by"), os.path.abspath("hold")

def {function}(*arguments):
    time.sleep(0.05)
    while os.path.exists(hold):
        time.sleep(0.01)
    module.plain(*arguments)
    with open(made_by, "a") as file:
        file.write(f"{{os.getpid()}} ")

if not hasattr(module, "plain"):  # A preload is imported more than once.
    module.plain = module.{function}
    module.{function} = {function}
"""


class Cluster:
    """A scheduler and two workers."""

    def __init__(self, folder: Path, preload: str, **settings: str) -> None:
        self.folder, self.environment = folder, environment() | settings
        (folder / "preload.py").write_text(preload)
        file = folder / "scheduler.json"
        where = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        self.scheduler = self._start("scheduler", *where, "--dashboard-address", "127.0.0.1:0")
        self.address = wait_for(lambda: address_in(file))
        self.client = distributed.Client(self.address, set_as_default=False)
        self.workers = [self.start_worker(f"worker-{number}") for number in range(2)]

    def start_worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start one more worker, which joins when it is ready."""
        how = ("--no-nanny", "--no-dashboard", "--nthreads", "1", "--host", "127.0.0.1")
        preload = ("--preload", str(self.folder / "preload.py"))
        return self._start("worker", self.address, *how, *preload, "--name", name)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-m", "dask", *arguments]
        quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(line, cwd=self.folder, env=self.environment, **quiet)

    def wait(self, workers: int = 2) -> None:
        """Wait until so many workers have joined."""
        self.client.wait_for_workers(workers, timeout=PATIENCE)

    def worker_names(self) -> set[str]:
        """The names of the workers that have joined."""
        return {worker["name"] for worker in self.client.scheduler_info(n_workers=-1)["workers"].values()}

    @contextmanager
    def held(self) -> Iterator[set[str]]:
        """Hold the pieces that are not yet done; yield the names of their tasks."""
        hold = self.folder / "hold"
        hold.touch()
        time.sleep(0.3)  # What had begun before is done by then.
        try:
            yield self.task_names()
        finally:
            hold.unlink()

    def names_on_the_dashboard(self) -> set[str]:
        """The names that the scheduler's own pages show to a browser, of the tasks that there were so far."""
        from bokeh.client import pull_session
        from bokeh.models import ColumnDataSource

        port = self.client.scheduler_info(n_workers=0)["services"]["dashboard"]
        session = pull_session(url=f"http://127.0.0.1:{port}/individual-progress")
        try:
            sources = session.document.select({"type": ColumnDataSource})
            shown = [source.data.get("name", []) for source in sources]
        finally:
            session.close()
        return {str(name) for names in shown for name in names}

    def task_names(self) -> set[str]:
        """The names of the tasks that workers have to do now."""
        return {str(key) for keys in self.client.processing().values() for key in keys}

    def task_names_so_far(self) -> set[str]:
        """The names of the last tasks that there have been, however short."""
        seen: list[str] = self.client.run_on_scheduler(
            lambda dask_scheduler: [str(key) for key, *_ in dask_scheduler.transition_log]
        )
        return set(seen)

    def made_by(self) -> set[int]:
        """The processes that have made pieces."""
        return {int(number) for number in (self.folder / "made-by").read_text().split()}

    def stop(self) -> None:
        self.client.close()
        for running in (*self.workers, self.scheduler):
            running.kill()
            running.wait()


def address_in(file: Path) -> str | None:
    """The address in a scheduler's file, which is there a moment before it is written."""
    try:
        return str(json.loads(file.read_text())["address"])
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def wait_for(wanted: Callable[[], Found]) -> Found:
    """What is wanted, as soon as it is there."""
    end = time.monotonic() + PATIENCE
    while not (found := wanted()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found
