"""The table file: the values of one game's states, written whole and read with every fault named.

    magic | format version | length of header | header (JSON) | CRC-32 of all before | payload

`tables/README.md` describes it byte by byte. What a program needs to find a state's value without
dicewise is in the header. Nothing depends on the time or the machine, so that the same values always
give the same bytes; another build of zlib may pack them otherwise, for which the header also holds a
checksum of the payload before packing.
"""

from __future__ import annotations

import hashlib
import math
import os
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .errors import WrongRulesTable
from .files import opened, quoted, replace
from .front import BYTES, Kind, header_text
from .payload import packed, payload_order, unpacked, width
from .rules import Ruleset
from .scoring import scoring
from .states import States

KIND = Kind(b"DWT", 1, "table", "table", "solve the game again")
MAGIC, VERSION = KIND.magic, KIND.version

GENERATOR = "dicewise 1"
"""Changes when this program writes other bytes for the same rules, not with every release."""

EXPECTED_SCORE = "expected score"
"""The objective of a table whose values are expected points still to come."""

SCALE = 1e-6
"""Points to a step, unless another scale is asked for."""

_MOST_STEPS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Header:
    """What a table says about itself.

    Attributes
    ----------
    digest
        SHA-256 of all that the values depend on, as in `Scoring.digest`.
    name, title
        The game, for people; another name may stand for the same rules.
    objective
        What the values are.
    generator
        What wrote the table.
    states, values
        Number of states, and of values: one for all states whose upper subtotals are equally good.
    steps
        Steps to a point; 0 where the values are exact.
    root
        The value of the empty card, exact, in points.
    planes
        Length in bytes of each plane of the payload, as stored.
    crc32
        Checksum of the payload as stored.
    sha256
        Checksum of the payload before packing, in hexadecimal: the same for every build of zlib.
    boxes
        Keys of the categories, in card order; box i is bit i of a filled set.
    upper
        Numbers of the upper boxes.
    order
        Which open boxes may be filled, as in the ruleset.
    arming
        The box whose points set the flag, or None.
    subtotals
        For each set of upper boxes, one bit each, the least upper subtotal of each class; empty where
        the order of filling lets no such set arise.
    version
        Of the format.
    """

    digest: str
    name: str
    title: str
    objective: str
    generator: str
    states: int
    values: int
    steps: int
    root: float
    planes: tuple[int, ...]
    crc32: int
    sha256: str
    boxes: tuple[str, ...]
    upper: tuple[int, ...]
    order: str
    arming: int | None
    subtotals: tuple[tuple[int, ...], ...] = field(repr=False)
    version: int = VERSION

    @property
    def scale(self) -> float | None:
        """Points to a step; None where the values are exact."""
        return 1 / self.steps if self.steps else None


_KINDS: dict[str, type | tuple[type, ...]] = dict.fromkeys(
    ("digest", "name", "title", "objective", "generator", "sha256", "order"), str
)
_KINDS |= dict.fromkeys(("states", "values", "steps", "crc32"), int)
_KINDS |= dict.fromkeys(("planes", "boxes", "upper", "subtotals"), list)
_KINDS |= {"root": (int, float), "arming": (int, type(None))}


def encode(
    ruleset: Ruleset,
    states: States,
    values: NDArray[np.float64],
    *,
    objective: str = EXPECTED_SCORE,
    scale: float | None = SCALE,
) -> tuple[Header, bytes]:
    """Return the header and all bytes of a table; see `write`."""
    digest = states.scoring.digest
    if scoring(ruleset).digest != digest or values.shape != (states.size,) or not np.all(np.isfinite(values)):
        raise ValueError(f"expected {states.size} finite values, of the states of {ruleset.name}")
    steps = round(1 / scale) if scale else 0
    if scale and (steps < 1 or not math.isclose(steps * scale, 1)):
        raise ValueError(f"the scale is {scale}: expected one point to be a whole number of steps")
    order = payload_order(states)
    if np.max(np.abs(values)) * steps > _MOST_STEPS:
        steps = 0
    planes = packed(values, steps, order)
    with ThreadPoolExecutor(len(planes)) as pool:  # For a large game deflating takes longer than all else.
        stored = list(pool.map(_deflated, planes))
    header = Header(
        digest=digest,
        name=plain_name(ruleset),
        title=ruleset.title,
        objective=objective,
        generator=GENERATOR,
        states=states.count,
        values=order.values,
        steps=steps,
        root=float(values[0]),
        planes=tuple(map(len, stored)),
        crc32=zlib.crc32(b"".join(stored)),
        sha256=hashlib.sha256(b"".join(planes)).hexdigest(),
        **layout(ruleset, states),
    )
    contents = {name: getattr(header, name) for name in _KINDS}
    return header, KIND.front(header_text(contents)) + b"".join(stored)


def layout(ruleset: Ruleset, states: States) -> dict[str, Any]:
    """Return what a header says for a program to find a state's value: the last five keys of `Header`."""
    used = set(states.upper_filled(states.filled).tolist())
    return {
        "boxes": ruleset.keys,
        "upper": tuple(np.flatnonzero(states.scoring.upper).tolist()),
        "order": states.scoring.order,
        "arming": states.arming if states.arming >= 0 else None,
        "subtotals": tuple(
            tuple(least.tolist()) if filled in used else ()
            for filled, least in enumerate(states.upper.lowest)
        ),
    }


