"""The payload of a table file: from the values of a game's states to bytes, and back.

A value is held as a whole number of steps, a step being a millionth of a point. Each box adds
nearly the same to a state's value whatever else is filled, so before packing each lower box in turn
subtracts from the values with it filled the values without it (`_pairs`); what remains is what the boxes
add together beyond what they add apart. Then come the differences between neighbours, with the sign as
the lowest bit, and their bytes by significance, deflated. To the bit the same is undone in reading.

What was tried, official rules, 314,880 values in steps of a millionth: differences between neighbours
alone 848 kB; the change from one filled set to the one without its lowest lower box 771 kB; the
parallelogram of two boxes 722 kB; three lower boxes 748 kB, five 684 kB, all seven 665 kB. Second
differences are 2 % larger; steps of 1e-5 take 541 kB and of 1e-7 804 kB; the float64 values, bytes by
significance, 1,933 kB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .states import UNREACHABLE, States

# Large steps go in pieces that stay in the cache: touching fresh memory costs more than the work itself.
_WORDS = 1 << 15
_RUNS = 1 << 10


@dataclass(frozen=True, slots=True)
class PayloadOrder:
    """The order of the values in the payload: by flag, lower boxes filled, upper boxes filled, class.

    A run is the classes of one filled set and flag, neighbours in the payload and in the array of values.

    Attributes
    ----------
    start : int64 array, shape (runs,)
        Where each run starts in the array of values.
    ends : int64 array, shape (runs + 1,)
        Where each run starts in the payload, and where the last one ends.
    blocks : for each flag a list of 2**lowers + 1
        Where the runs of each set of lower boxes start in the payload, and where the last one's end.
    """

    start: NDArray[np.int64]
    ends: NDArray[np.int64]
    blocks: tuple[list[int], ...]

    @property
    def values(self) -> int:
        """Number of values in the payload."""
        return int(self.ends[-1])

    def places(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Yield pieces of the payload, and where in the array of values each value of a piece lies."""
        for run in range(0, len(self.start), _RUNS):
            ends = self.ends[run : run + _RUNS + 1]
            shift = self.start[run : run + _RUNS] - ends[:-1]
            piece = slice(int(ends[0]), int(ends[-1]))
            yield piece, np.arange(piece.start, piece.stop) + np.repeat(shift, np.diff(ends))


def payload_order(states: States) -> PayloadOrder:
    """Return the order of the values in the payload."""
    upper = np.flatnonzero(states.scoring.upper).tolist()
    lower = np.flatnonzero(~states.scoring.upper).tolist()
    rising = np.zeros(1, np.int64)
    for box in upper + lower:
        rising = np.concatenate([rising, rising | 1 << box])
    number = np.flatnonzero(states.first[rising] != UNREACHABLE)
    filled, lower_set = rising[number], number >> len(upper)
    classes = states.upper.count[number & (1 << len(upper)) - 1].astype(np.int64)
    first = states.first[filled].astype(np.int64)
    flags = [(first, classes, lower_set)]
    if states.arming >= 0:
        armed = filled >> states.arming & 1 > 0
        flags.append(((first + classes)[armed], classes[armed], lower_set[armed]))
    start, length = (np.concatenate([flag[part] for flag in flags]) for part in (0, 1))
    ends = np.concatenate([[0], np.cumsum(length)])
    blocks, before = [], 0
    for _, _, sets in flags:
        runs = before + np.searchsorted(sets, np.arange((1 << len(lower)) + 1))
        blocks.append(ends[runs].tolist())
        before += len(sets)
    return PayloadOrder(start, ends, tuple(blocks))


def _pairs(blocks: list[int]) -> Iterator[tuple[slice, slice]]:
    """Yield, lower box by lower box, where values without it lie and where those with it lie.

    Where the order of filling leaves one side fewer sets than the other, they are not a pair.
    """
    sets, step = len(blocks) - 1, 1
    while step < sets:
        for low in range(0, sets, 2 * step):
            start, middle, end = blocks[low], blocks[low + step], blocks[low + 2 * step]
            if middle - start == end - middle > 0:
                yield slice(start, middle), slice(middle, end)
        step *= 2


def width(steps: int) -> int:
    """Return how many planes a payload has: one for each byte of a value."""
    return 4 if steps else 8


def packed(values: NDArray[np.float64], steps: int, order: PayloadOrder) -> list[bytes]:
    """Return the values of a game as planes: the highest byte of every value, then the next, and so on.

    Values are exact where `steps` is 0.
    """
    ordered = np.empty(order.values)
    for piece, places in order.places():
        ordered[piece] = values[places]
    words: NDArray[Any] = ordered.view(np.uint64)
    if steps:
        # All arithmetic is modulo 2**32, and so loses nothing.
        whole = np.rint(ordered * steps).astype(np.int32).view(np.uint32)
        for blocks in order.blocks:
            for without, with_box in _pairs(blocks):
                whole[with_box] -= whole[without]
        change = np.diff(whole, prepend=np.uint32(0))
        words = change << 1 ^ np.negative(change >> 31)
    return [(words >> 8 * place).astype(np.uint8).tobytes() for place in reversed(range(width(steps)))]


def unpacked(planes: Iterable[bytes], steps: int, order: PayloadOrder, size: int) -> NDArray[np.float64]:
    """Return what `packed` was given: `size` values, 0 in the padding, each to the nearest step."""
    words: NDArray[Any] = np.zeros(order.values, np.uint32 if steps else np.uint64)
    for plane in planes:
        words <<= 8
        words |= np.frombuffer(plane, np.uint8)
    if steps:
        for first in range(0, len(words), _WORDS):
            piece = words[first : first + _WORDS]
            sign = np.negative(piece & 1)
            piece >>= 1
            piece ^= sign
        np.cumsum(words, dtype=words.dtype, out=words)
        for blocks in order.blocks:
            for without, with_box in reversed(list(_pairs(blocks))):
                words[with_box] += words[without]
    values = np.zeros(size)
    for part, places in order.places():
        values[places] = words[part].view(np.int32) / float(steps) if steps else words[part].view(np.float64)
    return values
