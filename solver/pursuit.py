"""Playing for a goal: solving it, and advice that ranks moves by it.

Where the score so far does not matter, the states are those of the expected score:

    Floor, Ceiling   V(x) = the least (greatest) over dice instead of the mean
    Risk(theta)      W(x) = max of +-E[exp(theta (s - c(x)))], s the points still to come, with c(x) the
                     greatest possible of them for theta > 0 and the guaranteed for theta < 0, so that
                     no exponential overflows and the best W stays within what float64 can hold

Elsewhere each state has a value for each score so far that can come about from the card one starts with:

    U(x, t) = E of u(final score)      u = 1 from a target on (Reach), the chance of winning (Win), any

and only what can still be reached from that card is solved. Where rolls are saved, how many is part of the
state; see `scope`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .blocks import Blocks, blocks_from, final_scores
from .chances import Chances, follows
from .chances_file import kept_chances
from .dynamic import solve_values
from .errors import GoalError, shown
from .extremes import extreme_points
from .goal_strategy import RELATIVE_TIE, GoalChooser, blocks_plan, extremes_plan, factors_plan
from .goals import Ceiling, Floor, Goal, Reach, Risk, Utility, utility
from .levels import Progress
from .lookup import Advice, Table, Worths, checked_table, ranked
from .plan import Floats, with_spare
from .risk import certain_points, check_risk, risk_values, sure_score
from .saving_table import SavingTable, solved_following
from .scope import Scope
from .scorecard import Position, Scorecard, check_position
from .states import States
from .strategy import Chooser
from .turn import TIE, Chance, SavedTurn, Turn, Worth, expected_points, mean_of_six, positions_after


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
    scope : Scope
        What can follow it.
    unit : str
        What values are: "probability", "points" or "utility".
    kept : Chances or None
        Where the values were looked up, if they were not solved: `kept.path`, within `kept.within`.
    """

    table: Table
    goal: Goal
    card: Scorecard
    scope: Scope
    unit: str
    _worth: Callable[[Scorecard, int], Worth]
    _number: Callable[[Scorecard], float]
    _chance: Chance
    _chooser: Callable[[], Chooser]
    kept: Chances | None = None

    def value(self, card: Scorecard | str | None = None) -> float:
        """Return the goal's value at the start of a turn with a card; the card started from unless given."""
        held = self.held(card)
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
        return self.advise_position(Position.of(self.held(card), dice, rerolls))

    def advise_position(self, position: Position) -> Advice:
        """Return the advice for a position."""
        check_position(position)
        card = self.held(position.card)
        turn, expected = self._turn(card, position.rerolls), self.table.worths(card, position.rerolls)
        options = ranked(position, turn, self._shown(card), tie=self._tie, expected=expected)
        return Advice(position, options)

    def _turn(self, card: Scorecard, rerolls: int) -> Worths:
        """Return what a turn is worth where so many rerolls are left."""
        game = self.scope.game

        def turn(left: int) -> Turn:
            return Turn(game, card.filled, int(card.armed), self._worth(card, left), self._chance)

        if not self.scope.stride:
            return turn(0)
        turns = [turn(left) for left in range(rerolls + 1)]
        return SavedTurn(game.scoring.lattice, turns, self._chance)

    def chooser(self) -> Chooser:
        """Return what its strategy does: for distributions and simulation."""
        return self._chooser()

    def _shown(self, card: Scorecard) -> Callable[[float], float]:
        if self.unit == "probability":
            return lambda number: min(number, 1.0)  # A sum of rounded probabilities can be a bit above 1.
        return float(card.boxes_total if self.unit == "points" else 0).__add__

    def _tie(self, greatest: float) -> float:
        return TIE if self.unit == "points" else RELATIVE_TIE * abs(greatest)

    def held(self, card: Scorecard | str | None) -> Scorecard:
        """Return a card that follows the one solved from, which it is unless given."""
        held = self.card if card is None else self.table.card(card)
        return follows(held, self.card, "the goal is solved")


def pursue(
    table: Table,
    goal: Goal,
    card: Scorecard | str | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    check: Callable[[int], None] | None = None,
    exact: bool = False,
) -> Pursuit:
    """Solve a goal from a card on; a score to reach is looked up where a file of chances is kept.

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
    check
        Called with the number of values to work out, before any is, where each score so far has one of its
        own; refuses what would be too many by raising an error.
    exact
        Whether to solve even where a file is kept (see `keep_chances`), whose chances are rounded.

    Raises
    ------
    TableError
        If there is such a file and it cannot be read.
    """
    if not isinstance(goal, Goal):
        raise GoalError(f"goal {shown(goal)}: expected one such as Reach(200) or Risk(0.05)")
    held = checked_table(table).card(card)
    kept = kept_chances(table) if isinstance(goal, Reach) and not exact else None
    # Close to 0 and 1 the rounded chances would not tell moves apart.
    if kept and isinstance(goal, Reach) and kept.within < kept.chance(held, goal.score) < 1 - kept.within:
        return _pursued_in_file(table, goal, held, kept)
    table = exact_table(table, held, threads)
    if isinstance(goal, Risk | Floor | Ceiling):
        return _pursued_everywhere(table, goal, held, threads, progress)
    of_scores = utility(goal)
    scope = Scope.of(table.states, held)
    blocks = blocks_from(scope, of_scores, not isinstance(goal, Utility))
    if check:
        check(blocks.count)
    blocks.solve(of_scores, threads, progress)
    unit = "utility" if isinstance(goal, Utility) else "probability"
    return _pursued_in_blocks(table, goal, held, unit, blocks)


