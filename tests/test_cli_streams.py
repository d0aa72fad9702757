"""The command line where its input or an output is closed, or holds bytes that are no text."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import command_line
import pytest
from command_line import TINY, environment, posix, said

home, tables = command_line.home, command_line.tables
FREE = str(TINY / "free.toml")


def shell(line: str, given: bytes = b"", **variables: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command with what a shell does to its streams."""
    command = line.replace("dicewise", shlex.join([sys.executable, "-m", "solver"]), 1)
    done = subprocess.run(
        ["sh", "-c", command], input=given, capture_output=True, env=environment() | variables, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def untimed(shown: str) -> str:
    """What was shown without how long it took, which is another time in each process."""
    return re.sub(r" in [0-9.]+ s\.$", " in some time.", shown, flags=re.MULTILINE)


@posix
@pytest.mark.parametrize(
    "line",
    [
        f"reach {FREE} --json",
        f"compare {FREE} {FREE} --json",
        f"export {FREE} -n 3 --seed 1 -o free.jsonl",
        f"match optimal greedy --rules {FREE} -n 10 --seed 1",
        f"play {FREE} --seats optimal --seed 1",
    ],
)
def test_without_stderr_the_answer_is_the_same(line: str) -> None:
    """A progress bar has no place to be."""
    whole = said(*shlex.split(line))
    assert whole
    code, shown, errors = shell(f"dicewise {line} 2>&-")
    assert (code, untimed(shown), errors) == (0, untimed(whole), "")


@posix
def test_a_fault_without_stderr_is_its_exit_code() -> None:
    assert shell("dicewise rules chess 2>&-") == (2, "", "")


@posix
def test_without_stdin_a_game_is_as_at_the_end_of_the_input() -> None:
    code, shown, errors = shell(f"dicewise play {FREE} --seed 1 --seats human <&-")
    assert (code, errors) == (0, "")
    assert "Nothing more to read: the game stops here.\n" in shown
    assert shell("dicewise engine <&-") == (0, "", "")


@posix
@pytest.mark.parametrize("command", ["play", "engine"])
def test_a_dialogue_needs_a_place_for_its_answers(command: str) -> None:
    expected = f"dicewise: error: {command}: found stdout closed, expected a place for the answers\n"
    assert shell(f"dicewise {command} >&-") == (2, "", expected)


@posix
def test_without_stdout_files_are_still_written() -> None:
    assert shell(f"dicewise solve {FREE} -o free.dwt >&-") == (0, "", "")
    assert shell(f"dicewise export {FREE} -n 3 --seed 1 -o free.jsonl >&-") == (0, "", "")


@posix
@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii"])
def test_what_is_typed_and_no_text_is_refused_and_asked_again(encoding: str) -> None:
    code, shown, errors = shell(
        f"dicewise play {FREE} --seed 1 --seats human", b"caf\xe9\ncard\nquit\n", PYTHONIOENCODING=encoding
    )
    assert (code, errors) == (0, "")
    assert "fill 'caf\\udce9': there is no such box; expected fives, sixes" in shown
    assert "The game stops here." in shown


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have only names that are text")
def test_a_file_is_saved_under_the_very_name_that_was_typed() -> None:
    shell(f"dicewise play {FREE} --seed 1 --seats human", b"save caf\xe9\n", PYTHONIOENCODING="utf-8:strict")
    assert b"caf\xe9" in os.listdir(b".")
