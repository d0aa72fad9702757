"""The front of this program's files: what kind of file it is, and a header in JSON, with every fault named.

    magic | format version | length of header | header (JSON) | CRC-32 of all before | the rest

Numbers are little endian and without a sign: 2 bytes for the version, 4 for the length and the checksum.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from .errors import DamagedTable, ForeignTable, MangledTable, TruncatedTable, VersionTable
from .files import quoted

_PREFIX = struct.Struct("<8sHI")
_CHECK = struct.Struct("<I")
BYTES = _PREFIX.size + _CHECK.size
"""Bytes of a front beside those of its header."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    letters
        Three of its own in the first eight bytes.
    version
        Of the format, the only one that is read.
    noun, word
        What a message calls such a file, and its format.
    remake
        What to do where there is no sound one.
    """

    letters: bytes
    version: int
    noun: str
    word: str
    remake: str

    @property
    def magic(self) -> bytes:
        """A byte beyond ASCII, both line endings and the end-of-file of old: each text mode changes some."""
        return b"\x89" + self.letters + b"\r\n\x1a\n"

    @property
    def again(self) -> str:
        """What to do about a copy that is not sound."""
        return f"copy it again, or {self.remake}"

    @property
    def _mangled(self) -> re.Pattern[bytes]:
        # What text modes make of the start: a byte more or less at a line's end, the first one without its
        # eighth bit, or taken for Latin-1 or for no letter at all and written as UTF-8 or as a question mark.
        return re.compile(rb"(\x89|\x09|\xc2\x89|\xef\xbf\xbd|\?)" + self.letters + rb"[\r\n]")

    def front(self, text: bytes) -> bytes:
        """Return the front of a file with this header."""
        front = _PREFIX.pack(self.magic, self.version, len(text)) + text
        return front + _CHECK.pack(zlib.crc32(front))

    def header(self, file: BinaryIO, size: int, path: str | os.PathLike[str]) -> bytes:
        """Read the header from the start of a file of `size` bytes.

        Raises
        ------
        TableError
            Of the kind that fits, if the file is of another kind or version, or its front is not sound.
        """
        named, magic = quoted(path), self.magic
        front = file.read(_PREFIX.size)
        if not front.startswith(magic) and not magic.startswith(front):
            start = front[: len(magic)]
            if self._mangled.match(front):
                what = f"was changed by a text-mode transfer: it starts with {start!r} instead of {magic!r}"
                raise MangledTable(f"{named} {what}; copy it again in binary mode")
            what = f"is not a dicewise {self.noun}: it starts with {start!r}, expected {magic!r}"
            raise ForeignTable(f"{named} {what}")
        if len(front) < _PREFIX.size:
            raise TruncatedTable(f"{named} ends within its header, after {size} bytes; {self.again}")
        _, version, length = _PREFIX.unpack(front)
        if version != self.version:
            what = f"is of {self.word} format {version}, and this program reads format {self.version}"
            if version > self.version:
                raise VersionTable(f"{named} {what}: update dicewise, or {self.remake}")
            raise VersionTable(f"{named} {what} only: {self.remake}")
        if size < length + BYTES:
            raise TruncatedTable(f"{named} ends within its header, after {size} bytes; {self.again}")
        text = file.read(length)
        if _CHECK.pack(zlib.crc32(text, zlib.crc32(front))) != file.read(_CHECK.size):
            what = "is damaged: its header does not match its checksum"
            raise DamagedTable(f"{named} {what}; {self.again}")
        return text

    def fields(self, text: bytes, kinds: Mapping[str, Any], path: str | os.PathLike[str]) -> dict[str, Any]:
        """Return the fields of a header, of these kinds; there may be others that are not known here.

        Raises
        ------
        DamagedTable
            If one is missing, or of another kind; whole numbers are from 0 to 2**63 - 1.
        """
        try:
            found = json.loads(text)
            fields: dict[str, Any] = {name: found[name] for name in kinds}
            for name, kind in kinds.items():
                if not isinstance(fields[name], kind) or (kind is int and not 0 <= fields[name] < 2**63):
                    raise TypeError(name)
            return fields
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise self.unlike_its_header(path) from error

    def unlike_its_header(self, path: str | os.PathLike[str]) -> DamagedTable:
        """Return the error for a header that says something else than such files do."""
        return self.damaged(path, f"its header does not say what a {self.noun} says")

    def damaged(self, path: str | os.PathLike[str], what: str) -> DamagedTable:
        """Return the error for a file that is not as it was written."""
        return DamagedTable(f"{quoted(path)} is damaged: {what}; {self.again}")

    def check_end(self, size: int, end: int, path: str | os.PathLike[str]) -> None:
        """Refuse a file of `size` bytes that should have `end`."""
        named = quoted(path)
        if size < end:
            raise TruncatedTable(f"{named} ends after {size} of {end} bytes; {self.again}")
        if size > end:
            what = f"is damaged: it goes on after its {end} bytes, to {size}"
            raise DamagedTable(f"{named} {what}; {self.again}")


def header_text(header: Mapping[str, Any]) -> bytes:
    """Return a header as it is written."""
    return json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
