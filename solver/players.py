"""Players: each looks at a game and says what to do, the same for a seed in the same game.

    optimal        the highest expected score; ties as in `lookup`
    greedy         the most points of this turn, bonuses for further Yahtzees among them, whatever comes after
    random         any legal action, each with equal chances: a box that the dice may go in, or, while a
                   reroll is left, a keep of fewer than all dice, dice of one face being alike
    reach:N        the best chance of N points or more
    risk:THETA     the greatest E[exp(THETA x score)]; see `goals`
    win            the best chance to win against the other cards: for two seats the exact one where `duel`
                   has solved the game; otherwise their seats are taken to play for their expected scores; see
                   `winning` for what it does where that would take too long
    strength:M     M points on average, with slips like a person's; see `strength`
    a level        beginner, casual, club, expert, perfect: strengths by name

A decision depends on the seed and on what is seen alone, not on what a player was asked before: a game that
was written down and read again goes on as it would have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np

from .chances import follows
from .distributions import distribution
from .errors import ArgumentError, CardError, check_kind, shown
from .goals import Goal, Reach, Risk
from .levels import Progress
from .lookup import Option, Table, checked_table
from .pursuit import Pursuit, pursue
from .records import check_seed
from .rules import Ruleset
from .saving import values_in_all
from .saving_table import check_memory
from .scope import Scope
from .scorecard import Scorecard
from .scoring import scoring
from .situations import Decision, Move, Situation
from .states import states
from .strength import LEVELS, level_temperature, shares, soften, temperature_for
from .winning import DEFAULT_SECONDS, Winning

KINDS = (
    "optimal",
    "greedy",
    "random",
    "reach:N",
    "risk:THETA",
    "win",
    "strength:M",
    *LEVELS,
)


class Player(Protocol):
    """Decides for the seat whose turn it is; safe to ask from many threads.

    Attributes
    ----------
    spec : str
        The text that `player` makes it from.
    """

    @property
    def spec(self) -> str:
        """The text that names it."""
        ...

    def move(self, at: Situation) -> Move:
        """Return what to do; `Game.situation` gives what a player sees."""
        ...

    def alone(self, seed: int) -> Player:
        """Return the player for one of many games, with a seed of its own; not to be waited for by others."""
        ...


def as_move(option: Option, note: str = "") -> Move:
    """Return an option of an advice as a move."""
    return Move(option.action, option.dice, option.category, note)


def loss_of(table: Table, decision: Decision) -> tuple[float, Move]:
    """Return how many points a decision gave away, and the best move instead."""
    options = table.advise_position(decision.position).options
    taken = next(option for option in options if as_move(option) == decision.move)
    return taken.loss, as_move(options[0])


@dataclass(frozen=True, eq=False)
class Adviser:
    """Plays the best option of a table's advice."""

    spec: str
    table: Table

    def move(self, at: Situation) -> Move:
        """Return the best option."""
        return as_move(self.table.advise_position(at.position).best)

    def alone(self, seed: int) -> Player:
        """Return this: it depends on nothing but the position."""
        return self


class Pursuer:
    """Plays for a goal that does not look at the others, solved once for each card to start from."""

    def __init__(self, spec: str, table: Table, goal: Goal) -> None:
        self.spec, self._table, self._goal = spec, table, goal
        self._lock = Lock()
        self._found: Pursuit | None = None

    def move(self, at: Situation) -> Move:
        """Return the best option for the goal."""
        return as_move(self.pursuit(at.position.card).advise_position(at.position).best)

    def alone(self, seed: int) -> Player:
        """Return this: it depends on nothing but the position, and what is solved serves all games."""
        return self

    def pursuit(self, card: Scorecard) -> Pursuit:
        """Return the goal solved from a card, or from an earlier one of the same game."""
        with self._lock:
            if self._found is None or not _follows(card, self._found.card):
                self._found = pursue(self._table, self._goal, card, exact=True)
            return self._found


def _follows(card: Scorecard, start: Scorecard) -> bool:
    """Whether a card may be one of the same game as an earlier one, and later or the same."""
    try:
        follows(card, start, "the goal is solved")
    except CardError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Slipping:
    """Plays any option, those that lose more the less often: with chances exp(-loss / temperature).

    A temperature of infinity is random play.
    """

    spec: str
    table: Table
    temperature: float
    seed: int

    def move(self, at: Situation) -> Move:
        """Return one of the options, drawn from the seed, the seat and how far its turn has come."""
        position = at.position
        options = self.table.advise_position(position).options
        chances = np.cumsum(shares(np.array([option.loss for option in options]), self.temperature))
        moment = at.seat, position.card.filled.bit_count(), position.rerolls
        key = np.random.SeedSequence(self.seed, spawn_key=moment)
        drawn = int(np.random.PCG64DXSM(key).random_raw()) / 2**64
        place = int(np.searchsorted(chances, drawn * chances[-1], side="right"))
        return as_move(options[min(place, len(options) - 1)])

    def alone(self, seed: int) -> Player:
        """Return the player with another seed."""
        return replace(self, seed=seed)


def names_player(spec: str) -> bool:
    """Whether a text is meant for one of the players, not as somebody's name."""
    kind, colon, _ = spec.strip().partition(":")
    return any(known.partition(":")[:2] == (kind, colon) for known in KINDS)


