"""Every option of single positions, from their text, with values and ranking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Both
from rival import RIVAL, check_advice, random_positions, situation


@pytest.fixture(scope="module")
def asking(yahtzee: Both) -> dict[str, Callable[[], object]]:
    ours, theirs = yahtzee
    positions = random_positions(ours, 100)
    check_advice(ours, theirs, positions)
    questions = [(str(p.card), " ".join(map(str, p.dice)), p.rerolls) for p in positions]
    situations = [situation(position) for position in positions]
    return {
        "dicewise": lambda: [ours.advise(*question) for question in questions],
        RIVAL: lambda: [theirs.option_values(text) for text in situations],
    }


@pytest.mark.parametrize("side", ["dicewise", RIVAL])
def test_advising(benchmark: Any, asking: dict[str, Callable[[], object]], side: str) -> None:
    benchmark.group = "advice for 100 positions"
    benchmark(asking[side])
