"""What the tests of the command line share: running it in this process, in another, and on a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import solver
from solver import folders, library
from solver.cli import command

GAMES = "yahtzee, yahtzee-free-joker, yahtzee-no-joker, kniffel, yahtzee-upper-first, "
GAMES += "yacht, yacht-sum, yacht-clubhouse, yatzy, yatzy-forced, maxi-yatzy, maxi-yatzy-no-saving, "
GAMES += "kismet, cheerio, crag, generala, generala-double"
WITH_TABLE = GAMES.replace("maxi-yatzy, maxi-yatzy-no-saving, ", "")
TINY = Path(__file__).parent / "tiny"
posix = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables of two games, under the names by which they are found."""
    folder = tmp_path_factory.mktemp("tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(library.FOLDER_VARIABLE, str(folder))
        patch.setattr(library, "manifest", lambda *_: {})
        patch.setattr(folders, "cache_folder", lambda: folder)
        for name in ("yahtzee", "yacht"):
            library.load(name)
    return folder


@pytest.fixture(autouse=True)
def home(tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder and cache folder; only the tables above are at hand."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(library.FOLDER_VARIABLE, str(tables))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(folders, "cache_folder", lambda: tmp_path / "cache" / "dicewise")
    monkeypatch.setattr(library, "manifest", lambda *_: {})
    return tmp_path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, arguments, prog_name="dicewise")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def said(*arguments: str) -> str:
    """What a command that succeeds prints on stdout."""
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def refusal(*arguments: str) -> str:
    """The one line of a command that is refused."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    line, rest = result.stderr.split("\n", 1)
    assert rest == ""
    return line.removeprefix("dicewise: error: ")


def misuse(*arguments: str) -> str:
    """The last line of a command that was called wrongly."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: dicewise ")
    return result.stderr.splitlines()[-1]


def environment() -> dict[str, str]:
    """The environment of another process that is to import this package."""
    return os.environ | {"PYTHONPATH": str(Path(solver.__file__).parent.parent), "PYTHONUTF8": "1"}


def process(*arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command, or `code`, in another process."""
    line = [sys.executable, *(["-c", code] if code else ["-m", "solver"]), *arguments]
    return subprocess.run(
        line, capture_output=True, text=True, encoding="utf-8", env=environment(), check=False
    )


def on_terminal(
    *arguments: str, when: Callable[[str], object] | None = None, width: int = 80
) -> tuple[str, int]:
    """Run a command on a terminal; return what it showed and its exit code, stopped once `when` holds."""
    import fcntl
    import pty
    import struct
    import termios

    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    described = environment() | {"TERM": "xterm-256color"}
    described.pop("COLUMNS", None)
    line = [sys.executable, "-m", "solver", *arguments]
    # Where the tests run in the background of a shell, Ctrl-C is ignored, here and by what starts from here.
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)
    running = subprocess.Popen(line, stdin=inner, stdout=inner, stderr=inner, env=described)
    signal.signal(signal.SIGINT, ignored)
    os.close(inner)
    shown = b""
    while True:
        try:
            read = os.read(outer, 65536)
        except OSError:  # Linux says so when the other end is closed.
            break
        if not read:
            break
        shown += read
        if when and when(shown.decode("utf-8", "ignore")):
            running.send_signal(signal.SIGINT)
            when = None
    os.close(outer)
    return shown.decode("utf-8"), running.wait(60)
