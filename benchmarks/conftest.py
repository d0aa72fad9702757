"""Both sides, solved once and checked to be equal before anything is measured."""

from __future__ import annotations

from typing import Any

import pytest
from rival import build, check_states

import solver
from solver.lookup import Table

Both = tuple[Table, Any]


@pytest.fixture(scope="session")
def yahtzee() -> Both:
    """Official Yahtzee, solved by both."""
    ours, theirs = solver.solve("yahtzee"), build("yahtzee")
    check_states(ours, theirs)
    return ours, theirs
