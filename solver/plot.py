"""Distributions as pictures, in PNG or SVG by the ending of the file; needs matplotlib, an extra.

Drawn for print and screen alike: the colours are those of Okabe and Ito, which people with any kind of
colour vision tell apart, and lines also differ in their dashes. The same picture is the same file:
nothing in it depends on the time, or on the settings that someone has made for matplotlib.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .chances import Curve
from .distributions import Distribution
from .errors import ArgumentError, PlotError
from .files import quoted, replace
from .plan import Floats, Ints
from .rules.wording import listed
from .summary import bin_width, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg")

_BLUE, _ORANGE, _GREEN, _PURPLE, _SKY, _RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
_COLOURS = (_BLUE, _RED, _GREEN, _PURPLE, _ORANGE, _SKY)
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.2, 1.2, 1.2)))
_INK, _GRID = "#333333", "#DDDDDD"
_SIZE = (8.0, 4.5)
"""Width and height in inches."""
_DOTS = 150
"""Dots an inch in a PNG."""
_BARS, _POINTS = 80, 60
"""At most so many bars in a histogram, points on a line of an overlay."""
_HEADROOM = 1.08
_LONGEST = 60
"""Characters of a name or card in a picture; the rest is left out."""
_MOST_INSIDE = 6
"""With more lines the legend goes below the picture, which grows by the height of its lines."""
_LINE = 0.24
"""Height in inches."""
_SHOWN = 1e-4
"""Least chance of a score that is shown on a line of chances."""
_TITLE = "Final scores under optimal play"


def check(path: str | os.PathLike[str]) -> None:
    """Make sure that a plot can be drawn for this path, before the work is done.

    Raises
    ------
    PlotError
        If the ending is none of `ENDINGS`, or matplotlib is not installed.
    """
    _kind(path)
    _library()


def histogram(scores: Distribution, path: str | os.PathLike[str]) -> None:
    """Write a histogram of the final score to a file, with its mean and median marked.

    Parameters
    ----------
    scores
        The distribution, exact or simulated.
    path
        The file, in the format of its ending; one that is there is replaced.

    Raises
    ------
    PlotError
        If the ending is none of `ENDINGS`, or matplotlib is not installed.
    TableError
        If the file cannot be written.
    """
    check(path)
    low, high = span(scores)
    width = bin_width(low, high, _BARS)
    starts, heights = _binned(scores, width)
    with _style():
        figure, axes = _drawing(f"{_TITLE}: {_of(scores)}", _per(width))
        axes.bar(starts, heights, width, align="edge", color=_SKY, edgecolor="white", linewidth=0.6)
        axes.axvline(scores.mean, color=_INK, linewidth=1.8, label=f"mean {scores.mean:.2f}")
        median = scores.quantile(0.5)
        axes.axvline(median, color=_RED, linewidth=1.8, linestyle="--", label=f"median {median}")
        axes.set_ylim(0, heights.max() * _HEADROOM)
        _limit(axes, [scores], low, high, width)
        axes.legend(title=f"standard deviation {scores.standard_deviation:.2f}", alignment="left")
        _write(figure, path)


def overlay(
    spread: Sequence[Distribution], path: str | os.PathLike[str], labels: Sequence[str] | None = None
) -> None:
    """Write the distributions of several games, one over the other, to a file.

    Parameters
    ----------
    spread
        The distributions, such as those of a comparison.
    path
        The file, in the format of its ending; one that is there is replaced.
    labels
        What the legend calls each; the name of its rules unless given.

    Raises
    ------
    PlotError
        If the ending is none of `ENDINGS`, or matplotlib is not installed.
    TableError
        If the file cannot be written.
    ArgumentError
        For no distributions, or another number of labels.
    """
    names = [scores.table.ruleset.name for scores in spread] if labels is None else labels
    if not spread or len(names) != len(spread):
        raise ArgumentError(
            f"found {len(spread)} distributions and {len(names)} labels, expected one for each"
        )
    check(path)
    spans = [span(scores) for scores in spread]
    low, high = min(low for low, _ in spans), max(high for _, high in spans)
    width = bin_width(low, high, _POINTS)
    with _style():
        figure, axes = _drawing(_TITLE, _per(width))
        tops = []
        for place, (scores, name) in enumerate(zip(spread, names, strict=True)):
            starts, heights = _binned(scores, width)
            colour = _COLOURS[place % len(_COLOURS)]
            dashes = _DASHES[(place + place // len(_COLOURS)) % len(_DASHES)]
            middles = np.concatenate([starts[:1] - width, starts, starts[-1:] + width]) + width / 2
            # A label that begins with an underscore would be left out of the legend.
            text = f"{' ' * name.startswith('_')}{_short(name)}, mean {scores.mean:.2f}"
            axes.plot(middles, np.pad(heights, 1), color=colour, linewidth=2, linestyle=dashes, label=text)
            tops.append(heights.max())
        axes.set_ylim(0, max(tops) * _HEADROOM)
        _limit(axes, spread, low, high, width)
        if len(spread) <= _MOST_INSIDE:
            axes.legend()
        else:
            figure.set_figheight(_SIZE[1] + _LINE * len(spread) / 2)
            figure.legend(loc="outside lower center", ncols=2)
        _write(figure, path)


def chances(best: Curve, usual: Distribution, path: str | os.PathLike[str]) -> None:
    """Write the greatest chance of each final score to a file, beside that under play for points.

    Parameters
    ----------
    best
        The greatest chances.
    usual
        The distribution under the strategy for the expected score, from the same card.
    path
        The file, in the format of its ending; one that is there is replaced.

    Raises
    ------
    PlotError
        If the ending is none of `ENDINGS`, or matplotlib is not installed.
    TableError
        If the file cannot be written.
    """
    check(path)
    low, high = int(best.scores[0]), int(best.scores[np.flatnonzero(best.chances >= _SHOWN)[-1]]) + 1
    inside = best.scores <= high
    scores = best.scores[inside]
    at_least = [usual.at_least(score) for score in scores.tolist()]
    lines = (
        ("for this very score", best.chances[inside], _BLUE, _DASHES[0]),
        ("for points", np.array(at_least), _RED, _DASHES[1]),
    )
    with _style():
        figure, axes = _drawing(f"Chance of a final score or more: {_of(usual)}", "Probability (%)")
        for name, heights, colour, dashes in lines:
            text = f"playing {name}"
            axes.plot(scores, 100 * heights, color=colour, linewidth=2, linestyle=dashes, label=text)
        axes.set_ylim(0, 100 * _HEADROOM)
        axes.set_xlim(low, high)
        axes.set_xlabel("Final score (points)")
        axes.legend()
        _write(figure, path)


def _kind(path: str | os.PathLike[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        found = f"the ending {quoted(ending)}" if ending else "no ending"
        raise PlotError(f"plot {quoted(path)}: found {found}, expected {listed(ENDINGS, 'or')}")
    return ending[1:]


def _library() -> Any:
    try:
        import matplotlib
    except ImportError:
        advice = 'python3 -m pip install "dicewise[plot]"'
        raise PlotError(f"plots need matplotlib, which is not installed: {advice}") from None
    return matplotlib


def _style() -> Any:
    """Return the settings to draw with, whatever those of this user are."""
    from matplotlib import style

    own = {
        "axes.axisbelow": True,
        "axes.edgecolor": _INK,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "axes.labelcolor": _INK,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "font.size": 10.5,
        "grid.color": _GRID,
        "grid.linewidth": 0.8,
        "legend.edgecolor": "none",
        "legend.framealpha": 1.0,
        "svg.hashsalt": "dicewise",
        "text.color": _INK,
        "text.parse_math": False,
        "xtick.color": _INK,
        "ytick.color": _INK,
    }
    return style.context(own, after_reset=True)


def _drawing(title: str, upright: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, dpi=_DOTS, layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left", fontweight="bold")
    axes.set_ylabel(upright)
    return figure, axes


def _per(width: int) -> str:
    """Return what a bar's height is."""
    points = "point" if width == 1 else f"{width} points"
    return f"Probability per {points} (%)"


