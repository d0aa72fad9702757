"""Where files of the user's are kept."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """Return the folder in which tables that are not shipped, and files of chances, are kept."""
    return user_cache_path("dicewise", appauthor=False)
