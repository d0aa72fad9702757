"""A server of its own for the tests: `dicewise serve` in another process, on a port that is free."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from command_line import environment


@contextmanager
def running(*options: str) -> Iterator[str]:
    """The address of a server that runs meanwhile; it must end by itself when told to, and say nothing."""
    line = [sys.executable, "-m", "solver", "serve", "--port", "0", *options]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as server:
        assert server.stdout and server.stderr
        told = server.stdout.readline()
        found = re.fullmatch(r"Serving on (http://\S+)/ until Ctrl-C\.\n", told)
        try:
            assert found, told + server.stderr.read()
            yield found[1]
        finally:
            server.terminate()
            rest, said = server.communicate(timeout=30)
        assert (server.returncode, rest, said) == (0, "Ended.\n", "")
