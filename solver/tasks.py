"""Work as named tasks, for the threads of this process or for any executor that others bring along.

A task is a function and its arguments, such that it can run in any process, and more than once. Its name
says what it does, to whoever watches a cluster: `solve_piece-yacht-level-07-003`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .errors import ArgumentError, shown
from .levels import thread_count


@dataclass(frozen=True)
class Task:
    """A piece of work; called without arguments.

    Attributes
    ----------
    name
        What it does, on what.
    function, arguments
        What is called, with what; an executor in other processes must be able to send both there.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __call__(self) -> Any:
        """Do the work here."""
        return self.function(*self.arguments)


@contextmanager
def workers(executor: Executor | None, threads: int | None) -> Iterator[Executor]:
    """Yield what runs tasks: the executor given, or as many threads of this process."""
    if executor is not None:
        yield executor
        return
    with ThreadPoolExecutor(thread_count(threads)) as pool:
        yield pool


def run_tasks(pool: Executor, tasks: Sequence[Task], done: Callable[[int, Any], None]) -> None:
    """Run tasks; once one fails or the program is stopped, those not yet begun are cancelled.

    Parameters
    ----------
    pool
        What runs them.
    tasks
        What to run, all at once.
    done
        Called from this thread after each task, with its place among the tasks and what it returned.

    Raises
    ------
    ArgumentError
        For what is no executor.
    """
    expected = "expected an executor of the kind of concurrent.futures"
    if isinstance(pool, type) or not callable(getattr(pool, "submit", None)):
        raise ArgumentError(f"executor {shown(pool)}: {expected}")
    places = {}
    try:
        for place, task in enumerate(tasks):
            future = pool.submit(task)
            if not isinstance(future, Future):
                raise ArgumentError(f"executor {shown(pool)}: it returned {shown(future)}, {expected}")
            places[future] = place
        for future in as_completed(places):
            done(places.pop(future), future.result())
    except BaseException:
        wait([future for future in places if not future.cancel()])
        raise


def shared(pool: Executor, value: Any, name: str) -> Any:
    """Return what to pass to many tasks in the place of a large value.

    That is the value, unless the executor can bring it to its workers once.
    """
    share: Callable[[Any, str], Any] = getattr(pool, "shared", lambda value, _: value)
    return share(value, name)
