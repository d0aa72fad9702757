"""How the files in `damaged/` are made: run this file as a program to make them all again.

All but three of them are one sound table with something done to it; `damaged/README.md` says what.
"""

from __future__ import annotations

import json
import struct
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from solver import table
from solver.rules import ruleset
from solver.scoring import scoring
from solver.states import states

HERE = Path(__file__).parent
DAMAGED = HERE / "damaged"
SOUND = DAMAGED / "sound.dwt"
RULES = ruleset(HERE / "tiny" / "forced.toml")
FRONT = 14
"""Bytes before the header."""


def parts(contents: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the payload of a table."""
    (length,) = struct.unpack_from("<I", contents, 10)
    return json.loads(contents[FRONT : FRONT + length]), contents[FRONT + length + 4 :]


def signed(header: bytes | dict[str, Any], payload: bytes) -> bytes:
    """A table whose checksum of the header is right, whatever the header says."""
    text = header if isinstance(header, bytes) else json.dumps(header, sort_keys=True).encode()
    front = struct.pack("<8sHI", table.MAGIC, 1, len(text)) + text
    return front + struct.pack("<I", zlib.crc32(front)) + payload


def with_planes(header: dict[str, Any], *planes: bytes) -> bytes:
    """A table with these planes, as stored, and with all checksums right."""
    payload = b"".join(planes)
    return signed(
        {**header, "planes": [len(plane) for plane in planes], "crc32": zlib.crc32(payload)}, payload
    )


def flipped(contents: bytes, place: int, bit: int = 0) -> bytes:
    """The same with one bit the other way."""
    return contents[:place] + bytes([contents[place] ^ 1 << bit]) + contents[place + 1 :]


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data, 9, wbits=-15)


def broken(sound: bytes) -> dict[str, bytes]:
    """All damaged files that are made from the sound one, by name."""
    header, payload = parts(sound)
    start = len(sound) - len(payload)
    ends = np.cumsum([0, *header["planes"]]).tolist()
    stored = [payload[first:end] for first, end in pairwise(ends)]
    short = raw_deflate(bytes(header["values"] - 1))
    without_root = {key: value for key, value in header.items() if key != "root"}
    return {
        "empty": b"",
        "foreign": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        "text_to_crlf": sound.replace(b"\n", b"\r\n"),
        "text_to_lf": sound.replace(b"\r\n", b"\n"),
        "text_to_cr": sound.replace(b"\r\n", b"\r").replace(b"\n", b"\r"),
        "text_seven_bits": bytes(byte & 0x7F for byte in sound),
        "text_utf8": sound.decode("latin-1").encode(),
        "text_replaced": sound.decode("utf-8", "replace").encode(),
        "text_question_marks": sound.decode("ascii", "replace").encode("ascii", "replace"),
        "version_later": sound[:8] + b"\x02\x00" + sound[10:],
        "version_earlier": sound[:8] + b"\x00\x00" + sound[10:],
        "cut_in_magic": sound[:5],
        "cut_in_header": sound[:200],
        "cut_in_payload": sound[: start + 20],
        "longer": sound + b"\x00" * 3,
        "flipped_in_header": flipped(sound, 40),
        "flipped_in_payload": flipped(sound, start + 60),
        "header_length": sound[:10] + b"\xff\xff\xff\xff" + sound[14:],
        "header_not_json": signed(b"steps: 1000000", payload),
        "header_not_text": signed(b'{"name": "\xff"}', payload),
        "header_deep": signed(b"[" * 5000, payload),
        "header_list": signed(b"[1, 2]", payload),
        "header_without_root": signed(without_root, payload),
        "header_root_infinite": signed({**header, "root": float("inf")}, payload),
        "header_steps_text": signed({**header, "steps": "1000000"}, payload),
        "header_steps_negative": signed({**header, "steps": -1}, payload),
        "header_steps_huge": signed({**header, "steps": 10**400}, payload),
        "header_plane_negative": signed({**header, "planes": [-5, *header["planes"]]}, payload),
        "header_planes_text": signed({**header, "planes": ["5", "5"]}, payload),
        "planes_three": with_planes(header, *stored[1:]),
        "planes_not_deflated": with_planes(header, b"\xff" * 30, *stored[1:]),
        "planes_short": with_planes(header, short, *stored[1:]),
        "planes_bomb": with_planes(header, raw_deflate(bytes(10**7)), *stored[1:]),
        "planes_with_more": with_planes(header, stored[0] + b"\x00", *stored[1:]),
        "planes_unfinished": with_planes(header, stored[0][:-1], *stored[1:]),
        "values_fewer": signed({**header, "values": header["values"] - 1}, payload),
        "other_objective": signed({**header, "objective": "chance of\n100"}, payload),
    }


def make() -> None:
    """Write all files of `damaged`."""
    from solver.dynamic import solve_values

    table.write(SOUND, RULES, *solve_values(RULES))
    game = states(scoring(RULES))
    numbered = 0.5 + 0.75 * np.arange(game.size, dtype=np.float64)
    table.write(DAMAGED / "sound_exact.dwt", RULES, game, numbered, scale=None)
    other = ruleset(HERE / "tiny" / "tiers.toml")
    table.write(DAMAGED / "other_rules.dwt", other, *solve_values(other))
    for name, contents in broken(SOUND.read_bytes()).items():
        (DAMAGED / f"{name}.dwt").write_bytes(contents)


if __name__ == "__main__":
    make()
