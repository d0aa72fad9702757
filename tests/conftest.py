"""What holds for every test module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from solver import folders

# An example may be the first to solve a game: how long one takes says nothing.
settings.register_profile("dicewise", deadline=None)
settings.load_profile("dicewise")


@pytest.fixture(scope="session", autouse=True)
def matrices_by_one_thread() -> Iterator[None]:
    """The oracles' matrices are small: threads for them, in each process of tests, wait for one another."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session", autouse=True)
def no_cache_of_this_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Files that whoever runs the tests has kept are neither read nor written."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folders, "cache_folder", lambda: folder)
        yield


@pytest.fixture(autouse=True)
def no_cache_of_another_test(
    no_cache_of_this_user: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one test keeps is not found by the next: a kept table is rounded, a solved one is not."""
    monkeypatch.setattr(folders, "cache_folder", lambda: tmp_path / "kept-by-this-test")
