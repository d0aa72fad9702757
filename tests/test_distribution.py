"""The exact distribution: against plain enumeration in fractions on tiny games, and real games as a whole."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import oracle_distribution as plain
import pytest
from games import NAMES, TINY, random_dice, random_fill, random_position, solved, spread
from oracle import Exact

import solver
from solver.distributions import Distribution, distribution
from solver.errors import CardError, DiceError
from solver.lookup import Table
from solver.scorecard import Position, Scorecard

tiny = pytest.mark.parametrize("path", TINY, ids=lambda path: path.stem)

TIERS = next(path for path in TINY if path.stem == "tiers")


@cache
def strategy(path: Path) -> plain.Strategy:
    return plain.Strategy(solver.ruleset(path))


@cache
def tiny_table(path: Path) -> Table:
    return solver.solve(path)


@cache
def whole_games(path: Path) -> plain.Games:
    return strategy(path).games(strategy(path).empty())


def plain_card(card: Scorecard) -> plain.Card:
    return plain.Card(card.points, card.bonuses)


def middle(table: Table, random: Random, filled: int) -> Scorecard:
    """A card with this many boxes filled at random."""
    card = table.ruleset.card()
    for _ in range(filled):
        card = random_fill(table, card, random)
    return card


def check(found: Distribution, expected: plain.Games) -> None:
    """Every score has its probability, and none has one that cannot be."""
    assert found.least == min(expected.scores)
    assert found.greatest == max(expected.scores)
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert np.all(np.diff(found.scores) == 1)
    for score, probability in zip(found.scores.tolist(), found.probabilities.tolist(), strict=True):
        exactly = expected.scores.get(score, Fraction(0))
        assert probability == pytest.approx(float(exactly), rel=1e-12, abs=1e-300), score
    mean = sum(score * probability for score, probability in expected.scores.items())
    square = sum(score**2 * probability for score, probability in expected.scores.items())
    assert found.mean == pytest.approx(float(mean), abs=1e-12)
    assert found.standard_deviation == pytest.approx(float(square - mean**2) ** 0.5, abs=1e-10)
    assert found.mode == min(s for s, p in expected.scores.items() if p == max(expected.scores.values()))
    assert dict(found.upper_bonus) == pytest.approx({b: float(p) for b, p in expected.upper.items()})


# ---------------------------------------------------------------- tiny games, in fractions


@tiny
def test_from_an_empty_card(path: Path) -> None:
    games = whole_games(path)
    assert sum(games.scores.values()) == 1
    assert sum(score * p for score, p in games.scores.items()) == strategy(path).value((0, 0, False))
    check(distribution(tiny_table(path)), games)


@tiny
def test_from_a_card(path: Path) -> None:
    table, random = tiny_table(path), Random(path.stem)
    boxes = len(table.ruleset.keys)
    for _ in range(8):
        card = middle(table, random, random.randint(1, boxes - 1))
        check(distribution(table, str(card)), strategy(path).games(plain_card(card)))


@tiny
def test_from_dice_with_rerolls_left(path: Path) -> None:
    table, random = tiny_table(path), Random(path.stem)
    boxes = len(table.ruleset.keys)
    for place in range(12):
        card = middle(table, random, random.randint(0, boxes - 1))
        dice = random_dice(table, random)
        rerolls = place % table.ruleset.rolls
        check(distribution(table, card, dice, rerolls), strategy(path).games(plain_card(card), dice, rerolls))


@tiny
def test_the_strategy_is_what_advice_says(path: Path) -> None:
    """The tie rule of the oracle is the one of the lookup."""
    table, random = tiny_table(path), Random(path.stem)
    for _ in range(250):
        position = random_position(table, random)
        kind, what = strategy(path).choice(plain_card(position.card), position.dice, position.rerolls)
        best = table.advise_position(position).best
        assert (kind, what) == (best.action, best.category or best.dice), str(position)


def test_the_oracle_is_worth_what_the_other_oracle_says() -> None:
    for path in TINY:
        if path.stem not in ("colours", "groups", "tiers"):  # Those take the other oracle long.
            assert strategy(path).value((0, 0, False)) == Exact(solver.ruleset(path)).value()


def test_dice_stand_for_all_their_rerolls_unless_told_otherwise() -> None:
    table = tiny_table(TIERS)
    found, expected = distribution(table, None, "445"), distribution(table, None, (5, 4, 4), 1)
    assert found.probabilities.tolist() == expected.probabilities.tolist()


# ---------------------------------------------------------------- whole games


@pytest.mark.parametrize("name", NAMES)
def test_positions_of_whole_games_agree_with_advice(name: str) -> None:
    """From dice the mean is what advice says the best action is worth, and from a card the card's value."""
    table, random = solved(name), Random(name)
    for _ in range(4):
        position = random_position(table, random, most_open=4)
        card = position.card
        found = distribution(table, card, position.dice, position.rerolls)
        assert found.probabilities.sum() == pytest.approx(1, abs=1e-12), str(position)
        assert found.mean == pytest.approx(table.advise_position(position).value, abs=1e-9), str(position)
        assert distribution(table, card).mean == pytest.approx(table.value(card), abs=1e-9), str(card)


