"""A rules file to start from: valid as written, the same game, and every key explained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from games import TINY

from solver.rules import names, ruleset, settings
from solver.rules.load import FILE_KEYS
from solver.rules.starter import starter
from solver.rules.validate import CATEGORY_KEYS, PATTERN_KEYS, POINTS_KEYS, TIER_KEYS, YAHTZEE_KEYS

CHANGED = "yahtzee[upper_bonus=[],rolls=4,categories.chance=false,colours=[[1,2],[3,4,5,6]]]"
QUOTES = "yatzy[categories.chance.title='\"Any\" \\ [x]']"


@pytest.mark.parametrize("name", [*names(), *map(str, TINY), CHANGED, QUOTES], ids=lambda name: name[-20:])
def test_as_written_it_is_the_game_it_starts_from(name: str, tmp_path: Path) -> None:
    game = ruleset(name)
    (tmp_path / "new.toml").write_text(starter(settings(name), 'Our "own" game', name), "utf-8")
    made = ruleset(tmp_path / "new.toml")
    assert made.title == 'Our "own" game'
    assert replace(made, name=game.name, title=game.title, source=game.source) == game


@pytest.mark.parametrize("name", ["yahtzee", "kniffel"])
def test_every_key_is_in_a_comment_or_under_one(name: str) -> None:
    text = starter(settings(name), "New", name)
    comments = [line for line in text.splitlines() if line.startswith("#")]
    said = " ".join(comments)
    keys = (*FILE_KEYS, *CATEGORY_KEYS, *PATTERN_KEYS, *POINTS_KEYS, *TIER_KEYS, *YAHTZEE_KEYS)
    plain = ("title", "summary", "dice", "rolls", "save_rolls", "order", "upper_bonus", "colours")
    assert [key for key in keys if key not in plain and key not in said] == []
    for key in plain:
        before = text[: text.index(f"\n{key} = ")].splitlines()[-1]
        assert before.startswith("# ")
    assert max(map(len, text.splitlines())) <= 114
