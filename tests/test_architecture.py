"""The folder listing is the architecture: who may import whom, and what stays out of a plain import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import solver
from solver.kernels import INLINED

PACKAGE = Path(solver.__file__).parent

# Lowest first: a module imports only what stands before it. Names in one set do not import one another.
LAYERS: tuple[set[str], ...] = (
    {"errors", "shelf"},
    {"rules", "files", "folders", "records"},
    {"dice", "front"},
    {"scoring"},
    {"states"},
    {"scorecard", "turn", "plan", "payload", "levels", "oddities"},
    {"scope"},
    {"vectors", "lookup", "table", "turns", "situations", "pairs", "tasks"},
    {"kernels", "pieces", "cluster", "game"},
    {"duel_files"},
    {
        *{"strategy_kernels", "goal_kernels", "reach_kernels", "soft_kernels", "soft_play_kernels"},
        *{"duel_kernels", "duel_pieces", "deviation_kernels"},
    },
    {"simulation_kernels", "goal_strategy_kernels", "environment_kernels", "evaluation_kernels"},
    {"decision_kernels"},
    {"saving_kernels"},
    {"dynamic", "strategy", "saving"},
    {"saving_files", "deviations"},
    {"saving_pieces"},
    {"saving_table"},
    {"saving_follow", "saving_simulation", "batch"},
    {"extremes"},
    {"blocks", "risk"},
    {"goal_strategy", "distributions", "explanation", "draw"},
    {"summary", "labels", "goals", "chances"},
    {"chances_file"},
    {"pursuit", "strength"},
    {"simulation", "soft_play"},
    {"export", "library", "reach_levels"},
    {"duel", "reach_pieces"},
    {"winning"},
    {"reaching", "plot", "players"},
    {"comparison", "environments", "matches", "service"},
    {"duel_evaluation"},
    {"cli"},
    {"__init__", "__main__"},
)
RANK = {module: rank for rank, modules in enumerate(LAYERS) for module in modules}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py"))


def layer(path: Path) -> str:
    """The module of the package's first level that a file belongs to."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> set[str]:
    """First-level modules that a file imports when it is imported, or in a function."""
    depth = len(path.relative_to(PACKAGE).parts)
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            found |= {node.module.split(".")[0]} if node.module else {alias.name for alias in node.names}
    return found & RANK.keys()


def test_every_module_has_its_place() -> None:
    assert {layer(path) for path in modules()} == RANK.keys()


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path: Path) -> None:
    if path.name == "__init__.py" and path.parent == PACKAGE:
        return
    own = layer(path)
    allowed = {"model.py": {"scorecard"}}.get(path.name, set())  # ruleset.card(...), for it to read well
    upwards = {module for module in imported(path) - {own} - allowed if RANK[module] >= RANK[own]}
    assert not upwards


def test_what_becomes_part_of_kernels_is_known() -> None:
    """Kernels kept on disk are compiled anew when it changes."""
    kernels = {path for path in modules() if path.stem.endswith("kernels")}
    parts = set().union(*map(imported, kernels)) - {path.stem for path in kernels}
    assert parts == set(INLINED)


def test_no_game_is_named_in_code() -> None:
    """Rules are data; only the default of the command line names the game that most people mean."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and node.value in solver.names():
                allowed = layer(path) == "cli" or node.value == "yahtzee"  # also the key of the rule's table
                assert allowed, f"{path}: {node.value}"


@pytest.mark.parametrize(
    "code",
    [
        "import solver",
        "import solver; solver.load('yahtzee').advise('ones=3', '1 3 3 4 6')",
        "import solver.cli",
        "import solver.library, solver.lookup, solver.scorecard, solver.table",
    ],
)
def test_looking_up_needs_no_compiler(code: str) -> None:
    program = f"{code}\nimport sys\nprint(*sorted({{'numba', 'llvmlite'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_importing_the_package_imports_no_array_library() -> None:
    program = "import solver, sys; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_every_public_name_is_there() -> None:
    for name in solver.__all__:
        assert getattr(solver, name).__doc__
    assert set(solver.__all__) <= set(dir(solver))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = solver.nothing
