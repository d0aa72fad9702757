"""Check an installed wheel, with its own Python, from an empty folder, given the path of the checkout."""

from __future__ import annotations

import doctest
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import solver
from solver import library
from solver.rules import names_with_table

CHECKOUT = Path(sys.argv[1])
BIN = Path(sys.executable).parent
PACKAGE = Path(str(solver.__file__)).parent
PYTHON = [sys.executable, "-I"]
NO_NUMBA = "import sys; sys.modules['numba'] = None; "
ADVICE = "1 3 3 4 6"


def output(command: list[str], **environment: str) -> str:
    """Return what a command prints; it must succeed and say nothing on stderr."""
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=300
    )
    said = f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.returncode == 0 and not done.stderr, said
    return done.stdout


def is_the_wheel() -> str:
    """Hold that the package that runs is the installed one, and whole."""
    assert CHECKOUT not in PACKAGE.parents and not Path("solver").exists(), PACKAGE
    listed = [Path(str(file.locate())) for file in distribution("dicewise").files or []]
    assert listed and all(path.exists() for path in listed), listed
    assert (PACKAGE / "py.typed").is_file()
    return str(PACKAGE)


def commands_run() -> str:
    """Hold that the command and the module do the same."""
    advice = output([str(BIN / "dicewise"), "advise", *ADVICE.split()])
    assert advice and advice == output([*PYTHON, "-m", "solver", "advise", *ADVICE.split()])
    listed = output([*PYTHON, "-m", "solver", "rules"])
    assert all(name in listed for name in solver.names()), listed
    return advice.splitlines()[0]


def tables_are_in_it() -> str:
    """Hold that the tables are in the wheel, and that advice comes from them without numba."""
    assert library.shipped_folder() == PACKAGE / "tables", library.shipped_folder()
    assert sorted(library.manifest()) == sorted(names_with_table()), library.manifest()
    output([*PYTHON, "-m", "solver", "tables", "check"])
    cache = Path(tempfile.mkdtemp())
    asked = NO_NUMBA + (
        "import solver, solver.rules\n"
        "for name in solver.rules.names_with_table():\n"
        "    table = solver.load(name)\n"
        "    assert table.advise(None, [1, 3, 3, 4, 6][: table.ruleset.dice]).value > 90, name\n"
        "    assert table.root is not None, name"
    )
    output([*PYTHON, "-c", asked], XDG_CACHE_HOME=str(cache))
    assert not any(cache.iterdir()), list(cache.iterdir())
    return f"{len(names_with_table())} tables"


def readme_session() -> str:
    """Hold that the README's Python session gives what it shows, but for the part that needs an extra."""
    blocks = (CHECKOUT / "README.md").read_text("utf-8").split("```")
    text = "\n".join(block for block in blocks if "import gymnasium" not in block)
    session = doctest.DocTestParser().get_doctest(text, {}, "README.md", None, 0)
    found = doctest.DocTestRunner().run(session)
    assert found.attempted and not found.failed, found
    return f"{found.attempted} lines"


def read_only_install() -> str:
    """Hold that advice and solving work where neither the install nor any cache folder can be written."""
    locked = Path(tempfile.mkdtemp())
    folders = [locked, PACKAGE, *(path for path in PACKAGE.rglob("*") if path.is_dir())]
    modes = {folder: folder.stat().st_mode for folder in folders}
    for cache in PACKAGE.rglob("__pycache__"):
        for file in cache.glob("*.nb?"):
            file.unlink()
    environment = {"XDG_CACHE_HOME": str(locked), "HOME": str(locked), "PYTHONPYCACHEPREFIX": str(locked)}
    code = (
        "import os, solver\n"
        "from solver import library\n"
        f"assert not any(os.access(folder, os.W_OK) for folder in {list(map(str, folders))!r})\n"
        "print(solver.load('yahtzee').advise(None, [1, 3, 3, 4, 6]).best.dice)\n"
        "print(round(solver.load('yacht', threads=1).value(), 4))\n"
        "print(round(solver.load(solver.ruleset('yacht', {'rolls': 2})).value(), 4))"
    )
    try:
        for folder in folders:
            folder.chmod(modes[folder] & ~0o222)
        drop: list[str] = []
        if os.access(locked, os.W_OK):
            # Root may write anywhere until it loses the capability.
            lost = "-dac_override,-dac_read_search"
            drop = ["setpriv", "--inh-caps", lost, "--bounding-set", lost]
        command = [*drop, sys.executable, "-P", "-s", "-W", "error"]
        printed = output([*command, "-c", code], **environment)
        output([*command, "-m", "solver", "advise", *ADVICE.split()], **environment)
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)
    assert not any(locked.iterdir()), list(locked.iterdir())
    return ", ".join(printed.split("\n")).rstrip(", ")


def service_is_in_it() -> str:
    """Hold that the page is in the wheel, that the engine runs, and that serving says what it needs."""
    page = PACKAGE / "service" / "page"
    files = sorted(path.name for path in page.iterdir())
    assert files == sorted(path.name for path in (CHECKOUT / "solver" / "service" / "page").iterdir()), files
    asked = '{"id": 1, "request": "advise", "dice": "1 3 3 4 6", "top": 1}\n'
    command = [str(BIN / "dicewise"), "engine"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert json.loads(done.stdout)["answer"]["best"]["dice"] == [3, 3], done.stdout
    command = [str(BIN / "dicewise"), "serve"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2 and "dicewise[serve]" in done.stderr and done.stderr.count("\n") == 1, done
    return f"{len(files)} files of the page"


def two_at_once() -> str:
    """Hold that two processes that solve one new game at once both succeed, and a third finds its table."""
    folder = Path(tempfile.mkdtemp())
    rules = folder / "house.toml"
    rules.write_text('extends = "yacht"\ntitle = "At our place"\nrolls = 4\n')
    caches = {"XDG_CACHE_HOME": str(folder / "cache"), "NUMBA_CACHE_DIR": str(folder / "compiled")}
    command = [*PYTHON, "-m", "solver", "advise", *ADVICE.split(), "--rules", str(rules), "--json"]
    pair = [
        subprocess.Popen(
            command, env=os.environ | caches, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=300) for process in pair]
    assert [process.returncode for process in pair] == [0, 0], answers
    first, second = (json.loads(printed) for printed, _ in answers)
    assert first == second, answers
    kept = [path.name for path in (folder / "cache").rglob("*") if path.is_file()]
    assert len(kept) == 1, kept
    again = f"{NO_NUMBA}sys.argv[1:] = {command[4:]!r}; from solver.cli import main; main()"
    assert json.loads(output([*PYTHON, "-c", again], **caches)) == first
    shutil.rmtree(folder)
    return f"value {first['value']:.4f}"


CHECKS: list[Callable[[], str]] = [
    is_the_wheel,
    commands_run,
    tables_are_in_it,
    readme_session,
    read_only_install,
    two_at_once,
    service_is_in_it,
]

for check in CHECKS:
    print(f"ok: {check.__name__.replace('_', ' ')}: {check()}", flush=True)
