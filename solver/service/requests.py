"""Requests as plain data: a name and a dictionary in, a dictionary out; no transport, no state.

Reading a request and looking advice up take no more than some milliseconds. What may take longer is
returned by `Service.begin` as something to call, so that a server can do it where nobody else waits.
Tables and results that others may ask for again are kept in memory, within a limit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from threading import Event
from typing import TYPE_CHECKING, Any

from .. import library
from ..errors import DicewiseError
from ..goals import Risk, Utility
from ..lookup import Advice, Table
from ..rules import Ruleset, names, ruleset
from ..rules.wording import did_you_mean
from ..saving_table import solved_following
from ..scope import Scope
from ..scorecard import Position, Scorecard
from ..scoring import scoring
from ..shelf import Shelf
from ..states import States, states
from .fields import RequestError, shown
from .limits import (
    DEVIATING,
    Limits,
    Work,
    WorkError,
    following_seconds,
    parts,
    pursuing_seconds,
    rules_bytes,
    sized,
    solving_seconds,
)
from .rulebook import in_full, overview
from .shapes import SHAPES
from .wishes import card_of, dice_of, game_rules, goal_of, names_a_game, opponents_of, position_of

if TYPE_CHECKING:
    from ..deviations import Moments
    from ..distributions import Distribution
    from ..pursuit import Pursuit

_PASSES: dict[type, int] = {Risk: 2, Utility: 0}
"""Passes over all states, each like a solve, that a goal takes besides its values, if not one."""
_LONGEST = 1000
"""Letters of a message."""
_log = logging.getLogger("dicewise")

Answer = dict[str, Any]
Later = Callable[[], Answer]
"""Work to be done where it holds nobody up; it returns the answer."""


class Service:
    """Answers requests; may be asked from many threads.

    Parameters
    ----------
    limits
        What one request may ask for.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._shelf = Shelf(self.limits.memory)
        self._stop = Event()

    def answer(self, request: str, body: object) -> Answer:
        """Answer a request.

        Parameters
        ----------
        request
            Its name, one of `shapes.SHAPES`.
        body
            Its fields.

        Raises
        ------
        DicewiseError
            For whatever cannot be answered, with the library's own message where it comes from there.
        """
        begun = self.begin(request, body)
        return begun if isinstance(begun, dict) else begun()

    def respond(self, request: str, body: object) -> Answer:
        """Answer a request; an error becomes an answer, too."""
        try:
            return self.answer(request, body)
        except Exception as error:
            return as_answer(error)

    def begin(self, request: str, body: object) -> Answer | Later:
        """Read a request; return the answer where it takes next to no time, or what works it out."""
        shape = SHAPES.get(request)
        if shape is None:
            close = did_you_mean(request[:60], SHAPES)
            raise RequestError(f"request {shown(request)}: expected one of: {', '.join(SHAPES)}{close}")
        given = shape.read(body)
        handler: Callable[[Mapping[str, Any], Work], Answer | Later] = getattr(self, f"_{request}")
        work = Work(self.limits, self._stop)
        if names_a_game(given):
            return handler(given, work)

        def read_and_answer() -> Answer:
            begun = handler(given, work)  # Rules that a request brings along may take a while to read.
            return begun if isinstance(begun, dict) else begun()

        return read_and_answer

    def stop(self) -> None:
        """Stop what is being worked out, soon."""
        self._stop.set()

    # ---------------------------------------------------------------- requests

    def _health(self, given: Mapping[str, Any], work: Work) -> Answer:
        limits = {name: getattr(self.limits, name) for name in ("work", "cards", "body")}
        return {"status": "ok", "version": version(), "requests": list(SHAPES), "limits": limits}

    def _rules(self, given: Mapping[str, Any], work: Work) -> Answer:
        if "rules" not in given:
            return {"games": [overview(ruleset(name)) for name in names()]}
        return in_full(game_rules(given))

    def _advise(self, given: Mapping[str, Any], work: Work) -> Answer | Later:
        position = position_of(given, "advise")
        top, wanted = given.get("top"), given.get("explain")
        if top is not None and top < 1:
            raise RequestError(f"advise: top is {top}, expected 1 or more")
        if "goal" in given:
            if wanted is not None:
                raise RequestError("advise: explain follows the expected score, expected no goal beside it")
            pursued = self.pursuer(position, given["goal"], work)

            def for_goal() -> Answer:
                found = pursued()
                return found.advise_position(position).as_dict(top) | {"unit": found.unit}

            return for_goal
        rules = position.card.ruleset

        def found() -> Answer:
            table = self.table(rules, work)
            advice = table.advise_position(position)
            if wanted is None:
                return advice.as_dict(top)
            explained = {"boxes_total": position.card.boxes_total}
            return advice.as_dict(top) | explained | {"explanations": _explained(table, advice, wanted)}

        return found() if wanted is None and self.at_hand(rules) else found

    def _stats(self, given: Mapping[str, Any], work: Work) -> Later:
        card = card_of(game_rules(given), given.get("card"), "stats: card")
        where = None
        if "dice" in given:
            where = Position.of(card, dice_of(given["dice"], "stats: dice"), given.get("rerolls"))
        elif "rerolls" in given:
            raise RequestError("stats: found rerolls but no dice, expected both or neither")
        dice, rerolls = (where.dice, where.rerolls) if where else (None, None)

        def found() -> Answer:
            from ..distributions import MOST_BYTES, bytes_to_hold
            from ..summary import statistics

            begun = {"dice": list(dice) if dice else None, "rerolls": rerolls}
            needed = bytes_to_hold(Scope.of(self.states(card.ruleset), card))
            if needed > MOST_BYTES:
                return self.moments(card, where, work).as_dict() | begun | {"distribution_bytes": needed}
            scores = self.spread(card, dice, rerolls, work)
            listed = {"scores": scores.scores.tolist(), "probabilities": scores.probabilities.tolist()}
            return statistics(scores).as_dict() | begun | listed

        return found

    def _game(self, given: Mapping[str, Any], work: Work) -> Answer | Later:
        from .seats import begun, done, how_it_stands, rules_in_play

        rules = rules_in_play(given)

        def found() -> Answer:
            self.states(rules)
            return how_it_stands(done(begun(given, rules, self.limits), given.get("actions", [])))

        return found() if self.at_hand(rules) else found

    def _move(self, given: Mapping[str, Any], work: Work) -> Answer | Later:
        from .seats import decided, quick, rules_in_play, waiting

        rules = rules_in_play(given)

        def found() -> Answer:
            self.states(rules)
            return decided(self, waiting(given, rules, self.limits), given, work)

        return found() if quick(given["player"]) and self.at_hand(rules) else found

    # ---------------------------------------------------------------- what they work from

    @property
    def shelf(self) -> Shelf:
        """Results kept for the next request."""
        return self._shelf

    def at_hand(self, rules: Ruleset) -> bool:
        """Whether the table of these rules is in memory, or shipped and opened in next to no time."""
        if ("table", rules) in self._shelf:
            return True
        shipped = library.manifest().get(rules.name)
        return shipped is not None and shipped["digest"] == scoring(rules).digest

    def states(self, rules: Ruleset) -> States:
        """Return the states of a game: of any shipped one, and of other rules within the limits."""
        return states(scoring(rules)) if rules.name in names() else sized(rules, self.limits)

    def table(self, rules: Ruleset, work: Work) -> Table:
        """Return a table to look up in: one at hand, or the game solved now."""

        def opened() -> Table:
            self.states(rules)
            found: Table | None = library.get(rules)
            return self.exact(rules, work) if found is None else found

        found: Table = self._shelf.get(("table", rules), opened, parts)
        return found

    def exact(self, rules: Ruleset, work: Work, card: Scorecard | None = None) -> Table:
        """Return the table with exact values: the game solved now, or just before.

        With saved rolls, what follows the card.
        """
        what = f"rules {rules.name!r}: to solve them"

        def solved() -> Table:
            work.claim(what, self._solving(rules, card))
            if rules.saves:
                return solved_following(rules, card, progress=work.watch(what))
            return library.solve(rules, progress=work.watch(what))

        found: Table = self._shelf.get(_exact_key(rules, card), solved, parts)
        return found

    def _solving(self, rules: Ruleset, card: Scorecard | None) -> dict[Hashable, float]:
        """Return the seconds that the exact table takes, by its key; none where it is at hand."""
        key = _exact_key(rules, card)
        if key in self._shelf:
            return {}
        scope = Scope.of(self.states(rules), card or rules.card())
        return {key: solving_seconds(scope.game) * scope.rows}

    def spread(
        self, card: Scorecard, dice: tuple[int, ...] | None, rerolls: int | None, work: Work
    ) -> Distribution:
        """Return the exact distribution of final scores from a card on."""
        what = f"the scores from card '{card}'"

        def followed() -> Distribution:
            from ..distributions import distribution

            work.claim(what, self._solving(card.ruleset, card) | self._following(card, dice, rerolls))
            table = self.exact(card.ruleset, work, card)
            return distribution(table, card, dice, rerolls, progress=work.watch(what))

        found: Distribution = self._shelf.get(
            ("spread", card, dice, rerolls),
            followed,
            lambda scores: parts(scores.table) | {id(scores): scores.by_row.nbytes + 16 * len(scores.scores)},
        )
        return found

    def moments(self, card: Scorecard, where: Position | None, work: Work) -> Moments:
        """Return mean and deviation of final scores whose distribution is too large to hold."""
        from ..deviations import known_at, worked_out

        what = f"mean and deviation from card '{card}'"

        def found() -> Moments:
            if known := known_at(card, where):
                return known
            scope = Scope.of(self.states(card.ruleset), card)
            work.claim(what, {"moments": DEVIATING * solving_seconds(scope.game) * scope.rows})
            return worked_out(card, where, progress=work.watch(what))

        kept: Moments = self._shelf.get(("moments", card, where), found, lambda _: rules_bytes(card.ruleset))
        return kept

    def _following(
        self, card: Scorecard, dice: tuple[int, ...] | None, rerolls: int | None
    ) -> dict[Hashable, float]:
        """Return the seconds that the scores from a card take, by their key; none where they are at hand."""
        key = ("spread", card, dice, rerolls)
        return {} if key in self._shelf else {key: following_seconds(self.states(card.ruleset), card)}

    def pursuer(self, position: Position, wish: Mapping[str, Any], work: Work) -> Callable[[], Pursuit]:
        """Return what solves a goal from the card of a position on; a goal that makes no sense is refused."""
        card, rules = position.card, position.card.ruleset
        goal = goal_of(wish)
        opponents = opponents_of(rules, wish["win"], self.limits) if goal is None else ()

        def pursued() -> Pursuit:
            from ..goals import Win
            from ..pursuit import most_values_to_win, pursue

            scope = Scope.of(self.states(rules), card)
            game = scope.game
            what = f"goal: to solve it from card '{card}'"
            passes = {"passes": _PASSES.get(type(goal), 1) * solving_seconds(game) * scope.rows}
            work.claim(what, self._solving(rules, card) | passes)
            if opponents:
                parts: dict[Hashable, float] = {}
                for opponent in opponents:
                    parts |= self._following(*opponent)
                work.claim(what, parts)
                values = most_values_to_win(
                    self.states(rules), card, tuple(opponent.card for opponent in opponents)
                )
                work.claim(what, {"values": pursuing_seconds(game, values)})
            table = self.exact(rules, work, card)
            wanted = goal or Win(tuple(self.spread(*opponent, work) for opponent in opponents))

            def check(values: int) -> None:
                work.claim(what, {"values": pursuing_seconds(game, values)})

            return pursue(table, wanted, card, progress=work.watch(what), check=check, exact=True)

        return pursued


