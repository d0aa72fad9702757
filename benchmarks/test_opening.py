"""Opening the table file of a game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rival import RIVAL, forget, load_table, write_table

import solver


@pytest.mark.parametrize("side", ["dicewise", RIVAL])
def test_opening(benchmark: Any, tmp_path: Path, side: str) -> None:
    benchmark.group = "open a table"
    if side == "dicewise":
        benchmark.pedantic(lambda: solver.load("yahtzee"), setup=forget, rounds=20)
    else:
        file = str(tmp_path / "table")
        write_table("yahtzee", file)
        benchmark.pedantic(load_table, args=("yahtzee", file), rounds=20)
