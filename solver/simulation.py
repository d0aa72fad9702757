"""Whole games played under a strategy, of a table or of a goal, many at once.

Games go on turn by turn together. The strategy of each state that some game has come to is worked out
once a turn, for all rolls; each game then only looks up what to do, games of one state (and score, where
that matters) one after the other. Random numbers come from numpy's PCG64DXSM, one stream a block of games,
so that a seed gives the same games whatever the number of threads.
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .dice import Lattice, lattice
from .distributions import Distribution
from .errors import ArgumentError, shown
from .goals import Goal
from .levels import Progress
from .lookup import Table
from .plan import Floats, Ints, LanePlan
from .pursuit import Pursuit, pursue
from .records import check_seed, whole
from .rules import FACES
from .saving_simulation import SAVED_BLOCK, cut_blocks, play_saved
from .saving_table import SavingTable
from .scorecard import Scorecard
from .strategy import Followed, Follower, nodes, start_of
from .tasks import Task, run_tasks, shared

_BLOCK = 1 << 18
_NODES = 2048
_Number = TypeVar("_Number", bound=np.generic)
_MOST_TASKS = 64
"""What is worked out once for all games of a task would take longer than more of them could save."""
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
        Each roll's number and the action taken, where asked for; -1 where a turn had ended. Where rolls are
        saved there is room for as many a turn as there can be.
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
    def standard_error(self) -> float | None:
        """Standard error of the mean, in points; None for a single game, which does not tell."""
        games = len(self.scores)
        return self.standard_deviation / float(np.sqrt(games)) if games > 1 else None


def simulate(
    played: Table | Followed,
    games: int,
    *,
    seed: int = 0,
    card: Scorecard | str | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    record: bool = False,
    progress: Progress | None = None,
) -> Simulation:
    """Play whole games under a strategy.

    Parameters
    ----------
    played
        The table, or the goal that was solved, whose strategy is followed, ties broken as in `lookup`.
    games
        How many games, 1 or more.
    seed
        The same seed gives the same games, whatever the number of threads or tasks.
    card
        The card that each game starts from; unless given, the empty card or that from which the goal
        was solved.
    threads
        All usable cores unless given.
    executor
        What plays instead of threads, the same games in tasks of some blocks each.
    record
        Whether to keep every roll and action.
    progress
        Called with the turns done and in all.

    Raises
    ------
    ArgumentError
        For fewer than one game or a negative seed; for an executor to follow a goal that is looked up.
    CardError
        If the card cannot arise.
    """
    _check(games, seed)
    held = start_of(played, card)
    table = played if isinstance(played, Table) else played.table
    whole = range(-(-games // _block_of(played, record)))
    if executor is None:
        parts = [_play_blocks(played, games, seed, held, whole, record, threads, progress)]
    else:
        parts = _in_tasks(played, (games, seed, held), whole, record, executor, progress)
    scores, bonus = _joined([part.scores for part in parts]), _joined([part.bonus for part in parts])
    by_row = sum((part.by_row for part in parts), np.zeros_like(parts[0].by_row)) / games
    paid = tuple((int(b), float(np.mean(bonus == b))) for b in np.unique(bonus) if b)
    recorded = _joined([part.record for part in parts]) if record else None
    return Simulation(table, held, seed, scores + bonus, by_row, paid, recorded)


class _Part(NamedTuple):
    """Blocks of games played to the end; `scores` are without the upper bonus, `by_row` are counts."""

    scores: NDArray[np.int32]
    bonus: NDArray[np.int32]
    by_row: Ints
    record: NDArray[np.int16]


def _joined(arrays: list[NDArray[_Number]]) -> NDArray[_Number]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _block_of(played: Table | Followed, record: bool) -> int:
    """Return how many games have one stream of random numbers."""
    return SAVED_BLOCK if isinstance(played, SavingTable) and not record else _BLOCK


def _in_tasks(
    played: Table | Followed,
    what: tuple[int, int, Scorecard],
    blocks: range,
    record: bool,
    executor: Executor,
    progress: Progress | None,
) -> list[_Part]:
    """Play the blocks of games in tasks, each of which goes through some of them turn by turn."""
    step = -(-len(blocks) // _MOST_TASKS)
    name = what[2].ruleset.name
    strategy = shared(executor, _Strategy.of(played), f"strategy-{name}")
    tasks = [
        Task(f"simulate-{name}-{at:05d}", _play_part, (strategy, *what, blocks[at : at + step], record))
        for at in range(0, len(blocks), step)
    ]
    found: dict[int, _Part] = {}

    def keep(place: int, part: _Part) -> None:
        found[place] = part
        if progress:
            progress(len(found), len(tasks))

    run_tasks(executor, tasks, keep)
    return [found[place] for place in range(len(tasks))]


@dataclass(frozen=True, eq=False)
class _Strategy:
    """What can be sent to other processes, and followed there: of a goal, all that it is solved from."""

    table: Table | Followed
    goal: Goal | None = None
    card: Scorecard | None = None

    @classmethod
    def of(cls, played: Table | Followed) -> _Strategy:
        if not isinstance(played, Pursuit):
            return cls(played)
        if played.kept is not None:
            what = f"goal {shown(played.goal)}: found one that is looked up in a file"
            raise ArgumentError(f"{what}, expected one that was solved, for an executor to follow")
        return cls(played.table, played.goal, played.card)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be sent on without what was solved here."""
        return _Strategy, (self.table, self.goal, self.card)

    @cached_property
    def played(self) -> Table | Followed:
        if self.goal is None:
            return self.table
        assert isinstance(self.table, Table)
        return pursue(self.table, self.goal, self.card, threads=1, exact=True)


