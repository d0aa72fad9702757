"""What holds for every test module."""

from __future__ import annotations

from hypothesis import settings

# An example may be the first to solve a game: how long one takes says nothing.
settings.register_profile("dicewise", deadline=None)
settings.load_profile("dicewise")
