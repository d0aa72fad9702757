"""The exact distribution of the final score under a strategy: a table's, or that of a goal.

Let p(x, e) be the probability that a turn from state x, played by the strategy, ends with e: a box, its
points and perhaps a bonus, g(e) points in all, and the state x.e after. Then, level by level,

    forwards    reach(x.e)  += reach(x) p(x, e)                      the chance that a game comes to a state
    backwards   D_x(s)       = sum over e of p(x, e) D_{x.e}(s - g(e))   the distribution of points to come

with D of a finished state certain of its upper bonus. Where rolls are saved, how many is part of the state.
Where what is done depends on the score so far, the chance of a state is one for each score, and going
forwards is all: the scores of the finished states are the final ones. Nothing is sampled and nothing cut
off: a game of all Yahtzees keeps its tiny probability. Only states that the strategy comes to are worked on.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from numbers import Real
from operator import add

import numpy as np

from .blocks import score_windows
from .errors import ArgumentError, DiceError, shown
from .levels import Progress
from .lookup import Table
from .pairs import points_to_come
from .plan import Floats, Ints
from .records import whole
from .scope import MORE_BOXES, Scope
from .scorecard import Position, Scorecard
from .strategy import Ends, Followed, Follower, nodes, start_of

_STATES_A_PIECE = 256
_BYTES_A_STATE = 1300
"""What the ends of the turns from a state take: some 45 of them in games of five or six dice."""
_BYTES_A_STATE_SAVING = 6000
"""The same for a state and a number of saved rolls: an end is one for each number of rolls left by then."""
_BYTES_A_SCORE = 8
"""What the probability of one score takes."""
_BYTES_A_SCORE_REACHED = 64
"""What a score so far takes that a state can have, while its turn is followed."""
MOST_BYTES = 12_000_000_000
"""Memory that a distribution may take."""
_NODES_A_PIECE = 1 << 14


@dataclass(frozen=True, eq=False)
class Distribution:
    """The exact distribution of the final score, and what the boxes contribute.

    Attributes
    ----------
    scores : int64 array, shape (n,)
        Final scores in points, rising without gaps.
    probabilities : float64 array, shape (n,)
        The probability of each; they sum to 1.
    table : Table
        Whose strategy is followed.
    card : Scorecard
        The card that the distribution starts from.
    by_row : float64 array, shape (turns still to come, 2 x rows)
        The probability that a turn ends with each row (category and points, then with the bonus).
    upper_bonus : tuple of (points, probability)
        Each upper bonus above 0 and its probability.
    """

    scores: Ints
    probabilities: Floats
    table: Table
    card: Scorecard
    by_row: Floats
    upper_bonus: tuple[tuple[int, float], ...]

    @cached_property
    def mean(self) -> float:
        """Expected final score, in points."""
        return float(self.scores @ self.probabilities)

    @cached_property
    def standard_deviation(self) -> float:
        """Standard deviation of the final score, in points."""
        return float(np.sqrt((self.scores - self.mean) ** 2 @ self.probabilities))

    @property
    def mode(self) -> int:
        """The most probable final score, the least of equals."""
        return int(self.scores[np.argmax(self.probabilities)])

    @property
    def least(self) -> int:
        """The least final score that can be."""
        return int(self.scores[np.flatnonzero(self.probabilities)[0]])

    @property
    def greatest(self) -> int:
        """The greatest final score that can be."""
        return int(self.scores[np.flatnonzero(self.probabilities)[-1]])

    def probability(self, score: int) -> float:
        """Return the probability of exactly this final score."""
        place = self._place(score)
        return min(1.0, float(self.probabilities[place])) if 0 <= place < len(self.scores) else 0.0

    def at_least(self, score: int) -> float:
        """Return the probability of this final score or a greater one."""
        place = max(0, self._place(score))
        return float(self._tails[place]) if place < len(self.scores) else 0.0

    def _place(self, score: int) -> int:
        if not whole(score):
            raise ArgumentError(f"score {shown(score)}: expected a whole number of points")
        return int(score) - int(self.scores[0])

    @cached_property
    def _tails(self) -> Floats:
        # Summed from the greatest score down, so that small tails keep their precision.
        tails: Floats = np.minimum(np.cumsum(self.probabilities[::-1])[::-1], 1.0)
        return tails

    def quantile(self, share: float) -> int:
        """Return the least score x with P(score <= x) >= share.

        Raises
        ------
        ValueError
            For a share that is not above 0 and at most 1.
        """
        if not isinstance(share, Real) or not 0 < share <= 1:
            raise ArgumentError(f"share {shown(share)}: expected a number above 0 and at most 1")
        reached = np.cumsum(self.probabilities) >= share - 1e-12
        return int(self.scores[np.argmax(reached)]) if reached.any() else self.greatest


def distribution(
    played: Table | Followed,
    card: Scorecard | str | None = None,
    dice: str | Iterable[int | str] | None = None,
    rerolls: int | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Distribution:
    """Return the exact distribution of the final score under a strategy.

    Parameters
    ----------
    played
        The table, or the goal that was solved, whose strategy is followed, ties broken as in `lookup`.
    card
        The card to start from; unless given, the empty card or that from which the goal was solved.
    dice, rerolls
        Dice on the table and rerolls left, where the turn has begun.
    threads
        All usable cores unless given; the result is equal to the bit.
    progress
        Called with the levels done and in all.

    Raises
    ------
    CardError, DiceError
        If the card, the dice or the rerolls are not possible.
    ArgumentError
        If it would take more than `MOST_BYTES` of memory.
    """
    held = start_of(played, card)
    place = None
    if dice is not None:
        place = Position.of(held, dice, rerolls)
    elif rerolls is not None:
        raise DiceError(f"rerolls {rerolls!r}: found no dice, expected those on the table")
    if isinstance(played, Table):
        check_size(Scope.of(played.states, held), f"take moments, or {MORE_BOXES}")
    follower = Follower(played, threads, held)
    if follower.chooser.by_score:
        return _by_score(follower, held, place, progress)
    check_size(Scope.of(follower.scope.game, held))
    return _by_state(follower, held, place, progress)


def scores_to_hold(scope: Scope) -> list[int]:
    """Return how many scores the states of each level can bring, those that follow the card; at the most.

    A state's are all from the least points to come to the greatest.
    """
    game, filled = scope.game, scope.card.filled
    least, greatest = points_to_come(game)
    scores = game.lanes * (greatest - least + 1)
    if game.scoring.bonus:
        # Without the flag, none of the bonuses comes that the points to come have for each open box.
        is_open = [~game.filled >> box & 1 for box in range(game.scoring.boxes)]
        without = game.classes * (game.filled >> game.arming & 1)
        scores -= without * np.sum(is_open, axis=0) * game.scoring.bonus
    return _by_level(scope, np.where(game.filled & filled == filled, scores, 0))


def _by_level(scope: Scope, numbers: Ints) -> list[int]:
    """Return the sums over the sets of each level, once for each number of saved rolls."""
    before = np.concatenate([[0], np.cumsum(numbers, dtype=np.int64)])[scope.game.level_sets]
    sums: list[int] = np.diff(before).tolist()
    return [number * (scope.most(level) + 1) if number else 0 for level, number in enumerate(sums)]


def bytes_to_hold(scope: Scope) -> int:
    """Return how much memory the distribution may take; more than `MOST_BYTES` is refused.

    Going backwards, two levels of scores are held, and the ends of the turns of the levels before.
    """
    game, filled = scope.game, scope.card.filled
    a_state = _BYTES_A_STATE_SAVING if scope.stride else _BYTES_A_STATE
    states = _by_level(scope, np.where(game.filled & filled == filled, game.lanes, 0))
    ends: list[int] = [a_state * number for number in accumulate(states)]
    scores = [_BYTES_A_SCORE * (own + after) for own, after in pairwise(scores_to_hold(scope))]
    together: list[int] = list(map(add, ends, scores))
    return max(ends[-1], *together)


def check_size(scope: Scope, instead: str = MORE_BOXES) -> None:
    """Refuse a distribution that would take too much memory.

    Parameters
    ----------
    scope
        What it is of.
    instead
        What the message says to do instead; nothing where it is empty.

    Raises
    ------
    ArgumentError
        With how much it would take.
    """
    _check(bytes_to_hold(scope), scope.card, instead)


def _check(needed: int, card: Scorecard, instead: str) -> None:
    if needed > MOST_BYTES:
        raise ArgumentError(
            f"distribution of {card.ruleset.name!r}: found up to {needed / 1e9:,.1f} GB to hold, "
            f"expected at most {MOST_BYTES / 1e9:.0f} GB" + (f"; {instead}" if instead else "")
        )


def _by_state(
    follower: Follower, held: Scorecard, place: Position | None, progress: Progress | None
) -> Distribution:
    game, scope = follower.game, follower.scope
    first = held.filled.bit_count()
    start = scope.place(held)
    levels = [np.array([start])]
    ends: list[Ends] = []
    by_row = np.zeros((game.scoring.boxes - first, 2 * len(follower.plan.rows.points)))
    reach = np.zeros(scope.size)
    reach[start] = 1
    with ThreadPoolExecutor(follower.threads) as pool:
        for turn in range(len(by_row)):
            if turn == 0 and place is not None:
                found = _first_ends(follower, start, place)
            else:
                found = follower.ends(levels[-1], pool)
            ends.append(found)
            _forwards(levels[-1], found, reach, by_row[turn])
            levels.append(scope.chosen(first + turn + 1, reach))
            if progress:
                progress(turn + 1, 2 * len(by_row))
        bonus = _final_bonus(scope, levels[-1])
        low, starts, probabilities = _finished(bonus)
        for turn in reversed(range(len(by_row))):
            below = (low, starts, probabilities)
            low, starts, probabilities = _backwards(scope, ends.pop(), levels[turn + 1], *below, pool)
            if progress:
                progress(2 * len(by_row) - turn, 2 * len(by_row))
    scores = held.boxes_total + int(low[0]) + np.arange(len(probabilities))
    paid = _paid(bonus, reach[levels[-1]])
    return Distribution(scores, probabilities, follower.table, held, by_row, paid)


def _by_score(
    follower: Follower, held: Scorecard, place: Position | None, progress: Progress | None
) -> Distribution:
    game, scope = follower.game, follower.scope
    first = held.filled.bit_count()
    low, high = score_windows(game, held)
    length = np.maximum(high - low + 1, 0)
    levels = pairwise(game.level_start.tolist())
    counts = [int(length[start:end].sum()) * scope.rows for start, end in levels]
    needed = [
        _BYTES_A_SCORE * (own + after) + _BYTES_A_SCORE_REACHED * own for own, after in pairwise(counts)
    ]
    _check(max(needed), held, MORE_BOXES)
    by_row = np.zeros((game.scoring.boxes - first, 2 * len(follower.plan.rows.points)))
    # The chances of a level: by state, by score from its least one on, by the rolls saved.
    position = scope.split(np.array([scope.place(held)]))[1]
    chances = np.zeros(scope.rows)
    chances[held.saved if scope.stride else 0] = 1
    here = slice(int(position[0]), int(position[0]) + 1)
    with ThreadPoolExecutor(follower.threads) as pool:
        for turn in range(len(by_row)):
            places, scores, reached = _reached(scope, here, low, length, chances)
            here = slice(*game.level_start[first + turn + 1 : first + turn + 3].tolist())
            start = np.cumsum(length[here]) - length[here]
            chances = np.zeros(int(length[here].sum()) * scope.rows)
            # Where in `chances` a state's score of 0 would lie.
            origin = np.zeros((scope.rows, game.size), np.int64)
            origin[:, here] = (start - low[here]) * scope.rows + np.arange(scope.rows)[:, None]
            after = origin.reshape(-1), scope.rows, chances, by_row[turn]
            if turn == 0 and place is not None:
                ends = _first_ends(follower, scope.place(held), place, held.boxes_total)
                _spread(ends, np.zeros(1, np.int64), scores, reached, *after)
            else:
                alike = follower.chooser.alike(scope.split(places)[1], scores)
                for piece, first_of, node in nodes(places, alike, _NODES_A_PIECE):
                    ends = follower.ends(places[first_of], pool, alike[first_of])
                    _spread(ends, node, scores[piece], reached[piece], *after)
            if progress:
                progress(turn + 1, len(by_row))
    places, scores, reached = _reached(scope, here, low, length, chances)
    bonus = _final_bonus(scope, places)
    final = scores + bonus.astype(np.int64)
    low_score = int(final.min())
    probabilities = np.bincount(final - low_score, reached).astype(np.float64)
    paid = _paid(bonus, reached)
    scores = low_score + np.arange(len(probabilities))
    return Distribution(scores, probabilities, follower.table, held, by_row, paid)


def _reached(
    scope: Scope, here: slice, low: Ints, length: Ints, chances: Floats
) -> tuple[Ints, Ints, Floats]:
    """Return the places and scores that have a chance, by state and score, and the chances."""
    found, saved = np.divmod(np.flatnonzero(chances), scope.rows)
    start = np.cumsum(length[here]) - length[here]
    state = np.searchsorted(start, found, side="right") - 1
    places = saved * scope.game.size + here.start + state
    return places, low[here][state] + found - start[state], chances[chances != 0]


def _spread(
    ends: Ends,
    node: Ints,
    scores: Ints,
    reached: Floats,
    origin: Ints,
    step: int,
    to: Floats,
    by_row: Floats,
) -> None:
    """Add the chance of each state and score to what its turn may lead to."""
    from .strategy_kernels import spread_scores

    spread_scores(
        node,
        scores,
        reached,
        ends.first,
        ends.rows,
        ends.probabilities,
        ends.after,
        ends.gains,
        origin,
        step,
        to,
        by_row,
    )


def _first_ends(follower: Follower, start: int, place: Position, score: int = 0) -> Ends:
    """Return how a turn ends that has begun with dice on the table."""
    lattice = follower.game.scoring.lattice
    roll = lattice.short + lattice.roll(place.dice)
    return follower.ends_from(start, roll, place.rerolls, score)


def _final_bonus(scope: Scope, places: Ints) -> Floats:
    """Return the upper bonus of finished states."""
    bonus: Floats = scope.game.final[scope.split(places)[1] - scope.game.level_start[-2]]
    return bonus


def _paid(bonus: Floats, chances: Floats) -> tuple[tuple[int, float], ...]:
    """Return each upper bonus above 0 with its probability."""
    return tuple((int(b), float(chances[bonus == b].sum())) for b in np.unique(bonus) if b)


def _forwards(places: Ints, ends: Ends, reach: Floats, by_row: Floats) -> None:
    """Add the chance of coming to the states after, and of each row."""
    from .strategy_kernels import spread_reach

    counts = np.diff(ends.first)
    spread_reach(reach[places], counts, ends.rows, ends.probabilities, ends.after, reach, by_row)


def _finished(bonus: Floats) -> tuple[Ints, Ints, Floats]:
    """Return the distribution of the points to come of finished states: their upper bonus, for certain."""
    return bonus.astype(np.int64), np.arange(len(bonus) + 1), np.ones(len(bonus))


def _backwards(
    scope: Scope,
    ends: Ends,
    places_after: Ints,
    low_after: Ints,
    start_after: Ints,
    scores_after: Floats,
    pool: ThreadPoolExecutor,
) -> tuple[Ints, Ints, Floats]:
    """Return the distributions of the points to come of one level from those of the level after.

    Returns
    -------
    low : int64 array
        The least score of each state.
    start : int64 array
        Where the probabilities of each state start, and where the last ends.
    scores : float64 array
        The probability of each score from the least on, state after state.
    """
    from .strategy_kernels import convolve

    index = np.empty(scope.size, np.int64)
    index[places_after] = np.arange(len(places_after))
    after = index[ends.after]
    high_after = low_after + np.diff(start_after) - 1
    low = np.minimum.reduceat(ends.gains + low_after[after], ends.first[:-1])
    high = np.maximum.reduceat(ends.gains + high_after[after], ends.first[:-1])
    start = np.concatenate([[0], np.cumsum(high - low + 1)])
    scores = np.empty(int(start[-1]))

    def work(first: int) -> None:
        last = min(first + _STATES_A_PIECE, len(low))
        own = (ends.first, after, ends.gains, ends.probabilities, low, start, scores)
        convolve(first, last, *own, low_after, start_after, scores_after)

    list(pool.map(work, range(0, len(low), _STATES_A_PIECE)))
    return low, start, scores
