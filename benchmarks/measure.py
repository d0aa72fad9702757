"""Timing that holds up on a busy machine: both sides in turn, many times, the best of each counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Samples = dict[str, list[float]]


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes, its result thrown away."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def interleaved(sides: Mapping[str, Callable[[], float]], rounds: int) -> Samples:
    """Measure every side once a round, so that what else the machine does falls on all of them."""
    samples: Samples = {side: [] for side in sides}
    for _ in range(rounds):
        for side, measure in sides.items():
            samples[side].append(measure())
    return samples


def run(arguments: Sequence[str], folder: str, **environment: str) -> str:
    """Run this Python with arguments from outside the checkout; return what it prints."""
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def answer(code: str, folder: str, **environment: str) -> Any:
    """Run a piece of Python in a process of its own; return the JSON that it prints."""
    return json.loads(run(["-c", code], folder, **environment))


PEAK = """
def peak():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) / 1e3 for line in status if line.startswith("VmHWM"))
    except OSError:
        import resource, sys
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
"""
"""Code of a function for the peak memory of a process in MB.

Linux keeps VmHWM for the program that runs, whereas ru_maxrss also counts the parent that started it.
"""
