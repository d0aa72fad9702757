"""Advice for games with saved rolls: values from files or from memory, and one turn in numpy."""

from __future__ import annotations

from concurrent.futures import Executor
from itertools import pairwise
from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .errors import ArgumentError, TableError, WrongRulesTable
from .files import quoted
from .levels import Progress
from .lookup import Advice, Table, Worths, ranked
from .pieces import check_room
from .plan import Floats, aligned
from .rules import Ruleset
from .saving import (
    Level,
    empty_level,
    final_level,
    level_values,
    most_saved,
    solved_levels,
    values_in_all,
)
from .saving_files import (
    STEPS,
    LevelFile,
    kept_folder,
    level_path,
    level_to_go_on_from,
    read_header,
    write_exact,
    write_level,
)
from .saving_pieces import level_in_pieces, pieces_folder, solve_in_pieces
from .scope import MORE_BOXES, Scope
from .scorecard import Position, Scorecard, card_of, check_position
from .scoring import scoring
from .states import LANES, States, following_states, states
from .turn import SavedTurn, Turn, Worth, positions_after

MOST_IN_MEMORY = 10**9
"""A game whose values take more bytes is solved in files."""


class LevelStore(Protocol):
    """The values of one level."""

    @property
    def nbytes(self) -> int:
        """Bytes of values held in memory, about."""

    def block(self, filled: int) -> Floats:
        """Return the values of a filled set, shape (most saved rolls + 1, lanes)."""

    def all(self, threads: int | None = None) -> Level:
        """Return the whole level."""


class _InMemory:
    """A level as it was solved."""

    def __init__(self, game: States, level: Level) -> None:
        self._game, self._level = game, level

    def block(self, filled: int) -> Floats:
        number = int(np.searchsorted(self._game.start, self._game.first[filled], side="right")) - 1
        at = int(self._game.start[number] - self._game.level_start[self._level.number])
        found = self._level.values[:, at : at + int(self._game.lanes[number])]
        found.flags.writeable = False
        return found

    def all(self, threads: int | None = None) -> Level:
        return self._level

    @property
    def nbytes(self) -> int:
        return self._level.flat.nbytes


class _Nothing:
    """A level whose states are worth nothing."""

    nbytes = 0

    def __init__(self, game: States, level: int) -> None:
        self._game, self._level = game, level

    def block(self, filled: int) -> Floats:
        number = int(np.searchsorted(self._game.start, self._game.first[filled], side="right")) - 1
        return np.zeros((most_saved(self._game, self._level) + 1, int(self._game.lanes[number])))

    def all(self, threads: int | None = None) -> Level:
        level = empty_level(self._game, self._level)
        level.flat[:] = 0
        return level


