"""How one turn of a game with saved rolls ends, if the strategy is followed from a keep on, in numpy."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from .dice import Lattice
from .plan import Floats, plan
from .saving_table import SavingTable
from .scorecard import Scorecard
from .strategy import Ends
from .turn import TIE, Fill, SavedTurn, first_of_best


def saved_ends(table: SavingTable, card: Scorecard, keep: int, left: int) -> tuple[Ends, float]:
    """Return how a turn ends that has come to a keep with `left` rerolls after it.

    Returns
    -------
    ends : Ends
        Its `after` is empty.
    after : float
        Expected points after the turn.
    """
    lattice, rows = table.states.scoring.lattice, plan(table.states).rows
    turn = table.saved_turn(card, left)
    weights = np.zeros(lattice.short)
    weights[keep] = 1
    last = np.zeros(len(lattice.rolls))
    ends: dict[tuple[int, bool], float] = defaultdict(float)
    after = 0.0
    for rerolls in range(left, -1, -1):
        thrown = _thrown(lattice, weights)
        weights = np.zeros(lattice.short)
        for roll in np.flatnonzero(thrown).tolist():
            kept, fill = _best(lattice, turn, roll, rerolls)
            if fill is None:
                weights[kept] += thrown[roll]
                continue
            probability = float(thrown[roll])
            first = int(rows.first[fill.category])
            points = rows.points[first : int(rows.first[fill.category + 1])]
            ends[first + int(np.searchsorted(points, fill.points)), fill.bonus > 0] += probability
            after += probability * (fill.value - fill.points - fill.bonus)
            last[roll] += probability
    found = sorted(ends)
    row = np.array([row for row, _ in found])
    bonus = np.array([bonus for _, bonus in found])
    gains = rows.points[row] + bonus * rows.bonus
    return Ends(
        first=np.array([0, len(found)]),
        rows=(row + bonus * len(rows.points)).astype(np.int32),
        probabilities=np.array([ends[end] for end in found]),
        after=np.zeros(0, np.int64),
        gains=gains.astype(np.int64),
        last=last,
    ), after


def _thrown(lattice: Lattice, weights: Floats) -> Floats:
    """Return the probability of each roll once the dice not kept are thrown."""
    reached = np.concatenate([weights, np.zeros(len(lattice.rolls))])
    for first, end in lattice.sizes[:-1]:
        for more in lattice.more_by_face[:, first:end]:
            np.add.at(reached, more, reached[first:end] / len(lattice.more_by_face))
    return reached[lattice.short :]


def _best(lattice: Lattice, turn: SavedTurn, roll: int, rerolls: int) -> tuple[int, Fill | None]:
    """Return the keep that is best with a roll, or what to fill; equals as in `lookup`."""
    fills = turn.fills_with(roll, rerolls)
    worth = np.array([fill.value for fill in fills])
    fill = fills[first_of_best(worth)]
    if not rerolls:
        return -1, fill
    first, inside = lattice.inside
    keeps = inside[first[roll] : first[roll + 1]]
    values = turn.chain[rerolls][keeps]
    kept = first_of_best(values)
    if fill.value > max(fill.value, float(values[kept])) - TIE:
        return -1, fill
    return int(keeps[kept]), None
