"""Games in which rolls that a turn does not use are saved: values, advice and what follows from them."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations, pairwise
from math import comb
from pathlib import Path
from random import Random

import numpy as np
import pytest
from games import TINY, random_dice
from oracle_saving import Saving, SavingDense

import solver
import solver.export
from solver.batch import Decisions, action_of, decide
from solver.cli.advise import in_words
from solver.labels import Source
from solver.plan import Floats
from solver.saving import final_level, solved_levels
from solver.saving_table import SavingTable, _InMemory
from solver.scorecard import Position, Scorecard
from solver.scoring import scoring
from solver.states import states

NAMES = [str(path) for path in TINY if not re.search("served|requires", path.read_text("utf-8"))]
LARGE = "maxi-yatzy"
OPEN = 2
"""How many boxes may be open in the states of the large game that are solved here."""


@cache
def saving(name: str, rolls: int) -> SavingTable:
    """A tiny game with saved rolls, solved once a test run."""
    table = solver.solve(solver.ruleset(name, {"rolls": rolls, "save_rolls": True}))
    assert isinstance(table, SavingTable)
    return table


@cache
def oracle(name: str, rolls: int) -> Saving:
    return Saving(saving(name, rolls).ruleset)


def random_card(table: SavingTable, random: Random) -> Scorecard:
    """A card met in random play, with any number of rolls saved that can be."""
    rules, lattice = table.ruleset, table.states.scoring.lattice
    card = rules.card()
    wanted = random.randint(1, len(rules.keys))
    while card.points.count(None) > wanted:
        fills = table.saved_turn(card, 0).fills(lattice.roll(random_dice(table, random)), 0)
        fill = random.choice(fills)
        card = card.fill(rules.keys[fill.category], fill.points, fill.bonus > 0)
    most = (rules.rolls - 1) * card.filled.bit_count()
    return Scorecard(rules, card.points, card.bonuses, random.randint(0, most))


@pytest.mark.parametrize("rolls", [2, 3])
@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[-16:])
def test_values_and_advice_agree_with_exact_fractions(name: str, rolls: int) -> None:
    table, exact = saving(name, rolls), oracle(name, rolls)
    assert table.expected_score == pytest.approx(float(exact.of()), abs=1e-12)
    assert table.precision == 0
    random = Random(rolls)
    for _ in range(25):
        card = random_card(table, random)
        state = card.filled, card.upper_subtotal, card.armed
        assert table.value(card) - card.boxes_total == pytest.approx(
            float(exact.of(*state, card.saved)), abs=1e-12
        )
        position = Position.of(card, random_dice(table, random), random.randint(0, card.rerolls))
        expected = exact.option_values(*state, position.dice, position.rerolls)
        found = table.advise_position(position).options
        assert len(found) == len(expected)
        for option in found:
            value = expected[option.action, option.category or option.dice]  # type: ignore[index]
            assert option.value == pytest.approx(card.boxes_total + float(value), abs=1e-12)
            assert option.saved == (position.rerolls if option.action == "fill" else None)
        best = max(expected.values())
        chosen = found[0].action, found[0].category or found[0].dice
        assert float(best - expected[chosen]) < 1e-9  # type: ignore[index]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[-16:])
def test_saved_rolls_are_worth_something_and_never_less_than_losing_them(name: str) -> None:
    table = saving(name, 3)
    plain = solver.solve(solver.ruleset(name, {"rolls": 3}))
    assert table.expected_score > plain.expected_score
    for level, store in enumerate(table.levels):
        values = store.all().values
        assert np.all(np.diff(values, axis=0) >= -1e-12)
        start = int(table.states.level_start[level])
        assert np.all(values[0] >= plain.values[start : start + values.shape[1]] - 1e-12)


def test_saving_nothing_of_one_roll_a_turn_is_the_plain_game() -> None:
    changed = {"rolls": 1}
    with_key = solver.ruleset(NAMES[0], changed | {"save_rolls": True})
    plain = solver.ruleset(NAMES[0], changed)
    assert with_key.save_rolls
    assert scoring(with_key).digest == scoring(plain).digest
    table = solver.solve(with_key)
    assert not isinstance(table, SavingTable)
    assert table.value() == solver.solve(plain).value() == pytest.approx(float(Saving(with_key).of()))
    with pytest.raises(solver.CardError, match="saved is 1, but these rules save no rolls"):
        with_key.card("triple=0 saved=1")


def test_the_digest_tells_games_apart() -> None:
    plain = scoring(solver.ruleset("yahtzee")).digest
    # That of the shipped table, which was made before there were saved rolls.
    assert plain == solver.library.manifest()["yahtzee"]["digest"]
    assert scoring(solver.ruleset("yahtzee", {"save_rolls": False})).digest == plain
    assert scoring(solver.ruleset("yahtzee", {"save_rolls": True})).digest != plain


def test_results_are_equal_to_the_bit_for_any_number_of_threads() -> None:
    # Two boxes of twenty left: a level of many tiles, shared out among threads in many pieces.
    for one, three in zip(late(1), late(3), strict=True):
        assert one.tobytes() == three.tobytes()
    assert max(level.size for level in late(1)) > 40_000


@cache
def late(threads: int) -> tuple[Floats, ...]:
    """The values of the large game's last levels, the most boxes filled first."""
    game = states(scoring(solver.ruleset(LARGE)))
    found = []
    for level in solved_levels(game, threads=threads):
        found.append(level.values)
        if level.number == game.scoring.boxes - OPEN:
            return tuple(found)
    raise AssertionError


