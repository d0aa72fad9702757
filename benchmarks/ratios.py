"""Measure dicewise beside its rival in one run, and print the ratios: `python benchmarks/ratios.py`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from measure import PEAK, Samples, answer, interleaved, run, seconds
from rival import (
    RIVAL,
    VARIANTS,
    advice_code,
    build,
    check_advice,
    check_batch,
    check_states,
    load_code,
    random_batch,
    random_positions,
    situation,
    solve_afresh,
    write_table,
)

import solver
from solver.batch import decide
from solver.goals import Floor, Risk
from solver.library import shipped_folder
from solver.pursuit import pursue
from solver.rules import Ruleset
from solver.strength import soften

OURS = "dicewise"
GAME = "yahtzee"
LARGE = "maxi-yatzy-no-saving", "yatzy[save_rolls=true]"
"""Solved once, in warm solves of `GAME`."""
DICE = "1 3 3 4 6"
POSITIONS = 300
BATCH = 200_000
RIVAL_GAMES = 20_000
MOST_ERRORS = 4.5
DROPPED = ("ones", "twos", "little_straight", "full_house")
SMALL = "yacht", {f"categories.{box}": False for box in DROPPED}
"""A game for two of seconds: 24,310 pairs of cards instead of 5.2 million."""


@dataclass(frozen=True)
class Row:
    """One line of the result; a ratio above 1 is in favour of dicewise."""

    what: str
    unit: str
    ours: float
    theirs: float
    ratio: float
    ours_samples: list[float]
    theirs_samples: list[float]


def less_is_better(what: str, unit: str, ours: list[float], theirs: list[float]) -> Row:
    return Row(what, unit, min(ours), min(theirs), min(theirs) / min(ours), ours, theirs)


def more_is_better(what: str, unit: str, ours: list[float], theirs: list[float]) -> Row:
    return Row(what, unit, max(ours), max(theirs), max(ours) / max(theirs), ours, theirs)


Measure = Callable[[], float]


def both(ours: Measure, theirs: Measure, rounds: int) -> tuple[list[float], list[float]]:
    """Measure both sides in turn."""
    samples = interleaved({OURS: ours, RIVAL: theirs}, rounds)
    return samples[OURS], samples[RIVAL]


def timed(action: Callable[[], object]) -> Measure:
    """Return what measures the seconds of an action."""
    return lambda: seconds(action)


def check(say: Callable[[str], None]) -> dict[str, tuple[Any, Any]]:
    """Solve every game that both can play with both, and compare all states; return both of each."""
    solved = {}
    for game in VARIANTS:
        ours, theirs = solver.solve(game), build(game)
        states, apart = check_states(ours, theirs)
        say(f"equal: {game}, all {states:,} states within {apart:.1e} points")
        solved[game] = ours, theirs
    return solved


def solving(folder: str, rounds: int) -> Iterator[Row]:
    """Solve in this process with compiled code warm, and in processes with and without a compile cache."""
    code = f"import solver; solver.solve({GAME!r})"
    kept, numbers = str(Path(folder, "compiled")), count()

    def first_ever() -> None:
        run(["-c", code], folder, NUMBA_CACHE_DIR=str(Path(folder, f"empty{next(numbers)}")))

    def later() -> None:
        run(["-c", code], folder, NUMBA_CACHE_DIR=kept)

    later()
    sides = {
        OURS: timed(lambda: solve_afresh(GAME)),
        "first": timed(first_ever),
        "later": timed(later),
        RIVAL: timed(lambda: build(GAME)),
    }
    samples: Samples = interleaved(sides, rounds)
    theirs = samples[RIVAL]
    yield less_is_better(f"solve {GAME}", "s", samples[OURS], theirs)
    times = both(timed(lambda: solve_afresh("yatzy")), timed(lambda: build("yatzy")), rounds)
    yield less_is_better("solve yatzy", "s", *times)
    yield less_is_better(
        f"first solve ever of {GAME}, whole process, compiling", "s", samples["first"], theirs
    )
    yield less_is_better(f"later solve of {GAME}, whole process", "s", samples["later"], theirs)
    ours_code = f"{PEAK}\nimport solver\nsolver.solve({GAME!r})\nprint(peak())"
    their_code = (
        f"{PEAK}\nimport yatzy_solver as ys\nys.Solver.build(ys.Variant({VARIANTS[GAME]!r}))\nprint(peak())"
    )
    peaks = both(
        lambda: float(answer(ours_code, folder, NUMBA_CACHE_DIR=kept)),
        lambda: float(answer(their_code, folder)),
        max(2, rounds // 2),
    )
    yield less_is_better(f"peak memory of a process that solves {GAME}", "MB", *peaks)


def opening(folder: str, rounds: int) -> Iterator[Row]:
    """Open a table file: as the first thing in a process, and the whole process that gives one advice."""
    file = str(Path(folder, "rival.table"))
    write_table(GAME, file)
    ours_file = shipped_folder() / f"{GAME}.dwt"
    sizes = [ours_file.stat().st_size / 1e6], [Path(file).stat().st_size / 1e6]
    clocked = "import time\nstart = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"
    ours_open = "import solver, solver.library, solver.lookup\n" + clocked.format(f"solver.load({GAME!r})")
    their_open = "import yatzy_solver as ys\n" + clocked.format(load_code(GAME, file))
    times = both(
        lambda: float(answer(ours_open, folder)), lambda: float(answer(their_open, folder)), 2 * rounds
    )
    yield less_is_better(f"open the table of {GAME}, first in a process", "s", *times)
    yield less_is_better(f"size of the table file of {GAME}", "MB", *sizes)
    times = both(
        timed(lambda: run(["-m", "solver", "advise", *DICE.split()], folder)),
        timed(lambda: run(["-c", advice_code(GAME, file, DICE)], folder)),
        2 * rounds,
    )
    yield less_is_better(f"process that gives one advice: {DICE}", "s", *times)


def advising(ours: Any, theirs: Any, rounds: int, say: Callable[[str], None]) -> Iterator[Row]:
    """Ask for all options of single positions, from their text; and for the best of many at once."""
    positions = random_positions(ours, POSITIONS)
    apart = check_advice(ours, theirs, positions)
    say(f"equal: every option of {len(positions)} positions within {apart:.1e} points")
    questions = [(str(p.card), " ".join(map(str, p.dice)), p.rerolls) for p in positions]
    situations = [situation(position) for position in positions]

    def ask_ours() -> float:
        return seconds(lambda: [ours.advise(*question) for question in questions]) / len(positions)

    def ask_theirs() -> float:
        return seconds(lambda: [theirs.option_values(text) for text in situations]) / len(positions)

    times = both(ask_ours, ask_theirs, 3 * rounds)
    yield less_is_better("one advice: every option of a position", "s", *times)

    batch = random_batch(ours, BATCH)
    apart = check_batch(ours, theirs, batch)
    say(f"equal: best value of {BATCH:,} positions at once within {apart:.1e} points")
    rates = both(
        lambda: BATCH / seconds(lambda: decide(ours, *batch)),
        lambda: BATCH / seconds(lambda: theirs.option_values_batch(*batch)),
        rounds,
    )
    yield more_is_better("decisions of a batch", "per s", *rates)


def simulating(ours: Any, theirs: Any, rounds: int, say: Callable[[str], None]) -> Iterator[Row]:
    """Play whole games under the optimal strategy, tables in memory."""
    played = np.asarray(theirs.simulate(RIVAL_GAMES, 1)["scores"])
    for side, scores in ((OURS, solver.simulate(ours, 1_000_000, seed=1).scores), (RIVAL, played)):
        apart = abs(scores.mean() - ours.value()) / (scores.std() / len(scores) ** 0.5)
        if apart > MOST_ERRORS:
            raise SystemExit(f"{side}: the mean of simulated games is {apart:.1f} standard errors off")
        say(f"equal: mean of {len(scores):,} games of {side}, {apart:.1f} standard errors from the exact one")
    for games in (1_000_000, 10_000_000):
        rates = both(
            lambda games=games: games / seconds(lambda: solver.simulate(ours, games, seed=2)),
            lambda: RIVAL_GAMES / seconds(lambda: theirs.simulate(RIVAL_GAMES, 2)),
            2,
        )
        yield more_is_better(f"simulated games, {games // 1_000_000} million at once", "per s", *rates)


def passes(rounds: int) -> list[tuple[str, float, float]]:
    """Return what other passes cost: name, seconds, and how many warm solves of the game that is."""
    found = []
    solver.reach("yacht")  # Compiled now; the others are by their first round.
    for game in (GAME, "yatzy", "yacht"):
        table = solver.solve(game)
        sides: dict[str, Measure] = {
            "solve": timed(lambda game=game: solver.solve(game)),
            "exact distribution": timed(lambda table=table: solver.distribution(table)),
            "risk, theta 0.05": timed(lambda table=table: pursue(table, Risk(0.05))),
            "guaranteed score": timed(lambda table=table: pursue(table, Floor())),
            "slips at 2 points": timed(lambda table=table: soften(table, 2.0)),
            "mean and deviation alone": timed(lambda game=game: solver.moments(game)),
        }
        interleaved(sides, 1)
        samples = {name: min(times) for name, times in interleaved(sides, rounds).items()}
        # Measured once: among hundreds of solves' work, what else the machine does evens out.
        samples["reach, every target"] = timed(lambda table=table: solver.reach(table))()
        if game == GAME:
            samples |= {
                f"solve of {large}": timed(lambda large=large: solver.solve(large))() for large in LARGE
            }
        found += [(f"{game}: {name}", time, time / samples["solve"]) for name, time in samples.items()]
    return found


def for_two(folder: str, rounds: int) -> list[tuple[str, float, float]]:
    """Return what a game for two costs, as `passes` does; of a small game, for it to take seconds."""
    rules = solver.ruleset(*SMALL)
    numbers = count()

    def solved() -> Path:
        place = Path(folder, f"two{next(numbers)}")
        solver.solve_duel(rules, place)
        return place

    ready = solved()

    def follow(what: Callable[[Ruleset, Path], object]) -> float:
        for result in ready.glob("*.json"):  # What was found is kept there.
            result.unlink()
        return seconds(lambda: what(rules, ready))

    sides: dict[str, Measure] = {
        "solve": timed(lambda: solver.solve(rules)),
        "two players": timed(solved),
        "ties of two players": lambda: follow(solver.tie_rate),
        "evaluation of two players": lambda: follow(solver.evaluate),
    }
    interleaved(sides, 1)
    samples = {name: min(times) for name, times in interleaved(sides, rounds).items()}
    return [(f"yacht of 8 boxes: {name}", time, time / samples["solve"]) for name, time in samples.items()]


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    packages = {name: version(name) for name in ("dicewise", "numpy", "numba", "yatzy-solver")}
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cores": usable, "python": platform.python_version(), "load before": load, **packages}


def figure(number: float) -> str:
    """Return a number with three digits that count."""
    return f"{number:,.0f}" if number >= 99.95 else f"{number:#.3g}"


def shown(number: float, unit: str) -> str:
    """Return a measurement as people write it."""
    if unit == "s":
        for limit, times, name in ((1e-3, 1e6, "µs"), (1, 1e3, "ms")):
            if number < limit:
                return f"{figure(number * times)} {name}"
    return f"{figure(number)} {unit}"


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [f"| what | dicewise | {RIVAL} | ratio |", "| --- | ---: | ---: | ---: |"]
    for row in rows:
        cells = row.what, shown(row.ours, row.unit), shown(row.theirs, row.unit), f"{figure(row.ratio)}"
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Check, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each side (default 5)")
    parser.add_argument("--json", action="store_true", help="print every sample as JSON instead of a table")
    chosen = parser.parse_args()

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    about = machine()
    say(", ".join(f"{name} {value}" for name, value in about.items()))
    ours, theirs = check(say)[GAME]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for row in (
            *solving(folder, chosen.rounds),
            *opening(folder, chosen.rounds),
            *advising(ours, theirs, chosen.rounds, say),
            *simulating(ours, theirs, chosen.rounds, say),
        ):
            rows.append(row)
        multiples = passes(chosen.rounds) + for_two(folder, min(3, chosen.rounds))
    if chosen.json:
        print(
            json.dumps(
                {
                    "machine": about,
                    "rival": RIVAL,
                    "rows": [asdict(row) for row in rows],
                    "passes": multiples,
                },
                indent=2,
            )
        )
    else:
        print(table(rows))
        print("\n| pass | time | warm solves of the game |\n| --- | ---: | ---: |")
        for name, time, times in multiples:
            print(f"| {name} | {shown(time, 's')} | {figure(times)} |")


if __name__ == "__main__":
    main()
