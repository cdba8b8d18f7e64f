"""Pages of results in Markdown: prose by hand, numbers between markers by the command of a study.

A page holds `<!-- name -->...<!-- / -->`; what stands between the two comments is replaced by the fragment `name`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import shiftscope as ss

MARKED = re.compile(r"<!-- (?P<name>[\w ]+) -->.*?<!-- / -->", re.DOTALL)


def filled(text: str, found: dict[str, str]) -> str:
    """`text` with the fragments between its markers; tables get lines of their own."""

    def renewed(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in found:
            alike = ", ".join(get_close_matches(name, found)) or "none is like it"
            raise ss.InputError(f"fragment {name!r} of the page must be one that the study makes ({alike}); rename it")
        gap = "\n\n" if "\n" in found[name] else ""
        return f"<!-- {name} -->{gap}{found[name]}{gap}<!-- / -->"

    return MARKED.sub(renewed, text)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