@pytest.mark.parametrize("name", ["yacht", "yahtzee-upper-first", "yatzy-forced"])
def test_the_distribution_is_the_same_for_any_number_of_threads(name: str) -> None:
    alone = distribution(solved(name), threads=1)
    for threads in (2, 3):
        found = distribution(solved(name), threads=threads)
        assert found.probabilities.tobytes() == alone.probabilities.tobytes()
        assert found.by_row.tobytes() == alone.by_row.tobytes()
        assert found.upper_bonus == alone.upper_bonus


def test_from_the_middle_of_a_game_the_same_for_any_number_of_threads() -> None:
    table = solved("yahtzee")
    card = "yahtzee=50 ones=2 chance=20 full_house=25 fours=12 bonuses=1"
    alone = distribution(table, card, "55566", 1, threads=1)
    for threads in (2, 3):
        found = distribution(table, card, "55566", 1, threads=threads)
        assert found.probabilities.tobytes() == alone.probabilities.tobytes()


def test_progress_ends_with_all_done() -> None:
    calls: list[tuple[int, int]] = []
    distribution(solved("yacht"), progress=lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1]
    assert len({total for _, total in calls}) == 1


def test_a_full_card_has_one_score() -> None:
    rules = tiny_table(TIERS).ruleset
    card = rules.card("fours=12 fives=10 ten=0 double_chance=21")
    found = distribution(tiny_table(TIERS), card)
    assert found.scores.tolist() == [card.total]
    assert found.probabilities.tolist() == [1]
    assert found.quantile(0.5) == found.mode == found.least == found.greatest == card.total
    assert found.upper_bonus == ((8, 1.0),)


# ---------------------------------------------------------------- reading it


@tiny
def test_quantiles_in_fractions(path: Path) -> None:
    """Shares that the sum of probabilities meets exactly belong to the score that meets them."""
    exactly = whole_games(path).scores
    found = distribution(tiny_table(path))
    so_far = Fraction(0)
    for score in sorted(exactly):
        so_far += exactly[score]
        assert found.quantile(float(so_far)) == score or 1 - so_far < Fraction(1, 10**12)
        assert found.at_least(score + 1) == pytest.approx(float(1 - so_far), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("share", [0, -0.1, 1.0001, float("nan")])
def test_a_share_outside_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match=r"^share .*: expected a number above 0 and at most 1$"):
        spread("yacht").quantile(share)


def test_probabilities_by_score() -> None:
    found = spread("yacht")
    middle = int(found.scores[100])
    assert found.probability(middle) == found.probabilities[100]
    assert found.probability(found.least - 1) == 0
    assert found.probability(found.greatest + 1) == 0
    assert found.at_least(found.greatest) == found.probabilities[-1]
    assert found.at_least(found.greatest + 1) == 0
    assert found.at_least(found.least) == pytest.approx(1, abs=1e-12)
    assert found.at_least(middle) == pytest.approx(sum(found.probabilities[100:].tolist()), rel=1e-12)


# ---------------------------------------------------------------- what is refused


def test_what_is_refused() -> None:
    table = solved("yacht")
    with pytest.raises(CardError, match="there is no box 'one'"):
        distribution(table, "one=3")
    with pytest.raises(DiceError, match="found 4 dice, expected 5"):
        distribution(table, None, "1234")
    with pytest.raises(DiceError, match="rerolls 3: expected a whole number from 0 to 2"):
        distribution(table, None, "12345", 3)
    with pytest.raises(ValueError, match="threads is 0: expected 1 or more"):
        distribution(table, threads=0)


def test_dice_on_a_full_card_are_refused() -> None:
    table = tiny_table(TIERS)
    card = table.ruleset.card("fours=12 fives=10 ten=0 double_chance=21")
    with pytest.raises(CardError, match="every box is filled"):
        Position(card, (1, 2, 3), 0)
    with pytest.raises(CardError, match="every box is filled"):
        distribution(table, card, "123", 0)
