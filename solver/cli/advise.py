"""`dicewise advise`: the best move and what the others lose."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click

from ..errors import GoalError, PositionError, RulesError, shown
from ..rules import Ruleset, names
from .choice import FOLDER, chosen_rules, set_option
from .goal import Chosen, goal_json, goal_options, show_goal, solved
from .output import counted, number, progress_bar, show_json, show_line, show_table

if TYPE_CHECKING:
    from ..explanation import Explanation
    from ..lookup import Advice, Option, Table
    from ..scorecard import Position

_TOP = 10
_EXPLAINED = 3


@click.command("advise")
@click.argument("dice", nargs=-1, metavar="[DICE]...")
@click.option(
    "--rules", "name", metavar="NAME|FILE", help=f"The game or a rules file.  [default: {names()[0]}]"
)
@click.option(
    "--rerolls",
    type=int,
    metavar="N",
    help="Rerolls left, those saved among them.  [default: as after the first roll]",
)
@click.option(
    "--card",
    metavar="TEXT",
    help='The boxes filled so far, such as "ones=3 sixes=24".  [default: an empty card]',
)
@click.option("--position", metavar="TEXT", help='All of it in one text: "rules | card | dice | rerolls".')
@set_option
@goal_options
@click.option(
    "--duel",
    metavar="CARD",
    help="Win against the player with this card, who plays for the win too; once `dicewise duel` has run.",
)
@click.option(
    "--folder",
    type=FOLDER,
    metavar="DIR",
    help="As given to `dicewise duel`; for --duel.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"How many moves to show.  [default: {_TOP}, with --json all]",
)
@click.option(
    "--explain",
    type=click.IntRange(min=1),
    is_flag=False,
    flag_value=_EXPLAINED,
    metavar="[N]",
    help=f"Say how the turn ends after each of the N best moves, {_EXPLAINED} unless given. Put it last, or "
    "write --explain=N.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    dice: tuple[str, ...],
    name: str | None,
    rerolls: int | None,
    card: str | None,
    position: str | None,
    changes: tuple[str, ...],
    chosen: Chosen,
    duel: str | None,
    folder: Path | None,
    top: int | None,
    explain: int | None,
    as_json: bool,
) -> None:
    """Name the best move for the DICE on the table.

    Value: the expected final score after the move, in points, those on the card included.
    Loss: how many points the move gives away against the best one.

    \b
    dicewise advise 1 3 3 4 6
    dicewise advise 13346 --rules yacht --rerolls 1 --card "ones=3 choice=22"
    dicewise advise 5 5 5 5 5 --rerolls 0 --card "fives=25 yahtzee=50 bonuses=1"
    dicewise advise --position "yatzy | one_pair=12 | 1 2 2 5 6 | 2"
    dicewise advise 1 3 3 4 6 --explain
    dicewise advise 6 6 5 5 5 --card "ones=3 yahtzee=50" --goal 300
    dicewise advise 12345 --rules yacht --card "ones=3" --against "sixes=18"
    dicewise advise 12345 --rules yacht --card "ones=3" --duel "sixes=18"

    A card names each filled box by its key with its points, and with "bonuses" how many bonuses for
    further Yahtzees were scored; where rules save rolls, "saved" counts those of earlier turns.
    `dicewise rules NAME` lists the keys. A game that has no table yet
    is solved first, and its table kept for next time.
    """  # noqa: D301
    if position is None:
        if not dice and explain:
            raise click.UsageError("found no dice; --explain takes a number after it as its own: put it last")
        where = _position_of_parts(dice, name, rerolls, card, changes)
    else:
        if dice or changes or any(given is not None for given in (name, rerolls, card)):
            raise click.UsageError(
                "--position says it all: no DICE, --rules, --rerolls, --card or --set beside it"
            )
        where = _position(position)
    if folder is not None and duel is None:
        raise click.UsageError("--folder goes with --duel, whose files are in it")
    if duel is not None:
        if chosen.given:
            raise GoalError("goal: found --duel and another one, expected one of them")
        if explain:
            raise click.UsageError("--explain follows the expected score: expected no --duel beside it")
        from .duel import show_duel

        show_duel(where, duel, folder, top, as_json, in_words)
        return
    if chosen.given:
        if explain:
            raise click.UsageError("--explain follows the expected score: expected no goal beside it")
        played = solved(chosen, where.card.ruleset, where.card, exact=False)
        advice = played.advise_position(where)
        if as_json:
            show_json(advice.as_dict(top) | goal_json(chosen, played))
            return
        show_goal(played, advice, _TOP if top is None else top, in_words)
        show_line(f"\nPosition: {where}", style="dim")
        return
    table = _table(where.card.ruleset)
    advice = table.advise_position(where)
    found = _explained(table, advice, explain) if explain else ()
    if as_json:
        answer = advice.as_dict(top)
        if explain:
            answer["boxes_total"] = where.card.boxes_total
            answer["explanations"] = [one.as_dict() for one in found]
        show_json(answer)
        return
    _show(advice, _TOP if top is None else top)
    if found:
        from .explain import show_explanations

        show_explanations(found, where.card.ruleset, where.card.boxes_total)
    show_line(f"\nPosition: {where}", style="dim")


def _position(text: str) -> Position:
    """Read a position; where its rules are not found, say if it may have a part too many."""
    from ..scorecard import Position

    try:
        return Position.parse(text)
    except RulesError as error:
        name, bars = text.rsplit("|", 3)[0].strip(), text.count("|")
        # The name of a file, and changes in brackets, may hold bars of their own.
        if bars <= 3 or os.path.exists(name) or name.endswith((".toml", "]")):
            raise
        expected = "four parts: 'rules | card | dice | rerolls'"
        raise PositionError(f"position {shown(text)}: found {bars + 1} parts, expected {expected}") from error


def _position_of_parts(
    dice: tuple[str, ...], name: str | None, rerolls: int | None, card: str | None, changes: tuple[str, ...]
) -> Position:
    if not dice:
        raise click.UsageError("found no dice, expected those on the table: dicewise advise 1 3 3 4 6")
    if box := next((text for text in dice if "=" in text), None):
        raise click.UsageError(f'found {box!r} among the dice; quote a whole card: --card "ones=3 {box}"')
    from ..scorecard import Position, Scorecard

    rules = chosen_rules(name, changes)
    return Position.of(Scorecard.parse(rules, card or ""), " ".join(dice), rerolls)


def _table(rules: Ruleset) -> Table:
    """Open the table, or solve the game and say so."""
    from .. import folders, library
    from ..saving_table import SavingTable

    found: Table | None = library.get(rules)
    if found is not None:
        return found
    started = perf_counter()
    with progress_bar(f"Solving {rules.name}, once", left=rules.saves) as progress:
        table = library.load(rules, progress=progress)
    # Only a table that came from a file brings its root value along; with saved rolls it names its folder.
    lasts = table.folder if isinstance(table, SavingTable) else table.root
    kept = f"the table is kept for next time in {folders.cache_folder()}"
    lost = f"the table could not be kept in {folders.cache_folder()}"
    seconds = perf_counter() - started
    click.echo(f"Solved {rules.name} in {seconds:.1f} s; {lost if lasts is None else kept}.", err=True)
    return table


def _explained(table: Table, advice: Advice, top: int) -> tuple[Explanation, ...]:
    """Explain the best moves; only this needs the compiler."""
    with progress_bar("Following the dice"):
        from ..explanation import explain

        return explain(table, advice, top)


def _show(advice: Advice, top: int) -> None:
    rules, saved = advice.position.card.ruleset, advice.position.card.saved
    best, others = advice.best, advice.options[1:]
    show_line(f"{in_words(best, rules, saved)}: expected final score {best.value:.2f}", style="bold")
    shown = others[: top - 1]
    if shown:
        show_line()
        rows = [
            (in_words(option, rules, saved), f"{option.value:.2f}", _loss(option.loss)) for option in shown
        ]
        show_table(rows, ("Otherwise", "Value", "Loss"), right=(1, 2), indent=2)
    if not others:
        show_line("Nothing else is allowed.")
    elif more := len(others) - len(shown):
        show_line(f"{'' if shown else chr(10)}  {more} more; --top {len(others) + 1} shows all.", style="dim")


def in_words(option: Option, rules: Ruleset, saved: int = 0) -> str:
    """Return a move as one says it: "Keep 3 3, reroll three dice", "Fill Threes for 6 points".

    `saved` is how many rolls had been saved before this turn.
    """
    if option.action == "keep":
        rest = rules.dice - len(option.dice)
        if option.dice:
            return f"Keep {' '.join(map(str, option.dice))}, reroll {counted(rest, 'die', 'dice')}"
        return "Reroll the die" if rest == 1 else f"Reroll all {number(rest)} dice"
    title = next(box.title for box in rules.categories if box.key == option.category)
    points = "1 point" if option.points == 1 else f"{option.points} points"
    fill = f"Fill {title} for {points}" + (f" and a bonus of {option.bonus}" if option.bonus else "")
    if not option.saved:
        return fill
    if option.saved > saved:
        return f"{fill}, saving {counted(option.saved - saved, 'roll', 'rolls')}"
    return f"{fill}, with {counted(option.saved, 'saved roll', 'saved rolls')} left"


def _loss(loss: float) -> str:
    return "<0.01" if 0 < loss < 0.005 else f"{loss:.2f}"
