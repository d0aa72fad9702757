"""The options that name a goal, and how its values are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from ..errors import ArgumentError, CardError, DiceError, GoalError, PositionError, shown
from .choice import PLACE
from .output import percent, progress_bar, show_line, show_table, within

if TYPE_CHECKING:
    from ..distributions import Distribution
    from ..goals import Goal
    from ..lookup import Advice, Option, Table
    from ..pursuit import Pursuit
    from ..rules import Ruleset
    from ..scorecard import Scorecard

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Chosen(NamedTuple):
    """What the options say; all empty where no goal is chosen."""

    score: int | None
    against: tuple[str, ...]
    theta: float | None
    floor: bool
    ceiling: bool
    utility: Path | None

    @property
    def given(self) -> bool:
        """Whether some goal is chosen."""
        return bool(self.named)

    @property
    def named(self) -> list[str]:
        """The options that are given."""
        given = {
            "--goal": self.score is not None,
            "--against": bool(self.against),
            "--risk": self.theta is not None,
            "--floor": self.floor,
            "--ceiling": self.ceiling,
            "--utility": self.utility is not None,
        }
        return [name for name, chosen in given.items() if chosen]

    def as_dict(self) -> dict[str, Any]:
        """Return what the goal is set to, as it is written in JSON."""
        utility = None if self.utility is None else str(self.utility)
        given = {
            "score": self.score,
            "against": list(self.against) or None,
            "theta": self.theta,
            "utility": utility,
        }
        return {key: value for key, value in given.items() if value is not None}


def goal_options(command: _Command) -> _Command:
    """Add the options that name a goal, given to the command as `chosen`."""

    @wraps(command)
    def bundled(
        *,
        goal: int | None,
        against: tuple[str, ...],
        risk: float | None,
        floor: bool,
        ceiling: bool,
        utility: Path | None,
        **others: Any,
    ) -> Any:
        chosen = Chosen(goal, against, risk, floor, ceiling, utility)
        if len(chosen.named) > 1:
            raise GoalError(f"goal: found {' and '.join(chosen.named)}, expected one of them")
        return command(chosen=chosen, **others)

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
        click.option("--ceiling", is_flag=True, help="The greatest score that can be."),
        click.option(
            "--utility",
            type=PLACE,
            metavar="FILE",
            help="Any value of the final score: lines of a score and its value, linear between; the "
            "first and the last value hold beyond.",
        ),
    )
    added: Any = bundled
    for option in reversed(options):
        added = option(added)
    return cast(_Command, added)


def goal_of(chosen: Chosen, table: Table) -> Goal:
    """Return the goal that the options name.

    Raises
    ------
    GoalError
        If it makes no sense.
    """
    from ..goals import Ceiling, Floor, Reach, Risk, Utility

    if chosen.score is not None:
        return Reach(chosen.score)
    if chosen.theta is not None:
        return Risk(chosen.theta)
    if chosen.utility is not None:
        return Utility(_utility(chosen.utility))
    if chosen.against:
        return _win(chosen.against, table)
    return Floor() if chosen.floor else Ceiling()


def _win(against: tuple[str, ...], table: Table) -> Goal:
    from ..distributions import distribution
    from ..goals import Win
    from ..saving_table import solved_following

    spreads = []
    for card, dice, rerolls in _opponents(against, table.ruleset):
        if table.ruleset.saves:
            table = solved_following(table.ruleset, card)
        spreads.append(distribution(table, card, dice, rerolls))
    return Win(tuple(spreads))


def _opponents(
    against: tuple[str, ...], rules: Ruleset
) -> Iterator[tuple[Scorecard, tuple[int, ...] | None, int | None]]:
    """Yield the card of each opponent, and dice and rerolls if any; refuse scores too many to hold."""
    from ..distributions import check_size
    from ..scope import Scope
    from ..scorecard import Position, Scorecard, whole_number
    from ..scoring import scoring
    from ..states import states

    for text in against:
        card, *rest = (part.strip() for part in text.split("|"))
        rerolls = whole_number(rest[1]) if len(rest) == 2 else None
        if rest and rerolls is None:
            raise GoalError(f"--against {text!r}: expected a card, or 'card | dice | rerolls'")
        try:
            held = Scorecard.parse(rules, card)
            where = Position.of(held, rest[0], rerolls) if rest else None
            check_size(Scope.of(states(scoring(rules)), held))
        except (ArgumentError, CardError, DiceError, PositionError) as error:
            raise GoalError(f"--against {text!r}: {error}") from error
        yield (held, where.dice, where.rerolls) if where else (held, None, None)


def _utility(path: Path) -> Callable[[Any], Any]:
    """Read a file of scores and values; blank lines and what follows # are passed over."""
    import numpy as np

    from ..goals import MOST_UTILITY

    points: dict[float, float] = {}
    for number, line in enumerate(path.read_text("utf-8-sig", "replace").splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        try:
            score, value = map(float, words)
        except ValueError:
            raise GoalError(
                f"{path}: line {number}: found {shown(line.strip())}, expected a score and its value"
            ) from None
        if score in points or not all(abs(one) <= MOST_UTILITY for one in (score, value)):
            expected = f"each score once, and numbers from -{MOST_UTILITY:g} to {MOST_UTILITY:g}"
            raise GoalError(f"{path}: line {number}: found {shown(line.strip())}, expected {expected}")
        points[score] = value
    if not points:
        raise GoalError(f"{path}: found no line, expected a score and its value on each")
    scores = sorted(points)
    return lambda asked: np.interp(asked, scores, [points[score] for score in scores])


def solved(
    chosen: Chosen,
    rules: Ruleset,
    card: Scorecard | None = None,
    threads: int | None = None,
    *,
    exact: bool = True,
    from_card: bool = False,
) -> Table | Pursuit:
    """Solve a game, or the goal that is chosen from a card on; unless exact, look it up where it is kept.

    With saved rolls, only what follows the card is solved for a goal, or if that is all that is asked for
    (`from_card`).
    """
    from .. import library
    from ..chances_file import kept_path
    from ..pursuit import pursue
    from ..scoring import scoring
    from ..states import states

    for _ in _opponents(chosen.against, rules):
        pass  # What cannot be is said before the game is solved.
    kept = not exact and chosen.score is not None and kept_path(states(scoring(rules))).exists()
    if rules.saves and (chosen.given or from_card):
        table: Table = solved_from(rules, card, threads)
    else:
        with progress_bar(f"Solving {rules.name}", left=rules.saves) as progress:
            table = (library.load if kept else library.solve)(rules, threads=threads, progress=progress)
    if not chosen.given:
        return table
    goal = goal_of(chosen, table)
    with progress_bar("Solving the goal") as progress:
        return pursue(table, goal, card, threads=threads, progress=progress, exact=exact)


def solved_from(rules: Ruleset, card: Scorecard | None, threads: int | None = None) -> Table:
    """Solve a game, or where rolls are saved what follows a card of it."""
    from .. import library
    from ..saving_table import solved_following
    from ..scope import MORE_BOXES

    with progress_bar(f"Solving {rules.name}") as progress:
        if rules.saves:
            # A command that has no card cannot start from one with more boxes filled.
            instead = "" if card is None else MORE_BOXES
            return solved_following(rules, card, threads=threads, progress=progress, instead=instead)
        return library.solve(rules, threads=threads, progress=progress)


def goal_rows(
    played: Table | Pursuit, scores: Distribution | None = None, plain: Distribution | None = None
) -> list[tuple[str, str]]:
    """Return what a goal is worth, as lines of a table; none where play is for points.

    With `scores`, what these are worth, and with `plain` what play for points gives beside it.
    """
    from ..goals import worth
    from ..pursuit import Pursuit

    if not isinstance(played, Pursuit):
        return []
    goal = played.goal
    text = _worth(goal, played.value() if scores is None else worth(goal, scores))
    if plain is not None:
        text += f" ({number(goal, worth(goal, plain))} when playing for points)"
    return [("Goal", text)]


def goal_json(chosen: Chosen, played: Table | Pursuit, scores: Distribution | None = None) -> dict[str, Any]:
    """Return what was played for as it is written in JSON, with what the scores are worth to it."""
    from ..goals import worth
    from ..pursuit import Pursuit

    if not isinstance(played, Pursuit):
        return {}
    goal = {"kind": type(played.goal).__name__.lower(), "unit": played.unit, **chosen.as_dict()}
    value = {} if scores is None else {"value": worth(played.goal, scores)}
    kept = {"kept": str(played.kept.path), "within": played.kept.within} if played.kept else {}
    return {"goal": goal | value} | kept


def show_goal(
    played: Table | Pursuit, advice: Advice, top: int, in_words: Callable[[Option, Ruleset], str]
) -> None:
    """Print the best move for a goal, what the best move for points would give, and the others."""
    from ..pursuit import Pursuit

    assert isinstance(played, Pursuit)
    goal = played.goal
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
            (in_words(option, rules), number(goal, option.value), f"{option.expected or 0:.2f}")
            for option in shown
        ]
        show_table(rows, ("Otherwise", heading(goal), "Expected score"), right=(1, 2), indent=2)
    if more := len(advice.options) - 1 - len(shown):
        show_line(f"  {more} more; --top {len(advice.options)} shows all.", style="dim")
    if kept := played.kept:
        show_line(f"\nLooked up in {kept.path}: {within(kept.within)} of the exact chances.", style="dim")