@cache
def large() -> SavingTable:
    """The large game, solved for its late states alone."""
    rules = solver.ruleset(LARGE)
    game = states(scoring(rules))
    stores = [_InMemory(game, final_level(game))]
    for level in solved_levels(game, threads=2):
        stores.append(_InMemory(game, level))
        if level.number == game.scoring.boxes - 3:
            break
    unsolved = (stores[0],) * (game.scoring.boxes + 1 - len(stores))
    return SavingTable(rules, game, (*unsolved, *reversed(stores)), 0.0, 0.0)


def test_late_states_and_advice_of_the_large_game_agree_with_dense_matrices() -> None:
    table, random = large(), Random(5)
    rules, game = table.ruleset, table.states
    open_boxes = ("fives", "full_straight", "one_pair")
    start = [key for key in rules.keys if key not in open_boxes]
    dense = SavingDense(rules, start)
    checked = 0
    for filled, worth in dense.by_saved[0].items():
        can_be = game.upper.number[game.upper_filled(np.array([filled]))[0]] >= 0
        block = table.levels[filled.bit_count()].block(filled)
        for subtotal in np.flatnonzero(can_be & ~np.isnan(worth[:, 0])).tolist():
            at = game.position(filled, subtotal, 0) - int(game.first[filled])
            for saved in range(2 * filled.bit_count() + 1):
                assert block[saved, at] == pytest.approx(dense.of(filled, subtotal, False, saved), abs=1e-11)
                checked += 1
    assert checked > 5000
    for opened in (*combinations(open_boxes, 1), *combinations(open_boxes, 2), open_boxes):
        for _ in range(2):
            filled_boxes = [key for key in rules.keys if key not in opened]
            held = {
                key: int(random.choice(game.scoring.distinct[rules.keys.index(key)])) for key in filled_boxes
            }
            card = Scorecard.of(rules, held | {"saved": random.randint(0, 2 * len(held))})
            position = Position.of(card, random_dice(table, random), random.randint(0, card.rerolls))
            state = card.filled, card.upper_subtotal, False
            expected = dense.option_values(*state, position.dice, position.rerolls)
            found = table.advise_position(position).options
            assert len(found) == len(expected)
            for option in found:
                value = expected[option.action, option.category or option.dice]  # type: ignore[index]
                assert option.value == pytest.approx(card.boxes_total + value, abs=1e-9), str(position)


# ---------------------------------------------------------------- cards and words


def test_cards_count_saved_rolls() -> None:
    rules = solver.ruleset(LARGE)
    card = rules.card("ones=3 saved=2")
    assert (card.saved, str(card), card.total) == (2, "ones=3 saved=2", 3)
    assert card.as_dict() == {"ones": 3, "saved": 2}
    assert rules.card(str(card)) == card != rules.card("ones=3")
    assert str(rules.card("ones=3 saved=0")) == "ones=3"
    assert Position.of(card, "133466").rerolls == 4
    text = "maxi-yatzy | ones=3 saved=2 | 1 3 3 4 6 6 | 4"
    assert str(Position.parse(text)) == text
    assert card.fill("chance", 20, saved=4).as_dict() == {"ones": 3, "chance": 20, "saved": 4}


