"""A running dask scheduler as an executor: tasks go to its workers, on this machine or others.

Workers need dicewise installed, and must reach the folder of the files by the same path. A task of a worker
that dies is done again by another, and workers may join at any time; a piece counts once its file is whole.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from importlib import import_module
from secrets import token_hex
from typing import Any

from .errors import ArgumentError, ClusterError
from .tasks import Task

_PATIENCE = 10
"""Seconds to wait for the scheduler to answer."""


class _Named(Executor):
    """Gives tasks their names in the scheduler, with some letters of their own: runs may be side by side."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._inner = client.get_executor(pure=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if isinstance(fn, Task):
            # Taken apart, since dask looks for what is shared among the arguments themselves alone.
            function, arguments, name = fn.function, fn.arguments, fn.name
        else:
            function, arguments, name = fn, args, fn.__name__
        found: Future[Any] = self._inner.submit(function, *arguments, key=_key(name), **kwargs)
        return found

    def shared(self, value: Any, name: str) -> Any:
        """Return what stands for a value that was brought to every worker once."""
        key = _key(name)
        self._client.wait_for_workers(1)
        return self._client.scatter({key: value}, broadcast=True, hash=False)[key]


def _key(name: str) -> str:
    return f"{name}-{token_hex(4)}"


@contextmanager
def connected(address: str, *, quiet: bool = False) -> Iterator[Executor]:
    """Connect to a scheduler and yield the executor of its workers.

    Parameters
    ----------
    address
        Of the scheduler, such as tcp://10.0.0.1:8786.
    quiet
        Whether what dask logs of its connections is not shown; what goes wrong is raised in any case.

    Raises
    ------
    ArgumentError
        If there is none at this address, or dask is not installed.
    ClusterError
        If the scheduler goes away, or gives a task up because all workers that took it on died.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        what = "expected dask.distributed to be installed: python3 -m pip install 'dicewise[cluster]'"
        raise ArgumentError(f"cluster {address!r}: {what}") from error
    if quiet:
        for handler in logging.getLogger("distributed.client").handlers:
            handler.setLevel(logging.CRITICAL + 1)
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        what = "found no scheduler there, expected the address of one such as tcp://10.0.0.1:8786"
        raise ArgumentError(f"cluster {address!r}: {what}") from error
    try:
        with client:
            yield _Named(client)
    except distributed.KilledWorker as error:
        what = f"gave up {str(error.task)!r}, expected a worker that does not die of it"
        raise ClusterError(f"cluster {address!r}: {what}; see what its workers say") from error
    except CancelledError as error:
        what = "its tasks were lost, expected a scheduler and a worker that stay; start the command again"
        raise ClusterError(f"cluster {address!r}: {what} to go on") from error
