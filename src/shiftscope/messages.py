"""Names and values of the user's data in a line of text: quoted, printable, short."""

from __future__ import annotations

from collections.abc import Sequence

NAMES_SHOWN = 3  # a message names this many columns and counts the rest
TEXT_SHOWN = 60  # characters of a name or value in a message
NAME_LENGTH = 40  # longest column name that a report shows in full


def shown(text: object) -> str:
    """Quote a name or value for a message: one line, nothing unprintable, at most `TEXT_SHOWN` characters."""
    quoted = repr(str(text))
    tail = TEXT_SHOWN // 3
    return quoted if len(quoted) <= TEXT_SHOWN else f"{quoted[: TEXT_SHOWN - tail - 1]}…{quoted[-tail:]}"


def listed(names: Sequence[object]) -> str:
    """Quote the first `NAMES_SHOWN` names and count the rest."""
    rest = len(names) - NAMES_SHOWN
    return ", ".join(shown(name) for name in names[:NAMES_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def one_line(error: BaseException) -> str:
    """The start of another library's message, safe to show in a line."""
    text = " ".join(str(error).split())[: 2 * TEXT_SHOWN]
    return "".join(character if character.isprintable() else "?" for character in text)


def readable(text: str) -> str:
    """A value as it is if it is short and printable, else quoted and cut."""
    return text if text.isprintable() and 0 < len(text) <= TEXT_SHOWN else shown(text)


def writable(text: str) -> str:
    """A text without halves of characters (lone surrogates), which no file could hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def percent(share: float) -> str:
    """A share of one with two significant digits: 31 %, 4.6 %, 0.04 %."""
    value = 100 * share
    return f"{value:.0f} %" if abs(value) >= 10 else f"{float(f'{value:.2g}'):g} %"


def shown_name(name: str, length: int = NAME_LENGTH) -> str:
    """A column name on one line, printable, at most `length` characters with its end kept."""
    line = "".join(c if c.isprintable() else "·" for c in " ".join(name.split()))
    tail = length // 3
    return line if len(line) <= length else f"{line[: length - tail - 1]}…{line[-tail:]}"
