"""Files read and written: every fault of the system is a one-line TableError, no file is half written."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import ArgumentError, ForeignTable, TableError, TableNotFound, shown


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
        mode = os.stat(path).st_mode
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
    disk, so that others may read or write the same path meanwhile; the last to finish stays.

    Parameters
    ----------
    path
        The file.
    parents
        Whether to make folders that are missing.

    Raises
    ------
    TableError
        If it cannot be written.
    """
    path = Path(path)
    partial = path.parent / f".dicewise-{secrets.token_hex(8)}.part"
    try:
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        absent = isinstance(error, FileNotFoundError) and not path.parent.exists()
        reason = f"there is no folder {quoted(path.parent)}" if absent else error.strerror or error
        raise TableError(f"{quoted(path)} cannot be written: {reason}") from error
    _settle(path.parent)


def _settle(folder: Path) -> None:
    """Ask that the new name outlast a power cut, where the system has a way to."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
