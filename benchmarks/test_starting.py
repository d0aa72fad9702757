"""A process that opens a table, gives one advice and ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from measure import run
from rival import RIVAL, advice_code, write_table


@pytest.mark.parametrize("side", ["dicewise", RIVAL])
def test_starting(benchmark: Any, tmp_path: Path, side: str) -> None:
    benchmark.group = "process that gives one advice"
    arguments = ["-m", "solver", "advise", "1", "3", "3", "4", "6"]
    if side == RIVAL:
        file = str(tmp_path / "table")
        write_table("yahtzee", file)
        arguments = ["-c", advice_code("yahtzee", file, "1 3 3 4 6")]
    benchmark.pedantic(run, args=(arguments, str(tmp_path)), rounds=10, warmup_rounds=1)
