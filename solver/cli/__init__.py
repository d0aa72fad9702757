"""The command `dicewise`, one module a subcommand.

Modules are imported when their command is run, and within it only what the command needs: help needs
no numpy, advice from a table at hand no numba. Faults of the input are one line and exit code 2.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any

import click

from ..errors import DicewiseError

PROGRAM = "dicewise"
_SIGNALS = 128
"""Exit code after a signal, such as that of Ctrl-C, less its number, as shells count."""

_COMMANDS = (
    *("advise", "solve", "stats", "compare", "reach", "simulate", "duel", "export", "rules", "tables"),
    *("play", "match", "players", "serve", "engine"),
)


class _Stopped(KeyboardInterrupt):
    """What a signal that ends programs raises, so that it ends this one as Ctrl-C does."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _stop(number: int, _: FrameType | None) -> None:
    raise _Stopped(number)


class Fault(click.ClickException):
    """A fault of the input: one line on stderr, exit code 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print the line."""
        click.echo(f"{PROGRAM}: error: {' '.join(self.message.splitlines())}", err=True)


class _Program(click.Group):
    """The commands of `_COMMANDS`, and what becomes of an error in any of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f".{cmd_name}", __name__).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DicewiseError as error:
            raise Fault(str(error)) from error
        except BrokenPipeError:
            raise  # Whoever reads the output has enough; click ends quietly.
        except OSError as error:
            raise Fault(_reason(error)) from error
        except MemoryError as error:
            raise Fault("found too little memory for a game with so many states") from error
        except KeyboardInterrupt as error:
            with suppress(OSError):  # Where the terminal is gone nobody reads it.
                click.echo(f"{PROGRAM}: stopped, no file is left half written", err=True)
            ctx.exit(_SIGNALS + (error.number if isinstance(error, _Stopped) else signal.SIGINT))


def _reason(error: OSError) -> str:
    """Return the file and what the system says about it."""
    from ..rules.wording import written

    if error.filename is None or error.strerror is None:
        return error.strerror or str(error)
    name = error.filename if isinstance(error.filename, str) else str(error.filename)
    return f"{name if name.isprintable() else written(name)}: {error.strerror}"


def _print_version(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(f"{PROGRAM} {version(PROGRAM)}")
    except PackageNotFoundError:
        click.echo(f"{PROGRAM} (from a folder, not installed)")
    ctx.exit()


@click.command(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version.",
)
def command() -> None:
    """Exact optimal play for the Yahtzee family of dice games.

    \b
    dicewise advise 1 3 3 4 6            the best move after the first roll
    dicewise rules                       the games and their expected scores
    dicewise solve my-house-rules.toml   what your own rules are worth
    dicewise stats yatzy                 how final scores spread, exactly
    dicewise compare yacht yatzy         games side by side
    dicewise reach yacht                 the best chance of every score
    dicewise serve                       a page, and answers for other programs

    All values are expected final scores in points, under play that makes them as high as possible.
    Every command takes the name of a game or the path of a rules file.
    """  # noqa: D301


def main() -> None:
    """Run the command line with the arguments of this process, and exit."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP.
        # What is ignored, as nohup asks for, stays so.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _stop)
    # What is closed is None: there is nothing to read, and what would be said there goes nowhere.
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    # A title or a file name that the terminal cannot show, or typed bytes that are no text, must not end
    # the program; a file name typed keeps its bytes.
    errors = {"stdin": "surrogateescape", "stdout": "replace", "stderr": "backslashreplace"}
    for name, handling in errors.items():
        if hasattr(stream := getattr(sys, name), "reconfigure"):
            stream.reconfigure(errors=handling)
    command(prog_name=PROGRAM)