def player(
    spec: str,
    table: Table,
    *,
    seed: int = 0,
    seconds: float = DEFAULT_SECONDS,
    progress: Progress | None = None,
) -> Player:
    """Return the player that a text names.

    Parameters
    ----------
    spec
        A kind or a level, as in the module: "optimal", "reach:300", "risk:-0.02", "strength:200", "club".
    table
        The game.
    seed
        For players that draw lots.
    seconds
        How long a move of `win` may take.
    progress
        Called with the work done and in all while a strength is looked for.

    Raises
    ------
    ArgumentError
        For a text that names none, or a strength that the game does not have.
    GoalError
        For a goal that makes no sense.
    """
    checked_table(table)
    kind, wanted = _read(spec)
    check_seed(seed)
    if isinstance(wanted, Goal):
        return Pursuer(spec, table, wanted)
    if wanted is not None:
        return leveled(spec, table, temperature_for(table, wanted, progress=progress), int(seed))
    if kind == "optimal":
        return Adviser(spec, table)
    if kind == "greedy":
        return Adviser(spec, table.greedy())
    if kind == "random":
        return Slipping(spec, table, float("inf"), int(seed))
    if kind == "win":
        return Winning(spec, table, seconds)
    return leveled(spec, table, level_temperature(kind, table), int(seed))


def _read(spec: str) -> tuple[str, Goal | float | None]:
    """Return the kind of player that a text names, and its goal or the points to average."""
    check_kind(spec, str, "player", f"one of {', '.join(KINDS)}")
    kind, colon, given = spec.strip().partition(":")
    if kind == "strength" and colon:
        return kind, float(_number(spec, given, float, "strength:M with the points to average"))
    if kind == "reach" and colon:
        return kind, Reach(_number(spec, given, int, "reach:N with the points to reach"))
    if kind == "risk" and colon:
        return kind, Risk(_number(spec, given, float, "risk:THETA with a number"))
    if spec.strip() not in KINDS or ":" in spec:
        raise ArgumentError(f"player {shown(spec)}: expected one of {', '.join(KINDS)}")
    return kind, None


def check_player(spec: str, rules: Ruleset, *, at_once: bool = False) -> None:
    """Refuse, before a game is solved, a text that names no player, or one that the game is too large for.

    Parameters
    ----------
    spec
        The text.
    rules
        The game.
    at_once
        Whether all games of a seat are played at once, for which slips take all values in memory.

    Raises
    ------
    ArgumentError, GoalError
        With what is wrong.
    """
    kind, wanted = _read(spec)
    if not rules.saves:
        return
    game, values = states(scoring(rules)), 0
    if isinstance(wanted, Goal):
        values = values_in_all(game)
    elif wanted is not None or (at_once and (kind == "random" or LEVELS.get(kind))):
        values = Scope.of(game, rules.card()).size
    try:
        check_memory(rules, values, "take optimal or greedy, which only look up")
    except ArgumentError as error:
        raise ArgumentError(f"player {shown(spec)}: {error}") from None


class Strength(NamedTuple):
    """How well a player plays: exact mean and standard deviation of its final score, in points."""

    player: str
    mean: float
    standard_deviation: float
    temperature: float | None
    about: str


def exact_strengths(
    table: Table, *, threads: int | None = None, progress: Progress | None = None
) -> tuple[Strength, ...]:
    """Return random play, the levels, greedy and optimal play by rising mean, each worked out exactly.

    Parameters
    ----------
    table
        The game.
    threads
        All usable cores unless given.
    progress
        Called with the players done and in all.
    """
    checked_table(table)
    found: list[Strength] = []
    levels = {level: level_temperature(level, table) for level, share in LEVELS.items() if share}
    slipping = {"random": math.inf, **levels}
    wanted = [*slipping, "greedy", "optimal"]
    for number, name in enumerate(wanted, 1):
        temperature = slipping.get(name)
        if temperature:
            soft = soften(table, temperature, threads=threads)
            mean, deviation = soft.mean, soft.standard_deviation
        else:
            scores = distribution(table.greedy() if name == "greedy" else table, threads=threads)
            mean, deviation = scores.mean, scores.standard_deviation
        found.append(Strength(name, mean, deviation, temperature, _about(name, temperature)))
        if progress:
            progress(number, len(wanted))
    return tuple(sorted(found, key=lambda one: (round(one.mean, 6), one.player == "optimal")))


def _about(name: str, temperature: float | None) -> str:
    if temperature and math.isfinite(temperature):
        return f"slips at a temperature of {temperature:.2f} points"
    about = {
        "random": "any legal action, each with equal chances",
        "greedy": "the most points of this turn",
        "optimal": "the highest expected score; perfect is another name",
    }
    # In a game where there is nothing to lose, the levels have a temperature of 0.
    return about["optimal" if temperature == 0 else name]


def leveled(spec: str, table: Table, temperature: float, seed: int) -> Player:
    """Return the player of a temperature; a temperature of 0 is perfect play."""
    if temperature == 0:
        return Adviser(spec, table)
    return Slipping(spec, table, temperature, seed)


def _number(spec: str, text: str, kind: Callable[[str], Any], expected: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise ArgumentError(f"player {shown(spec)}: expected {expected}") from None
