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
            monkeypatch.setattr(Path, "open", not_allowed)
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
