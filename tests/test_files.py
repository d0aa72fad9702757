"""Files are written whole or not at all, whatever fails and whoever else reads and writes."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command_line import posix
from numpy.typing import NDArray

from solver import errors, files, table
from solver.rules import ruleset
from solver.scoring import scoring
from solver.states import states

RULES_FILE = Path(__file__).parent / "tiny" / "tiers.toml"
RULES = ruleset(RULES_FILE)
GAME = states(scoring(RULES))


def filled_with(value: float) -> NDArray[np.float64]:
    """Values that are all the same."""
    return np.full(GAME.size, value)


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def disk_full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def not_allowed(*_: Any) -> None:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


FAILURES = [(where, how) for where in ("fsync", "replace") for how in (interrupt, disk_full, not_allowed)]


@pytest.mark.parametrize(("where", "how"), FAILURES)
def test_what_fails_midway_leaves_the_old_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, how: Callable[..., None]
) -> None:
    path = tmp_path / "kept.dwt"
    table.write(path, RULES, GAME, filled_with(1))
    before = path.read_bytes()
    if where == "fsync":
        monkeypatch.setattr(files, "os", SimpleNamespace(**{**vars(os), "fsync": how}))
    else:
        monkeypatch.setattr(Path, "replace", how)
    failure = KeyboardInterrupt if how is interrupt else errors.TableError
    with pytest.raises(failure) as caught:
        table.write(path, RULES, GAME, filled_with(7))
    monkeypatch.undo()
    if failure is errors.TableError:
        reason = os.strerror(errno.ENOSPC if how is disk_full else errno.EACCES)
        assert str(caught.value) == f"{str(path)!r} cannot be written: {reason}"
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):  # Permissions do not stop this user.
            monkeypatch.setattr(files, "_PartFile", not_allowed)
        with pytest.raises(errors.TableError) as caught:
            table.write(tmp_path / "a.dwt", RULES, GAME, filled_with(1))
    finally:
        tmp_path.chmod(0o700)
    reason = os.strerror(errno.EACCES)
    assert str(caught.value) == f"{str(tmp_path / 'a.dwt')!r} cannot be written: {reason}"
    assert list(tmp_path.iterdir()) == []


def test_folders_are_made_only_if_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "new" / "newer" / "a.dwt"
    with pytest.raises(errors.TableError) as caught:
        table.write(path, RULES, GAME, filled_with(1))
    assert str(caught.value) == f"{str(path)!r} cannot be written: there is no folder {str(path.parent)!r}"
    assert list(tmp_path.iterdir()) == []
    table.write(path, RULES, GAME, filled_with(1), parents=True)
    assert table.read_header(path).title == "Tiny tiers"


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.dwt").mkdir()
    with pytest.raises(
        errors.TableError, match=re.escape(f"{str(tmp_path / 'a.dwt')!r} cannot be written: ")
    ):
        table.write(tmp_path / "a.dwt", RULES, GAME, filled_with(1))
    assert list(tmp_path.iterdir()) == [tmp_path / "a.dwt"]


def test_what_a_block_raises_is_not_taken_for_a_failed_write(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError, match=r"^scheduler gone$"), files.replacing(tmp_path / "a.dwt") as file:
        file.write(b"begun")
        raise TimeoutError("scheduler gone")
    assert list(tmp_path.iterdir()) == []


@posix
def test_what_the_disk_refuses_within_the_block_is_a_failed_write(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        with pytest.raises(errors.TableError) as caught, files.replacing(tmp_path / "a.dwt") as file:
            file.write(bytes(100_000))
            pytest.fail("the write should have been refused")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    reason = os.strerror(errno.EFBIG)
    assert str(caught.value) == f"{str(tmp_path / 'a.dwt')!r} cannot be written: {reason}"
    assert list(tmp_path.iterdir()) == []


def test_a_name_with_a_zero_byte_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.TableError, match=r" cannot be written: .*null"):
        files.replace(tmp_path / "a\0b", b"new")
    with pytest.raises(errors.TableNotFound, match=r": there is no such file \(.*null"):
        table.read_header(tmp_path / "a\0b")
    assert list(tmp_path.iterdir()) == []


@posix
def test_what_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    """The link stays, also one to nothing yet, or to another link; the file is made where it leads."""
    (tmp_path / "there").mkdir()
    kept = tmp_path / "there" / "kept"
    kept.write_bytes(b"old")
    for name, target in (("link", kept), ("again", Path("link")), ("new", Path("there", "not-yet"))):
        (tmp_path / name).symlink_to(target)
        files.replace(tmp_path / name, name.encode())
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_bytes() == name.encode()
    assert kept.read_bytes() == b"again"
    assert (tmp_path / "there" / "not-yet").read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        *("again", "kept", "link", "new", "not-yet", "there"),
    ]
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(errors.TableError, match="cannot be written: "):
        files.replace(tmp_path / "circle", b"")


@posix
def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link, Path(os.devnull)):
        with pytest.raises(errors.TableError) as caught:
            files.replace(path, b"new")
        assert str(caught.value) == f"{str(path)!r} cannot be written: it is not a regular file"
    assert sorted(tmp_path.iterdir()) == [link, pipe]
    assert pipe.is_fifo()


KILLED_PROGRAM = """
import sys
from solver import files
with files.replacing(sys.argv[1]) as file:
    file.write(bytes(100_000))
    print("ready", flush=True)
    sys.stdin.readline()
