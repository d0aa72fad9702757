"""Kernels that are kept on disk: used again, and compiled anew when a part of them has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import solver

PART = "\n\n@part\ndef number() -> int:\n    return {}\n"
KERNEL = """
from .kernels import compiled, number

@compiled
def ask() -> int:
    return number()
"""
CODE = "from solver.asking_kernels import ask; print(ask(), sum(ask.stats.cache_hits.values()))"


def test_a_kernel_is_compiled_anew_when_a_part_from_another_module_changes(tmp_path: Path) -> None:
    package = tmp_path / "solver"
    shutil.copytree(Path(solver.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "asking_kernels.py").write_text(KERNEL, "utf-8")
    kernels = package / "kernels.py"
    original = kernels.read_text("utf-8")

    def asked(number: int) -> str:
        kernels.write_text(original + PART.format(number), "utf-8")
        where = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
        line = [sys.executable, "-c", CODE]
        return subprocess.run(
            line, env=where, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    assert [asked(number) for number in (1, 1, 2)] == ["1 0\n", "1 1\n", "2 0\n"]
