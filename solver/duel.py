"""Two players, exactly: both play for the greatest chance to win, a tie counting half.

Let A and B be the boxes that the mover and the other player have filled, d the points that the mover is
ahead, and W(A, B, d) the mover's chance at the start of a turn. The other player has filled as many boxes as
the mover, or one more. With n boxes and the lattice of keeps of `dynamic`:

    W(all, all, d) = 1 for d > 0, 1/2 for d = 0, 0 for d < 0
    R(r)           = max over boxes c that roll r may fill of  1 - W(B, A + c, -(d + p(c, r)))
    W(A, B, d)     = sum over rolls r of P(r) B_T(r),   B_T from R as in `dynamic`

This is the value of a game of perfect information with chance: each turn is played for the greatest chance
against a player who does the same, so that neither gains by playing otherwise, whatever the other does.

Differences are the lanes. For each set B all turns of the other player, to (B + c, A + c'), are worked out
into a block that fits in a cache, and from it at once all turns of the mover. In between

    Z(A + c, B, e) = 1 - W(B, A + c, -e)

the chance of the player who has just moved, is the least that the other can make of W(A + c, B + c', e - p),
so that lanes never turn round and no 1 - x is rounded. Kept are the positions with as many boxes filled on
both sides; what lies between is worked out again when it is asked for. Values are float64 without any cut:
outside the differences that are kept a game is decided, see `pairs`.

A level needs the level after it alone. It is made in pieces, each a pure function from files to a file, by
threads or by any executor; files are written whole, so that what was stopped goes on where it was.

Only games whose states are their filled sets can be done. For Yacht these are 5.2 million pairs of sets and
1.5 thousand million positions with their differences: 98 million tiles of 7 microseconds on a core, three
quarters of which goes into loading values from the caches; 6.3 GB are kept. Official Yahtzee
has 3.4e10 pairs of classes of states, and 5.6e13 positions with their differences. With the 6,000 sums and
maxima that a position takes that is 3e17 operations: at the measured rate nine months on one core, and 2e14
bytes to keep.

What was weighed: keeping the positions in between as well would double the files. Eight lanes, which fit in
the first-level cache, took as long per value as sixteen, which do not. Starting each roll's maximum from the
greatest of the rows with the least points, and looking up only the boxes in which it scores more, took half
the time of a maximum over all open boxes.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import folders
from .duel_files import Folder
from .duel_pieces import blocks_after, room_for
from .errors import CardError, TableNotFound
from .files import as_path, quoted
from .goal_strategy import RELATIVE_TIE
from .levels import Progress
from .library import load
from .lookup import Advice, Table, ranked
from .pairs import for_two, pair_plan, pairs
from .pieces import check_room, made_levels
from .plan import Floats, Ints, plan, work_arrays
from .rules import Ruleset, as_ruleset
from .scorecard import Position, Scorecard, check_position
from .states import LANES, members
from .turn import Turn, Worth, maxima, mean_of_six, throw


def duel_folder(rules: Ruleset) -> Path:
    """Return the folder in which the game for two is kept unless another is named."""
    return folders.cache_folder() / "duel" / pairs(rules).states.scoring.digest[:32]


def solve_duel(
    rules: Ruleset | str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Duel:
    """Solve a game for two, or go on with what a folder holds of it.

    Parameters
    ----------
    rules
        The rules, the name of a game, or the path of a rules file; of a game whose states are its filled
        sets.
    folder
        Where the files are kept; in the user's cache folder unless given.
    threads
        All usable cores unless given; files are equal to the bit.
    executor
        What runs the pieces instead of threads; its workers must reach the folder by the same path.
    progress
        Called now and then with the tiles done and in all.

    Raises
    ------
    GoalError
        If more than filled boxes and points matters in the game.
    TableError
        If a file in the folder is not what should be there, or cannot be written.
    """
    given = as_ruleset(rules)
    game = pairs(given)
    files = Folder(duel_folder(given) if folder is None else as_path(folder, "folder"), game)

    check_room(files.path, 8 * game.kept - files.size())
    arguments = given, str(files.path.absolute())
    for _ in made_levels(
        files, solve_piece, arguments, given.name, threads=threads, executor=executor, progress=progress
    ):
        pass
    return open_duel(given, files.path)


def open_duel(rules: Ruleset | str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> Duel:
    """Open a game for two that was solved; parameters as of `solve_duel`.

    Raises
    ------
    GoalError
        If more than filled boxes and points matters in the game.
    TableError
        If it was not solved in this folder, or a file is not what was written.
    """
    given = as_ruleset(rules)
    game = pairs(given)
    files = Folder(duel_folder(given) if folder is None else as_path(folder, "folder"), game)
    if not all(map(files.is_whole, files.pieces(0))):
        what = f"duel of {given.name!r}: found no solved game in {quoted(files.path)}"
        where = [] if folder is None else ["--folder", str(files.path)]
        command = shlex.join(["dicewise", "duel", given.name, *where])
        raise TableNotFound(f"{what}, expected one; `{command}` solves it")
    return Duel(load(given), files)


def kept_duel(table: Table) -> Duel | None:
    """Return the game for two from the user's cache folder; None where it was not solved, or cannot be.

    Raises
    ------
    TableError
        If a file in its place is not what was written.
    """
    if not for_two(table.ruleset):
        return None
    files = Folder(duel_folder(table.ruleset), pairs(table.ruleset))
    return Duel(table, files) if all(map(files.is_whole, files.pieces(0))) else None


def solve_piece(rules: Ruleset, folder: str, level: int, number: int) -> None:
    """Work out one piece of a level from the files of the level after it.

    Nothing but the files and the arguments matters, so it may run in any process that reaches the folder.
    """
    game = pairs(rules)
    files = Folder(folder, game)
    piece = files.pieces(level)[number]
    if level == game.boxes:
        files.write_blocks(piece, [np.array([0.5])])
        return
    from .duel_kernels import duel_turns

    arrays, level_plan = plan(game.states), pair_plan(game, level)
    work = work_arrays(arrays)
    blocks = []
    for other in piece.items:
        after, first = blocks_after(files, other, level)
        between = room_for(game, other, level + 1)
        block = room_for(game, other, level)
        duel_turns(arrays, level_plan, other, False, after[0], first, between, *work)
        first[:] = LANES
        duel_turns(arrays, level_plan, other, True, between, first, block, *work)
        blocks.append(block[LANES : LANES + game.block_length(other, level)])
    files.write_blocks(piece, blocks)


@dataclass(frozen=True, eq=False)
class Duel:
    """A game for two, solved: the chances of every position. Safe to read from many threads.

    Attributes
    ----------
    table : Table
        Of the game for one, for the expected scores beside the chances.
    files : Folder
        Where the chances are read from.
    """

    table: Table
    files: Folder

    @property
    def chance(self) -> float:
        """The chance of the player who moves first, a tie counting half."""
        return self.value()

    def head_starts(self) -> dict[int, float]:
        """Return the chance of the player who moves first by the points ahead, as far as it is open."""
        low = self.files.game.low(0, 0)
        return {low + place: value for place, value in enumerate(self.files.block(0, 0)[0].tolist())}

    def value(self, mover: Scorecard | str | None = None, other: Scorecard | str | None = None) -> float:
        """Return the chance of the player to move at the start of a turn, a tie counting half.

        Parameters
        ----------
        mover, other
            The cards of the player to move and of the other, who has filled as many boxes or one more.

        Raises
        ------
        CardError
            If a card cannot arise, or they cannot arise together.
        """
        own, against, ahead = self._position(mover, other)
        if self._level(own) == self._level(against):
            return float(self._looked_up({}, own, against, np.array([ahead]))[0])
        return 1 - float(self._after_other(against, own, np.array([-ahead]))[0])

    def advise(
        self,
        card: Scorecard | str | None,
        dice: str | Iterable[int | str],
        rerolls: int | None = None,
        *,
        other: Scorecard | str | None = None,
    ) -> Advice:
        """Return every legal action by the chance to win; `expected` of each is its expected score.

        Raises
        ------
        CardError, DiceError
            If the cards, the dice or the rerolls are not possible.
        """
        return self.advise_position(Position.of(self.table.card(card), dice, rerolls), other)

    def advise_position(self, position: Position, other: Scorecard | str | None = None) -> Advice:
        """Return the advice for a position of the mover against a card of the other player."""
        check_position(position)
        card = self.table.card(position.card)
        turn = Turn(self.table.states, card.filled, 0, self._worth(card, other))
        options = ranked(
            position,
            turn,
            lambda number: min(number, 1.0),  # A sum of rounded probabilities can be a bit above 1.
            tie=lambda greatest: RELATIVE_TIE * greatest,
            expected=self.table.turn(card),
        )
        return Advice(position, options)

    def _worth(self, card: Scorecard, other: Scorecard | str | None) -> Worth:
        """Return the chance after filling a box, for any of its points."""
        own, against, ahead = self._position(card, other)
        rules = self.table.states.scoring
        blocks: dict[int, Floats] = {}
        found: dict[int, Floats] = {}

        def worth(category: int, points: NDArray[np.int32], bonus: int) -> NDArray[np.float64]:
            distinct = rules.distinct[category]
            if category not in found:
                after = self._after(own, category)
                leads = ahead + distinct.astype(np.int64)
                if self._level(after) == self._level(against):
                    found[category] = 1 - self._looked_up(blocks, against, after, -leads)
                else:
                    found[category] = self._after_other(after, against, leads, blocks)
            values: NDArray[np.float64] = found[category][np.searchsorted(distinct, points)]
            return values

        return worth

    def _after_other(
        self, own: int, other: int, leads: Ints, blocks: dict[int, Floats] | None = None
    ) -> Floats:
        """Return the chance of a player who has just moved and leads by so much: the other is to move."""
        rules, lattice = self.table.states.scoring, self.table.states.scoring.lattice
        blocks = {} if blocks is None else blocks
        sets = np.array([int(self.table.states.filled[other])])
        by_points: dict[int, Floats] = {}
        for category in members(int(self.table.states.available(sets)[0])):
            distinct = rules.distinct[category].astype(np.int64)
            after = self._after(other, category)
            by_points[category] = -self._looked_up(blocks, own, after, leads - distinct[:, None])

        def best_fills(own: NDArray[np.int32], as_joker: NDArray[np.int32]) -> Floats:
            best = np.full((len(lattice.rolls), len(leads)), -np.inf)
            for box, values in by_points.items():
                np.maximum(best, values[np.searchsorted(rules.distinct[box], own[box])], out=best)
            if rules.special and sets[0] >> rules.yahtzee & 1:
                allowed, joker = self.table.states.joker_available(sets)
                for face, roll in enumerate(lattice.alike.tolist()):
                    points = as_joker[:, face] if joker[0, face] else own[:, roll]
                    scored = [
                        by_points[box][np.searchsorted(rules.distinct[box], points[box])]
                        for box in members(int(allowed[0, face]))
                    ]
                    best[roll] = np.max(scored, axis=0)
            return best

        keeps = np.empty((len(lattice.keeps), len(leads)))
        keeps[lattice.short :] = best_fills(rules.points, rules.joker_points)
        for rerolls in range(1, rules.rolls):
            throw(lattice, keeps, mean_of_six)
            if rules.serves and rerolls == rules.rolls - 1:
                keeps[lattice.short :] = best_fills(rules.served_points, rules.served_joker_points)
            maxima(lattice, keeps)
        # Added one after the other, as the compiled code does.
        means = np.add.accumulate(lattice.probability[:, None] * keeps[lattice.short :], axis=0)[-1]
        chance: Floats = 0.0 - means
        return chance

    def _looked_up(self, blocks: dict[int, Floats], own: int, other: int, ahead: Ints) -> Floats:
        """Return the chances of positions with as many boxes filled on both sides; blocks are kept."""
        game, level = self.files.game, self._level(own)
        if other not in blocks:
            blocks[other] = self.files.block(other, level)[0]
        place = ahead - game.low(own, other)
        length = game.length(own, other)
        inside = (place >= 0) & (place < length)
        start = game.start(own, other, level)
        found = blocks[other][start + np.where(inside, place, 0)]
        return np.where(inside, found, np.where(place < 0, 0.0, 1.0))

    def _position(self, mover: Scorecard | str | None, other: Scorecard | str | None) -> tuple[int, int, int]:
        """Return the numbers of the sets of the mover and the other, and how far the mover is ahead."""
        cards = self.table.card(mover), self.table.card(other)
        filled = [card.filled.bit_count() for card in cards]
        if filled[1] - filled[0] not in (0, 1):
            raise CardError(
                f"card '{cards[1]}' of the other player: found {filled[1]} boxes filled, "
                f"expected {filled[0]} or {filled[0] + 1} where the player to move has filled {filled[0]}"
            )
        own, against = (self._number(card.filled) for card in cards)
        return own, against, cards[0].boxes_total - cards[1].boxes_total

    def _number(self, filled: int) -> int:
        level = filled.bit_count()
        first, last = self.table.states.level_sets[level : level + 2].tolist()
        return int(first + np.searchsorted(self.table.states.filled[first:last], filled))

    def _level(self, number: int) -> int:
        return int(self.table.states.filled[number]).bit_count()

    def _after(self, number: int, category: int) -> int:
        return self._number(int(self.table.states.filled[number]) | 1 << category)
