"""The chance of every score: against plain recursion on cards with their real points, and on real games."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import oracle_goals as plain
import pytest
from games import TINY, random_fill, random_position, solved, spread
from oracle import Action

import solver
from solver import reaching
from solver.chances import Chances, bound
from solver.errors import ArgumentError, CardError, GoalError
from solver.lookup import Table
from solver.scorecard import Scorecard
from solver.turn import Turn

games = pytest.mark.parametrize("path", TINY, ids=lambda path: path.stem)
LATE = {
    "yahtzee": "ones=3 twos=6 fours=12 fives=15 sixes=18 three_of_a_kind=22 full_house=25 yahtzee=50 ",
    "yahtzee-free-joker": "ones=3 twos=6 fours=12 fives=15 sixes=24 chance=22 full_house=25 yahtzee=0",
    "kniffel": "twos=6 threes=9 fours=12 sixes=18 full_house=25 small_straight=30 yahtzee=0",
}


@cache
def table_of(path: Path) -> Table:
    return solver.solve(path)


@cache
def play(path: Path) -> tuple[plain.Play, range]:
    """Plain play for every target, from one that is certain to one that is impossible."""
    rules = table_of(path).ruleset
    scores = [
        plain.Play(rules, [plain.score()], throw).value(plain.State())[0] for throw in ("worst", "best")
    ]
    targets = range(int(scores[0]) - 1, int(scores[1]) + 2)
    return plain.Play(rules, [plain.reach(target) for target in targets]), targets


def cards(table: Table) -> list[Scorecard]:
    """The empty card, one with each number of boxes filled, the full one included."""
    random = Random(table.ruleset.title)
    found = [table.ruleset.card()]
    for _ in table.ruleset.keys:
        found.append(random_fill(table, found[-1], random))
    return found


def state_of(card: Scorecard) -> plain.State:
    return plain.state_of(card.ruleset, card.points, card.bonuses)


@games
@pytest.mark.parametrize("cut", [0, reaching.CUT, 1e-3])
def test_every_score_by_plain_recursion(path: Path, cut: float) -> None:
    table = table_of(path)
    oracle, targets = play(path)
    found = solver.reach(table, cut=cut, threads=1)
    boxes = len(table.ruleset.keys)
    assert found.within == pytest.approx(boxes * cut, rel=1e-12)
    apart = 0.0
    for card in cards(table):
        wanted = np.array(oracle.value(state_of(card)))
        chances = np.array([found.chance(card, target) for target in targets])
        apart = max(apart, float(abs(chances - wanted).max()))
        assert chances == pytest.approx(wanted, rel=0, abs=card.points.count(None) * cut + 1e-12)
        curve = found.curve(card)
        place = curve.scores - targets[0]
        inside = (place >= 0) & (place < len(targets))
        assert curve.chances[inside].tolist() == chances[place[inside]].tolist()
        assert curve.chances[0] == 1
        assert found.chance(card, int(curve.scores[-1]) + 1) == 0
    assert cut < 1e-3 or apart > 0


@games
def test_every_move_by_plain_recursion(path: Path) -> None:
    table, random = table_of(path), Random(path.stem)
    oracle, targets = play(path)
    found = solver.reach(table, cut=0)
    for _ in range(6):
        position = random_position(table, random)
        card = position.card
        roll = table.states.scoring.lattice.roll(position.dice)
        options = oracle.options(state_of(card), position.dice, 0)
        for target in random.sample(targets, 3):
            turn = Turn(table.states, card.filled, int(card.armed), found.worth(card, target))
            fills: dict[Action, float] = {
                ("fill", table.ruleset.keys[fill.category]): fill.value for fill in turn.fills(roll, 0)
            }
            assert fills == pytest.approx(
                {action: row[target - targets[0]] for action, row in options.items()}, rel=0, abs=1e-12
            )
            best = max(
                oracle.options(state_of(card), position.dice, 1).values(),
                key=lambda row: row[target - targets[0]],
            )
            keeps = turn.keeps(1)
            lattice = table.states.scoring.lattice
            first, inside = lattice.inside
            again = [fill.value for fill in turn.fills(roll, 1)]
            values = [*again, *keeps[inside[first[roll] : first[roll + 1]]]]
            assert max(values) == pytest.approx(best[target - targets[0]], rel=0, abs=1e-12)


def check_shape(found: Chances, card: Scorecard | str | None) -> None:
    """The chances fall with the score, to the bit, from certain to impossible."""
    curve = found.curve(card)
    assert curve.chances[0] == 1
    assert np.all(np.diff(curve.chances) <= 0)
    assert curve.chances[-1] > 0
    held = found.held(card)
    assert found.chance(held, held.boxes_total) == 1


def check_beside_play_for_points(found: Chances, table: Table, card: Scorecard | None) -> None:
    usual = spread(table.ruleset.name) if card is None else solver.distribution(table, card)
    more = 0.0
    for score in range(usual.least, usual.greatest + 2):
        chance = found.chance(card, score)
        assert chance >= usual.at_least(score) - found.within - 1e-12, score
        more = max(more, chance - usual.at_least(score))
    assert more > 0.005


@pytest.mark.parametrize("name", ["yacht", "yatzy-forced"])
def test_whole_games(name: str) -> None:
    table, random = solved(name), Random(name)
    found = solver.reach(table)
    check_shape(found, None)
    check_beside_play_for_points(found, table, None)
    card = table.ruleset.card()
    while not card.finished:
        card = random_fill(table, card, random)
        check_shape(found, card)
    assert found.curve(card).scores.tolist() == [card.total]


@pytest.mark.parametrize("name", LATE)
def test_late_cards(name: str) -> None:
    table = solved(name)
    card = table.card(LATE[name])
    found, exact = solver.reach(table, card), solver.reach(name, LATE[name], cut=0)
    check_shape(found, card)
    check_shape(exact, card)
    check_beside_play_for_points(found, table, card)
    curve = exact.curve()
    floor, ceiling = (solver.pursue(table, goal, card).value() for goal in (solver.Floor(), solver.Ceiling()))
    # A chance may be as good as 1 in float64 some points above what is certain.
    assert floor <= curve.scores[0]
    assert exact.chance(None, int(floor)) == 1
    assert curve.scores[-1] == ceiling
    within = card.points.count(None) * reaching.CUT
    assert found.within == pytest.approx(within, rel=1e-12)
    random = Random(name)
    for score in sorted({*random.sample(curve.scores.tolist(), 2), int(ceiling)}):
        pursuit = solver.pursue(table, solver.Reach(score), card, exact=True)
        assert exact.chance(None, score) == pytest.approx(pursuit.value(), rel=0, abs=1e-12)
        assert found.chance(None, score) == pytest.approx(pursuit.value(), rel=0, abs=within + 1e-12)
        for _ in range(3):
            held = random_position(table, random, card).card
            chance = exact.chance(held, score)
            assert chance == pytest.approx(pursuit.value(held), rel=0, abs=1e-12)


@pytest.mark.parametrize("name", ["yahtzee-no-joker", "yahtzee-upper-first", "yacht-clubhouse", "yatzy"])
def test_last_boxes_of_other_games(name: str) -> None:
    table, random = solved(name), Random(name)
    card = random_position(table, random, most_open=3).card
    found = solver.reach(table, card, cut=0)
    curve = found.curve()
    for score in random.sample(curve.scores.tolist(), 2):
        wanted = solver.pursue(table, solver.Reach(score), card, exact=True).value()
        assert found.chance(None, score) == pytest.approx(wanted, rel=0, abs=1e-12)


def test_only_what_can_follow_is_worked_on() -> None:
    table = solved("yahtzee")
    found = solver.reach(table, LATE["yahtzee"])
    worked = np.flatnonzero(found.length)
    filled = table.states.filled[np.searchsorted(table.states.start, worked, side="right") - 1]
    assert set((filled & found.card.filled).tolist()) == {found.card.filled}


def test_any_number_of_threads_gives_the_same_to_the_bit() -> None:
    found = [solver.reach(solved("yacht"), threads=threads) for threads in (1, 2, 3)]
    positions = np.repeat(np.arange(found[0].length.size), found[0].length)
    offsets = np.arange(len(positions)) - np.repeat(
        np.cumsum(found[0].length) - found[0].length, found[0].length
    )
    first = found[0].store.take(positions, offsets)
    for other in found[1:]:
        assert np.array_equal(other.low, found[0].low)
        assert np.array_equal(other.length, found[0].length)
        assert np.array_equal(other.store.take(positions, offsets), first)


def test_a_rounded_table_gives_what_the_exact_one_gives() -> None:
    exact, rounded = solver.reach(solved("yacht")), solver.reach(solver.load("yacht"))
    assert rounded.curve().chances.tolist() == exact.curve().chances.tolist()


def test_progress_comes_to_its_end() -> None:
    seen: list[tuple[int, int]] = []
    solver.reach(solved("yacht"), progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert len(seen) > 20
    assert seen[-1][0] == seen[-1][1] > 0


def test_the_bound() -> None:
    assert bound(13, 1e-6) == pytest.approx(13e-6)
    assert bound(2, 1e-6, 1e-4) == pytest.approx(52e-6)
    assert bound(0, 1e-6) == 0


@pytest.mark.parametrize("cut", [-1e-9, 0.002, float("nan"), True, "0"])
def test_a_cut_is_small(cut: float) -> None:
    with pytest.raises(ArgumentError, match=f"cut {cut!r}: expected a number from 0 to 0.001"):
        solver.reach(solved("yacht"), cut=cut)


def test_cards_and_scores_that_are_refused() -> None:
    table = solved("yacht")
    found = solver.reach(table, "ones=3 twos=6 threes=9 fours=8 fives=15 sixes=18 choice=22 yacht=0")
    with pytest.raises(
        CardError, match=r"card 'ones=3': expected one that can follow 'ones=3 twos=6 .*known from"
    ):
        found.chance("ones=3", 100)
    with pytest.raises(CardError, match="expected one that can follow"):
        found.curve("ones=3 twos=6 threes=9 fours=8 fives=15 sixes=24 choice=22 yacht=0 full_house=20")
    for score in (1.5, True, "100"):
        with pytest.raises(ArgumentError, match=f"score {score!r}: expected a whole number of points"):
            found.chance(None, score)  # type: ignore[arg-type]


def test_a_game_too_large_is_refused_before_it_is_solved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = solved("yacht")
    monkeypatch.setattr(reaching, "MOST_BYTES", 2**20)
    monkeypatch.setattr("solver.reach_kernels.reach_states", None)
    large = (
        "chances of 'yacht': found up to 0.0 GB to hold in memory, expected at most 0 GB; start from a card"
    )
    with pytest.raises(GoalError, match=large):
        solver.reach(table)
    with pytest.raises(GoalError, match=large):
        solver.keep_chances(table, tmp_path / "large.dwc")
    assert list(tmp_path.iterdir()) == []


@games
def test_neighbouring_needs_are_no_more_likely(path: Path) -> None:
    found = solver.reach(table_of(path), cut=0)
    for card in cards(table_of(path)):
        check_shape(found, card)
