"""The rules of the games: data in one .toml file a game, read and checked into a `Ruleset`."""

from __future__ import annotations

from .load import as_ruleset, build, changed, names, names_with_table, ruleset, settings, shipped
from .model import (
    FACES,
    Category,
    Joker,
    Order,
    Pattern,
    Points,
    Ruleset,
    Section,
    Tier,
    YahtzeeRule,
)

__all__ = [
    "FACES",
    "Category",
    "Joker",
    "Order",
    "Pattern",
    "Points",
    "Ruleset",
    "Section",
    "Tier",
    "YahtzeeRule",
    "as_ruleset",
    "build",
    "changed",
    "names",
    "names_with_table",
    "ruleset",
    "settings",
    "shipped",
]
