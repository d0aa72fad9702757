"""Many decisions at once, compiled: arrays of states, dice and rerolls in, best actions and values out.

Where rolls are saved, rerolls left are this turn's and those saved: nothing else is to be known of these.

An action is one number: category c for filling box c (card order, from 0), boxes + k for keeping keep k
of `solver.dice.lattice(n).keeps`. Actions and values equal those of `Table.advise` to the bit.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ActionError, ArgumentError, CardError, DiceError, shown
from .levels import thread_count
from .lookup import Table
from .plan import DecisionPlan, Floats, Ints, LanePlan, plan, with_spare, work_arrays
from .rules import FACES
from .saving_table import SavingTable
from .states import LANES, UNREACHABLE, States, chosen_states

_LEAST_TILES = 64
_PIECES_A_THREAD = 4


class Decisions(NamedTuple):
    """The answers to a batch, in the order of the questions.

    Attributes
    ----------
    actions : int32 array, shape (n,)
        The best action of each; see the module.
    values : float64 array, shape (n,)
        Expected points still to come with it, the points of the box it fills included.
    """

    actions: NDArray[np.int32]
    values: NDArray[np.float64]


def decide(
    table: Table,
    filled: ArrayLike,
    subtotals: ArrayLike,
    flags: ArrayLike,
    dice: ArrayLike,
    rerolls: ArrayLike,
    *,
    threads: int | None = None,
) -> Decisions:
    """Return the best action of many positions.

    Parameters
    ----------
    table
        An opened or solved table.
    filled : integers, shape (n,)
        The filled boxes of each card, bit c for box c in card order.
    subtotals : integers, shape (n,)
        Points in upper boxes so far; capped or not.
    flags : integers or bools, shape (n,)
        Whether a further Yahtzee brings a bonus, or the box that others require holds points.
    dice : integers, shape (n, dice)
        Faces 1 to 6 in any order.
    rerolls : integers, shape (n,)
        Rerolls left, saved ones among them; a single number serves all, as with the other arguments.
    threads
        All usable cores unless given.

    Raises
    ------
    CardError
        If a state cannot arise, or its card is full.
    DiceError
        If dice or rerolls are not what the rules allow; either names the first offender.
    ArgumentError
        If the values of games with saved rolls that it looks at take too much memory.
    """
    game, rules = table.states, table.states.scoring
    thrown = np.atleast_2d(_integers(dice, "dice", DiceError))
    _check_dice(thrown, rules.dice)
    states_given = [_integers(part, "state", CardError) for part in (filled, subtotals, flags)]
    left = _integers(rerolls, "rerolls", DiceError)
    shape = _shape(
        filled=states_given[0],
        subtotals=states_given[1],
        flags=states_given[2],
        rerolls=left,
        dice=thrown[:, 0],
    )
    sets, subtotal, flag = (np.broadcast_to(part, shape) for part in states_given)
    left = np.broadcast_to(left, shape)
    own = rules.rolls - 1
    if table.ruleset.saves:
        most = own * (np.bitwise_count(np.maximum(sets, 0)).astype(np.int64) + 1)
    else:
        most = np.broadcast_to(own, shape)
    wrong = (left < 0) | (left > most)
    # The first offender says how many there can be with its boxes filled.
    _check(wrong, left, DiceError, f"rerolls: expected 0 to {most[np.argmax(wrong)] if wrong.any() else own}")
    rolls = np.broadcast_to(rules.lattice.roll_numbers(thrown), shape).astype(np.int64)
    numbers, lanes = _locate(game, sets, subtotal, flag)
    left = left.astype(np.int64)
    if not isinstance(table, SavingTable):
        return _decided(game, with_spare(table.values), 0, numbers, lanes, rolls, left, threads)
    answers = Decisions(np.empty(len(rolls), np.int32), np.empty(len(rolls)))
    levels = np.searchsorted(game.level_sets, numbers, side="right") - 1
    for level in np.unique(levels).tolist():
        here = np.flatnonzero(levels == level)
        chosen = np.zeros(len(game.filled), bool)
        chosen[numbers[here]] = True
        after = game.filled[chosen][:, None] | 1 << np.arange(rules.boxes)
        chosen |= np.isin(game.filled, after)
        few = chosen_states(game, chosen)
        values = table.gathered(few, int(left[here].max()) + 1, level + 1)
        of_few = np.cumsum(chosen)[numbers[here]] - 1
        found = _decided(few, values, few.size, of_few, lanes[here], rolls[here], left[here], threads)
        answers.actions[here], answers.values[here] = found
    return answers


def _decided(
    game: States,
    values: Floats,
    stride: int,
    numbers: Ints,
    lanes: Ints,
    rolls: Ints,
    left: Ints,
    threads: int | None,
) -> Decisions:
    """Return the best actions for these filled sets, by number, lanes within them, rolls and rerolls left."""
    from .decision_kernels import decide_tiles

    order = np.lexsort((lanes, numbers))
    numbers, lanes = numbers[order], lanes[order]
    new = np.ones(len(order), bool)
    new[1:] = (numbers[1:] != numbers[:-1]) | (lanes[1:] != lanes[:-1])
    starts = np.flatnonzero(new)
    lane_plan = LanePlan(numbers[new], lanes[new], np.append(starts, len(order)), np.cumsum(new) - 1)
    decisions = DecisionPlan(rolls[order], left[order], *game.scoring.lattice.inside)
    arrays = plan(game)
    actions, best = np.empty(len(order), np.int32), np.empty(len(order))

    def work(first: int, last: int) -> None:
        own = work_arrays(arrays)
        decide_tiles(values, stride, first, last, arrays, lane_plan, decisions, actions, best, *own)

    tiles = -(-len(starts) // LANES)
    workers = thread_count(threads)
    size = max(_LEAST_TILES, -(-tiles // (workers * _PIECES_A_THREAD)))
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda first: work(first, min(first + size, tiles)), range(0, tiles, size)))
    answers = Decisions(np.empty_like(actions), np.empty_like(best))
    answers.actions[order], answers.values[order] = actions, best
    return answers


def action_of(
    table: Table, action: int
) -> tuple[Literal["fill"], str] | tuple[Literal["keep"], tuple[int, ...]]:
    """Return an action's number in words: ("fill", key of the box) or ("keep", dice).

    Raises
    ------
    ActionError
        If no action has this number.
    """
    boxes, keeps = table.states.scoring.boxes, table.states.scoring.lattice.short
    if not 0 <= action < boxes + keeps:
        raise ActionError(f"action {shown(action)}: expected a number from 0 to {boxes + keeps - 1}")
    if action < boxes:
        return "fill", table.ruleset.keys[action]
    return "keep", table.states.scoring.lattice.keeps[action - boxes]


def _integers(given: ArrayLike, what: str, error: type[Exception]) -> NDArray[np.int64]:
    array = np.asarray(given)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iub":
        raise error(f"{what}: found an array of {array.dtype}, expected integers")
    return array.astype(np.int64)


def _check_dice(thrown: NDArray[np.int64], count: int) -> None:
    if thrown.ndim != 2 or thrown.shape[1] != count:
        raise DiceError(f"dice: found shape {thrown.shape}, expected (n, {count})")
    wrong = np.any((thrown < 1) | (thrown > FACES), axis=1)
    _check(wrong, thrown, DiceError, f"dice: expected faces 1 to {FACES}")


def _shape(**given: NDArray[Any]) -> tuple[int, ...]:
    """Return the shape of all arrays together: one number for each position."""
    try:
        shape = np.broadcast_shapes(*(part.shape for part in given.values()))
        if len(shape) == 1:
            return shape
    except ValueError:
        pass
    found = ", ".join(f"{name} {part.shape}" for name, part in given.items())
    raise ArgumentError(
        f"positions: found arrays of shapes {found}, expected (n,) with the same n, or single numbers"
    )


def _check(wrong: NDArray[np.bool_], given: NDArray[Any], error: type[Exception], message: str) -> None:
    if np.any(wrong):
        at = int(np.argmax(wrong))
        raise error(f"{message}, found {given[at].tolist()} at place {at}")


def _locate(
    game: States, filled: NDArray[np.int64], subtotals: NDArray[np.int64], flags: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the filled set's number and the lane within it of each state."""
    rules = game.scoring
    full = (1 << rules.boxes) - 1
    _check((filled < 0) | (filled >= full), filled, CardError, f"filled: expected 0 to {full - 1}")
    number_of = np.full(1 << rules.boxes, UNREACHABLE, np.int64)
    number_of[game.filled] = np.arange(len(game.filled))
    numbers = number_of[filled]
    upper = game.upper_filled(filled)
    classes = game.upper.number[upper, np.clip(subtotals, 0, rules.cap)].astype(np.int64)
    armed = (filled >> game.arming & 1 > 0) if game.arming >= 0 else np.zeros(filled.shape, bool)
    wrong = (numbers < 0) | (classes < 0) | (subtotals < 0) | (flags < 0) | (flags > armed)
    _check(
        wrong, np.stack([filled, subtotals, flags], axis=-1), CardError, "state: expected one that can arise"
    )
    return numbers, flags * game.upper.count[upper] + classes
