"""Files read and written: every fault of the system is a one-line TableError, no file is half written.

What is being written is a part file, `.dicewise-MACHINE-NUMBER.part`, in the folder of the file that it
becomes. A killed process leaves its part file there, and the next write into the folder deletes it:

- A part file is locked (flock) from when it is made until it has its name; the system lets go of the lock
  when its process ends, however it ends. One of this machine that is not locked is deleted.
- Whether locks are seen on other machines depends on the folder. So one of another machine, or one whose
  folder or system has no such locks, is deleted once nobody has written to it for a day by the clock of
  the folder. No file that is locked as seen from here is deleted, however old.

A file is deleted only while the one who deletes it holds the lock, and who makes one makes another where
it is gone by the time it is locked: two processes that write at once never lose a file.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import platform
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO

from .errors import ArgumentError, ForeignTable, TableError, TableNotFound, shown

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

fcntl: ModuleType | None
try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None

_ANY, _PART = ".dicewise-", ".part"
_HERE = f"{_ANY}{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}-"
"""How the part files of this machine begin."""
_OLD = 24 * 60 * 60
"""Seconds."""


def quoted(path: str | os.PathLike[str]) -> str:
    """Return a path as a message shows it, on one line whatever it holds."""
    return repr(os.fspath(path))


def size(length: int) -> str:
    """Return a number of bytes in kB, MB or GB."""
    if length >= 1e9:
        return f"{length / 1e9:.2f} GB"
    return f"{length / 1e6:.2f} MB" if length >= 1e6 else f"{length / 1e3:.1f} kB"


def as_path(given: str | os.PathLike[str], what: str) -> Path:
    """Return the path that a call was given.

    Raises
    ------
    ArgumentError
        If it is none; `what` is what the message begins with.
    """
    try:
        return Path(given)
    except TypeError:
        raise ArgumentError(f"{what} {shown(given)}: expected a path, as text or a Path") from None


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, int]]:
    """Open a file for reading, and say how many bytes it has.

    Raises
    ------
    TableNotFound
        If there is no such file, or it is a folder.
    TableError
        If it cannot be read.
    """
    try:
        # Opening a pipe would wait for its other end, and a device may never end.
        try:
            mode = os.stat(path).st_mode
        except ValueError as error:  # A name with a zero byte.
            raise TableNotFound(f"{quoted(path)}: there is no such file ({error})") from error
        if stat.S_ISDIR(mode):
            raise TableNotFound(f"{quoted(path)} is a folder, expected a table file")
        if not stat.S_ISREG(mode):
            raise ForeignTable(f"{quoted(path)} is not a regular file, expected a table file")
        with open(path, "rb") as file:
            yield file, os.fstat(file.fileno()).st_size
    except FileNotFoundError as error:
        raise TableNotFound(f"{quoted(path)}: there is no such file") from error
    except OSError as error:
        raise TableError(f"{quoted(path)} cannot be read: {error.strerror or error}") from error


def replace(path: str | os.PathLike[str], contents: bytes, *, parents: bool = False) -> None:
    """Write a file whole or not at all, as `replacing` does, from all its bytes."""
    with replacing(path, parents=parents) as file:
        file.write(contents)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, parents: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing, whole or not at all; one that is there already stays as it is until then.

    The bytes go into a file beside it that takes its place once the block has ended and they are on the
    disk, so that others may read or write the same path meanwhile; the last to finish stays. Where the path
    is a symbolic link, what it leads to is replaced.

    Parameters
    ----------
    path
        The file.
    parents
        Whether to make folders that are missing.

    Raises
    ------
    TableError
        If it cannot be written. What the block itself raises, it raises.
    """
    with _written(path):
        place = _place(path)
        if parents:
            place.parent.mkdir(parents=True, exist_ok=True)
        raw = _part_file(place.parent, path)
    partial = Path(raw.name)
    try:
        with io.BufferedWriter(raw) as file:
            _delete_abandoned(raw)
            yield file
            with _written(path):
                file.flush()
                os.fsync(file.fileno())
                if fcntl:  # While it is locked: nobody may take it for abandoned.
                    partial.replace(place)
        if not fcntl:  # Windows renames no file that is open.
            with _written(path):
                partial.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    _settle(place.parent)


def _place(path: str | os.PathLike[str]) -> Path:
    """Return where a file is written: what a link leads to; only a regular file may be there."""
    place = Path(os.path.realpath(path) if os.path.islink(path) else path)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        mode = place.stat().st_mode
        if not stat.S_ISREG(mode):
            found = "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file"
            raise TableError(f"{quoted(path)} cannot be written: {found}")
    return place


@contextlib.contextmanager
def _written(path: str | os.PathLike[str]) -> Iterator[None]:
    """Report what the system refuses within the block as a file that cannot be written."""
    try:
        yield
    except (OSError, ValueError) as error:  # A name with a zero byte is a ValueError.
        reason = getattr(error, "strerror", None) or error
        folder = Path(path).parent
        if isinstance(error, FileNotFoundError) and not folder.exists():
            reason = f"there is no folder {quoted(folder)}"
        raise TableError(f"{quoted(path)} cannot be written: {reason}") from error


class _PartFile(io.FileIO):
    """A part file open for writing, whose faults are those of the file that it is to become."""

    def __init__(self, partial: Path, path: str | os.PathLike[str]) -> None:
        super().__init__(partial, "xb")
        self._path = path

    def write(self, data: Buffer, /) -> int:
        with _written(self._path):
            return super().write(data)


def _part_file(folder: Path, path: str | os.PathLike[str]) -> _PartFile:
    """Return a new part file, locked where the system has such locks."""
    while True:
        raw = _PartFile(folder / f"{_HERE}{secrets.token_hex(8)}{_PART}", path)
        if not fcntl:
            return raw
        with contextlib.suppress(OSError):  # Some network folders know no locks.
            fcntl.flock(raw, fcntl.LOCK_EX)
        if os.fstat(raw.fileno()).st_nlink:
            return raw
        raw.close()  # Between the opening and the lock somebody took it for abandoned.


def _delete_abandoned(own: _PartFile) -> None:
    """Delete the part files beside one's own that killed processes have left; see the module."""
    now = os.fstat(own.fileno()).st_mtime
    with contextlib.suppress(OSError):
        for part in Path(own.name).parent.glob(f"{_ANY}*{_PART}"):
            with contextlib.suppress(OSError):
                old = now - part.stat().st_mtime > _OLD
                if old and not fcntl:
                    part.unlink()
                elif fcntl and (old or part.name.startswith(_HERE)) and part != Path(own.name):
                    _delete_unlocked(part, old)


def _delete_unlocked(part: Path, old: bool) -> None:
    assert fcntl
    with part.open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        except OSError:  # The folder knows no locks.
            if not old:
                return
        part.unlink()


def _settle(folder: Path) -> None:
    """Ask that the new name outlast a power cut, where the system has a way to."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
