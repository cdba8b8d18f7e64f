"""A summary on a terminal: the verdict in a frame, one table per mode. In a pipe it is plain text."""

from __future__ import annotations

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from shiftscope.report import overview_sentences, sentences
from shiftscope.report.summary import ModeSummary, Summary

FOUND, CLEAR = "yellow", "green"


def show(summary: Summary, console: Console) -> None:
    """Print the verdict and the modes; names are text, never markup."""
    if not console.is_terminal:
        console.print(Text(sentences.as_text(summary)), soft_wrap=True)
        return
    colour = FOUND if summary.detected else CLEAR
    console.print(
        Panel(Text(sentences.verdict(summary)), title=sentences.headline(summary), title_align="left", style=colour)
    )
    if not summary.differs:
        for sentence in sentences.clear_sentences(summary):
            console.print(Text(sentence))
    if summary.differs and overview_sentences.tested(summary):
        _show_columns(summary, console)
    for number, mode in enumerate(summary.modes, start=1):
        _show_mode(number, summary, mode, console)
    if summary.differs:
        console.print(Text(sentences.kept_sentence(summary), style="dim"))
    for sentence in (*sentences.left_out_sentence(summary), *summary.notes):
        console.print(Text(sentence, style="dim"))


def _show_columns(summary: Summary, console: Console) -> None:
    console.print()
    console.print(Text(overview_sentences.columns_sentence(summary)))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("column", "how it differs", "how far"):
        table.add_column(heading)
    for column in overview_sentences.strongest_columns(summary):
        table.add_row(
            Text(sentences.shown_name(column.name)), Text(column.change), Text(overview_sentences.effect_text(column))
        )
    if table.rows:
        console.print(table)


def _show_mode(number: int, summary: Summary, mode: ModeSummary, console: Console) -> None:
    console.print()
    console.print(Text.assemble((f"Mode {number}: ", "bold"), sentences.mode_sentence(mode)))
    console.print(Text(sentences.rows_sentence(summary, mode), style="dim"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("feature")
    table.add_column("how it differs")
    for direction in mode.directions[: sentences.COLUMNS_NAMED]:
        table.add_row(Text(sentences.shown_name(direction.feature)), Text(direction.change))
    console.print(table)
    if len(mode.directions) > sentences.COLUMNS_NAMED:
        console.print(Text(f"... and {len(mode.directions) - sentences.COLUMNS_NAMED} more features", style="dim"))
    console.print()
