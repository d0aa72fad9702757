"""A running dask scheduler as an executor: pieces of work go to its workers, on this machine or others.

Workers need dicewise installed, and must reach the folder of the files by the same path. A worker that
dies has its pieces done by another; a piece counts once its file is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .errors import ArgumentError

_PATIENCE = 10
"""Seconds to wait for the scheduler to answer."""


class _Named(Executor):
    """Gives each task a name that says what it does: function, level, number."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        level, number = args[-2:]
        name = f"{fn.__name__}-{args[0].name}-level-{level:02d}-{number:03d}"
        found: Future[Any] = self._inner.submit(fn, *args, key=name, **kwargs)
        return found


@contextmanager
def connected(address: str) -> Iterator[Executor]:
    """Connect to a scheduler and yield the executor of its workers.

    Raises
    ------
    ArgumentError
        If there is none at this address, or dask is not installed.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        what = "expected dask.distributed to be installed: python3 -m pip install 'dicewise[cluster]'"
        raise ArgumentError(f"cluster {address!r}: {what}") from error
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        what = "found no scheduler there, expected the address of one such as tcp://10.0.0.1:8786"
        raise ArgumentError(f"cluster {address!r}: {what}") from error
    with client:
        yield _Named(client.get_executor(pure=False))
