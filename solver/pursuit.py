"""Playing for a goal: solving it, and advice that ranks moves by it.

Where the score so far does not matter, the states are those of the expected score:

    Floor, Ceiling   V(x) = the least (greatest) over dice instead of the mean
    Risk(theta)      W(x) = max of +-E[exp(theta (s - c(x)))], s the points still to come, with c(x) the
                     greatest possible of them for theta > 0 and the guaranteed for theta < 0, so that
                     no exponential overflows and the best W stays within what float64 can hold

Elsewhere each state has a value for each score so far that can come about from the card one starts with:

    U(x, t) = E of u(final score)      u = 1 from a target on (Reach), the chance of winning (Win), any

and only what can still be reached from that card is solved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .dynamic import solve_values, values_with_ends, worked_out
from .errors import CardError, GoalError
from .goals import Ceiling, Floor, Goal, Reach, Risk, Utility, Win, chance_of_winning
from .levels import Progress, run_levels
from .lookup import Advice, Table, ranked
from .plan import Floats, Ints, aligned, plan, work_arrays
from .scorecard import Position, Scorecard
from .states import LANES, States
from .turn import TIE, Chance, Turn, Worth, expected_points, mean_of_six, positions_after

RELATIVE_TIE = 1e-9
MOST_EXPONENT = 400


def extreme_points(
    game: States, greatest: bool, *, threads: int | None = None, progress: Progress | None = None
) -> Floats:
    """Return, for each state, the greatest points that can still come, or that no dice can prevent."""
    from .goal_kernels import extreme_tiles

    arrays = plan(game)
    values = values_with_ends(game, game.final)

    def work(first: int, end: int, rows: Floats, keeps: Floats) -> None:
        extreme_tiles(values, first, end, arrays, greatest, rows, keeps)

    return worked_out(game, values, work, threads, progress)


def risk_values(
    game: States, theta: float, *, threads: int | None = None, progress: Progress | None = None
) -> tuple[Floats, Floats]:
    """Return +-E[exp(theta (points to come - reference))] of each state, and each state's reference."""
    from .goal_kernels import risk_tiles

    arrays = plan(game)
    extreme = extreme_points(game, theta > 0, threads=threads)
    # One reference a filled set and flag: the classes of subtotals differ by an upper bonus at the most.
    reference = np.zeros((len(game.filled), 2))
    for flag in (0, 1):
        sets = np.flatnonzero(game.flags > flag)
        first = game.start[sets] + flag * game.classes[sets]
        bounds = np.stack([first, first + game.classes[sets]], axis=1).ravel()
        reference[sets, flag] = np.maximum.reduceat(np.append(extreme, 0), bounds)[::2]
    number = np.repeat(np.arange(len(game.filled)), game.lanes)
    lane = np.arange(len(number)) - np.repeat(np.cumsum(game.lanes) - game.lanes, game.lanes)
    of_state = np.zeros(game.size)
    of_state[game.start[number] + lane] = reference[number, lane // game.classes[number]]
    ends = of_state[game.level_start[-2] :]
    values = values_with_ends(game, np.copysign(np.exp(theta * (game.final - ends)), theta))

    def work(first: int, end: int, rows: Floats, keeps: Floats) -> None:
        risk_tiles(values, first, end, arrays, theta, reference, rows, keeps)

    return worked_out(game, values, work, threads, progress), of_state


def certain_points(
    game: States, theta: float, *, threads: int | None = None, progress: Progress | None = None
) -> Floats:
    """Return the certainty equivalent of the points to come of each state."""
    values, reference = risk_values(game, theta, threads=threads, progress=progress)
    values[game.padding] = 1
    # In points, a poor move has a value also where its exp(theta x points) is 0 beside that of a good one.
    return np.asarray(reference + np.log(np.abs(values)) / theta)


class Blocks:
    """A value for each state and each score so far, within the scores that can come about.

    Parameters
    ----------
    game
        The states.
    low, high : int64 arrays, shape (game.size,)
        The scores of each state to work out; none where high < low.
    below, above
        The value of any state at scores under `low` and over `high`.
    """

    def __init__(self, game: States, low: Ints, high: Ints, below: float, above: float) -> None:
        self.game, self.low = game, low
        self.length = np.maximum(high - low + 1, 0)
        padded = -(-self.length // LANES) * LANES
        self.start = np.cumsum(padded) - padded
        self.below, self.above = below, above
        self.count = int(self.length.sum())
        self._size = int(padded.sum())
        self._tiles = padded // LANES
        self.values = np.zeros(0)

    def solve(
        self, utility: Callable[[Ints], Floats], threads: int | None = None, progress: Progress | None = None
    ) -> None:
        """Work out all values from what final scores are worth."""
        from .goal_kernels import BlockPlan, pursue_tiles

        game = self.game
        arrays = plan(game)
        self.values = aligned(self._size + LANES)
        self.values[:] = 0
        last = int(game.level_start[-2])
        for position in last + np.flatnonzero(self.length[last:]):
            scores = self.low[position] + np.arange(self.length[position])
            start = self.start[position]
            self.values[start : start + len(scores)] = utility(scores + int(game.final[position - last]))
        tile_position = np.repeat(np.arange(game.size), self._tiles)
        first = np.cumsum(self._tiles) - self._tiles
        tile_at = (np.arange(len(tile_position)) - first[tile_position]) * LANES
        tile_set = np.searchsorted(game.start, tile_position, side="right") - 1
        starts = np.searchsorted(tile_position, game.level_start[:-1]).tolist()
        blocks = BlockPlan(self.low, self.length, self.start, self.below, self.above)

        def work(begin: int, end: int) -> None:
            tiles = tile_position, tile_at, tile_set
            pursue_tiles(self.values, begin, end, arrays, blocks, *tiles, *work_arrays(arrays))

        run_levels(starts, work, threads=threads, progress=progress)

    def at(self, positions: Ints, scores: Ints) -> Floats:
        """Return the values of states at scores so far."""
        place = scores - self.low[positions]
        length = self.length[positions]
        inside = (place >= 0) & (place < length)
        found = self.values[np.where(inside, self.start[positions] + place, 0)]
        return np.where(inside, found, np.where(place < 0, self.below, self.above))


@dataclass(frozen=True, eq=False)
class Pursuit:
    """A goal, solved: asks like a `Table`, and ranks by the goal.

    Attributes
    ----------
    table : Table
        The expected scores, exact, shown beside the goal's values.
    goal : Goal
    card : Scorecard
        The card from which on it is solved.
    unit : str
        What values are: "probability", "points" or "utility".
    """

    table: Table
    goal: Goal
    card: Scorecard
    unit: str
    _worth: Callable[[Scorecard], Worth]
    _number: Callable[[Scorecard], float]
    _chance: Chance

    def value(self, card: Scorecard | str | None = None) -> float:
        """Return the goal's value at the start of a turn with a card; the card started from unless given."""
        held = self._held(card)
        return self._shown(held)(self._number(held))

    def advise(
        self, card: Scorecard | str | None, dice: str | Iterable[int | str], rerolls: int | None = None
    ) -> Advice:
        """Return every legal action by the goal; `expected` of each option is its expected score.

        Raises
        ------
        CardError, DiceError
            If the card, the dice or the rerolls are not possible, or the card does not follow the one
            that was solved from.
        """
        return self.advise_position(Position.of(self._held(card), dice, rerolls))

    def advise_position(self, position: Position) -> Advice:
        """Return the advice for a position."""
        card = self._held(position.card)
        turn = Turn(self.table.states, card.filled, int(card.armed), self._worth(card), self._chance)
        options = ranked(position, turn, self._shown(card), tie=self._tie, expected=self.table.turn(card))
        return Advice(position, options)

    def _shown(self, card: Scorecard) -> Callable[[float], float]:
        if self.unit == "probability":
            return lambda number: min(number, 1.0)  # A sum of rounded probabilities can be a bit above 1.
        return float(card.boxes_total if self.unit == "points" else 0).__add__

    def _tie(self, greatest: float) -> float:
        return TIE if self.unit == "points" else RELATIVE_TIE * abs(greatest)

    def _held(self, card: Scorecard | str | None) -> Scorecard:
        held = self.card if card is None else self.table.card(card)
        start = self.card
        follows = all(p is None or p == q for p, q in zip(start.points, held.points, strict=True))
        # Each box filled since has brought one bonus at the most, and the one that arms it none.
        most = (held.filled & ~start.filled).bit_count() - (held.armed and not start.armed)
        if not follows or not 0 <= held.bonuses - start.bonuses <= most:
            raise CardError(
                f"card '{held}': expected one that can follow '{start}', which the goal is solved from"
            )
        return held


def pursue(
    table: Table,
    goal: Goal,
    card: Scorecard | str | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Pursuit:
    """Solve a goal from a card on.

    Parameters
    ----------
    table
        The game.
    goal
        What is wanted.
    card
        The card to start from; the empty card unless given. Late cards are solved at once.
    threads
        All usable cores unless given; results are equal to the bit.
    progress
        Called with the work done and in all.
    """
    held = table.card(card)
    if table.precision:
        table = Table(table.ruleset, *solve_values(table.ruleset, threads=threads))
    if isinstance(goal, Risk | Floor | Ceiling):
        return _pursued_everywhere(table, goal, held, threads, progress)
    if isinstance(goal, Reach):
        target = goal.score

        def utility(scores: Ints) -> Floats:
            return (scores >= target).astype(np.float64)

    elif isinstance(goal, Win):
        opponents = goal.opponents

        def utility(scores: Ints) -> Floats:
            return chance_of_winning(opponents, scores)

    else:
        utility = goal.values
    blocks = _blocks_from(table.states, held, utility, not isinstance(goal, Utility))
    blocks.solve(utility, threads, progress)
    unit = "utility" if isinstance(goal, Utility) else "probability"
    return _pursued_in_blocks(table, goal, held, unit, blocks)


def _pursued_everywhere(
    table: Table,
    goal: Risk | Floor | Ceiling,
    card: Scorecard,
    threads: int | None,
    progress: Progress | None,
) -> Pursuit:
    game = table.states
    chance: Chance = _least if isinstance(goal, Floor) else _greatest
    if isinstance(goal, Risk):
        _check_risk(game, goal)
        chance = _certain(float(goal.theta))
        values = certain_points(game, float(goal.theta), threads=threads, progress=progress)
    else:
        values = extreme_points(game, isinstance(goal, Ceiling), threads=threads, progress=progress)

    def worth(held: Scorecard) -> Worth:
        return expected_points(game, values, held.filled, held.upper_subtotal, int(held.armed))

    def number(held: Scorecard) -> float:
        return float(values[game.position(held.filled, held.upper_subtotal, int(held.armed))])

    return Pursuit(table, goal, card, "points", worth, number, chance)


def _check_risk(game: States, goal: Risk) -> None:
    """Refuse a taste for risk with which a single bonus leaves the range of float64."""
    most = max(game.scoring.bonus, int(game.final.max()), 1)
    bound = float(f"{MOST_EXPONENT / most:.3g}")
    if abs(goal.theta) > bound:
        raise GoalError(
            f"risk {goal.theta!r}: expected a number from -{bound:g} to {bound:g} with a bonus of {most}"
        )


def _certain(theta: float) -> Chance:
    """Return what six equally likely sure scores are worth to a taste for risk, as a sure score."""

    def chance(of: NDArray[np.float64]) -> NDArray[np.float64]:
        # From the one that counts most, so that no exponential is above 1 and their mean is not 0.
        most = of.max(axis=0) if theta > 0 else of.min(axis=0)
        certain: Floats = most + np.log1p(mean_of_six(np.expm1(theta * (of - most)))) / theta
        return certain

    return chance


def _least(of: NDArray[np.float64]) -> NDArray[np.float64]:
    least: NDArray[np.float64] = of.min(axis=0)
    return least


def _greatest(of: NDArray[np.float64]) -> NDArray[np.float64]:
    greatest: NDArray[np.float64] = of.max(axis=0)
    return greatest


def _blocks_from(game: States, card: Scorecard, utility: Callable[[Ints], Floats], rising: bool) -> Blocks:
    """Return blocks for all scores that can come about from a card, cut where a rising utility is settled."""
    from .goal_kernels import spread_windows

    low = np.full(game.size, np.iinfo(np.int32).max, np.int64)
    high = np.full(game.size, -1, np.int64)
    here = game.position(card.filled, card.upper_subtotal, int(card.armed))
    low[here] = high[here] = card.boxes_total
    arrays = plan(game)
    for level in range(card.filled.bit_count(), game.scoring.boxes):
        first, last = game.level_sets[level : level + 2].tolist()
        spread_windows(arrays, first, last, low, high)
    below = above = 0.0
    if rising:
        most = int(high.max()) + int(game.final.max())
        worth = utility(np.arange(most + 1))
        settled_low = int(np.argmax(worth > worth[0])) if worth[-1] > worth[0] else most + 1
        settled_high = int(np.argmax(worth >= worth[-1]))
        below, above = float(worth[0]), float(worth[-1])
        reached = high >= low
        greatest = extreme_points(game, True)
        # Below, even the greatest points to come change nothing; above, nothing can change any more.
        low = np.where(reached, np.maximum(low, settled_low - greatest.astype(np.int64)), low)
        high = np.where(reached, np.minimum(high, settled_high - 1), high)
        low = np.where(reached & (high < low), np.minimum(low, settled_high), low)
    return Blocks(game, low, high, below, above)


def _pursued_in_blocks(table: Table, goal: Goal, card: Scorecard, unit: str, blocks: Blocks) -> Pursuit:
    game = table.states

    def worth(held: Scorecard) -> Worth:
        state = (held.filled, held.upper_subtotal, int(held.armed))
        total = held.boxes_total

        def of(category: int, points: NDArray[np.int32], bonus: int) -> Floats:
            scores = points.astype(np.int64) + (total + bonus)
            return blocks.at(positions_after(game, *state, category, points), scores)

        return of

    def number(held: Scorecard) -> float:
        position = game.position(held.filled, held.upper_subtotal, int(held.armed))
        return float(blocks.at(np.array([position]), np.array([held.boxes_total]))[0])

    return Pursuit(table, goal, card, unit, worth, number, mean_of_six)