@pytest.mark.parametrize(
    ("rules", "card", "message"),
    [
        (LARGE, "ones=3 saved=3", "card: saved is 3, but the boxes filled can have left 2 at the most"),
        (LARGE, "saved=1", "card: saved is 1, but the boxes filled can have left 0 at the most"),
        ("yahtzee", "ones=3 saved=1", "card: saved is 1, but these rules save no rolls"),
        (LARGE, "ones=3 saved=x", "card 'ones=3 saved=x': saved is 'x', expected a whole number"),
        (LARGE, "ones=3 saved=-1", "card 'ones=3 saved=-1': saved is '-1', expected a whole number"),
        (LARGE, "ones=3 saved=1 saved=1", "card 'ones=3 saved=1 saved=1': saved is filled twice"),
    ],
)
def test_saved_rolls_that_cannot_be_are_refused(rules: str, card: str, message: str) -> None:
    with pytest.raises(solver.CardError) as caught:
        solver.ruleset(rules).card(card)
    assert str(caught.value) == message


@pytest.mark.parametrize("saved", [-1, True, 1.0])
def test_saved_rolls_are_a_whole_number(saved: object) -> None:
    card = solver.ruleset(LARGE).card("ones=3")
    with pytest.raises(solver.CardError, match="expected a whole number from 0"):
        Scorecard(card.ruleset, card.points, 0, saved)  # type: ignore[arg-type]


def test_a_long_number_of_saved_rolls_is_not_repeated_in_full() -> None:
    card = solver.ruleset(LARGE).card("ones=3")
    for saved in (10**400, -(10**400)):
        with pytest.raises(solver.CardError, match=r"saved is -?1000") as caught:
            Scorecard(card.ruleset, card.points, 0, saved)
        assert len(str(caught.value)) < 200


def test_rerolls_go_as_far_as_those_saved() -> None:
    card = solver.ruleset(LARGE).card("ones=3 saved=2")
    with pytest.raises(solver.DiceError) as caught:
        Position.of(card, "133466", 5)
    assert str(caught.value) == "rerolls 5: expected a whole number from 0 to 4, 2 of them saved"
    with pytest.raises(solver.DiceError, match=r"rerolls 3: expected a whole number from 0 to 2$"):
        Position.of(solver.ruleset(LARGE).card("ones=3"), "133466", 3)


def test_a_fill_says_what_it_saves() -> None:
    table = saving(NAMES[2], 3)
    card = "pair=10 saved=2"

    def said(rerolls: int) -> set[str]:
        options = table.advise(card, "5 6", rerolls).options
        return {in_words(o, table.ruleset, 2) for o in options if o.category == "sixes"}

    assert said(4) == {"Fill Sixes for 6 points, saving two rolls"}
    assert said(3) == {"Fill Sixes for 6 points, saving one roll"}
    assert said(2) == {"Fill Sixes for 6 points, with two saved rolls left"}
    assert said(1) == {"Fill Sixes for 6 points, with one saved roll left"}
    assert said(0) == {"Fill Sixes for 6 points"}
    fill = next(o for o in table.advise(card, "5 6", 3).options if o.action == "fill")
    assert fill.as_dict()["saved"] == 3


# ---------------------------------------------------------------- following the strategy


@pytest.mark.parametrize(("name", "rolls"), [(NAMES[2], 3), (NAMES[7], 2), (NAMES[0], 3)])
def test_explanations_add_up_to_the_value(name: str, rolls: int) -> None:
    table, random = saving(name, rolls), Random(1)
    for _ in range(6):
        card = random_card(table, random)
        advice = table.advise(card, random_dice(table, random), random.randint(0, card.rerolls))
        for why in solver.explain(table, advice, top=3):
            total = card.boxes_total + why.turn_points + why.after
            assert total == pytest.approx(why.option.value, abs=1e-9)
            assert sum(box.probability for box in why.boxes) == pytest.approx(1)
            mean = sum(box.probability * box.points for box in why.boxes)
            assert mean == pytest.approx(why.turn_points)


