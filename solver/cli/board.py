"""A game as people see it in a terminal: the cards side by side, and moves in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rules import Ruleset
from .output import counted, show_line, show_table

if TYPE_CHECKING:
    from ..game import Game
    from ..lookup import Table
    from ..scorecard import Scorecard
    from ..situations import Choice, Move

HUMAN = "human"
_SHOWN = 0.005
"""The least loss that is not 0.00."""


def seat_names(game: Game) -> list[str]:
    """Return what to call each seat: its player, with a number where several are alike."""
    players = list(game.players or [HUMAN] * game.seats)
    names = ["you" if name == HUMAN else name for name in players]
    return [
        f"{name} {names[: seat + 1].count(name)}" if names.count(name) > 1 else name
        for seat, name in enumerate(names)
    ]


def show_cards(game: Game, *, choices: bool = False) -> None:
    """Print the card of every seat, a column each, and what the dice would score now if asked."""
    rules = game.ruleset
    now = {choice.category: choice for choice in game.fills} if choices else {}
    header = ["", "Box", *seat_names(game), *(["now"] if now else [])]
    rows = []
    for number, category in enumerate(rules.categories):
        row = [str(number + 1), category.title]
        for card in game.cards:
            points = card.points[number]
            row.append("" if points is None else str(points))
        if now:
            choice = now.get(category.key)
            row.append("" if choice is None else _scored(choice))
        rows.append(row)
    if rules.upper_bonus:
        rows.append(["", "Upper bonus", *(_upper(card, rules) for card in game.cards)])
    if rules.yahtzee and rules.yahtzee.bonus:
        rows.append(
            ["", f"Bonuses of {rules.yahtzee.bonus}", *(str(card.bonus_points) for card in game.cards)]
        )
    if rules.saves:
        rows.append(["", "Saved rolls", *(str(card.saved) for card in game.cards)])
    rows.append(["", "Total", *map(str, game.totals)])
    show_table(rows, header, right=(0, *range(2, len(header))), whole=(0, 1), indent=2)


def _scored(choice: Choice) -> str:
    return str(choice.points) + (f"+{choice.bonus}" if choice.bonus else "")


def _upper(card: Scorecard, rules: Ruleset) -> str:
    """Return the bonus, or how much there is for it."""
    return (
        str(card.upper_bonus) if card.upper_bonus else f"{card.upper_subtotal} of {rules.upper_bonus[0].at}"
    )


def title_of(rules: Ruleset, key: str | None) -> str:
    """Return the title of a box."""
    return next(category.title for category in rules.categories if category.key == key)


def in_words(rules: Ruleset, move: Move, choice: Choice | None) -> str:
    """Return a move in a few words: "keeps 3 3", "Threes for 9"."""
    if move.action == "keep":
        return f"keep {' '.join(map(str, move.dice))}" if move.dice else "keep nothing"
    points = "" if choice is None else f" for {_scored(choice)}"
    return f"{title_of(rules, move.category)}{points}"


def show_end(game: Game) -> None:
    """Print the final cards and who has won."""
    show_cards(game)
    names = seat_names(game)
    show_line()
    if not game.winners:
        show_line("The game is not over.")
    elif game.seats == 1:
        show_line(f"The game is over with {game.totals[0]} points.", style="bold")
    else:
        winners = [names[seat] for seat in game.winners]
        points = max(game.totals)
        verb = "tie" if len(winners) > 1 else ("win" if winners == ["you"] else "wins")
        subject = " and ".join(winners)
        show_line(f"{subject[0].upper()}{subject[1:]} {verb} with {points} points.", style="bold")


def show_losses(game: Game, table: Table) -> None:
    """Print what each decision of a person gave away, and the sum."""
    from ..players import loss_of

    rules, names = game.ruleset, seat_names(game)
    for seat, player in enumerate(game.players or [HUMAN] * game.seats):
        made = [decision for decision in game.decisions if decision.seat == seat]
        if player != HUMAN or not made:
            continue
        rows, losses = [], []
        for decision in made:
            loss, best = loss_of(table, decision)
            losses.append(loss)
            position = decision.position
            rows.append(
                (
                    str(position.card.filled.bit_count() + 1),
                    " ".join(map(str, position.dice)),
                    in_words(rules, decision.move, None),
                    f"{loss:.2f}",
                    in_words(rules, best, None) if loss >= _SHOWN else "",
                )
            )
        show_line(f"\nWhat each decision of {names[seat]} gave away, in points", style="bold")
        show_table(rows, ("Turn", "Dice", "Played", "Loss", "Better"), right=(0, 3), indent=2)
        perfect = sum(loss < _SHOWN for loss in losses)
        said = counted(len(made), "decision", "decisions")
        show_line(f"  {said}, {perfect} without loss; in all {sum(losses):.2f} points.")
