"""How many requests a second `dicewise serve` answers, and how fast, under load from a second process.

Every request goes over loopback, on connections that stay open. The bare request `health` is measured in the
same run, in turn with the others: what it takes is the cost of HTTP itself.

    python3 benchmarks/load.py
    python3 benchmarks/load.py --seconds 5 --clients 16 --json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from random import Random
from typing import Any, NamedTuple

import solver

ROUNDS = 3
MOST_REQUESTS = 200_000
"""A bound, whatever the time given."""
KINDS = ("health", "advise", "move", "game")


class Measured(NamedTuple):
    """Answers of one kind of request: how long each took, and how many failed."""

    seconds: list[float]
    failures: int
    elapsed: float


def bodies(kind: str, count: int) -> list[bytes]:
    """Return requests of one kind, of positions met in random play of several games."""
    random, found = Random(1), []
    for number in range(count):
        rules = solver.ruleset(("yahtzee", "yatzy", "yacht")[number % 3])
        dice = sorted(random.choices(range(1, 7), k=rules.dice))
        filled = random.sample(
            [box for box in rules.categories if box.section == "upper"], random.randrange(6)
        )
        card = {box.key: 0 if box.pattern.face is None else box.pattern.face * 3 for box in filled}
        body: dict[str, Any] = {}
        if kind == "advise":
            body = {"rules": rules.name, "card": card, "dice": dice, "rerolls": random.randrange(3), "top": 3}
        if kind == "move":
            body = {"rules": rules.name, "cards": [card, card], "turn": 1, "dice": dice, "player": "club"}
        if kind == "game":
            body = {"rules": rules.name, "seats": 2, "seed": number, "actions": [{"roll": True}]}
        found.append(json.dumps(body).encode())
    return found


def load(port: int, kind: str, clients: int, seconds: float) -> Measured:
    """Ask for some seconds, each client one request after the other."""
    prepared = bodies(kind, 60)
    until = time.perf_counter() + seconds

    def client(number: int) -> tuple[list[float], int]:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        taken, failures, at = [], 0, number
        while time.perf_counter() < until and len(taken) < MOST_REQUESTS // clients:
            begun = time.perf_counter()
            try:
                connection.request("POST", f"/api/{kind}", prepared[at % len(prepared)])
                response = connection.getresponse()
                response.read()
                failures += response.status != 200
            except (OSError, HTTPException):
                failures += 1
                connection.close()
            taken.append(time.perf_counter() - begun)
            at += 7
        connection.close()
        return taken, failures

    begun = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        answers = list(pool.map(client, range(clients)))
    elapsed = time.perf_counter() - begun
    return Measured([one for taken, _ in answers for one in taken], sum(f for _, f in answers), elapsed)


def memory(process: int) -> float:
    """Return what a process holds in memory, in MB; only Linux says."""
    try:
        with open(f"/proc/{process}/status") as status:
            return next(int(line.split()[1]) / 1e3 for line in status if line.startswith("VmRSS"))
    except OSError:
        return float("nan")


def measured(seconds: float, clients: int) -> dict[str, Any]:
    """Start a server, load it with each kind in turn, and end it."""
    line = [sys.executable, "-m", "solver", "serve", "--port", "0"]
    server = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=os.environ)
    assert server.stdout
    try:
        port = int(server.stdout.readline().rpartition(":")[2].partition("/")[0])
        for kind in KINDS:
            load(port, kind, 1, 0.5)
        before = memory(server.pid)
        rounds: dict[str, list[Measured]] = {kind: [] for kind in KINDS}
        for _ in range(ROUNDS):
            for kind in KINDS:
                rounds[kind].append(load(port, kind, clients, seconds))
        after = memory(server.pid)
    finally:
        server.terminate()
        server.wait(30)
    rates = {kind: max(len(one.seconds) / one.elapsed for one in found) for kind, found in rounds.items()}
    return {
        "clients": clients,
        "memory_before": before,
        "memory_after": after,
        "requests": {
            kind: {
                "answered": sum(len(one.seconds) for one in found),
                "failures": sum(one.failures for one in found),
                "a_second": rates[kind],
                "share_of_health": rates[kind] / rates["health"],
                "median_ms": 1e3 * min(sorted(one.seconds)[len(one.seconds) // 2] for one in found),
                "p99_ms": 1e3 * min(sorted(one.seconds)[int(len(one.seconds) * 0.99)] for one in found),
            }
            for kind, found in rounds.items()
        },
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="for each kind of request and round")
    parser.add_argument("--clients", type=int, default=16, help="connections at once")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    chosen = parser.parse_args()
    found = measured(min(chosen.seconds, 60), min(chosen.clients, 256))
    if chosen.json:
        print(json.dumps(found))
        return
    print(f"{found['clients']} connections, best of {ROUNDS} rounds")
    print("| request | a second | of a bare request | median | 99th percentile | failures |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for kind, one in found["requests"].items():
        print(
            f"| {kind} | {one['a_second']:.0f} | {one['share_of_health']:.2f} | {one['median_ms']:.1f} ms "
            f"| {one['p99_ms']:.1f} ms | {one['failures']} |"
        )
    print(
        f"memory of the server: {found['memory_before']:.0f} MB before, {found['memory_after']:.0f} MB after"
    )


if __name__ == "__main__":
    main()