class SavingTable(Table):
    """Every state of a game with saved rolls; asks like any `Table`. Safe to read from many threads.

    It has no array of values: what works from one refuses such games.

    Attributes
    ----------
    ruleset : Ruleset
    states : States
        The states, without the saved rolls.
    levels : tuple of LevelStore
        The values with 0, 1, ... boxes filled.
    precision : float
        No value is further than this from the exact one, in points; 0 for a game solved in memory.
    root : float or None
        The exact expected score from the empty card; None where only what follows a later one is known.
    folder : Path or None
        The folder of its files, where it is kept in files.
    resumed : int or None
        Where an earlier run had left off, if one had: boxes filled of the last level that it finished.
    """

    levels: tuple[LevelStore, ...]
    folder: Path | None
    resumed: int | None

    def __init__(
        self,
        ruleset: Ruleset,
        game: States,
        levels: tuple[LevelStore, ...],
        precision: float,
        root: float | None,
        folder: Path | None = None,
        resumed: int | None = None,
    ) -> None:
        found = {"ruleset": ruleset, "states": game, "levels": levels, "precision": precision, "root": root}
        for name, value in (found | {"folder": folder, "resumed": resumed}).items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be copied to another process; where it is kept in files they are opened there."""
        if self.folder is not None:
            return opened_files, (self.ruleset, self.folder.absolute())
        return SavingTable, (self.ruleset, self.states, self.levels, self.precision, self.root)

    def __repr__(self) -> str:
        return f"SavingTable({self.ruleset.name!r}, expected_score={self.root!r}, folder={self.folder!r})"

    @property
    def values(self) -> Floats:
        """Values by state alone: there are none.

        Raises
        ------
        RulesError
            Always.
        """
        self.ruleset.refuse_saved_rolls("values by state alone")
        raise AssertionError

    def check(self) -> None:
        """Check all values in the files.

        Raises
        ------
        DamagedTable
            If some do not match their checksum.
        """
        for level in self.levels:
            if isinstance(level, LevelFile):
                level.check()

    @property
    def count(self) -> int:
        """Number of values: states whose upper subtotals are equally good count once."""
        return values_in_all(self.states)

    def value(self, card: Scorecard | str | None = None) -> float:
        """Return the expected final score from the start of a turn with this card, in points.

        Raises
        ------
        CardError
            If the card cannot arise.
        TableError
            If the files cannot be read.
        """
        held = self.card(card)
        if not held.filled and self.root is not None:
            return self.root
        game = self.states
        position = game.position(held.filled, held.upper_subtotal, int(held.armed))
        block = self.levels[held.filled.bit_count()].block(held.filled)
        return held.boxes_total + float(block[held.saved, position - int(game.first[held.filled])])

    def advise_position(self, position: Position) -> Advice:
        """Return the advice for a position of this table's rules.

        Raises
        ------
        TableError
            If the files cannot be read.
        """
        check_position(position)
        held = self.card(position.card)
        total = held.boxes_total
        turn = self.saved_turn(held, position.rerolls)
        return Advice(position, ranked(position, turn, lambda value: total + value))

    def turn(self, card: Scorecard) -> Turn:
        """Return what a turn is worth by state alone: that is not known.

        Raises
        ------
        RulesError
            Always.
        """
        self.ruleset.refuse_saved_rolls("turns by state alone")
        raise AssertionError

    @property
    def nbytes(self) -> int:
        """Bytes of values that are held in memory; of files only what was asked for last is."""
        return sum(level.nbytes for level in self.levels)

    def greedy(self) -> SavingTable:
        """Return the table of a game in which nothing comes after this turn."""
        nothing = tuple(_Nothing(self.states, level) for level in range(len(self.levels)))
        return SavingTable(self.ruleset, self.states, nothing, 0.0, None)

    def worths(self, card: Scorecard, rerolls: int) -> Worths:
        """Return what a turn from this card is worth where so many rerolls are left."""
        return self.saved_turn(card, rerolls)

    def values_in(self, scope: Scope) -> Floats:
        """Return the values of the states of a scope, in rows by the rolls saved.

        Raises
        ------
        ArgumentError
            If they take more than `MOST_IN_MEMORY`.
        """
        return self.gathered(scope.game, scope.rows, scope.card.filled.bit_count())

    def gathered(self, game: States, rows: int, first: int = 0) -> Floats:
        """Return the values of some states, in rows by the rolls saved, those from level `first` on.

        After the rows are the `LANES` more numbers that kernels may read.

        Raises
        ------
        ArgumentError
            If they take more than `MOST_IN_MEMORY`.
        """
        check_memory(self.ruleset, rows * game.size)
        values = aligned(rows * game.size + LANES)
        values[:] = 0
        of_saved = values[:-LANES].reshape(rows, -1)
        for filled, start, lanes in zip(
            game.filled.tolist(), game.start.tolist(), game.lanes.tolist(), strict=True
        ):
            if filled.bit_count() >= first:
                block = self.levels[filled.bit_count()].block(filled)[:rows]
                of_saved[: len(block), start : start + lanes] = block
        return values

    def saved_turn(self, card: Scorecard, rerolls: int) -> SavedTurn:
        """Return what a turn from this card is worth where so many rerolls are left."""
        game, filled, flag = self.states, card.filled, int(card.armed)
        subtotal = card.upper_subtotal
        level = self.levels[filled.bit_count() + 1]
        available = int(game.available(np.array([filled]))[0])
        if game.scoring.special and filled >> game.scoring.yahtzee & 1:
            available |= int(np.bitwise_or.reduce(game.joker_available(np.array([filled]))[0][0]))
        after = {
            category: level.block(filled | 1 << category)
            for category in range(game.scoring.boxes)
            if available >> category & 1
        }

        def worth_with(saved: int) -> Worth:
            def worth(category: int, points: NDArray[np.int32], bonus: int) -> Floats:
                places = positions_after(game, filled, subtotal, flag, category, points)
                at = places - int(game.first[filled | 1 << category])
                value: Floats = points + after[category][saved, at] + bonus
                return value

            return worth

        turns = [Turn(game, filled, flag, worth_with(saved)) for saved in range(rerolls + 1)]
        return SavedTurn(game.scoring.lattice, turns)


def solved_in_memory(
    ruleset: Ruleset, *, threads: int | None = None, progress: Progress | None = None
) -> SavingTable:
    """Solve a game with saved rolls, exactly, with all its levels in memory.

    Raises
    ------
    RulesError
        If it is too large.
    """
    return solved_following(ruleset, None, threads=threads, progress=progress)


def solved_following(
    ruleset: Ruleset,
    card: Scorecard | str | None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    instead: str = MORE_BOXES,
) -> SavingTable:
    """Solve what follows a card of a game with saved rolls, exactly, in memory; the table knows nothing else.

    `instead` is what the refusal of a game that is too large says to do; nothing where it is empty.

    Raises
    ------
    ArgumentError
        If it is too large.
    """
    held = card_of(ruleset, card)
    game = following_states(states(scoring(ruleset)), held.filled)
    check_memory(ruleset, values_in_all(game), instead)
    levels = [final_level(game), *solved_levels(game, threads=threads, progress=progress)]
    stores = tuple(_InMemory(game, level) for level in reversed(levels))
    before = held.filled.bit_count()
    root = None if before else float(stores[0].block(0)[0, 0])
    return SavingTable(ruleset, game, (stores[-1],) * before + stores, 0.0, root)


def check_memory(ruleset: Ruleset, numbers: int, instead: str = MORE_BOXES) -> None:
    """Refuse to hold more values than there is memory for; the message ends in `instead`, if it is not empty.

    Raises
    ------
    ArgumentError
        If they take more than `MOST_IN_MEMORY`.
    """
    needed = 8 * numbers
    if needed > MOST_IN_MEMORY:
        raise ArgumentError(
            f"{ruleset.name}: found {numbers:,} expected scores to hold in memory, "
            f"{needed / 1e9:,.1f} GB, expected at most {MOST_IN_MEMORY / 1e9:.0f} GB"
            + (f"; {instead}" if instead else "")
        )


def solved_in_files(
    ruleset: Ruleset,
    folder: Path | None = None,
    *,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> SavingTable:
    """Solve a game with saved rolls level by level into files, going on from what a folder holds already.

    Parameters
    ----------
    ruleset
        The rules.
    folder
        Where the files go: one of the cache folder unless given. If it holds the game already, all of it
        sound, that is opened.
    threads
        All usable cores unless given; the files are equal to the bit.
    executor
        What works on pieces of the levels instead of threads, which then lie in files too; its workers must
        reach the folder by the same path.
    progress
        Called now and then with the work done and in all.

    Raises
    ------
    RulesError
        If two levels would take more than 16 GB of this process.
    TableError
        If files cannot be written, or the disk has too little room for two levels.
    """
    game = states(scoring(ruleset))
    folder = folder or kept_folder(game)
    _check_folder(folder, ruleset, game)
    if complete(folder, game.scoring.boxes):
        try:
            found = opened_files(ruleset, folder)
            found.check()
            return found
        except TableError:
            pass  # What is not sound is made again.
    if executor is not None:
        resumed = solve_in_pieces(ruleset, game, folder, executor, progress)
    else:
        resumed = _solve_here(ruleset, game, folder, threads, progress)
    table = opened_files(ruleset, folder)
    return SavingTable(
        ruleset, game, table.levels, table.precision, float(table.expected_score), folder, resumed
    )


def solved_and_kept(
    ruleset: Ruleset, *, threads: int | None = None, progress: Progress | None = None
) -> SavingTable:
    """Solve a game with saved rolls into files of the cache folder; a small one in memory if that fails.

    Raises
    ------
    TableError
        If files cannot be written, and the values of the game take more than `MOST_IN_MEMORY`.
    """
    try:
        return solved_in_files(ruleset, threads=threads, progress=progress)
    except TableError:
        if 8 * values_in_all(states(scoring(ruleset))) > MOST_IN_MEMORY:
            raise
        return solved_in_memory(ruleset, threads=threads, progress=progress)


def _solve_here(
    ruleset: Ruleset, game: States, folder: Path, threads: int | None, progress: Progress | None
) -> int | None:
    """Solve a game into a folder; return which level was gone on from, if there was one."""
    found = level_to_go_on_from(folder, game, ruleset.name), level_in_pieces(ruleset, game, folder)
    after = min((level for level in found if level), key=lambda level: level.number)
    # Two levels lie there to the bit for a while. How long their final files will be is not known.
    held = 8 * level_values(game, after.number) if after.number < game.scoring.boxes else 0
    sizes = [8 * level_values(game, number) for number in range(1, after.number)] + [held]
    check_room(folder, max(map(sum, pairwise(sizes)), default=held) - held)
    for level in solved_levels(game, after=after, threads=threads, progress=progress):
        write_level(folder, ruleset, game, level, threads)
        if level.number:
            write_exact(folder, ruleset, game, level)
        for number in range(level.number + 1, game.scoring.boxes):
            level_path(folder, number, exact=True).unlink(missing_ok=True)
    rmtree(pieces_folder(folder), ignore_errors=True)
    return after.number if after.number < game.scoring.boxes else None


def _check_folder(folder: Path, ruleset: Ruleset, game: States) -> None:
    """Refuse a folder with level files of another game."""
    for path in sorted(folder.glob("*.dwl")):
        try:
            held = read_header(path)
        except TableError:
            continue  # It is made again.
        if held.digest != game.scoring.digest:
            raise WrongRulesTable(
                f"{quoted(folder)} holds level files of {held.name!r}, expected none or those of "
                f"{ruleset.name!r}"
            )


def save_files(table: SavingTable, folder: Path, *, threads: int | None = None) -> None:
    """Write the level files of a game with saved rolls into a folder.

    Raises
    ------
    TableError
        If they cannot be written.
    """
    game = table.states
    _check_folder(folder, table.ruleset, game)
    for number in reversed(range(game.scoring.boxes)):
        root = table.expected_score if number == 0 else None
        write_level(folder, table.ruleset, game, table.levels[number].all(threads), threads, root=root)


def complete(folder: Path, boxes: int) -> bool:
    """Whether a folder holds a file for each level of a game with so many boxes, sound or not."""
    return all(level_path(folder, level).exists() for level in range(boxes))


def opened_files(ruleset: Ruleset, folder: Path) -> SavingTable:
    """Open a game with saved rolls that was solved in files; values are checked when they are first read.

    Raises
    ------
    TableError
        Of the kind that fits, if a file is not there, not what was written, or not of this game.
    """
    game = states(scoring(ruleset))
    files = [LevelFile(folder, game, level, ruleset.name) for level in range(game.scoring.boxes)]
    final = _InMemory(game, final_level(game))
    root = files[0].header.root
    if root is None:
        root = float(files[0].block(0)[0, 0])
    return SavingTable(ruleset, game, (*files, final), 0.5 / STEPS, root, folder)
