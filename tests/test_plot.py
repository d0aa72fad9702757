"""Pictures of distributions: their formats, what is written in them, and what is refused."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from games import solved

from solver import plot
from solver.distributions import Distribution, distribution
from solver.errors import PlotError, TableError
from solver.simulation import simulate

PNG, SVG = b"\x89PNG\r\n\x1a\n", b"<?xml"


@pytest.fixture(scope="module")
def scores() -> Distribution:
    return distribution(solved("yacht"))


def words(path: Path) -> str:
    """What is written in an SVG: each text stands in a comment before its outlines."""
    return path.read_text("utf-8")


def test_kinds_of_files(scores: Distribution, tmp_path: Path) -> None:
    for name, start in (("a.png", PNG), ("b.svg", SVG), ("c.PNG", PNG)):
        plot.histogram(scores, tmp_path / name)
        plot.overlay([scores], tmp_path / f"over-{name}")
        for path in (tmp_path / name, tmp_path / f"over-{name}"):
            assert path.read_bytes().startswith(start)
    width, height = struct.unpack(">II", (tmp_path / "a.png").read_bytes()[16:24])
    assert (width, height) == (1200, 675)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".PNG"] * 2 + [".png"] * 2 + [".svg"] * 2


def test_a_picture_says_what_it_shows(scores: Distribution, tmp_path: Path) -> None:
    plot.histogram(scores, tmp_path / "a.svg")
    text = words(tmp_path / "a.svg")
    for part in (
        "Final scores under optimal play: yacht",
        "mean 166.96",
        "median 167",
        "standard deviation 34.98",
        "Final score (points; 0.0",
        "Probability per 5 points (%)",
    ):
        assert f"<!-- {part}" in text


def test_an_overlay_has_a_legend(scores: Distribution, tmp_path: Path) -> None:
    other = distribution(solved("yacht-sum"))
    plot.overlay([scores, other], tmp_path / "a.svg")
    text = words(tmp_path / "a.svg")
    assert "<!-- yacht, mean 166.96 -->" in text
    assert "<!-- yacht-sum, mean 169.77 -->" in text
    assert "<!-- Final score (points) -->" in text
    plot.overlay([scores, other], tmp_path / "b.svg", labels=["_one", "$two_2$ & {3"])
    assert "<!--  _one, mean 166.96 -->" in words(tmp_path / "b.svg")
    assert "<!-- $two_2$ &amp; {3, mean 169.77 -->" in words(tmp_path / "b.svg")
    with pytest.raises(ValueError, match="found 2 distributions and 1 labels"):
        plot.overlay([scores, other], tmp_path / "c.svg", labels=["one"])
    with pytest.raises(ValueError, match="found 0 distributions"):
        plot.overlay([], tmp_path / "c.svg")


def test_many_games_differ_in_colour_or_dashes(
    scores: Distribution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(plot, "_write", lambda figure, path: drawn.append(figure))
    plot.overlay([scores] * 24, tmp_path / "a.png")
    lines = drawn[0].axes[0].lines
    assert len({(line.get_color(), str(line._unscaled_dash_pattern)) for line in lines}) == 24
    assert len(drawn[0].legends[0].get_texts()) == 24
    few = [(line.get_color(), str(line._unscaled_dash_pattern)) for line in lines[:4]]
    assert len({colour for colour, _ in few}) == len({dashes for _, dashes in few}) == 4


def test_the_bars_are_the_distribution(
    scores: Distribution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(plot, "_write", lambda figure, path: drawn.append(figure))
    plot.histogram(scores, tmp_path / "a.png")
    axes = drawn[0].axes[0]
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(100, abs=1e-9)
    at = next(bar for bar in axes.patches if bar.get_x() == 165)
    chance = sum(scores.probability(score) for score in range(165, 170))
    assert (at.get_width(), at.get_height()) == (5, pytest.approx(100 * chance, abs=1e-12))
    left, right = axes.get_xlim()
    inside = scores.probabilities[(scores.scores >= left) & (scores.scores < right)].sum()
    assert 0.999 <= inside < 1
    plot.overlay([scores], tmp_path / "a.png")
    (line,) = drawn[1].axes[0].lines
    assert np.sum(line.get_ydata()) == pytest.approx(100, abs=1e-9)


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_the_same_picture_is_the_same_file(
    scores: Distribution, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib

    plot.histogram(scores, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    monkeypatch.setitem(matplotlib.rcParams, "axes.facecolor", "black")
    monkeypatch.setitem(matplotlib.rcParams, "font.size", 30.0)
    plot.histogram(scores, tmp_path / name)
    assert (tmp_path / name).read_bytes() == first
    assert matplotlib.rcParams["font.size"] == 30.0
    assert b"<dc:date>" not in first


def test_cards_single_scores_and_simulated_games(tmp_path: Path) -> None:
    table = solved("yacht")
    plot.histogram(distribution(table, "ones=3 twos=6 yacht=50"), tmp_path / "a.svg")
    assert "<!-- from ones=3 twos=6 yacht=50 -->" in words(tmp_path / "a.svg")
    filled = " ".join(f"{key}=0" for key in table.ruleset.keys if key != "choice") + " choice=7"
    plot.histogram(distribution(table, filled), tmp_path / "b.svg")
    assert "<!-- mean 7.00 -->" in words(tmp_path / "b.svg")
    plot.histogram(simulate(table, 100, seed=3).distribution, tmp_path / "c.png")
    plot.overlay([distribution(table, filled)], tmp_path / "d.png")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("a.pdf", "found the ending '.pdf', expected .png or .svg"),
        ("a", "found no ending, expected .png or .svg"),
        ("png", "found no ending, expected .png or .svg"),
    ],
)
def test_other_endings_are_refused(scores: Distribution, tmp_path: Path, name: str, fault: str) -> None:
    for draw in (
        lambda: plot.check(name),
        lambda: plot.histogram(scores, name),
        lambda: plot.overlay([scores], name),
    ):
        with pytest.raises(PlotError) as caught:
            draw()
        assert str(caught.value) == f"plot {name!r}: {fault}"


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PlotError) as caught:
        plot.check("a.png")
    assert str(caught.value) == (
        'plots need matplotlib, which is not installed: python3 -m pip install "dicewise[plot]"'
    )


def test_a_picture_is_written_whole_or_not_at_all(
    scores: Distribution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.png").write_bytes(b"before")
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space")))
    with pytest.raises(TableError, match="cannot be written: No space"):
        plot.histogram(scores, tmp_path / "a.png")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.png", b"before")]
