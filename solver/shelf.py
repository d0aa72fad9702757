"""What was opened or worked out, kept for the next request; each thing is made once, whoever asks."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

Size = int | Mapping[Hashable, int]
"""Bytes of a result; or of each of its parts by key, such as their `id`, where results share parts."""


class Shelf:
    """Results by key, up to a number of bytes: the one used longest ago goes first.

    A part that several results share is counted once, as long as one of them is kept.

    Parameters
    ----------
    most
        Bytes to keep. The result made last is kept whatever its size.
    """

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0
        self._results: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._parts: dict[Hashable, Mapping[Hashable, int]] = {}
        self._sharing: Counter[Hashable] = Counter()
        self._lock = Lock()

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._parts

    def get(self, key: Hashable, make: Callable[[], Any], size: Callable[[Any], Size]) -> Any:
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
        held = size(result)
        with self._lock:
            self._parts[key] = {("whole", key): held} if isinstance(held, int) else held
            for part, length in self._parts[key].items():
                self._held += 0 if self._sharing[part] else length
                self._sharing[part] += 1
            for other in [other for other in self._results if other in self._parts and other != key]:
                if self._held <= self._most:
                    break
                self._let_go(other)
        own.set_result(result)
        return result

    def clear(self) -> None:
        """Let go of all results."""
        with self._lock:
            for key in list(self._parts):
                self._let_go(key)

    def _let_go(self, key: Hashable) -> None:
        del self._results[key]
        for part, length in self._parts.pop(key).items():
            self._sharing[part] -= 1
            if not self._sharing[part]:
                del self._sharing[part]
                self._held -= length


REMEMBERED = Shelf(1 << 30)
"""What functions have worked out for a game, in this process."""


def remembered(size: Callable[..., Size]) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Return a decorator: results are kept by their arguments, those of all such functions on one shelf.

    However large the games are, no more is kept than so many bytes.

    Parameters
    ----------
    size
        Called with the result and the arguments, which are kept as well.
    """

    def decorated(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def found(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            key = (function, args, *sorted(kwargs.items()))
            result: _R = REMEMBERED.get(
                key, lambda: function(*args, **kwargs), lambda made: size(made, *args, **kwargs)
            )
            return result

        return found

    return decorated
