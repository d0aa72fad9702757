"""Mean and deviation of the final score, and the chance of an upper bonus, without the chance of every score.

Where the distribution of the final score is too large to hold, these can still be worked out exactly. Two
more numbers go along with the expected points V(x) to come from each state x, wherever the choice is that of
the highest expected score, ties broken as in `lookup`:

    W(x)  = the variance of the points to come           W = 0 where all boxes are filled
    U(x)  = the chance of an upper bonus                 U = 1 or 0 where all boxes are filled

Within a turn there are instead of W the mean squares of the points to come less a number a, the same in the
whole turn. They are means over dice, as V and U are, and filling a box for g points with x' after it makes

    (g + V(x') - a)^2 + W(x')    and    U(x').

At the start of the turn W is what is left of the mean square less (V(x) - a)^2. With an a near V(x) little is
lost by this however large the points are, where mean squares of the points themselves would lose all.
As V of one level needs the next level alone, so do W and U. V is worked out anew beside them, so that choices
are those of exact values and no table is needed; for saved rolls see `saving`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import ArgumentError, DiceError
from .levels import Progress, run_levels
from .lookup import Table
from .plan import Floats, Plan, TurnPlan, aligned, work_arrays
from .rules import Ruleset, as_ruleset
from .saving import level_plan, states_in, width_of
from .scorecard import Position, Scorecard, card_of
from .scoring import scoring
from .states import LANES, States, states

if TYPE_CHECKING:
    import os

    from .deviation_kernels import Along, Three

MOST_BYTES = 16 * 10**9
"""Memory that the numbers of two levels may take."""

KNOWN_FILE = "moments.json"
"""What is known of the empty cards of some games; `dicewise tables moments` writes it."""

_NUMBERS = ("mean", "standard_deviation", "upper_bonus")
_PIECES_A_THREAD = 32


@dataclass(frozen=True, slots=True)
class Moments:
    """What is known of final scores without their distribution.

    Attributes
    ----------
    rules, card
        The rules and the card that the play starts from, as texts.
    mean, standard_deviation
        Of the final score, in points.
    upper_bonus
        Probability of an upper bonus.
    """

    rules: str
    card: str
    mean: float
    standard_deviation: float
    upper_bonus: float

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as it is written in JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class _Level:
    """The three numbers of each state of a level, laid out as in `saving.Level`."""

    number: int
    flat: Three
    rows: int
    width: int

    @classmethod
    def empty(cls, game: States, number: int, rows: int) -> _Level:
        """Return a level of zeros, for rows - 1 saved rolls at the most."""
        width = width_of(game, number)

        def zeros() -> Floats:
            flat = aligned(rows * width + 2 * LANES)
            flat[:] = 0
            return flat

        return cls(number, (zeros(), zeros(), zeros()), rows, width)

    def values(self, which: int) -> Floats:
        """Return one of the numbers, shape (rows, width)."""
        return self.flat[which][LANES:-LANES].reshape(self.rows, self.width)


def moments(
    rules: Ruleset | Table | str | os.PathLike[str],
    card: Scorecard | str | None = None,
    dice: str | Iterable[int | str] | None = None,
    rerolls: int | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Moments:
    """Return mean and deviation of the final score under optimal play, and how often there is an upper bonus.

    Exact for any rules, those with saved rolls and those whose distribution is too large among them. It takes
    the time of some solves of the game, and holds two levels of it at a time; of the games whose distribution
    is too large, the package knows the numbers of the empty card.

    Parameters
    ----------
    rules
        The rules, the name of a game, the path of a rules file, or a table, whose rules are taken.
    card
        The card to start from; the empty card unless given.
    dice, rerolls
        Dice on the table and rerolls left, where the turn has begun.
    threads
        All usable cores unless given; the result is equal to the bit.
    progress
        Called now and then with the work done and in all.

    Raises
    ------
    RulesError, CardError, DiceError
        If the rules, the card, the dice or the rerolls are not possible.
    ArgumentError
        If it would take more than `MOST_BYTES` of memory.
    """
    given = rules.ruleset if isinstance(rules, Table) else as_ruleset(rules)
    held = card_of(given, card)
    place = None
    if dice is not None:
        place = Position.of(held, dice, rerolls)
    elif rerolls is not None:
        raise DiceError(f"rerolls {rerolls!r}: found no dice, expected those on the table")
    return known_at(held, place) or worked_out(held, place, threads=threads, progress=progress)


def worked_out(
    card: Scorecard,
    place: Position | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Moments:
    """Work out what `moments` returns from a card, or from dice on the table, whether it is known or not."""
    rules = card.ruleset
    value, variance, bonus = _numbers(states(scoring(rules)), card, place, threads, progress)
    deviation = float(np.sqrt(max(0.0, variance)))
    return Moments(rules.name, str(card), card.boxes_total + value, deviation, min(1.0, bonus))


def known(rules: Ruleset) -> Moments | None:
    """Return what the package knows of the empty card of a game, if it is one of those in `KNOWN_FILE`."""
    numbers = _known().get(scoring(rules).digest)
    return None if numbers is None else Moments(rules.name, str(rules.card()), *numbers)


def known_at(card: Scorecard, place: Position | None = None) -> Moments | None:
    """Return what the package knows of a card, or of dice on the table: of the empty card of some games."""
    return known(card.ruleset) if place is None and card == card.ruleset.card() else None


def kept(found: Moments, rules: Ruleset) -> dict[str, Any]:
    """Return what `KNOWN_FILE` says of a game, by numbers worked out from its empty card."""
    return {"digest": scoring(rules).digest} | {name: getattr(found, name) for name in _NUMBERS}


@cache
def _known() -> dict[str, tuple[float, ...]]:
    """Return the numbers of `KNOWN_FILE` by the digest of the game."""
    text = resources.files(__package__).joinpath(KNOWN_FILE).read_text("utf-8")
    return {one["digest"]: tuple(one[name] for name in _NUMBERS) for one in json.loads(text).values()}


def _numbers(
    game: States,
    card: Scorecard,
    place: Position | None,
    threads: int | None,
    progress: Progress | None,
) -> tuple[float, float, float]:
    """Return V, W and U of a card, or of dice on the table."""
    boxes, first, rerolls = game.scoring.boxes, card.filled.bit_count(), game.scoring.rolls - 1
    # From the card on no more rolls can be saved than these.
    most = [(card.saved + rerolls * turn) * game.scoring.saves for turn in range(boxes - first + 1)]
    _check_size(game, card, most)
    arrays = level_plan(game)
    wanted = _wanted(game, arrays, card.filled)
    tiles = (game.level_start // LANES).tolist()
    costs = [
        (saved + rerolls + 1) * int(wanted[slice(*ends)].sum())
        for saved, ends in zip(most, pairwise(tiles[first:]), strict=True)
    ]
    total, done = max(1, sum(costs)), 0

    def report(worked: int, of: int) -> None:
        if progress:
            progress(done + worked * costs[number - first] // of, total)

    after = _finished(game, most[-1])
    for number in reversed(range(first, boxes)):
        turn = _begun(arrays, place) if place and number == first else arrays
        saved = 0 if place and number == first else most[number - first]
        level = _Level.empty(game, number, saved + 1)
        _work(game, level, after, turn, wanted, threads, report)
        done += costs[number - first]
        after = level
    position = game.position(card.filled, card.upper_subtotal, int(card.armed)) - int(game.level_start[first])
    value, variance, bonus = (float(after.values(which)[-1, position]) for which in range(3))
    return value, variance, bonus


def _check_size(game: States, card: Scorecard, most: list[int]) -> None:
    first = card.filled.bit_count()
    sizes = [24 * (saved + 1) * width_of(game, first + turn) for turn, saved in enumerate(most)]
    needed = max(map(sum, pairwise(sizes)), default=0)
    if needed > MOST_BYTES:
        raise ArgumentError(
            f"mean and deviation of {card.ruleset.name!r}: found {needed / 1e9:,.1f} GB to hold, expected "
            f"at most {MOST_BYTES / 1e9:.0f} GB; simulate, or start from a card with more boxes filled"
        )


def _wanted(game: States, arrays: Plan, filled: int) -> NDArray[np.bool_]:
    """Return the tiles with states that have these boxes filled and perhaps more."""
    before = np.concatenate([[0], np.cumsum(game.filled & filled == filled)])
    last = np.searchsorted(game.start, np.arange(LANES, game.size + 1, LANES), side="left")
    found: NDArray[np.bool_] = before[last] > before[arrays.tile_set]
    return found


def _finished(game: States, saved: int) -> _Level:
    level = _Level.empty(game, game.scoring.boxes, saved + 1)
    for which, ends in ((0, game.final), (2, game.final > 0)):
        level.values(which)[:] = ends
    return level


def _begun(arrays: Plan, place: Position) -> Plan:
    """Return the arrays for a turn that has come to some dice, with so many rerolls left."""
    turn, lattice = arrays.turn, scoring(place.card.ruleset).lattice
    thrown = np.zeros(len(lattice.rolls))
    thrown[lattice.roll(place.dice)] = 1
    # What is no more the first roll of its turn scores as later rolls do.
    rows = arrays.rows if place.rerolls == turn.rerolls else arrays.rows._replace(stages=1)
    return arrays._replace(turn=turn._replace(rerolls=place.rerolls, probability=thrown), rows=rows)


def _work(
    game: States,
    level: _Level,
    after: _Level,
    arrays: Plan,
    wanted: NDArray[np.bool_],
    threads: int | None,
    progress: Progress,
) -> None:
    """Write the numbers of a level."""
    from .deviation_kernels import moment_tiles

    start = int(game.level_start[level.number])
    along = _along(game, arrays.turn)
    step = after.width if game.scoring.saves else 0
    before = start // LANES

    def work(first: int, last: int) -> None:
        tiles = before + first, before + last
        sizes = level.width, step, level.rows - 1, start
        rows, keeps, picks = _work_arrays(arrays)
        moment_tiles(level.flat, after.flat, *sizes, *tiles, wanted, arrays, along, rows, keeps, picks)

    run_levels(
        [0, level.width // LANES],
        work,
        threads=threads,
        progress=progress,
        pieces_a_thread=_PIECES_A_THREAD,
    )
    for which in range(3):
        level.values(which)[:, states_in(game, level.number) :] = 0


def _along(game: States, turn: TurnPlan) -> Along:
    """Return where what goes along with each keep lies, the ones that ties are broken for last; and more."""
    from .deviation_kernels import Along

    lattice = game.scoring.lattice
    typical = np.rint(game.scoring.points @ lattice.probability)
    order = sorted(
        range(lattice.short), key=lambda keep: (len(lattice.keeps[keep]), lattice.keeps[keep][::-1])
    )
    place = np.arange(len(lattice.keeps))
    place[order] = np.arange(lattice.short)
    more = place[lattice.more[order]] * LANES
    turn = turn._replace(more=more.ravel().astype(turn.more.dtype))
    return Along((place * LANES).astype(np.float64), turn, typical)


def _work_arrays(arrays: Plan) -> tuple[Three, Three, Floats]:
    """Return the work arrays of `deviation_kernels`."""
    turn = arrays.turn
    first, second, third = (work_arrays(arrays)[0] for _ in range(3))
    length = (2 * turn.keeps - turn.short) * LANES
    keeps, picks = (aligned(length), aligned(length), aligned(length)), aligned(length)
    picks[:LANES] = 0  # The empty keep, the last to be taken, leads no group.
    return (first, second, third), keeps, picks