def _play_part(
    strategy: _Strategy, games: int, seed: int, card: Scorecard, blocks: range, record: bool
) -> _Part:
    return _play_blocks(strategy.played, games, seed, card, blocks, record, 1, None)


def _play_blocks(
    played: Table | Followed,
    games: int,
    seed: int,
    card: Scorecard,
    blocks: range,
    record: bool,
    threads: int | None,
    progress: Progress | None,
) -> _Part:
    """Play some blocks of a number of games; what is played in a block depends on its number alone."""
    slices = cut_blocks(games, _block_of(played, record), blocks)
    streams = [
        np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(block,))))
        for block in blocks
    ]
    if isinstance(played, SavingTable) and not record:
        rolls = outcomes(played.ruleset.dice)
        found = play_saved(played, card, slices, streams, rolls, threads, progress)
        return _Part(*found, np.zeros((0, 0, 0, 0), np.int16))
    follower = Follower(played, threads, card)
    game, first = follower.game, card.filled.bit_count()
    turns = game.scoring.boxes - first
    play = _Play(follower, slices, streams, turns, record)
    play.positions[:] = game.position(card.filled, card.upper_subtotal, int(card.armed))
    play.saved[:] = card.saved
    play.scores[:] = card.boxes_total
    by_row = np.zeros((turns, play.row_count), np.int64)
    with ThreadPoolExecutor(follower.threads) as pool:
        for turn in range(turns):
            by_row[turn] = play.turn(turn, first + turn, pool)
            if progress:
                progress(turn + 1, turns)
    bonus = game.final[play.positions - game.level_start[-2]].astype(np.int32)
    return _Part(play.scores, bonus, by_row, play.recorded())


