"""What `compare` returns: its findings, and the ways to read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike

from shiftscope.findings import Findings
from shiftscope.report.markdown import write_markdown
from shiftscope.report.sentences import as_text
from shiftscope.report.summary import Summary, summarise, write_json


@dataclass(frozen=True)
class ShiftResult(Findings):
    """The answer of `compare`: all fields of `Findings`, as text, JSON, Markdown and a page."""

    @cached_property
    def summary(self) -> Summary:
        """What every report of this result shows: small, and the content of its JSON form."""
        return summarise(self)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The result as JSON text (schema 1), also written to `path` if given."""
        return write_json(self.summary, path)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write the report: one self-contained page."""
        from shiftscope.report.html import write_html  # draws with matplotlib, which is slow to load

        write_html(self.summary, path)

    def to_markdown(self, path: str | PathLike[str] | None = None) -> str:
        """Verdict and modes as Markdown, also written to `path` if given."""
        return write_markdown(self.summary, path)

    def __str__(self) -> str:
        return as_text(self.summary)

    def _repr_html_(self) -> str:
        from shiftscope.report.html import fragment

        return fragment(self.summary)
