"""Games in requests: begun, gone on with, and asked about; how things stand, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..dice import lattice
from ..game import Game
from ..players import Player, as_move, check_player, player
from ..records import checked
from ..rules import Ruleset
from ..scorecard import Position, Scorecard
from ..situations import Move, Situation
from ..strength import LEVELS, tries
from ..winning import DEFAULT_SECONDS, Winning
from .fields import RequestError, check_type, shown
from .limits import SOFTENING, Limits, Work, parts, solving_seconds
from .rulebook import rules_of
from .wishes import card_of, dice_of, game_rules

if TYPE_CHECKING:
    from .requests import Service

_STEPS = ("roll", "keep", "fill", "undo")
_QUICK = ("optimal", "greedy", "random", *LEVELS)
"""Players that only look up."""
_GOALS = ("reach", "risk")
"""Players with a goal that their own card decides."""
_MOST_STEPS = 100
_WINNING, _OTHERS = 1 << 26, 1 << 12
"""Bytes besides its table: of a player that keeps what it solved for this turn, at most; of any other."""


def rules_in_play(given: Mapping[str, Any]) -> Ruleset:
    """Return the rules of a request about a game: those named beside the record, or in it."""
    record = given.get("record")
    if record is None or "rules" in given:
        return game_rules(given)
    return rules_of(checked(record)["rules"])


def begun(given: Mapping[str, Any], rules: Ruleset, limits: Limits) -> Game:
    """Return the game of a request: its record played again, or a new one."""
    if "record" in given:
        beside = [key for key in ("seats", "first", "seed", "players") if key in given]
        if beside:
            raise RequestError(f"game: found {beside[0]} beside record, which says it all")
        return _replayed(given["record"], rules, limits)
    seats = given.get("seats", 2)
    _check_seats(seats, limits)
    return Game.new(rules, seats, given.get("seed"), given.get("first", 0), given.get("players"))


def _replayed(record: Mapping[str, Any], rules: Ruleset, limits: Limits) -> Game:
    seats = record.get("seats")
    if isinstance(seats, int):
        _check_seats(seats, limits)
    return Game.from_record(record, rules)


def _check_seats(seats: int, limits: Limits) -> None:
    if seats > limits.cards:
        raise RequestError(f"game: found {seats} seats, expected {limits.cards} at the most")


def done(game: Game, actions: Sequence[object]) -> Game:
    """Return the game after the actions."""
    if len(actions) > _MOST_STEPS:
        raise RequestError(f"game: found {len(actions)} actions, expected {_MOST_STEPS} at the most")
    for action in actions:
        check_type("game: an action", action, ("object",))
        assert isinstance(action, Mapping)
        if len(action) != 1 or next(iter(action)) not in _STEPS:
            raise RequestError(f"game: found action {shown(action)}, expected one of {', '.join(_STEPS)}")
        ((kind, what),) = action.items()
        _do(game, kind, what)
    return game


def _do(game: Game, kind: str, what: object) -> None:
    place = f"game: {kind}"
    if kind == "fill":
        check_type(place, what, ("string",))
        game.fill(str(what))
    elif kind == "keep":
        game.keep(dice_of(what, place))
    elif kind == "roll" and what is not True:
        game.roll(dice_of(what, place))
    elif what is not True:
        raise RequestError(f"{place} is {shown(what)}, expected true")
    elif kind == "roll":
        game.roll()
    else:
        game.undo()


def how_it_stands(game: Game) -> dict[str, Any]:
    """Return a game as it is answered: its record, its cards, and what is legal next."""
    position = game.position
    keeps: list[list[int]] = []
    if position is not None and position.rerolls:
        dice = lattice(game.ruleset.dice)
        roll = dice.roll(position.dice)
        first, inside = dice.inside
        inside_roll = inside[first[roll] : first[roll + 1]].tolist()
        keeps = [list(dice.keeps[keep]) for keep in inside_roll]
    return {
        "record": game.as_record(),
        "phase": game.phase,
        "seat": game.seat,
        "dice": list(game.dice) if game.dice else None,
        "kept": None if game.kept is None else list(game.kept),
        "rerolls": game.rerolls,
        "cards": [_as_card(card) for card in game.cards],
        "winners": list(game.winners),
        "legal": {
            "roll": game.phase in ("start", "roll"),
            "undo": game.can_undo,
            "keeps": keeps,
            "fills": [choice._asdict() for choice in game.fills],
        },
    }


def _as_card(card: Scorecard) -> dict[str, Any]:
    return {
        "card": card.as_dict(),
        "upper_subtotal": card.upper_subtotal,
        "upper_bonus": card.upper_bonus,
        "total": card.total,
    }


def waiting(given: Mapping[str, Any], rules: Ruleset, limits: Limits) -> Situation:
    """Return what a player is asked about."""
    parts = [key for key in ("cards", "turn", "dice", "rerolls") if key in given]
    if "record" in given:
        if parts:
            raise RequestError(f"move: found {parts[0]} beside record, which says it all")
        return _replayed(given["record"], rules, limits).situation()
    cards = [card_of(rules, one, "move: a card") for one in given.get("cards", [None])[: limits.cards + 1]]
    if not 1 <= len(cards) <= limits.cards:
        raise RequestError(f"move: found {len(given['cards'])} cards, expected 1 to {limits.cards}")
    turn = given.get("turn", 0)
    if not 0 <= turn < len(cards):
        raise RequestError(f"move: turn is {turn}, expected a seat from 0 to {len(cards) - 1}")
    if "dice" not in given:
        raise RequestError("move: found no dice, expected those on the table")
    position = Position.of(cards[turn], dice_of(given["dice"], "move: dice"), given.get("rerolls"))
    return Situation(position, tuple(cards), turn)


def quick(spec: str) -> bool:
    """Whether a player of this kind only looks up."""
    return spec.strip() in _QUICK


def decided(service: Service, at: Situation, given: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Return what a player decides."""
    spec, seed = given["player"].strip(), given.get("seed", 0)
    kind, colon, number = spec.partition(":")
    rules = at.position.card.ruleset
    if kind in _GOALS and colon:
        # As the player does, but within the limits; what the number may be is for the player to say.
        player(spec, service.table(rules, work))
        goal = {kind: int(number) if kind == "reach" else float(number)}
        move = as_move(service.pursuer(at.position, goal, work)().advise_position(at.position).best)
    else:
        exact = _looked_up(service, at, work) if spec == "win" else None
        move = exact or _player(service, rules, spec, seed, work).move(at)
    found = {"player": spec, "seat": at.seat, "action": move.action, "dice": list(move.dice)}
    if move.category is not None:
        found["category"] = move.category
    return found | ({"note": move.note} if move.note else {})


def _looked_up(service: Service, at: Situation, work: Work) -> Move | None:
    """Return what `win` does where the game of two was solved: for that nothing needs to be solved now."""
    rules = at.position.card.ruleset

    table = service.table(rules, work)
    found: Winning = service.shelf.get(
        ("duel", rules), lambda: Winning("win", table), lambda made: {**parts(table), id(made): _OTHERS}
    )
    return found.exact_move(at)


def _player(service: Service, rules: Ruleset, spec: str, seed: int, work: Work) -> Player:
    check_player(spec, rules)
    table = service.exact(rules, work) if spec == "win" else service.table(rules, work)
    what = f"player {shown(spec)}: to find how it slips"
    seconds = min(DEFAULT_SECONDS, service.limits.work)

    def made() -> Player:
        if spec.startswith("strength:"):
            # A text that is no number is for the player to refuse.
            work.claim(what, {"slips": tries(table) * SOFTENING * solving_seconds(table.states)})
        return player(spec, table, seed=seed, seconds=seconds, progress=work.watch(what))

    size = _WINNING if spec == "win" else _OTHERS
    found: Player = service.shelf.get(
        ("player", rules, spec, seed), made, lambda one: {**parts(table), id(one): size}
    )
    return found