def _points(option: Option) -> str:
    return f" (expected final score {option.expected:.2f})"


def number(goal: Goal, value: float) -> str:
    """Return the value of a goal as people write it."""
    from ..goals import Reach, Utility, Win

    if isinstance(goal, Reach | Win):
        return percent(value)
    return f"{value:.6g}" if isinstance(goal, Utility) else f"{value:.2f}"


def heading(goal: Goal) -> str:
    """Return the name of a column with the values of a goal."""
    from ..goals import Ceiling, Floor, Reach, Risk, Win

    if isinstance(goal, Reach):
        return f"{goal.score} or more"
    names = {Win: "Wins", Risk: "Worth for sure", Floor: "Certain", Ceiling: "Possible"}
    return next((name for kind, name in names.items() if isinstance(goal, kind)), "Utility")


def _worth(goal: Goal, value: float) -> str:
    from ..goals import Ceiling, Floor, Reach, Risk, Win

    text = number(goal, value)
    if isinstance(goal, Reach):
        return f"{text} to reach {goal.score}"
    if isinstance(goal, Win):
        return f"{text} to win"
    if isinstance(goal, Risk):
        return f"worth {text} points for sure"
    if isinstance(goal, Floor | Ceiling):
        return f"{text} points are {'certain' if isinstance(goal, Floor) else 'possible'}"
    return f"utility {text}"
