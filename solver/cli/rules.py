"""`dicewise rules`: the games, one game in words, the check of a rules file, and the start of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import RulesError
from ..rules import Ruleset, build, names, ruleset, settings
from ..rules.validate import SETTINGS_KEYS
from ..rules.wording import written
from . import PROGRAM, Fault
from .choice import PLACE
from .output import show_json, show_line, show_table

if TYPE_CHECKING:
    from ..rules.describe import Row

_DEFAULT = f"[default: {names()[0]}]"
_UNSET = {
    "summary": "",
    "save_rolls": False,
    "order": "free",
    "upper_bonus": [],
    "colours": [],
    "yahtzee": False,
}
"""What a key that the rules do not mention stands for."""

_IN_THE_CARD = ("title", "section")
"""Keys of a box that the card shows by themselves."""


@click.command("rules")
@click.argument("words", nargs=-1, metavar="[NAME|FILE | check FILE... | new NAME]")
@click.option("--from", "origin", metavar="NAME|FILE", help=f"The game that `new` starts from.  {_DEFAULT}")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=PLACE,
    help="The file that `new` writes.  [default: NAME.toml]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(words: tuple[str, ...], origin: str | None, output: Path | None, as_json: bool) -> None:
    """List the games, describe one, check rules files, or start a file of your own.

    \b
    dicewise rules                    the games with dice, boxes and expected score
    dicewise rules yacht              the card of a game in words, and its keys
    dicewise rules house.toml         the same for your own rules
    dicewise rules check house.toml   whether a file is right, what is wrong in it, and what is odd
    dicewise rules new house          house.toml: all rules of a game, explained, for you to change

    Expected score: points under optimal play; "-" until the game is solved for the first time.
    """  # noqa: D301
    if words[:1] != ("new",) and (origin is not None or output):
        raise click.UsageError("--from and --output go with new: dicewise rules new house --from yacht")
    match words:
        case ():
            _list(as_json)
        case ("new", name):
            _start(name, names()[0] if origin is None else origin, output, as_json)
        case ("new", *_):
            raise click.UsageError("expected one name for the game: dicewise rules new house --from yacht")
        case ("check",):
            raise click.UsageError("found no file to check, expected one: dicewise rules check house.toml")
        case ("check", *files):
            _check(files, as_json)
        case (name,):
            _describe(ruleset(name), settings(name), as_json)
        case _:
            raise click.UsageError(f"found {' '.join(words)!r}, expected one game or file")


def _list(as_json: bool) -> None:
    from ..service.rulebook import overview

    games = [overview(ruleset(name)) for name in names()]
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


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.10f}"


def _check(files: Iterable[str], as_json: bool) -> None:
    """Say of each file what is wrong or odd in it; end with exit code 2 if one of them is wrong."""
    from ..oddities import oddities
    from ..service.rulebook import size

    found: list[dict[str, Any]] = []
    for file in files:
        try:
            rules = ruleset(file)
        except RulesError as error:
            Fault(str(error)).show()
            found.append({"file": file, "ok": False, "error": str(error)})
            continue
        odd = oddities(rules)
        warnings = [{"key": one.key, "text": one.text} for one in odd]
        found.append({"file": file, "ok": True, **size(rules), "warnings": warnings})
        if not as_json:
            facts = f"{rules.dice} dice, {rules.rolls} rolls, {len(rules.keys)} boxes"
            click.echo(f"{file}: OK, {rules.title}: {facts}")
            for one in odd:
                click.echo(f"{PROGRAM}: warning: {file}: {one.key}: {one.text}", err=True)
    if as_json:
        show_json(found)
    if not all(one["ok"] for one in found):
        click.get_current_context().exit(Fault.exit_code)


def _start(name: str, origin: str, output: Path | None, as_json: bool) -> None:
    """Write a rules file with all rules of the game `origin` under another name."""
    from ..files import replace
    from ..rules.starter import starter
    from ..service.rulebook import size

    stem = name.removesuffix(".toml")
    if not stem.strip() or os.path.basename(stem) != stem or stem in names():
        expected = "a name of your own, such as house; --output says where the file goes"
        raise Fault(f"rules new: found {name!r}, expected {expected}")
    path = output or Path(f"{stem}.toml")
    if os.path.lexists(path):
        raise Fault(f"{str(path)!r}: found something there already, expected nothing; it is left as it was")
    given = settings(origin)
    rules = build({**given, "title": stem}, origin)
    text = starter(given, rules.title, origin)
    replace(path, text.encode())
    if as_json:
        show_json({"file": str(path), "from": origin, **size(rules)})
    else:
        click.echo(f"{path}: {rules.title}, with the rules of {origin} to change")


def _describe(rules: Ruleset, given: dict[str, Any], as_json: bool) -> None:
    from ..rules.describe import describe
    from ..service.rulebook import in_words

    words, data = describe(rules), in_words(rules)
    if as_json:
        show_json({**data, "settings": given})
        return
    show_line(words.title + (f": {words.summary}" if words.summary else ""), style="bold")
    facts_and_score = [(fact.label, fact.text) for fact in words.facts]
    facts_and_score.append(("Expected score", _score(data["expected_score"])))
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