"""


@posix
def test_what_a_killed_process_left_is_deleted_by_the_next_write(tmp_path: Path) -> None:
    """Not while the process lives, however long it has written nothing."""
    command = [sys.executable, "-c", KILLED_PROGRAM, str(tmp_path / "a.dwt")]
    environment = {**os.environ, "PYTHONPATH": str(RULES_FILE.parents[2])}
    with subprocess.Popen(command, env=environment, text=True, stdin=-1, stdout=-1) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
        (part,) = tmp_path.iterdir()
        os.utime(part, (0, 0))
        files.replace(tmp_path / "b.dwt", b"new")
        assert sorted(tmp_path.iterdir()) == [part, tmp_path / "b.dwt"]
        writer.kill()
        writer.wait()
    assert part.exists()
    os.utime(part)
    files.replace(tmp_path / "b.dwt", b"newer")
    assert list(tmp_path.iterdir()) == [tmp_path / "b.dwt"]
    assert (tmp_path / "b.dwt").read_bytes() == b"newer"


def test_part_files_of_other_machines_are_deleted_once_they_are_old(tmp_path: Path) -> None:
    """Whether they are locked may not be seen from here. What is not named so is nobody's business."""
    names = (".dicewise-0000000000000000.part", ".dicewise-00000000-0000000000000000.part", "other.part")
    for name in names:
        (tmp_path / name).write_bytes(b"begun")
    files.replace(tmp_path / "a", b"new")
    assert {path.name for path in tmp_path.iterdir()} == {*names, "a"}
    for name in names:
        written = (tmp_path / name).stat().st_mtime
        os.utime(tmp_path / name, (written, written - 25 * 60 * 60))
    files.replace(tmp_path / "a", b"new")
    assert {path.name for path in tmp_path.iterdir()} == {"other.part", "a"}


@posix
def test_where_there_are_no_locks_part_files_are_deleted_once_they_are_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    import fcntl

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with files.replacing(tmp_path / "a") as file:
        (part,) = tmp_path.iterdir()
        files.replace(tmp_path / "b", b"new")
        assert part.exists()
        file.write(b"whole")
    assert (tmp_path / "a").read_bytes() == b"whole"
    part.write_bytes(b"left")
    os.utime(part, (0, 0))
    files.replace(tmp_path / "b", b"new")
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


@posix
def test_a_part_file_taken_for_abandoned_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    lock, taken = fcntl.flock, []

    def late(file: Any, operation: int) -> None:
        if not taken:
            taken.append(file.name)
            Path(file.name).unlink()
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    files.replace(tmp_path / "a", b"new")
    assert len(taken) == 1
    assert (tmp_path / "a").read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


WRITER_PROGRAM = """
import sys
import numpy as np
from solver import table
from solver.rules import ruleset
from solver.scoring import scoring
from solver.states import states
rules = ruleset(sys.argv[1])
game = states(scoring(rules))
values = np.full(game.size, float(sys.argv[3]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(60):
    table.write(sys.argv[2], rules, game, values)
"""


def test_two_processes_write_the_same_path_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "shared.dwt"
    table.write(path, RULES, GAME, filled_with(1))
    command = [sys.executable, "-c", WRITER_PROGRAM, str(RULES_FILE), str(path)]
    environment = {**os.environ, "PYTHONPATH": str(RULES_FILE.parents[2])}
    writers = [
        subprocess.Popen([*command, number], env=environment, text=True, stdin=-1, stdout=-1, stderr=-1)
        for number in ("1", "2")
    ]
    for writer in writers:
        assert writer.stdout and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    seen = set()
    while any(writer.poll() is None for writer in writers):
        values = table.read(path, GAME)[1]
        used = np.delete(values, GAME.padding)
        assert used.min() == used.max()
        seen.add(float(used[0]))
    messages = [writer.communicate()[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], messages
    assert seen <= {1.0, 2.0}
    assert list(tmp_path.iterdir()) == [path]
