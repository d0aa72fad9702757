"""Rulesets side by side: what each is worth, how its scores spread, and what a change of a rule brings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

from . import library
from .distributions import Distribution, check_size, distribution
from .errors import ArgumentError
from .goals import Goal
from .levels import Progress
from .lookup import Table
from .pursuit import Pursuit, pursue
from .rules import Ruleset, names_with_table, ruleset
from .scope import Scope
from .scoring import scoring
from .states import states
from .summary import statistics

_PARTS = 1000
"""Into how many parts the work on one ruleset is divided, for the progress."""


@dataclass(frozen=True, slots=True)
class Row:
    """One ruleset of a comparison.

    Of a game with saved rolls whose distribution is too large, only the expected score is known, where its
    table is kept; all else but the difference is None.

    Attributes
    ----------
    rules, title
        As in the ruleset.
    expected_score, standard_deviation
        Of the final score, in points.
    quantile_5, median, quantile_95
        The least score x with P(score <= x) of 5, 50 and 95 %.
    upper_bonus
        Probability of an upper bonus.
    top_box, top_box_probability
        Key of the box that can hold most, and the probability that it is not 0; see `Statistics`.
    difference
        The expected score minus that of the first row, in points.
    goal
        What the play is worth to the goal that was played for; None for the expected score.
    """

    rules: str
    title: str
    expected_score: float
    standard_deviation: float | None
    quantile_5: int | None
    median: int | None
    quantile_95: int | None
    upper_bonus: float | None
    top_box: str | None
    top_box_probability: float | None
    difference: float
    goal: float | None = None


@dataclass(frozen=True)
class Comparison:
    """Rulesets side by side.

    Attributes
    ----------
    rows
        One a ruleset, in the order given.
    distributions
        The exact distribution behind each row; None where it is too large.
    """

    rows: tuple[Row, ...]
    distributions: tuple[Distribution | None, ...] = field(repr=False, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the rows as they are written in JSON."""
        return {"rows": [asdict(row) for row in self.rows]}


def compare(
    rulesets: Iterable[Ruleset | str | os.PathLike[str]] | None = None,
    goal: Goal | Callable[[Table], Goal] | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Solve rulesets and compare how their final scores are distributed under optimal play.

    Play is optimal for the expected score, or for a goal.

    Parameters
    ----------
    rulesets
        Rules, names of games, or paths of rules files; all games that come with a table unless given.
    goal
        What is played for, in all games alike or called for each; the highest expected score unless
        given.
    threads
        All usable cores unless given; the result is equal to the bit.
    progress
        Called now and then with the work done and in all.

    Raises
    ------
    RulesError
        For a game that does not exist, or rules with a fault in them, before any game is solved.
    ArgumentError
        For no rulesets, a single name where several belong in a list, or a game with saved rolls whose
        distribution is too large and whose table is not kept.
    """
    if isinstance(rulesets, (Ruleset, str, os.PathLike)):
        raise ArgumentError(f"rulesets: found {rulesets!r}, expected several, in a list")
    wanted = names_with_table() if rulesets is None else rulesets
    checked = [rules if isinstance(rules, Ruleset) else ruleset(rules) for rules in wanted]
    if not checked:
        raise ArgumentError("rulesets: found none, expected one or more")
    known = [_known(rules, goal is None) for rules in checked]
    rows: list[Row] = []
    spread: list[Distribution | None] = []
    for place, rules in enumerate(checked):
        solving, adding = (_part(progress, 2 * place + half, 2 * len(checked)) for half in range(2))
        if known[place] is not None:
            spread.append(None)
            rows.append(_row(rules, None, known[place] or 0.0, None, rows))
            continue
        table = library.solve(rules, threads=threads, progress=solving if goal is None else None)
        played: Table | Pursuit = table
        aim = goal(table) if callable(goal) else goal
        if aim is not None:
            played = pursue(table, aim, threads=threads, progress=solving, exact=True)
        scores = distribution(played, threads=threads, progress=adding)
        spread.append(scores)
        expected = table.value() if aim is None else scores.mean
        rows.append(_row(rules, scores, expected, None if aim is None else played.value(), rows))
    return Comparison(tuple(rows), tuple(spread))


def variants(
    name_or_path: str | os.PathLike[str],
    vary: Mapping[str, Iterable[Any]],
    changes: Mapping[str, Any] | None = None,
) -> tuple[Ruleset, ...]:
    """Return the rules of a game with every value of some keys, every combination of several keys.

    Parameters
    ----------
    name_or_path
        A game or a rules file, as in `ruleset`.
    vary
        Dotted keys with the values to take in turn: `{"upper_bonus.points": [0, 35, 50]}`.
    changes
        Dotted keys with values that all variants have.

    Raises
    ------
    RulesError
        For a key or a value that does not exist.
    """
    fixed = {key: value for key, value in (changes or {}).items() if key not in vary}
    combinations = product(*(tuple(values) for values in vary.values()))
    return tuple(
        ruleset(name_or_path, {**fixed, **dict(zip(vary, values, strict=True))}) for values in combinations
    )


def _known(rules: Ruleset, for_points: bool) -> float | None:
    """Return the kept expected score of a game whose distribution is too large; None where it is not.

    Raises
    ------
    ArgumentError
        If it is, and there is no such score, or it is played for something else.
    """
    try:
        check_size(Scope.of(states(scoring(rules)), rules.card()))
    except ArgumentError:
        kept = library.expected_score(rules) if rules.saves and for_points else None
        if kept is None:
            raise
        return kept
    return None


def _row(
    rules: Ruleset,
    spread: Distribution | None,
    expected: float,
    goal: float | None,
    before: Sequence[Row],
) -> Row:
    difference = expected - (before[0].expected_score if before else expected)
    if spread is None:
        unknown = (None,) * 7
        return Row(rules.name, rules.title, expected, *unknown, difference)
    found = statistics(spread)
    return Row(
        rules=rules.name,
        title=rules.title,
        expected_score=expected,
        standard_deviation=found.standard_deviation,
        quantile_5=found.quantiles[0.05],
        median=found.median,
        quantile_95=found.quantiles[0.95],
        upper_bonus=found.upper_bonus,
        top_box=found.top_box,
        top_box_probability=found.top_box_probability,
        difference=difference,
        goal=goal,
    )


def _part(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Return a progress for one of several equal parts of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(place * _PARTS + done * _PARTS // total, parts * _PARTS)