def _of(scores: Distribution) -> str:
    """Return in a line or two which games these are."""
    name, card = scores.table.ruleset.name, str(scores.card)
    return _short(name) if card == "-" else f"{_short(name)}\nfrom {_short(card)}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _binned(scores: Distribution, width: int) -> tuple[Ints, Floats]:
    """Return where bins of this width start, and the probability of each in percent."""
    number = scores.scores // width
    first = int(number[0])
    heights = np.asarray(np.bincount(number - first, weights=scores.probabilities), np.float64) * 100
    starts: Ints = (first + np.arange(len(heights))) * width
    return starts, heights


def _limit(axes: Axes, spread: Sequence[Distribution], low: int, high: int, width: int) -> None:
    """Show the scores of nearly all games, and say how many games lie beyond."""
    left, right = low // width * width, (high // width + 1) * width
    axes.set_xlim(left, right)
    outside = max(float(s.probabilities[(s.scores < left) | (s.scores >= right)].sum()) for s in spread)
    note = f"; {100 * outside:.2f} % of games lie outside" if len(spread) == 1 and outside else ""
    axes.set_xlabel(f"Final score (points{note})")


def _write(figure: Figure, path: str | os.PathLike[str]) -> None:
    kind = _kind(path)
    drawn = BytesIO()
    # Without these the file would carry the time at which it was made.
    undated = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(drawn, format=kind, metadata=undated)
    replace(path, drawn.getvalue())
