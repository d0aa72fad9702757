"""Choosing the rules: a game or a file, with single keys changed by --set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from ..rules import Ruleset, ruleset
from ..rules.changes import parsed

_Command = TypeVar("_Command", bound=Callable[..., Any])


def set_option(command: _Command) -> _Command:
    """Add the option --set, given to the command as `changes`."""
    return click.option(
        "--set",
        "changes",
        multiple=True,
        metavar="KEY=VALUE",
        help="Change one key of the rules, such as rolls=4 or categories.full_house.points=30; may be "
        "repeated. `dicewise rules NAME` lists the keys.",
    )(command)


def chosen_changes(changes: Iterable[str]) -> dict[str, Any]:
    """Return the changes of --set, the later of two for one key last."""
    steps: dict[str, Any] = {}
    for text in changes:
        for key, value in parsed(text, "--set"):
            steps.pop(key, None)
            steps[key] = value
    return steps


def chosen_rules(name: str, changes: Iterable[str]) -> Ruleset:
    """Return the rules of a game or file after the changes of --set."""
    return ruleset(name, chosen_changes(changes))