def as_answer(error: Exception) -> Answer:
    """Return an error as it is answered: its kind and its message; one not dicewise's own is logged."""
    if isinstance(error, MemoryError):
        error = WorkError("found too little memory for a request of this size")
    kind, message = type(error).__name__, " ".join(str(error).splitlines())
    if not isinstance(error, DicewiseError):
        _log.error("a request failed", exc_info=error)
        kind, message = "InternalError", "the service failed at this request; its log says more"
    message = message if len(message) <= _LONGEST else message[: _LONGEST - 1] + "…"
    return {"error": {"kind": kind, "message": message}}


def _explained(table: Table, advice: Advice, wanted: object) -> list[Answer]:
    from ..explanation import explain

    if isinstance(wanted, int):
        return [one.as_dict() for one in explain(table, advice, wanted)]
    assert isinstance(wanted, list)
    count = len(advice.options)
    for place in wanted:
        if isinstance(place, bool) or not isinstance(place, int) or not 1 <= place <= count:
            raise RequestError(f"advise: explain has {shown(place)}, expected places from 1 to {count}")
    chosen = [advice.options[place - 1] for place in dict.fromkeys(wanted)]
    found = [explain(table, Advice(advice.position, (option,)), 1)[0] for option in chosen]
    return [one.as_dict() for one in found]


def _exact_key(rules: Ruleset, card: Scorecard | None) -> tuple[Hashable, ...]:
    return ("exact", rules, card.filled) if rules.saves and card else ("exact", rules)


@cache
def version() -> str:
    """Return the version of dicewise."""
    from importlib import metadata

    try:
        return metadata.version("dicewise")
    except metadata.PackageNotFoundError:
        return "0"
