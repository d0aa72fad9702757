"""Whole games played under the table's strategy, many at once.

Games go on turn by turn together. The strategy of each state that some game has come to is worked out
once a turn, for all rolls; each game then only looks up what to do, games of one state one after the
other. Random numbers come from numpy's PCG64DXSM, one stream a block of games, so that a seed gives the
same games whatever the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .dice import Lattice, lattice
from .distributions import Distribution
from .errors import ArgumentError
from .levels import Progress
from .lookup import Table
from .plan import Floats, Ints, LanePlan
from .rules import FACES
from .scorecard import Scorecard
from .strategy import Follower

_BLOCK = 1 << 18
MOST_GAMES = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated games.

    Attributes
    ----------
    table, card
        Whose strategy was followed, and the card that each game starts from.
    seed : int
    scores : int32 array, shape (games,)
        The final score of each game, in points.
    by_row : float64 array, shape (turns, 2 x rows)
        How often a turn ended with each row, as a share of the games; see `Distribution`.
    upper_bonus : tuple of (points, share of the games)
    record : int16 array, shape (games, turns, rolls a turn, 2), or None
        Each roll's number and the action taken, where asked for; -1 where a turn had ended.
    """

    table: Table
    card: Scorecard
    seed: int
    scores: NDArray[np.int32]
    by_row: Floats
    upper_bonus: tuple[tuple[int, float], ...]
    record: NDArray[np.int16] | None = None

    @cached_property
    def distribution(self) -> Distribution:
        """The scores as a distribution: each with its share of the games."""
        low = int(self.scores.min())
        counts = np.bincount(self.scores - low)
        shares = counts / len(self.scores)
        scores = low + np.arange(len(counts))
        return Distribution(scores, shares, self.table, self.card, self.by_row, self.upper_bonus)

    @property
    def mean(self) -> float:
        """Mean final score, in points."""
        return float(self.scores.mean())

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the final scores (with n - 1), in points; 0 for a single game."""
        return float(self.scores.std(ddof=1)) if len(self.scores) > 1 else 0.0

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, in points."""
        return self.standard_deviation / float(np.sqrt(len(self.scores)))


def simulate(
    table: Table,
    games: int,
    *,
    seed: int = 0,
    card: Scorecard | str | None = None,
    threads: int | None = None,
    record: bool = False,
    progress: Progress | None = None,
) -> Simulation:
    """Play whole games under the table's strategy.

    Parameters
    ----------
    table
        The table whose strategy is followed, ties broken as in `lookup`.
    games
        How many games, 1 or more.
    seed
        The same seed gives the same games, whatever the number of threads.
    card
        The card that each game starts from; the empty card unless given.
    threads
        All usable cores unless given.
    record
        Whether to keep every roll and action.
    progress
        Called with the turns done and in all.

    Raises
    ------
    ArgumentError
        For fewer than one game or a negative seed.
    CardError
        If the card cannot arise.
    """
    _check(games, seed)
    held, game = table.card(card), table.states
    follower = Follower(table, threads)
    first = held.filled.bit_count()
    turns = game.scoring.boxes - first
    play = _Play(follower, games, seed, turns if record else 0)
    play.positions[:] = game.position(held.filled, held.upper_subtotal, int(held.armed))
    play.scores[:] = held.boxes_total
    by_row = np.zeros((turns, play.row_count))
    with ThreadPoolExecutor(follower.threads) as pool:
        for turn in range(turns):
            by_row[turn] = play.turn(turn, first + turn, pool) / games
            if progress:
                progress(turn + 1, turns)
    bonus = game.final[play.positions - game.level_start[-2]].astype(np.int32)
    paid = tuple((int(b), float(np.mean(bonus == b))) for b in np.unique(bonus) if b)
    return Simulation(
        table, held, seed, play.scores + bonus, by_row, paid, play.record[play.numbers] if record else None
    )


