"""The exceptions: each message is one line that quotes what was given and says what it should be."""

from __future__ import annotations

from collections.abc import Callable

_SHOWN = 60


def shown(value: object) -> str:
    """Return a value as it is quoted in a message: on one line, and not too long."""
    return short(" ".join(as_text(value, repr).splitlines()))


def as_text(value: object, write: Callable[[object], str] = str) -> str:
    """Return a value as `write` gives it, or as can be said of one that has no such text."""
    try:
        return write(value)
    except Exception:  # Whatever is given is to be refused; some things, such as deep nests, have no text.
        # Python writes no whole number of more than 4300 digits, but for its hexadecimal ones.
        return hex(value) if isinstance(value, int) else f"<{type(value).__name__}>"


def short(text: str) -> str:
    """Return a text as it stands in a message without quotes: not too long."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


class DicewiseError(Exception):
    """Base of every error that dicewise raises on purpose."""


class ArgumentError(DicewiseError, ValueError):
    """A number or a choice that a call cannot work with."""


def check_kind(
    value: object, kind: type, what: str, expected: str, error: type[DicewiseError] = ArgumentError
) -> None:
    """Refuse a value that a call was given and that is of another kind.

    Raises
    ------
    DicewiseError
        Of the class given: `what` it is for, the value, and what was expected.
    """
    if not isinstance(value, kind):
        raise error(f"{what} {shown(value)}: expected {expected}")


class RulesError(DicewiseError, ValueError):
    """A rules file, a rules name or a rules key that cannot be used."""


class CardError(DicewiseError, ValueError):
    """A scorecard that cannot be written or cannot arise under its rules."""


class DiceError(DicewiseError, ValueError):
    """Dice or rerolls that the rules do not allow."""


class ActionError(DicewiseError, ValueError):
    """An action that is not legal in the position it was given for."""


class GameError(DicewiseError, ValueError):
    """A game that cannot be set up, or a record that does not replay."""


class GoalError(DicewiseError, ValueError):
    """A goal that makes no sense, or is too large to be solved."""


class PositionError(DicewiseError, ValueError):
    """A position text that cannot be read."""


class PlotError(DicewiseError, ValueError):
    """A plot that cannot be drawn: a file ending without a format, or no library to draw with."""


class ExportError(DicewiseError, ValueError):
    """Positions that cannot be written: a file ending without a format, or no library to write it with."""


class ClusterError(DicewiseError):
    """A cluster that did not do the work it was given."""


class MissingExtra(DicewiseError, ImportError):
    """A part of dicewise that needs an extra which is not installed."""


class TableError(DicewiseError):
    """Base of the faults of a table file."""


class TableNotFound(TableError, LookupError):
    """No table for these rules where one was looked for."""


class ForeignTable(TableError):
    """A file that is not a dicewise table."""


class MangledTable(TableError):
    """A table that went through a text-mode transfer: its line endings were changed."""


class VersionTable(TableError):
    """A table of a format version that this program does not read."""


class TruncatedTable(TableError):
    """A table that ends before its header or its values do."""


class DamagedTable(TableError):
    """A table whose header or values do not match their checksum."""


class WrongRulesTable(TableError):
    """A table made for other rules than the ones it was opened for."""
