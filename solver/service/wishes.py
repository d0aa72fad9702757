"""What requests say, read into what the library takes: cards, positions, opponents and goals."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from ..errors import GoalError
from ..goals import Ceiling, Floor, Goal, Reach, Risk, Utility
from ..rules import Ruleset, names
from ..scorecard import Position, Scorecard
from .fields import RequestError, check_type, shown
from .limits import Limits
from .rulebook import rules_of

_KINDS = ("reach", "win", "risk", "floor", "ceiling", "utility")
_MOST_VALUES = 20_000
_MOST_FACES = 20


class Opponent(NamedTuple):
    """Another player's card, and their dice where their turn has begun."""

    card: Scorecard
    dice: tuple[int, ...] | None
    rerolls: int | None


def game_rules(given: Mapping[str, Any]) -> Ruleset:
    """Return the rules of a request; those of the first game unless given."""
    return rules_of(given.get("rules", names()[0]))


def names_a_game(given: Mapping[str, Any]) -> bool:
    """Whether the rules of a request are those of a shipped game, as they are, or left out."""
    if "position" in given:
        named: object = given["position"].partition("|")[0].strip()
    elif "rules" in given or "record" not in given:
        named = given.get("rules", names()[0])
    else:
        named = given["record"].get("rules")
    return named in names()


def card_of(rules: Ruleset, given: object, place: str) -> Scorecard:
    """Return a card from its text or its points by key; None is the empty card."""
    if given is None:
        return Scorecard.empty(rules)
    check_type(place, given, ("string", "object"))
    if isinstance(given, str):
        return Scorecard.parse(rules, given)
    assert isinstance(given, Mapping)
    return Scorecard.of(rules, {key: points for key, points in given.items() if points is not None})


def dice_of(given: object, place: str) -> str | list[int]:
    """Return dice as a text or a list of whole numbers."""
    check_type(place, given, ("string", "array"))
    if isinstance(given, str):
        return given
    assert isinstance(given, list)
    if len(given) > _MOST_FACES:
        raise RequestError(f"{place}: found {len(given)} dice, expected {_MOST_FACES} at the most")
    for die in given:
        check_type(f"{place}: a die", die, ("integer",))
    return given


def position_of(given: Mapping[str, Any], request: str) -> Position:
    """Return the position of a request: from one text, or from its parts."""
    if "position" in given:
        beside = [key for key in ("rules", "card", "dice", "rerolls") if key in given]
        if beside:
            raise RequestError(f"{request}: found {beside[0]} beside position, which says it all")
        return Position.parse(given["position"], rules_of)
    if "dice" not in given:
        raise RequestError(f"{request}: found no dice, expected those on the table")
    card = card_of(game_rules(given), given.get("card"), f"{request}: card")
    return Position.of(card, dice_of(given["dice"], f"{request}: dice"), given.get("rerolls"))


def opponents_of(rules: Ruleset, given: object, limits: Limits) -> tuple[Opponent, ...]:
    """Return the opponents that a goal names."""
    check_type("goal: win", given, ("array",))
    assert isinstance(given, list)
    if not 0 < len(given) < limits.cards:
        raise GoalError(f"win: found {len(given)} opponents, expected 1 to {limits.cards - 1}")
    return tuple(_opponent(rules, one) for one in given)


def _opponent(rules: Ruleset, given: object) -> Opponent:
    place = "goal: an opponent"
    if not (isinstance(given, Mapping) and "card" in given):
        return Opponent(card_of(rules, given, place), None, None)
    for key in given:
        if key not in ("card", "dice", "rerolls"):
            raise RequestError(
                f"{place}: found an unknown field {shown(key)}, expected card, dice and rerolls"
            )
    card = card_of(rules, given["card"], place)
    if given.get("dice") is None:
        return Opponent(card, None, None)
    where = Position.of(card, dice_of(given["dice"], place), given.get("rerolls"))
    return Opponent(card, where.dice, where.rerolls)


def goal_of(given: Mapping[str, Any]) -> Goal | None:
    """Return the goal that a request names; None for `win`, which needs the opponents' distributions.

    Raises
    ------
    GoalError, RequestError
        If it names none or more than one, or one that makes no sense.
    """
    kinds = [kind for kind in given if kind in _KINDS]
    if len(given) != 1 or not kinds:
        found = ", ".join(map(str, given)) or "nothing"
        raise GoalError(f"goal: found {shown(found)}, expected one of {', '.join(_KINDS)}")
    (kind,) = kinds
    value = given[kind]
    if kind in ("floor", "ceiling"):
        if value is not True:
            raise RequestError(f"goal: {kind} is {shown(value)}, expected true")
        return Floor() if kind == "floor" else Ceiling()
    if kind == "reach":
        return Reach(value)
    if kind == "risk":
        return Risk(value)
    return _utility(value) if kind == "utility" else None


def _utility(given: object) -> Utility:
    if isinstance(given, Mapping):
        for key in given:
            if key not in ("scores", "values"):
                raise RequestError(f"goal: utility has {shown(key)}, expected scores and values")
        return _interpolated(_numbers(given.get("scores")), _numbers(given.get("values")))
    return Utility(_numbers(given))


def _interpolated(scores: list[float], values: list[float]) -> Utility:
    import numpy as np

    if len(scores) != len(values) or any(a >= b for a, b in pairwise(scores)):
        raise GoalError("utility: expected rising scores, and a value for each")
    return Utility(lambda asked: np.interp(asked, scores, values))


def _numbers(given: object) -> list[float]:
    check_type("goal: utility", given, ("array",))
    assert isinstance(given, list)
    if not 0 < len(given) <= _MOST_VALUES:
        raise GoalError(f"utility: found {len(given)} values, expected 1 to {_MOST_VALUES}")
    for number in given:
        check_type("goal: utility: a value", number, ("number",))
    try:
        found = [float(number) for number in given]
    except OverflowError:
        raise GoalError("utility: expected one finite number for each score") from None
    if not all(number - number == 0 for number in found):
        raise GoalError("utility: expected one finite number for each score")
    return found