@pytest.mark.parametrize(("name", "rolls"), [(NAMES[2], 3), (NAMES[7], 2), (NAMES[0], 3)])
def test_simulated_games_come_to_the_expected_score(name: str, rolls: int) -> None:
    table = saving(name, rolls)
    played = solver.simulate(table, 70_000, seed=3, threads=3)
    assert abs(played.mean - table.expected_score) < 4 * played.standard_error
    assert 0 < played.standard_error < 0.2
    assert played.scores.tolist() == solver.simulate(table, 70_000, seed=3, threads=1).scores.tolist()
    assert played.scores.tolist() != solver.simulate(table, 70_000, seed=4).scores.tolist()
    found = solver.statistics(played.distribution)
    assert sum(found.parts.values()) == pytest.approx(played.mean)
    assert all(box.turn is not None and 1 - 1e-9 < box.turn < len(found.boxes) + 1e-9 for box in found.boxes)


EVEN = """
title = "Even"
dice = 1
rolls = 2
save_rolls = true
upper_bonus = [{ at = 6, points = 3 }]
[categories]
only = { title = "Only", section = "upper", pattern = {}, points = "sum" }
"""
"""Throwing again is worth (1 + 2 + 3 + 4 + 5 + 9) / 6 = 4, as much as a four on the table."""


def test_simulated_games_fill_where_throwing_again_is_worth_as_much(tmp_path: Path) -> None:
    (tmp_path / "even.toml").write_text(EVEN)
    table = solver.solve(tmp_path / "even.toml")
    assert table.advise("-", "4", 1).best.action == "fill"
    scores = solver.simulate(table, 20_000, seed=1).scores
    assert np.mean(scores == 4) == pytest.approx(1 / 6 + 1 / 2 * 1 / 6, abs=0.015)


def test_games_at_the_table_come_to_the_expected_score() -> None:
    table = saving(next(name for name in NAMES if name.endswith("groups.toml")), 3)
    player, scores = solver.player("optimal", table), []
    for seed in range(200):
        game = solver.Game.new(table.ruleset, 1, seed)
        while not game.over:
            if game.phase == "decide":
                game.play(player.move(game.situation()))
            else:
                game.roll()
        scores.append(game.totals[0])
        assert solver.Game.from_record(str(game), table.ruleset).cards == game.cards
    # Where rolls are lost, the expected score is more than six such errors less.
    error = float(np.std(scores)) / len(scores) ** 0.5
    assert abs(float(np.mean(scores)) - table.value()) < 3 * error


def test_simulated_games_go_on_from_a_card_with_saved_rolls() -> None:
    table = saving(NAMES[2], 3)
    card = table.card("pair=10 sixes=6 saved=4")
    played = solver.simulate(table, 20_000, card=card)
    assert abs(played.mean - table.value(card)) < 4 * played.standard_error
    without = table.value("pair=10 sixes=6")
    assert table.value(card) - without > 20 * played.standard_error


def test_batches_decide_as_advice_does() -> None:
    for name, rolls in ((NAMES[2], 3), (NAMES[7], 2), (NAMES[0], 3)):
        table, random = saving(name, rolls), Random(4)
        cards = [random_card(table, random) for _ in range(300)]
        dice = [random_dice(table, random) for _ in cards]
        rerolls = [random.randint(0, card.rerolls) for card in cards]
        state = ([c.filled for c in cards], [c.upper_subtotal for c in cards], [c.armed for c in cards])
        check_decisions(table, cards, dice, rerolls, decide(table, *state, dice, rerolls))
        most = (rolls - 1) * (cards[0].filled.bit_count() + 1)
        first = [part[:1] for part in state]
        decide(table, *first, dice[:1], [most])
        with pytest.raises(solver.DiceError, match=f"expected 0 to {most}, found {most + 1} at place 0"):
            decide(table, *first, dice[:1], [most + 1])


def test_batches_read_the_files_of_what_they_look_at(tmp_path: Path) -> None:
    solver.library.save(saving(NAMES[2], 3), tmp_path)
    table = solver.load(saving(NAMES[2], 3).ruleset, path=tmp_path)
    cards = [table.card(text) for text in ("pair=10 saved=1", "-", "pair=10 sixes=6 saved=4")]
    dice, rerolls = [(5, 5), (1, 6), (2, 2)], [3, 2, 6]
    state = ([c.filled for c in cards], [c.upper_subtotal for c in cards], [c.armed for c in cards])
    check_decisions(table, cards, dice, rerolls, decide(table, *state, dice, rerolls))


