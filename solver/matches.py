"""Players against each other: how often each wins, and what it scores.

Seats that do not look at the other cards play all their games at once, each with random numbers of its own:
whose turn comes first changes nothing for them. Where one seat plays to win, games are played one by one, on
several threads, and the seats take turns at beginning: the first seat the first game, the second the next.
A tie counts its share: half a win for each of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dynamic import solve_values
from .errors import ArgumentError, shown
from .game import MOST_SEATS, Game
from .levels import Progress, thread_count
from .lookup import Table, checked_table
from .players import Player, Pursuer, Slipping, check_player, player
from .records import whole
from .rules import Ruleset
from .simulation import MOST_GAMES, simulate
from .soft_play import play_games
from .winning import DEFAULT_SECONDS, Winning


@dataclass(frozen=True, slots=True)
class Seat:
    """How one player did.

    Attributes
    ----------
    player : str
        The text that it was made from.
    wins : float
        The share of the games won, a tie counting its share.
    wins_error, mean_error : float or None
        Standard errors of the share and of the mean; None for a single game, which does not tell.
    mean, standard_deviation : float
        Of its final scores, in points.
    """

    player: str
    wins: float
    wins_error: float | None
    mean: float
    mean_error: float | None
    standard_deviation: float


@dataclass(frozen=True, eq=False)
class Match:
    """Games of several players.

    Attributes
    ----------
    table : Table
    games, seed : int
    seats : tuple of Seat
    ties : float
        The share of the games with more than one winner.
    scores : int64 array, shape (seats, games)
        Every final score.
    exact : bool
        Whether `win` looked up exact play for two, from files of `duel`.
    """

    table: Table
    games: int
    seed: int
    seats: tuple[Seat, ...]
    ties: float
    scores: NDArray[np.int64]
    exact: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the result, without single scores, as it is written in JSON."""
        return {
            "rules": self.table.ruleset.name,
            "games": self.games,
            "seed": self.seed,
            "ties": self.ties,
            "exact": self.exact,
            "seats": [asdict(seat) for seat in self.seats],
        }


def match(
    table: Table,
    players: Sequence[str],
    games: int,
    *,
    seed: int = 0,
    seconds: float = DEFAULT_SECONDS,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Match:
    """Let players play each other.

    Parameters
    ----------
    table
        The game.
    players
        One for each seat, as in `players`; one alone plays for itself.
    games
        How many, 1 or more.
    seed
        The same seed gives the same games, whatever the number of threads.
    seconds
        How long a move of `win` may take.
    threads
        All usable cores unless given.
    progress
        Called with the work done and in all.

    Raises
    ------
    ArgumentError, GoalError
        If a number or a player cannot be.
    """
    if not whole(games) or not 1 <= games <= MOST_GAMES:
        raise ArgumentError(f"games {shown(games)}: expected a whole number from 1 to {MOST_GAMES}")
    if isinstance(players, str) or not isinstance(players, Sequence):
        raise ArgumentError(f"players {shown(players)}: expected several, in a list")
    if not 1 <= len(players) <= MOST_SEATS:
        raise ArgumentError(f"players: found {len(players)}, expected from 1 to {MOST_SEATS}")
    check_players(players, checked_table(table).ruleset)
    if table.precision and not table.ruleset.saves:
        table = Table(table.ruleset, *solve_values(table.ruleset, threads=threads))
    seated = [player(spec, table, seed=seed, seconds=seconds) for spec in players]
    winning = [one for one in seated if isinstance(one, Winning)]
    exact = len(seated) == 2 and any(one.duel() for one in winning)
    if len(seated) > 1 and winning:
        scores = _one_by_one(table, seated, games, seed, threads, progress)
    else:
        scores = _at_once(table, seated, games, seed, threads, progress)
    greatest = scores.max(axis=0)
    won = scores == greatest
    shares = won / won.sum(axis=0)
    seats = tuple(
        Seat(
            one.spec,
            float(share.mean()),
            _error(share),
            float(own.mean()),
            _error(own),
            _spread(own),
        )
        for one, share, own in zip(seated, shares, scores, strict=True)
    )
    return Match(table, games, seed, seats, float(np.mean(won.sum(axis=0) > 1)), scores, exact)


def check_players(players: Sequence[str], rules: Ruleset) -> None:
    """Refuse, before a game is solved, players that cannot be; see `players.check_player`.

    Raises
    ------
    ArgumentError, GoalError
        With what is wrong.
    """
    one_by_one = len(players) > 1 and any(isinstance(spec, str) and spec.strip() == "win" for spec in players)
    for spec in players:
        check_player(spec, rules, at_once=not one_by_one)


def _spread(numbers: NDArray[Any]) -> float:
    """Return the standard deviation (with n - 1); 0 for a single number."""
    return float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0


def _error(numbers: NDArray[Any]) -> float | None:
    """Return the standard error of the mean; None for a single number."""
    return _spread(numbers) / len(numbers) ** 0.5 if len(numbers) > 1 else None


def _at_once(
    table: Table,
    seated: Sequence[Player],
    games: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> NDArray[np.int64]:
    """Play all games of each seat at once; return the scores, shape (seats, games)."""
    scores = np.empty((len(seated), games), np.int64)
    for seat, one in enumerate(seated):
        own = _seed_of(seed, seat)
        if isinstance(one, Slipping):
            scores[seat] = play_games(table, one.temperature, games, own, threads=threads)
        else:
            card = table.card(None)
            played = one.pursuit(card) if isinstance(one, Pursuer) else getattr(one, "table", table)
            scores[seat] = simulate(played, games, seed=own, threads=threads).scores
        if progress:
            progress(seat + 1, len(seated))
    return scores


def _one_by_one(
    table: Table,
    seated: Sequence[Player],
    games: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> NDArray[np.int64]:
    """Play game after game, several at a time; return the scores, shape (seats, games)."""
    scores = np.empty((len(seated), games), np.int64)

    def play(number: int) -> None:
        own = _seed_of(seed, len(seated), number)
        here = [one.alone(own) for one in seated]
        game = Game.new(table.ruleset, len(seated), own, number % len(seated))
        while not game.over:
            if game.phase == "decide":
                game.play(here[game.seat].move(game.situation()))
            else:
                game.roll()
        scores[:, number] = game.totals

    with ThreadPoolExecutor(thread_count(threads)) as pool:
        waiting = [pool.submit(play, number) for number in range(games)]
        try:
            for done, future in enumerate(waiting, 1):
                future.result()
                if progress:
                    progress(done, games)
        except BaseException:
            for future in waiting:
                future.cancel()
            raise
    return scores


def _seed_of(seed: int, *place: int) -> int:
    """Return a seed that belongs to a seat or a game alone."""
    return int(np.random.SeedSequence(seed, spawn_key=place).generate_state(1, np.uint64)[0])
