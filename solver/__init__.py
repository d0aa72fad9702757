"""dicewise: exact optimal play for the Yahtzee family of dice games.

>>> import solver
>>> table = solver.load("yahtzee")
>>> round(table.value(), 4)
254.5877
>>> advice = table.advise("ones=3 yahtzee=50", "1 3 3 4 6", rerolls=2)
>>> advice.best.action, advice.best.dice
('keep', (3, 3))

Importing this package, opening a table and asking for advice need numpy alone; solving needs numba,
which is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chances import Chances, Curve
    from .comparison import Comparison, compare, variants
    from .deviations import Moments, moments
    from .distributions import Distribution, distribution
    from .duel import Duel, open_duel, solve_duel
    from .duel_evaluation import Evaluation, evaluate, tie_rate
    from .errors import (
        ActionError,
        ArgumentError,
        CardError,
        ClusterError,
        DamagedTable,
        DiceError,
        DicewiseError,
        ExportError,
        ForeignTable,
        GameError,
        GoalError,
        MangledTable,
        MissingExtra,
        PlotError,
        PositionError,
        RulesError,
        TableError,
        TableNotFound,
        TruncatedTable,
        VersionTable,
        WrongRulesTable,
    )
    from .explanation import Explanation, explain
    from .game import Game
    from .goals import Ceiling, Floor, Reach, Risk, Utility, Win
    from .library import get, load, save, solve
    from .lookup import Advice, Option, Table
    from .matches import Match, match
    from .players import exact_strengths, player
    from .pursuit import Pursuit, pursue
    from .reaching import keep_chances, reach
    from .rules import Ruleset, names, ruleset
    from .scorecard import Position, Scorecard
    from .simulation import Simulation, simulate
    from .situations import Move
    from .summary import Statistics, statistics

_HOMES = {
    "chances": ("Chances", "Curve"),
    "comparison": ("Comparison", "compare", "variants"),
    "deviations": ("Moments", "moments"),
    "distributions": ("Distribution", "distribution"),
    "game": ("Game",),
    "situations": ("Move",),
    "duel": ("Duel", "open_duel", "solve_duel"),
    "duel_evaluation": ("Evaluation", "evaluate", "tie_rate"),
    "goals": ("Ceiling", "Floor", "Reach", "Risk", "Utility", "Win"),
    "matches": ("Match", "match"),
    "players": ("exact_strengths", "player"),
    "pursuit": ("Pursuit", "pursue"),
    "errors": (
        "ActionError",
        "ArgumentError",
        "CardError",
        "ClusterError",
        "DamagedTable",
        "DiceError",
        "DicewiseError",
        "ExportError",
        "ForeignTable",
        "GameError",
        "GoalError",
        "MangledTable",
        "MissingExtra",
        "PlotError",
        "PositionError",
        "RulesError",
        "TableError",
        "TableNotFound",
        "TruncatedTable",
        "VersionTable",
        "WrongRulesTable",
    ),
    "explanation": ("Explanation", "explain"),
    "library": ("get", "load", "save", "solve"),
    "lookup": ("Advice", "Option", "Table"),
    "reaching": ("keep_chances", "reach"),
    "rules": ("Ruleset", "names", "ruleset"),
    "scorecard": ("Position", "Scorecard"),
    "simulation": ("Simulation", "simulate"),
    "summary": ("Statistics", "statistics"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ActionError",
    "Advice",
    "ArgumentError",
    "CardError",
    "Ceiling",
    "Chances",
    "ClusterError",
    "Comparison",
    "Curve",
    "DamagedTable",
    "DiceError",
    "DicewiseError",
    "Distribution",
    "Duel",
    "Evaluation",
    "Explanation",
    "ExportError",
    "Floor",
    "ForeignTable",
    "Game",
    "GameError",
    "GoalError",
    "MangledTable",
    "Match",
    "MissingExtra",
    "Moments",
    "Move",
    "Option",
    "PlotError",
    "Position",
    "PositionError",
    "Pursuit",
    "Reach",
    "Risk",
    "RulesError",
    "Ruleset",
    "Scorecard",
    "Simulation",
    "Statistics",
    "Table",
    "TableError",
    "TableNotFound",
    "TruncatedTable",
    "Utility",
    "VersionTable",
    "Win",
    "WrongRulesTable",
    "compare",
    "distribution",
    "evaluate",
    "exact_strengths",
    "explain",
    "get",
    "keep_chances",
    "load",
    "match",
    "moments",
    "names",
    "open_duel",
    "player",
    "pursue",
    "reach",
    "ruleset",
    "save",
    "simulate",
    "solve",
    "solve_duel",
    "statistics",
    "tie_rate",
    "variants",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dicewise")
    if name in _HOME_OF:
        return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
