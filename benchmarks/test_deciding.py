"""100,000 positions at once: dicewise answers with the best action of each, the rival with all options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Both
from rival import RIVAL, check_batch, random_batch

from solver.batch import decide


@pytest.fixture(scope="module")
def deciding(yahtzee: Both) -> dict[str, Callable[[], object]]:
    ours, theirs = yahtzee
    batch = random_batch(ours, 100_000)
    check_batch(ours, theirs, batch)
    return {
        "dicewise": lambda: decide(ours, *batch),
        RIVAL: lambda: theirs.option_values_batch(*batch),
    }


@pytest.mark.parametrize("side", ["dicewise", RIVAL])
def test_deciding(benchmark: Any, deciding: dict[str, Callable[[], object]], side: str) -> None:
    benchmark.group = "100,000 positions at once"
    benchmark.pedantic(deciding[side], rounds=5, warmup_rounds=1)
