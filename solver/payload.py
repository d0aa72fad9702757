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

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .states import UNREACHABLE, States


@dataclass(frozen=True, slots=True)
class PayloadOrder:
    """The order of the values in the payload: by flag, lower boxes filled, upper boxes filled, class.

    `places` says where in the array of values each one lies, shape (values,); `blocks` holds, for each
    flag, where the values of each set of lower boxes start, and where the last one's end.
    """

    places: NDArray[np.int64]
    blocks: tuple[list[int], ...]


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
    starts, lengths, blocks, before = [first], [classes], [], 0
    if states.arming >= 0:
        armed = filled >> states.arming & 1 > 0
        starts.append((first + classes)[armed])
        lengths.append(classes[armed])
    for flag, length in enumerate(lengths):
        ends = np.concatenate([[0], np.cumsum(length)]) + before
        sets = lower_set[armed] if flag else lower_set
        blocks.append(ends[np.searchsorted(sets, np.arange((1 << len(lower)) + 1))].tolist())
        before = blocks[-1][-1]
    length = np.concatenate(lengths)
    shift = np.concatenate(starts) - (np.cumsum(length) - length)
    return PayloadOrder(np.repeat(shift, length) + np.arange(before), tuple(blocks))


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


def packed_steps(values: NDArray[np.float64], steps: int, order: PayloadOrder) -> bytes:
    """Return values in steps, as what each differs from what those before it lead one to expect."""
    # All arithmetic is modulo 2**32, and so loses nothing.
    whole = np.rint(values * steps).astype(np.int32).view(np.uint32)
    for blocks in order.blocks:
        for without, with_box in _pairs(blocks):
            whole[with_box] -= whole[without]
    change = np.diff(whole, prepend=np.uint32(0))
    return planes_of(change << 1 ^ np.negative(change >> 31))


def unpacked_steps(payload: bytes, order: PayloadOrder) -> NDArray[np.uint32]:
    """Return what `packed_steps` was given, in steps, modulo 2**32."""
    change = words_of(payload, np.uint32)
    whole = np.cumsum(change >> 1 ^ np.negative(change & 1), dtype=np.uint32)
    for blocks in order.blocks:
        for without, with_box in reversed(list(_pairs(blocks))):
            whole[with_box] += whole[without]
    return whole


def planes_of(words: NDArray[Any]) -> bytes:
    """Return the lowest byte of every word, then the next byte of every word, and so on."""
    return b"".join((words >> 8 * place).astype(np.uint8).tobytes() for place in range(words.itemsize))


def words_of(planes: bytes, kind: type[np.uint32 | np.uint64]) -> NDArray[Any]:
    """Return the words of these planes."""
    rows = np.frombuffer(planes, np.uint8).reshape(np.dtype(kind).itemsize, -1)
    words = rows[-1].astype(kind)
    for row in rows[-2::-1]:
        words <<= 8
        words |= row
    return words