class _Play:
    """Games under way: the position and the score of each, and the random numbers to come."""

    def __init__(
        self,
        follower: Follower,
        blocks: list[slice],
        streams: list[np.random.Generator],
        turns: int,
        record: bool,
    ) -> None:
        game, games = follower.game, blocks[-1].stop
        self.follower = follower
        self.positions, self.scores = np.empty(games, np.int32), np.empty(games, np.int32)
        self.saved = np.zeros(games if follower.scope.stride else 0, np.int32)
        recorded = games if record else 0
        self.numbers = np.arange(recorded, dtype=np.int32)
        rolls = game.scoring.rolls + follower.scope.most(game.scoring.boxes - 1)
        self.record = np.full((turns, recorded, rolls, 2), -1, np.int16)
        self.row_count = 2 * len(follower.plan.rows.points)
        self._index = np.empty(game.size, np.int32)
        self._outcomes = outcomes(game.scoring.dice)
        self._blocks, self._streams = blocks, streams

    def turn(self, turn: int, level: int, pool: ThreadPoolExecutor) -> Ints:
        """Play one turn of every game; return how often each row was its end."""
        record = self.record[turn]
        numbers = range(len(self._blocks))
        if self.follower.chooser.by_score or self.follower.scope.stride:
            each = (self._block_by_score(number, level, record, pool) for number in numbers)
            return sum(each, self._no_ends())
        game = self.follower.game
        present = np.zeros(game.size, bool)
        present[self.positions] = True
        start, end = game.level_start[level : level + 2]
        found = start + np.flatnonzero(present[start:end])
        self._index[found] = np.arange(len(found))
        actions = self.follower.actions(found, pool)
        block = partial(self._block, lanes=self.follower.lanes(found), actions=actions, record=record)
        return sum(pool.map(block, numbers), self._no_ends())

    def recorded(self) -> NDArray[np.int16]:
        """Return the record of each game, in the order in which they are now."""
        return np.ascontiguousarray(self.record[:, self.numbers].swapaxes(0, 1))

    def _block(
        self, number: int, lanes: LanePlan, actions: NDArray[np.int16], record: NDArray[np.int16]
    ) -> Ints:
        from .simulation_kernels import bring_together

        games = self._blocks[number]
        positions, scores = self.positions[games], self.scores[games]
        numbers = self.numbers[games] if len(record) else self.numbers
        # Games are alike but for their scores: those of one state are brought together, for speed.
        starts = np.zeros(len(actions) + 1, np.int64)
        old = positions.copy(), scores.copy()
        bring_together(positions, scores, *old, numbers, numbers.copy(), self._index, starts)
        random = self._random(number, self.follower.game.scoring.rolls)
        states = np.repeat(np.arange(len(actions)), np.diff(starts, prepend=0)[:-1])
        return self._played(lanes, states, actions, random, positions, scores, self.saved, numbers, record)

    def _block_by_score(
        self, number: int, level: int, record: NDArray[np.int16], pool: ThreadPoolExecutor
    ) -> Ints:
        follower, games = self.follower, self._blocks[number]
        rerolls = follower.plan.turn.rerolls + follower.scope.most(level)
        saved = self.saved[games]
        positions, scores = self.positions[games], self.scores[games]
        numbers = self.numbers[games] if len(record) else self.numbers
        places = positions.astype(np.int64)
        alike = follower.chooser.alike(places, scores.astype(np.int64))
        order = np.lexsort((alike, places))
        places, alike = places[order], alike[order]
        for of in (positions, scores, saved, numbers if len(record) else saved[:0]):
            of[:] = of[order[: len(of)]]
        random = self._random(number, rerolls + 1)

        def play(part: tuple[slice, Ints, Ints]) -> Ints:
            piece, first, states = part
            actions = follower.actions_here(places[first], alike[first], rerolls)
            own = positions[piece], scores[piece], saved[piece], numbers[piece] if len(record) else numbers
            return self._played(follower.lanes(places[first]), states, actions, random[piece], *own, record)

        return sum(pool.map(play, nodes(places, alike, _NODES)), self._no_ends())

    def _no_ends(self) -> Ints:
        return np.zeros(self.row_count, np.int64)

    def _random(self, number: int, rolls: int) -> NDArray[np.uint64]:
        """Return the random numbers for one turn of a block's games, of so many rolls."""
        games = self._blocks[number]
        return self._streams[number].integers(0, 1 << 64, (games.stop - games.start, rolls), np.uint64)

    def _played(
        self,
        lanes: LanePlan,
        states: Ints,
        actions: NDArray[np.int16],
        random: NDArray[np.uint64],
        positions: NDArray[np.int32],
        scores: NDArray[np.int32],
        saved: NDArray[np.int32],
        numbers: NDArray[np.int32],
        record: NDArray[np.int16],
    ) -> Ints:
        from .simulation_kernels import play_turns

        by_row, arrays = self._no_ends(), self.follower.plan
        play_turns(
            arrays,
            lanes,
            states,
            actions,
            random,
            *self._outcomes,
            positions,
            scores,
            saved,
            by_row,
            numbers,
            record,
        )
        return by_row


def _check(games: int, seed: int) -> None:
    if not whole(games) or not 1 <= games <= MOST_GAMES:
        raise ArgumentError(f"games {shown(games)}: expected a whole number from 1 to {MOST_GAMES}")
    check_seed(seed)


@lru_cache(maxsize=8)
def outcomes(dice: int) -> tuple[Ints, NDArray[np.uint64], NDArray[np.int16]]:
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
    counts = np.array([len(found) for found in rolls])
    return np.cumsum(counts) - counts, counts.astype(np.uint64), np.concatenate(rolls).astype(np.int16)


def _completed(keeps: Lattice, keep: tuple[int, ...], thrown: Ints) -> NDArray[np.int32]:
    kept = np.broadcast_to(np.array(keep, np.int64), (len(thrown), len(keep)))
    return keeps.roll_numbers(np.concatenate([kept, thrown], axis=1))
