"""Pages of results in Markdown: prose by hand, numbers between markers by the command of a study.

A page holds `<!-- name -->...<!-- / -->`; what stands between the two comments is replaced by the fragment `name`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

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


def renew(page: Path, name: str, fragment: str) -> None:
    """Fill in one fragment of a page; its others stay as they are."""
    text = page.read_text("utf-8")
    if f"<!-- {name} -->" not in text:
        raise ss.InputError(f"{page} must have the marker <!-- {name} -->, in whose place the table goes; add it")
    page.write_text(
        MARKED.sub(lambda match: filled(match[0], {name: fragment}) if match["name"] == name else match[0], text),
        "utf-8",
    )
