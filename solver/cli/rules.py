"""`dicewise rules`: the games, one game in words, and the check of a rules file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from ..errors import RulesError
from ..rules import Ruleset, names, ruleset, settings
from ..rules.validate import SETTINGS_KEYS
from ..rules.wording import written
from . import Fault
from .output import show_json, show_line, show_table

if TYPE_CHECKING:
    from ..rules.describe import Row

_UNSET = {"summary": "", "order": "free", "upper_bonus": [], "colours": [], "yahtzee": False}
"""What a key that the rules do not mention stands for."""

_IN_THE_CARD = ("title", "section")
"""Keys of a box that the card shows by themselves."""


@click.command("rules")
@click.argument("words", nargs=-1, metavar="[NAME|FILE | check FILE...]")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(words: tuple[str, ...], as_json: bool) -> None:
    """List the games, describe one, or check rules files.

    \b
    dicewise rules                    the games with dice, boxes and expected score
    dicewise rules yacht              the card of a game in words, and its keys
    dicewise rules house.toml         the same for your own rules
    dicewise rules check house.toml   whether a file is right, and what is wrong in it

    Expected score: points under optimal play; "-" until the game is solved for the first time.
    """  # noqa: D301
    match words:
        case ():
            _list(as_json)
        case ("check",):
            raise click.UsageError("found no file to check, expected one: dicewise rules check house.toml")
        case ("check", *files):
            if as_json:
                raise click.UsageError("check prints one line a file, without --json")
            _check(files)
        case (name,):
            _describe(ruleset(name), settings(name), as_json)
        case _:
            raise click.UsageError(f"found {' '.join(words)!r}, expected one game or file")


def _list(as_json: bool) -> None:
    games = [_summary(ruleset(name)) for name in names()]
    if as_json:
        show_json(games)
        return
    rows = [
        (
            game["rules"],
            str(game["dice"]),
            str(game["boxes"]),
            _score(game["expected_score"]),
            game["summary"] or game["title"],
        )
        for game in games
    ]
    show_table(rows, ("Name", "Dice", "Boxes", "Expected score", "Rules"), right=(1, 2, 3))


def _summary(rules: Ruleset) -> dict[str, Any]:
    from ..library import expected_score

    return {
        "rules": rules.name,
        "title": rules.title,
        "summary": rules.summary,
        "dice": rules.dice,
        "rolls": rules.rolls,
        "boxes": len(rules.categories),
        "expected_score": expected_score(rules),
    }


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.10f}"


def _check(files: list[str]) -> None:
    """Print a line for each file; end with exit code 2 if one of them is wrong."""
    wrong = False
    for file in files:
        try:
            rules = ruleset(file)
        except RulesError as error:
            Fault(str(error)).show()
            wrong = True
        else:
            facts = f"{rules.dice} dice, {rules.rolls} rolls, {len(rules.keys)} boxes"
            click.echo(f"{file}: OK, {rules.title}: {facts}")
    if wrong:
        click.get_current_context().exit(Fault.exit_code)


def _describe(rules: Ruleset, given: dict[str, Any], as_json: bool) -> None:
    from dataclasses import asdict

    from ..rules.describe import describe

    words, summary = describe(rules), _summary(rules)
    if as_json:
        facts = [asdict(fact) for fact in words.facts]
        show_json({**summary, "facts": facts, "card": [asdict(row) for row in words.rows], "settings": given})
        return
    show_line(words.title + (f": {words.summary}" if words.summary else ""), style="bold")
    facts_and_score = [(fact.label, fact.text) for fact in words.facts]
    facts_and_score.append(("Expected score", _score(summary["expected_score"])))
    show_table(facts_and_score, indent=2, widest=90)
    show_line()
    header = ("Box", "Key", "Needs", "Scores") + (("Joker",) if any(row.joker for row in words.rows) else ())
    show_table(list(_card(words.rows)), header, right=(4,), whole=(0, 1), indent=2)
    show_line()
    show_line("Keys, for a rules file and for --set KEY=VALUE", style="bold")
    show_table(list(_keys(given)), indent=2)
    tier = "; upper_bonus has .at and .points" if len(given.get("upper_bonus", [])) == 1 else ""
    show_line(f"  Each box also has .title and .section: categories.KEY.title{tier}", style="dim")


def _card(boxes: Iterable[Row]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the card, with a line where a section begins."""
    section = ""
    for box in boxes:
        if box.section != section:
            section = box.section
            yield (f"{section.capitalize()} section",)
        yield (f"  {box.title}", box.key, box.needs, box.scores, *([box.joker] if box.joker else ()))


def _keys(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each dotted key with its value as a rules file writes it."""
    for key in SETTINGS_KEYS:
        value = given.get(key, _UNSET.get(key))
        if key == "yahtzee" and isinstance(value, dict):
            yield from ((f"{key}.{part}", written(value[part])) for part in value)
        elif key == "categories" and isinstance(value, dict):
            for box, table in value.items():
                for part in table:
                    if part not in _IN_THE_CARD:
                        yield f"{key}.{box}.{part}", written(table[part])
        else:
            yield key, written(value)
