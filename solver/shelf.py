"""What was opened or worked out, kept for the next request; each thing is made once, whoever asks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any


class Shelf:
    """Results by key, up to a number of bytes: the one used longest ago goes first.

    Parameters
    ----------
    most
        Bytes to keep. The result made last is kept whatever its size.
    """

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0
        self._results: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._lock = Lock()

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._sizes

    def get(self, key: Hashable, make: Callable[[], Any], size: Callable[[Any], int]) -> Any:
        """Return the result with this key, made now if it is not there.

        Others that ask for it meanwhile wait for the same result, or get the same error; an error is
        not kept.
        """
        with self._lock:
            found = self._results.get(key)
            if found:
                self._results.move_to_end(key)
            else:
                own: Future[Any] = Future()
                self._results[key] = own
        if found:
            return found.result()
        try:
            result = make()
        except BaseException as error:
            with self._lock:
                del self._results[key]
            own.set_exception(error)
            raise
        with self._lock:
            self._sizes[key] = size(result)
            self._held += self._sizes[key]
            self._forget(key)
        own.set_result(result)
        return result

    def _forget(self, last: Hashable) -> None:
        for key in [key for key in self._results if key in self._sizes and key != last]:
            if self._held <= self._most:
                return
            del self._results[key]
            self._held -= self._sizes.pop(key)
