"""The options that say how much one request may ask for."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..service.limits import Limits

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Seconds(click.FloatRange):
    """A finite number of seconds above 0."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or refuse it."""
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{number} is no finite number of seconds.", param, ctx)
        return number


def limit_options(command: _Command) -> _Command:
    """Add the options for limits, given to the command as `work`, `cards` and `body`."""
    options = (
        click.option(
            "--work-limit",
            "work",
            default=20.0,
            show_default=True,
            type=Seconds(),
            metavar="SECONDS",
            help="Refuse a request that would need longer: rules to solve, scores to follow, goals.",
        ),
        click.option(
            "--card-limit",
            "cards",
            default=8,
            show_default=True,
            type=click.IntRange(min=1),
            metavar="N",
            help="The most cards in one request.",
        ),
        click.option(
            "--size-limit",
            "body",
            default=256,
            show_default=True,
            type=click.IntRange(min=1),
            metavar="KB",
            help="The most kilobytes of one request.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def limits_of(work: float, cards: int, body: int) -> Limits:
    """Return the limits that the options name."""
    from ..service.limits import Limits

    return Limits(work=work, cards=cards, body=1024 * body)
