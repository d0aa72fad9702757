"""Solving a whole game, compiled code warm; nothing else is kept from one solve to the next."""

from __future__ import annotations

from typing import Any

import pytest
from rival import RIVAL, VARIANTS, build, check_states, solve_afresh

SIDES = {"dicewise": solve_afresh, RIVAL: build}


@pytest.fixture(scope="module", params=VARIANTS)
def game(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    check_states(solve_afresh(name), build(name))
    return name


@pytest.mark.parametrize("side", SIDES)
def test_solving(benchmark: Any, game: str, side: str) -> None:
    benchmark.group = f"solve {game}"
    benchmark.pedantic(SIDES[side], args=(game,), rounds=3)
