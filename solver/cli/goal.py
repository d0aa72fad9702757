"""The options that name a goal, and how its values are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from ..errors import GoalError
from .output import percent, progress_bar, show_line, show_table

if TYPE_CHECKING:
    from ..goals import Goal
    from ..lookup import Advice, Option, Table
    from ..rules import Ruleset
    from ..scorecard import Position

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Chosen(NamedTuple):
    """What the options say; all empty where no goal is chosen."""

    score: int | None
    against: tuple[str, ...]
    theta: float | None
    floor: bool
    utility: Path | None

    @property
    def given(self) -> bool:
        """Whether some goal is chosen."""
        return any((self.score is not None, self.against, self.theta is not None, self.floor, self.utility))


def goal_options(command: _Command) -> _Command:
    """Add the options that name a goal, given to the command as the parts of `Chosen`."""
    options = (
        click.option(
            "--goal", type=int, metavar="SCORE", help="Reach this final score, with the best chance."
        ),
        click.option(
            "--against",
            multiple=True,
            metavar="CARD",
            help="Win against an opponent with this card, who plays for the expected score; may be "
            "repeated. "
            'With dice on the table: "CARD | DICE | REROLLS".',
        ),
        click.option(
            "--risk",
            type=float,
            metavar="THETA",
            help="Maximise E[exp(THETA x score)]: seek risk for THETA above 0, avoid it below; from -3 to 3.",
        ),
        click.option(
            "--floor", is_flag=True, help="The greatest score that is certain, whatever the dice do."
        ),
        click.option(
            "--utility",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Any value of the final score: lines of a score and its value, linear between.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def goal_of(chosen: Chosen, table: Table) -> Goal:
    """Return the goal that the options name.

    Raises
    ------
    GoalError
        If they name more than one, or one that makes no sense.
    """
    from ..goals import Floor, Reach, Risk, Utility

    kinds = {
        "--goal": chosen.score is not None,
        "--against": bool(chosen.against),
        "--risk": chosen.theta is not None,
        "--floor": chosen.floor,
        "--utility": chosen.utility is not None,
    }
    named = [name for name, given in kinds.items() if given]
    if len(named) != 1:
        raise GoalError(f"goal: found {' and '.join(named)}, expected one of them")
    if chosen.score is not None:
        return Reach(chosen.score)
    if chosen.theta is not None:
        return Risk(chosen.theta)
    if chosen.utility is not None:
        return Utility(_utility(chosen.utility))
    return Floor() if chosen.floor else _win(chosen.against, table)


def _win(against: tuple[str, ...], table: Table) -> Goal:
    from ..distributions import distribution
    from ..goals import Win

    opponents = []
    for text in against:
        card, *rest = (part.strip() for part in text.split("|"))
        if len(rest) not in (0, 2) or (rest and not rest[1].isdigit()):
            raise GoalError(f"--against {text!r}: expected a card, or 'card | dice | rerolls'")
        dice, rerolls = (rest[0], int(rest[1])) if rest else (None, None)
        opponents.append(distribution(table, card, dice, rerolls))
    return Win(tuple(opponents))


def _utility(path: Path) -> Callable[[Any], Any]:
    """Read a file of scores and values; blank lines and what follows # are passed over."""
    import numpy as np

    points: dict[float, float] = {}
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        try:
            score, value = map(float, words)
        except ValueError:
            raise GoalError(
                f"{path}: line {number}: found {line.strip()!r}, expected a score and its value"
            ) from None
        if score in points or not np.isfinite([score, value]).all():
            raise GoalError(
                f"{path}: line {number}: found {line.strip()!r}, expected each score once, finite numbers"
            )
        points[score] = value
    if not points:
        raise GoalError(f"{path}: found no line, expected a score and its value on each")
    scores = sorted(points)
    return lambda asked: np.interp(asked, scores, [points[score] for score in scores])


def pursued(chosen: Chosen, where: Position) -> tuple[Goal, Advice]:
    """Solve the goal from a position's card on, and advise for it."""
    from .. import library
    from ..pursuit import pursue

    with progress_bar("Solving the game") as progress:
        table = library.solve(where.card.ruleset, progress=progress)
    goal = goal_of(chosen, table)
    with progress_bar("Solving the goal") as progress:
        found = pursue(table, goal, where.card, progress=progress)
    return goal, found.advise_position(where)


def show_goal(goal: Goal, advice: Advice, top: int, in_words: Callable[[Option, Ruleset], str]) -> None:
    """Print the best move for a goal, what the best move for points would give, and the others."""
    rules = advice.position.card.ruleset
    best = advice.best
    show_line(f"{in_words(best, rules)}: {_worth(goal, best.value)}{_points(best)}", style="bold")
    for_points = max(advice.options, key=lambda option: (option.expected or 0.0, -option.loss))
    if for_points.loss > 0:
        worth = f"{_worth(goal, for_points.value)}{_points(for_points)}"
        show_line(f"Best for points: {in_words(for_points, rules)}: {worth}")
    shown = advice.options[1:top]
    if shown:
        show_line()
        rows = [
            (in_words(option, rules), _number(goal, option.value), f"{option.expected or 0:.2f}")
            for option in shown
        ]
        show_table(rows, ("Otherwise", _heading(goal), "Expected score"), right=(1, 2), indent=2)
    if more := len(advice.options) - 1 - len(shown):
        show_line(f"  {more} more; --top {len(advice.options)} shows all.", style="dim")


def _points(option: Option) -> str:
    return f" (expected final score {option.expected:.2f})"


def _number(goal: Goal, value: float) -> str:
    from ..goals import Reach, Utility, Win

    if isinstance(goal, Reach | Win):
        return percent(value)
    return f"{value:.6g}" if isinstance(goal, Utility) else f"{value:.2f}"


def _heading(goal: Goal) -> str:
    from ..goals import Floor, Reach, Risk, Win

    if isinstance(goal, Reach):
        return f"{goal.score} or more"
    names = {Win: "Wins", Risk: "Worth for sure", Floor: "Certain"}
    return next((name for kind, name in names.items() if isinstance(goal, kind)), "Utility")


def _worth(goal: Goal, value: float) -> str:
    from ..goals import Floor, Reach, Risk, Win

    text = _number(goal, value)
    if isinstance(goal, Reach):
        return f"{text} to reach {goal.score}"
    if isinstance(goal, Win):
        return f"{text} to win"
    if isinstance(goal, Risk):
        return f"worth {text} points for sure"
    return f"{text} points are certain" if isinstance(goal, Floor) else f"utility {text}"