def write(
    path: str | os.PathLike[str],
    ruleset: Ruleset,
    states: States,
    values: NDArray[np.float64],
    *,
    objective: str = EXPECTED_SCORE,
    scale: float | None = SCALE,
    parents: bool = False,
) -> Header:
    """Write a table: whole, or not at all, with whatever was there before left as it was.

    Parameters
    ----------
    path
        The file; one that is there already is replaced, also while others read it.
    ruleset, states, values
        The game, and its values in points, shape (states.size,), in the layout of `states`.
    objective
        What the values are.
    scale
        Points to a step, such as 1e-6; values are off by at most half of it. None keeps them to the
        bit, and so are values kept of which some would not fit in 2**31 - 1 steps.
    parents
        Whether to make folders that are missing.

    Raises
    ------
    TableError
        If the file cannot be written.
    """
    header, contents = encode(ruleset, states, values, objective=objective, scale=scale)
    replace(path, contents, parents=parents)
    return header


def read_header(path: str | os.PathLike[str]) -> Header:
    """Return what a table says about itself; its values are not looked at.

    Raises
    ------
    TableError
        Of the kind that fits, if there is no table, or its header or its length is wrong.
    """
    with opened(path) as (file, size):
        return _header(file, size, path)


def read(
    path: str | os.PathLike[str], states: States, *, objective: str = EXPECTED_SCORE, name: str = ""
) -> tuple[Header, NDArray[np.float64]]:
    """Return the header and the values of a table, all of it checked.

    Parameters
    ----------
    path
        The file.
    states
        The states of the game that it is to be a table of.
    objective
        What the values are to be.
    name
        The name of that game, for the message where the table is one of another game.

    Returns
    -------
    header
    values : float64 array, shape (states.size,)
        In points, in the layout of `states`, 0 in the padding; it cannot be written to.

    Raises
    ------
    TableError
        Of the kind that fits, if there is no table, it is not what was written, or not of this game.
    """
    with opened(path) as (file, size):
        header = _header(file, size, path)
        digest = states.scoring.digest
        if header.digest != digest:
            game = f"{name!r} (rules {digest[:12]})" if name else f"rules {digest[:12]}"
            held = f"{header.name!r} (rules {header.digest[:12]})"
            raise WrongRulesTable(f"{quoted(path)} is a table of {held}, expected one of {game}")
        if header.objective != objective:
            what = f"holds values of {header.objective!r}, expected {objective!r}"
            raise WrongRulesTable(f"{quoted(path)} {what}")
        order = payload_order(states)
        planes = _planes(file, header, order.values, path)
        values = unpacked(planes, header.steps, order, states.size)
    values.flags.writeable = False
    return header, values


def manifest_entry(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a manifest of tables says about one of them; its SHA-256 is that of the whole file."""
    header = read_header(path)
    contents = Path(path).read_bytes()
    return {
        "name": header.name,
        "title": header.title,
        "file": Path(path).name,
        "digest": header.digest,
        "states": header.states,
        "value": header.root,
        "bytes": len(contents),
        "sha256": hashlib.sha256(contents).hexdigest(),
        "payload_sha256": header.sha256,
    }


def _header(file: BinaryIO, size: int, path: str | os.PathLike[str]) -> Header:
    """Read the header from the start of a file of `size` bytes, up to the payload."""
    text = KIND.header(file, size, path)
    header = _parsed(text, path)
    KIND.check_end(size, len(text) + BYTES + sum(header.planes), path)
    return header


def _parsed(text: bytes, path: str | os.PathLike[str]) -> Header:
    """Return the header of this text."""
    contents = KIND.fields(text, _KINDS, path)
    try:
        contents["root"] = float(contents["root"])
        if not math.isfinite(contents["root"]):
            raise ValueError("root")
        if any(type(length) is not int or length < 0 for length in contents["planes"]):
            raise TypeError("planes")
        contents["subtotals"] = map(tuple, contents["subtotals"])
        for name in ("planes", "boxes", "upper", "subtotals"):
            contents[name] = tuple(contents[name])
        return Header(**contents)
    except (TypeError, ValueError, OverflowError) as error:
        raise KIND.unlike_its_header(path) from error


def _planes(file: BinaryIO, header: Header, values: int, path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield the planes of the payload; what is wrong with any of them is said after the last one."""
    sound, crc32 = header.values == values and len(header.planes) == width(header.steps), 0
    for length in header.planes:
        stored = file.read(length)
        crc32 = zlib.crc32(stored, crc32)
        plane = _inflated(stored, values) if sound else b""
        sound = sound and len(plane) == values
        if sound:
            yield plane
    if crc32 != header.crc32:
        raise KIND.damaged(path, "its values do not match their checksum")
    if not sound:
        what = f"it does not hold {values} values, one for each class of states"
        raise KIND.damaged(path, what)


def _deflated(plane: bytes) -> bytes:
    return zlib.compress(plane, 9, wbits=-zlib.MAX_WBITS)


def _inflated(stored: bytes, length: int) -> bytes:
    """Return a plane before packing, nothing where it is not sound, and never more than a byte too many."""
    inflate = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    try:
        plane = inflate.decompress(stored, length + 1)
    except zlib.error:
        return b""
    return plane if inflate.eof and not inflate.unused_data else b""


def plain_name(ruleset: Ruleset) -> str:
    """Return the name of a game, with no folder of this machine where it was read from a file."""
    if ruleset.source is None:
        return ruleset.name
    return ruleset.name[max(ruleset.name.find(ruleset.source.name), 0) :]
