"""Rulesets side by side: what each is worth, how its scores spread, and what a change of a rule brings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

from . import library
from .deviations import Moments
from .deviations import known as moments_known
from .distributions import Distribution, check_size, distribution
from .errors import ArgumentError, RulesError, check_kind, shown
from .goals import Goal
from .levels import Progress
from .lookup import Table
from .pursuit import pursue
from .rules import Ruleset, as_ruleset, names_with_table, ruleset
from .scope import Scope
from .scoring import scoring
from .states import states
from .summary import statistics
from .tasks import Task, run_tasks

Aim = Goal | Callable[[Table], Goal] | None
"""What is played for, in all games alike or called for each."""

Found = tuple[Distribution, float, float | None]
"""Of one ruleset: how its final scores spread, the expected one, and what the goal is worth."""

_PARTS = 1000
"""Into how many parts the work on one ruleset is divided, for the progress."""


@dataclass(frozen=True, slots=True)
class Row:
    """One ruleset of a comparison.

    Of a game whose distribution is too large, what `deviations` knows of it is there, or the expected score
    alone where its table is kept; what is not known is None.

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
    value
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
    value: float | None = None


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
    goal: Aim = None,
    *,
    threads: int | None = None,
    executor: Executor | None = None,
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
    executor
        What works on the rulesets instead of threads, each of them one task.
    progress
        Called now and then with the work done and in all.

    Raises
    ------
    RulesError
        For a game that does not exist, or rules with a fault in them, before any game is solved.
    ArgumentError
        For no rulesets, a single name where several belong in a list, or a game whose distribution is too
        large and of which nothing is known.
    """
    wanted = names_with_table() if rulesets is None else rulesets
    if isinstance(wanted, (Ruleset, str, os.PathLike)) or not isinstance(wanted, Iterable):
        raise ArgumentError(f"rulesets: found {shown(wanted)}, expected several, in a list")
    checked = [as_ruleset(rules) for rules in wanted]
    if not checked:
        raise ArgumentError("rulesets: found none, expected one or more")
    known = [_known(rules, goal is None) for rules in checked]
    unknown = [rules for rules, expected in zip(checked, known, strict=True) if expected is None]
    if executor is None:
        found = iter(_here(unknown, goal, threads, progress))
    else:
        found = iter(_in_tasks(unknown, goal, executor, progress))
    rows: list[Row] = []
    spreads: list[Distribution | None] = []
    for rules, kept in zip(checked, known, strict=True):
        if kept is not None:
            spreads.append(None)
            rows.append(_row_without_distribution(rules, kept, rows))
            continue
        spread, expected, worth = next(found)
        spreads.append(spread)
        rows.append(_row(rules, spread, expected, worth, rows))
    return Comparison(tuple(rows), tuple(spreads))


def _here(
    rulesets: Sequence[Ruleset], goal: Aim, threads: int | None, progress: Progress | None
) -> list[Found]:
    found = []
    for place, rules in enumerate(rulesets):
        halves = [_part(progress, 2 * place + half, 2 * len(rulesets)) for half in range(2)]
        found.append(work_out(rules, goal, threads, *halves))
    return found


def _in_tasks(
    rulesets: Sequence[Ruleset], goal: Aim, executor: Executor, progress: Progress | None
) -> list[Found]:
    tasks = [Task(f"compare-{rules.name}", work_out, (rules, goal, 1)) for rules in rulesets]
    found: dict[int, Found] = {}

    def keep(place: int, result: Found) -> None:
        found[place] = result
        if progress:
            progress(len(found), len(tasks))

    run_tasks(executor, tasks, keep)
    return [found[place] for place in range(len(tasks))]


def work_out(
    rules: Ruleset,
    goal: Aim,
    threads: int | None,
    solving: Progress | None = None,
    adding: Progress | None = None,
) -> Found:
    """Solve a game, and return how its final scores spread, what is to be expected, and the goal's worth."""
    table = library.solve(rules, threads=threads, progress=solving if goal is None else None)
    aim = goal(table) if callable(goal) else goal
    if aim is None:
        return distribution(table, threads=threads, progress=adding), table.value(), None
    played = pursue(table, aim, threads=threads, progress=solving, exact=True)
    spread = distribution(played, threads=threads, progress=adding)
    return spread, spread.mean, played.value()


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
    several = isinstance(vary, Mapping) and not any(isinstance(one, str) for one in vary.values())
    if not several or not all(isinstance(one, Iterable) for one in vary.values()):
        raise ArgumentError(f"vary {shown(vary)}: expected keys, each with its values in a list")
    given = {} if changes is None else changes
    check_kind(given, Mapping, "changes", "dotted keys with new values", RulesError)
    combinations = product(*(tuple(values) for values in vary.values()))
    return tuple(
        ruleset(name_or_path, {**given, **dict(zip(vary, values, strict=True))}) for values in combinations
    )


def _known(rules: Ruleset, for_points: bool) -> Moments | float | None:
    """Return what is known of a game whose distribution is too large: moments, or a kept expected score.

    Raises
    ------
    ArgumentError
        If it is too large and nothing is known, or it is played for something else.
    """
    try:
        check_size(Scope.of(states(scoring(rules)), rules.card()), "take moments" if for_points else "")
    except ArgumentError:
        found: Moments | float | None = None
        if for_points:
            found = moments_known(rules)
        if found is None and for_points and rules.saves:
            found = library.expected_score(rules)
        if found is None:
            raise
        return found
    return None


def _row_without_distribution(rules: Ruleset, known: Moments | float, before: Sequence[Row]) -> Row:
    moments = known if isinstance(known, Moments) else None
    expected = known if isinstance(known, float) else known.mean
    return Row(
        rules=rules.name,
        title=rules.title,
        expected_score=expected,
        standard_deviation=moments.standard_deviation if moments else None,
        quantile_5=None,
        median=None,
        quantile_95=None,
        upper_bonus=moments.upper_bonus if moments else None,
        top_box=None,
        top_box_probability=None,
        difference=expected - (before[0].expected_score if before else expected),
    )


def _row(
    rules: Ruleset,
    spread: Distribution,
    expected: float,
    value: float | None,
    before: Sequence[Row],
) -> Row:
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
        difference=expected - (before[0].expected_score if before else expected),
        value=value,
    )


def _part(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Return a progress for one of several equal parts of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(place * _PARTS + done * _PARTS // total, parts * _PARTS)
