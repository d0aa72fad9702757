"""The command line where a signal ends it: one line, its exit code, and no part of a file."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import command_line
import pytest
from command_line import environment, posix

home, tables = command_line.home, command_line.tables

pytestmark = posix
STOPPED = "dicewise: stopped, no file is left half written\n"


def exporting(ignored: str = "") -> subprocess.Popen[str]:
    """An export that has begun to write a file that takes long, started by a shell that ignores a signal."""
    command = [sys.executable, "-m", "solver", "export", "yacht", "-n", "100000000", "-o", "a.jsonl"]
    shell = ["sh", "-c", f"trap '' {ignored}; exec \"$@\"", "sh"] if ignored else []
    running = subprocess.Popen([*shell, *command], text=True, stdout=-1, stderr=-1, env=environment())
    deadline = time.monotonic() + 120
    while not any(part.stat().st_size for part in Path().glob(".dicewise-*.part")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return running


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_a_command_as_ctrl_c_does(home: Path, name: str) -> None:
    number = getattr(signal, name)
    running = exporting()
    running.send_signal(number)
    assert running.communicate(timeout=120) == ("", STOPPED)
    assert running.returncode == 128 + number
    assert list(home.iterdir()) == []


def test_a_signal_that_is_ignored_stays_so(home: Path) -> None:
    """As under nohup."""
    running = exporting("HUP")
    (part,) = home.iterdir()
    running.send_signal(signal.SIGHUP)
    written = part.stat().st_size
    deadline = time.monotonic() + 120
    while part.stat().st_size == written:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    assert running.communicate(timeout=120) == ("", STOPPED)
    assert list(home.iterdir()) == []


def test_a_signal_ends_a_game_that_waits_for_a_line() -> None:
    command = [sys.executable, "-u", "-m", "solver", "play", "yacht", "--seed", "1"]
    running = subprocess.Popen(
        command, text=True, stdin=-1, stdout=-1, stderr=-1, env=environment(), bufsize=1
    )
    assert running.stdout
    shown = ""
    while not shown.endswith("left > "):
        read = running.stdout.read(1)
        assert read, shown
        shown += read
    running.send_signal(signal.SIGTERM)
    assert running.communicate(timeout=120)[1] == STOPPED
    assert running.returncode == 128 + signal.SIGTERM