class _Play:
    """Games under way: the position and the score of each, and the random numbers to come."""

    def __init__(self, follower: Follower, games: int, seed: int, recorded_turns: int) -> None:
        game = follower.game
        self.follower = follower
        self.positions, self.scores = np.empty(games, np.int32), np.empty(games, np.int32)
        recorded = games if recorded_turns else 0
        self.numbers = np.arange(recorded, dtype=np.int32)
        self.record = np.full((recorded, recorded_turns, game.scoring.rolls, 2), -1, np.int16)
        self.row_count = 2 * len(follower.plan.rows.points)
        self._index = np.empty(game.size, np.int32)
        self._outcomes = _outcomes(game.scoring.dice)
        self._blocks = [slice(at, min(at + _BLOCK, games)) for at in range(0, games, _BLOCK)]
        seeds = np.random.SeedSequence(seed).spawn(len(self._blocks))
        self._streams = [np.random.Generator(np.random.PCG64DXSM(sequence)) for sequence in seeds]

    def turn(self, turn: int, level: int, pool: ThreadPoolExecutor) -> Ints:
        """Play one turn of every game; return how often each row was its end."""
        game = self.follower.game
        present = np.zeros(game.size, bool)
        present[self.positions] = True
        start, end = game.level_start[level : level + 2]
        found = start + np.flatnonzero(present[start:end])
        self._index[found] = np.arange(len(found))
        actions = self.follower.actions(found, pool)
        record = self.record[:, turn] if len(self.record) else self.record.reshape(0, 0, 2)
        block = partial(self._block, lanes=self.follower.lanes(found), actions=actions, record=record)
        ends: Ints = np.sum(list(pool.map(block, range(len(self._blocks)))), axis=0)
        return ends

    def _block(
        self, number: int, lanes: LanePlan, actions: NDArray[np.int16], record: NDArray[np.int16]
    ) -> Ints:
        from .simulation_kernels import bring_together, play_turns

        games = self._blocks[number]
        positions, scores = self.positions[games], self.scores[games]
        numbers = self.numbers[games] if len(record) else self.numbers
        # Games are alike but for their scores: those of one state are brought together, for speed.
        starts = np.zeros(len(actions) + 1, np.int64)
        old = positions.copy(), scores.copy()
        bring_together(positions, scores, *old, numbers, numbers.copy(), self._index, starts)
        rolls = self.follower.game.scoring.rolls
        random = self._streams[number].integers(0, 1 << 64, (len(positions), rolls), np.uint64)
        by_row = np.zeros(self.row_count, np.int64)
        play_turns(
            self.follower.plan,
            lanes,
            self._index,
            actions,
            random,
            *self._outcomes,
            positions,
            scores,
            by_row,
            numbers,
            record,
        )
        return by_row


def _check(games: int, seed: int) -> None:
    if isinstance(games, bool) or not isinstance(games, (int, np.integer)) or not 1 <= games <= MOST_GAMES:
        raise ArgumentError(f"games {games!r}: expected a whole number from 1 to {MOST_GAMES}")
    check_seed(seed)


def check_seed(seed: int) -> None:
    """Refuse what is not a whole number from 0."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ArgumentError(f"seed {seed!r}: expected a whole number from 0")


@lru_cache(maxsize=8)
def _outcomes(dice: int) -> tuple[Ints, NDArray[np.uint64], NDArray[np.int16]]:
    """Return, for each keep, the rolls that its reroll gives, one for each equally likely outcome.

    Returns
    -------
    first : int64 array, shape (keeps of fewer than all dice,)
        Where the rolls of each keep start.
    outcomes : uint64 array
        How many there are.
    rolls : int16 array
        The rolls' numbers.
    """
    keeps = lattice(dice)
    thrown = [
        np.array(list(product(range(1, FACES + 1), repeat=free)), np.int64).reshape(FACES**free, free)
        for free in range(dice + 1)
    ]
    rolls = [_completed(keeps, keep, thrown[dice - len(keep)]) for keep in keeps.keeps[: keeps.short]]
    outcomes = np.array([len(found) for found in rolls])
    return np.cumsum(outcomes) - outcomes, outcomes.astype(np.uint64), np.concatenate(rolls).astype(np.int16)


def _completed(keeps: Lattice, keep: tuple[int, ...], thrown: Ints) -> NDArray[np.int32]:
    kept = np.broadcast_to(np.array(keep, np.int64), (len(thrown), len(keep)))
    return keeps.roll_numbers(np.concatenate([kept, thrown], axis=1))
