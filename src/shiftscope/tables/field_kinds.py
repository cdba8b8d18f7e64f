"""What a single field of a text file looks like: a number, a date, a time of day, nothing, or text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

FieldKind = Literal["number", "date", "time", "missing", "text"]

# Missing in any column.
MISSING_TEXT = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NaT", "NULL", "null", "None")
# Missing in a column of numbers, dates or times, in any case: as text they may be a level.
MISSING_NUMBER = frozenset(
    (
        "?",
        "-",
        "--",
        "---",
        ".",
        "..",
        "...",
        "*",
        "\\n",
        "(null)",
        "#null!",
        "#n/a",
        "n/a",
        "n.a.",
        "na",
        "nan",
        "-nan",
    )
) | {"none", "null", "nil", "nat", "<na>", "1.#qnan", "-1.#ind"}

_SIGNS = r"[+-]?"
_END = r"([eE][+-]?\d+)?"
POINT = rf"^{_SIGNS}(\d+\.?\d*|\.\d+){_END}$"  # 1234.5
POINT_GROUPED = (
    rf"^{_SIGNS}([1-9]\d{{0,2}}([, '\u2019\u00a0\u202f]\d{{3}})+(\.\d*)?|(\d+\.?\d*|\.\d+){_END})$"  # 1,234.5
)
COMMA_GROUPED = rf"^{_SIGNS}([1-9]\d{{0,2}}([. '\u2019\u00a0\u202f]\d{{3}})+(,\d*)?|(\d+,?\d*|,\d+){_END})$"  # 1.234,5
GROUPS = r"[ '\u2019\u00a0\u202f]"
LEADING_ZERO = r"^[+-]?0\d+$"
MONEY = r"^([+-]?)\s*[$€£¥]\s*(\S.*?)\s*$|^([+-]?[\d.,'\s]+?)\s*[$€£¥]$"
PERCENT = r"^(.*?)\s*%$"

_TIME = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([AaPp]\.?[Mm]\.?)?"
_ZONE = r"\s*(?:UTC|GMT)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{1,2})?"
_REST = rf"(?:[T ,:]+{_TIME}{_ZONE}(?:\s+[A-Z]{{3,4}})?)?"
NUMERIC_DATE = rf"^(\d{{1,4}})([-/.])(\d{{1,2}})[-/.](\d{{1,4}})\.?{_REST}$"
_NAME = "[A-Za-zÀ-ÿ]{3,9}"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
DAY_MONTH = rf"^(?:{_NAME},?\s+)?{_DAY}[-/. ]+({_NAME})\.?[-/. ,]+(\d{{4}}|\d{{2}}){_REST}$"
MONTH_DAY = rf"^(?:{_NAME},?\s+)?({_NAME})\.?[-/. ]+{_DAY}[-/. ,]+(\d{{4}}){_REST}$"
YEAR_MONTH = r"^(\d{4})-(\d{2})$"
COMPACT_DATE = r"^((?:18|19|20)\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"
CLOCK = rf"^{_TIME}$"
DOTTED_CLOCK = r"^(\d{1,2})\.(\d{2})\.(\d{2})$"
_MONTHS = (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "january february march april may june july august september october november december",
    "jan feb mär apr mai jun jul aug sep okt nov dez",
    "januar februar märz april mai juni juli august september oktober november dezember",
)
MONTHS = {name: at for names in _MONTHS for at, name in enumerate(names.split(), 1)} | {"sept": 9, "mrz": 3}

_NUMBERS = tuple(re.compile(form) for form in (POINT, POINT_GROUPED, COMMA_GROUPED))
_DATES = tuple(re.compile(form) for form in (NUMERIC_DATE, YEAR_MONTH))
_NAMED_DATES = tuple(re.compile(form) for form in (DAY_MONTH, MONTH_DAY))
_CLOCK = re.compile(CLOCK)
_MARKED = re.compile(f"{MONEY}|{PERCENT}")


@lru_cache(maxsize=1 << 14)
def field_kind(field: str) -> FieldKind:
    """What one field looks like by itself; a careful reading looks at its whole column."""
    field = field.strip()
    if not field or field in MISSING_TEXT or field.lower() in MISSING_NUMBER:
        return "missing"
    if not any(character.isdigit() for character in field):
        return "text"
    if any(form.match(field) for form in _NUMBERS):
        return "number"
    if _CLOCK.match(field):
        return "time"
    if any(form.match(field) for form in _DATES) or any(_named_date(form, field) for form in _NAMED_DATES):
        return "date"
    marked = _MARKED.match(field)
    if marked is not None:
        inner = field.strip("$€£¥% \t+-")
        return "number" if any(form.match(inner) for form in _NUMBERS) else "text"
    return "text"


def _named_date(form: re.Pattern[str], field: str) -> bool:
    found = form.match(field)
    return found is not None and any(part.lower() in MONTHS for part in found.groups()[:2])
