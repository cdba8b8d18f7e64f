"""Does a table begin with names, or at once with data?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from shiftscope.tables.field_kinds import FieldKind, field_kind

ROWS_JUDGED = 300
TYPED = 0.9  # share of a column's fields that makes it one of numbers, dates or times
YEARS = range(1800, 2200)
_UNITS = re.compile(
    r"^([\[(].{0,12}[\])]|[%‰#]|°?[CFK]|deg[CF]?|[kmcµunMG]?(g|m|s|l|L|V|A|W|Hz|Pa|bar|J|mol|Ohm|Ω|eV|B|b)([23²³])?"
    r"|h|hr|min|sec|day|days|year|ppm|ppb|rpm|in|ft|mi|lb|USD|EUR|[$€£]|-|hPa|kWh"
    r"|[a-zA-Zµ°%]{1,4}[/ ][a-zA-Zµ]{1,4}[23²³-]{0,2})$"
)


def first_is_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: it is of other kinds than the rows below it."""
    columns = _columns(body, len(first))
    kinds = column_kinds(body, len(first))
    found = [field_kind(field) for field in first]
    typed = [at for at, kind in enumerate(kinds) if kind != "text"]
    apart = sum(found[at] == "text" for at in typed)
    alike = sum(found[at] not in ("text", "missing") for at in typed)
    if _is_sequence(first, columns):
        return True
    if typed and (apart or alike):
        return apart > alike
    texts = [at for at in range(len(first)) if kinds[at] == "text" and found[at] == "text"]
    again = sum(first[at].strip() in {field.strip() for field in columns[at]} for at in texts)
    return not (texts and len(body) > 2 and 2 * again >= len(texts))


def column_kinds(body: Sequence[Sequence[str]], width: int) -> list[FieldKind]:
    """What each column of some rows is: a kind that nearly all of its fields have, else text."""
    return [_column_kind(column) for column in _columns(body, width)]


def are_units(fields: Sequence[str]) -> bool:
    """Whether most fields are units: kg, m/s, [°C], (%), ..."""
    there = [field.strip() for field in fields if field.strip()]
    return bool(there) and 2 * sum(_UNITS.match(field) is not None for field in there) > len(there)


def _columns(body: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    return [[row[at] for row in body[:ROWS_JUDGED] if at < len(row)] for at in range(width)]


def _column_kind(column: Sequence[str]) -> FieldKind:
    counts = Counter(field_kind(field) for field in column)
    counts.pop("missing", None)
    if not counts:
        return "text"
    kind, times = counts.most_common(1)[0]
    return kind if times >= TYPED * counts.total() else "text"


def _is_sequence(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether the numbers among the names are years, or count the columns from 0 or 1, one after the other."""
    numbers = [int(field) for field in map(str.strip, first) if field.isdecimal() and len(field) < 9]
    others = [field for field in first if not field.strip().isdecimal()]
    if len(numbers) < 2 or any(field_kind(field) not in ("text", "missing") for field in others):
        return False
    if any(later - earlier != 1 for earlier, later in pairwise(numbers)):
        return False
    if numbers[0] in YEARS and numbers[-1] in YEARS:
        below = [field.strip() for column in columns for field in column[:ROWS_JUDGED]]
        return not any(field.isdecimal() and int(field) in YEARS for field in below if len(field) < 9)
    return numbers[0] in (0, 1) and (others == [""] or (len(numbers) > 2 and not others))