@pytest.mark.parametrize("source", ["optimal", "perturbed", "uniform"])
def test_exports_say_what_advice_says(source: Source) -> None:
    table = saving(NAMES[2], 3)
    found = list(solver.export.positions(table, 400, seed=1, source=source, threads=2))
    assert len(found) == 400
    saved = 0
    for record in found:
        name, text, dice, rerolls = record.position.rsplit(" | ", 3)
        assert name == table.ruleset.name
        card = table.card(text)
        position = Position.of(card, dice, int(rerolls))
        advice = table.advise_position(position)
        assert (record.rerolls, record.total) == (position.rerolls, card.boxes_total)
        values = {
            action_of(table, action): v for action, v in zip(record.actions, record.values, strict=True)
        }
        assert values == {(o.action, o.category or o.dice): o.value for o in advice.options}
        best = advice.best
        assert action_of(table, record.best) == (best.action, best.category or best.dice)
        saved += card.saved
    assert saved > 100
    again = solver.export.positions(table, 400, seed=1, source=source, threads=1)
    assert [record.position for record in again] == [record.position for record in found]


def test_every_decision_of_exported_games_has_the_same_chance() -> None:
    """How often each turn and throw of it is drawn: as often as games come to them."""
    table = saving(NAMES[2], 3)
    played = solver.simulate(table, 20_000, seed=4, record=True)
    assert played.record is not None
    met = np.mean(played.record[..., 0] >= 0, axis=0)
    drawn = np.zeros_like(met)
    for record in solver.export.positions(table, 20_000, seed=2):
        card = table.card(record.position.rsplit(" | ", 3)[1])
        drawn[card.filled.bit_count(), card.rerolls - record.rerolls] += 1
    assert drawn / drawn.sum() == pytest.approx(met / met.sum(), abs=0.012)


def check_decisions(
    table: solver.Table,
    cards: list[Scorecard],
    dice: list[tuple[int, ...]],
    rerolls: list[int],
    found: Decisions,
) -> None:
    for place, (card, thrown, left) in enumerate(zip(cards, dice, rerolls, strict=True)):
        best = table.advise(card, thrown, left).best
        assert action_of(table, int(found.actions[place])) == (best.action, best.category or best.dice)
        assert found.values[place] + card.boxes_total == best.value


# ---------------------------------------------------------------- where it is not offered


def test_what_is_not_offered_is_refused_in_one_line() -> None:
    from solver.dynamic import solve_values
    from solver.lookup import Table

    table = saving(NAMES[0], 2)
    rules = table.ruleset
    plain = solver.solve(NAMES[0])
    attempts = {
        "files of chances": lambda: solver.keep_chances(table),
        "values by state alone": lambda: solve_values(rules),
        "values by state alone ": lambda: table.values,
        "turns by state alone": lambda: table.turn(rules.card()),
        "tables without them": lambda: Table(rules, plain.states, plain.values),
    }
    for what, attempt in attempts.items():
        with pytest.raises(solver.RulesError) as caught:
            attempt()
        expected = f"found rules with saved rolls, for which {what.strip()} are not offered; expected rules"
        assert str(caught.value) == f"{rules.name}: {expected} without save_rolls"


def test_a_game_too_large_is_refused_before_any_work() -> None:
    rules = solver.ruleset(LARGE, {"rolls": 40})
    with pytest.raises(
        solver.RulesError, match=r"found two levels that take 3\d\.\d GB of memory, expected 16 GB"
    ):
        list(solved_levels(states(scoring(rules))))


def test_a_duel_is_refused_by_its_size() -> None:
    rules = solver.ruleset("yacht", {"save_rolls": True})
    with pytest.raises(solver.GoalError) as caught:
        solver.solve_duel(rules)
    found = "found saved rolls, expected a game in which only the filled boxes and the points matter"
    assert found in str(caught.value)
    # Every pair of cards with as many boxes filled, or one more, and every number of rolls saved on each.
    count = [comb(12, level) * (2 * level + 1) for level in range(13)]
    pairs = sum(here * here for here in count) + sum(here * after for here, after in pairwise(count))
    assert f"this one has {pairs:.1e} pairs of states" in str(caught.value)