def exact_table(table: Table, card: Scorecard, threads: int | None = None) -> Table:
    """Return a table with the exact values of what follows a card: this one, unless its values are rounded.

    Raises
    ------
    ArgumentError
        If rolls are saved and that is too large.
    """
    if not table.precision:
        return table
    if isinstance(table, SavingTable):
        return solved_following(table.ruleset, card, threads=threads)
    return Table(table.ruleset, *solve_values(table.ruleset, threads=threads))


def most_values_to_win(game: States, card: Scorecard, others: Iterable[Scorecard]) -> int:
    """Return an upper bound of the values that `Win` takes from a card, from the others' cards alone."""
    ends = [final_scores(game, other) for other in others]
    # Whoever has less than another's least loses, whoever has more than each one's most wins.
    loses, wins = max(least for least, _ in ends) - 1, max(most for _, most in ends) + 1

    def chance(scores: NDArray[np.int64]) -> Floats:
        return np.clip((scores - loses) / (wins - loses), 0.0, 1.0)

    return blocks_from(Scope.of(game, card), chance, True).count


def _pursued_in_file(table: Table, goal: Reach, card: Scorecard, kept: Chances) -> Pursuit:
    def worth(held: Scorecard, rerolls: int) -> Worth:
        return kept.worth(held, goal.score)

    def number(held: Scorecard) -> float:
        return kept.chance(held, goal.score)

    def chooser() -> Chooser:
        # Rounded chances would not tell close moves apart, whose losses add up over a game.
        return pursue(table, goal, card, exact=True).chooser()

    scope = Scope.of(table.states, card)
    return Pursuit(table, goal, card, scope, "probability", worth, number, mean_of_six, chooser, kept)


def _pursued_everywhere(
    table: Table,
    goal: Risk | Floor | Ceiling,
    card: Scorecard,
    threads: int | None,
    progress: Progress | None,
) -> Pursuit:
    scope = Scope.of(table.states, card)
    game, stride = scope.game, 0
    if isinstance(goal, Risk):
        theta = float(goal.theta)
        check_risk(game, theta)
        chance, stride = sure_score(theta), scope.stride
        factors, reference = risk_values(scope, theta, threads=threads, progress=progress)
        values = certain_points(theta, factors, reference)
        numbers = factors_plan(with_spare(factors), reference, theta, stride)
    else:
        greatest = isinstance(goal, Ceiling)
        chance = _greatest if greatest else _least
        values = extreme_points(game, greatest, threads=threads, progress=progress)
        numbers = extremes_plan(with_spare(values), greatest)

    # What is certain and what is possible does not depend on saved rolls: the worst dice may come again and
    # again, and the best at once. There the stride is 0.
    def worth(held: Scorecard, rerolls: int) -> Worth:
        of_rerolls = values[rerolls * stride :]
        return expected_points(game, of_rerolls, held.filled, held.upper_subtotal, int(held.armed))

    def number(held: Scorecard) -> float:
        position = game.position(held.filled, held.upper_subtotal, int(held.armed))
        return float(values[held.saved * stride + position])

    def chooser() -> Chooser:
        return GoalChooser(table, scope, numbers)

    return Pursuit(table, goal, card, scope, "points", worth, number, chance, chooser)


def _least(of: NDArray[np.float64]) -> NDArray[np.float64]:
    least: NDArray[np.float64] = of.min(axis=0)
    return least


def _greatest(of: NDArray[np.float64]) -> NDArray[np.float64]:
    greatest: NDArray[np.float64] = of.max(axis=0)
    return greatest


def _pursued_in_blocks(table: Table, goal: Goal, card: Scorecard, unit: str, blocks: Blocks) -> Pursuit:
    scope = blocks.scope
    game = scope.game

    def worth(held: Scorecard, rerolls: int) -> Worth:
        saved = rerolls if scope.stride else 0
        state = (held.filled, held.upper_subtotal, int(held.armed))
        total = held.boxes_total

        def of(category: int, points: NDArray[np.int32], bonus: int) -> Floats:
            scores = points.astype(np.int64) + (total + bonus)
            return blocks.at(positions_after(game, *state, category, points), scores, saved)

        return of

    def number(held: Scorecard) -> float:
        position = game.position(held.filled, held.upper_subtotal, int(held.armed))
        return float(blocks.at(np.array([position]), np.array([held.boxes_total]), held.saved)[0])

    def chooser() -> Chooser:
        return GoalChooser(table, scope, blocks_plan(blocks), blocks)

    return Pursuit(table, goal, card, scope, unit, worth, number, mean_of_six, chooser)
