from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from shiftscope.report.terminal import show
from tests import planted


def test_terminal_shows_a_table_per_mode_and_no_markup() -> None:
    found = planted.result()
    name = "[red]a[/red]\x1b[31m"
    mode = replace(found.modes[0], features=(name,), directions=(replace(found.modes[0].directions[0], feature=name),))
    named = replace(found, modes=(mode,), encoded=replace(found.encoded, names=(name, "b", "c")))
    console = Console(force_terminal=True, width=100, record=True, file=io.StringIO(), highlight=False)
    show(named.summary, console)
    shown = console.export_text()
    assert "The samples differ" in shown
    assert "Mode 1: " in shown
    assert "[red]a[/red]·[31m" in shown
    assert f"{mode.directions[0].median:.4g} against {mode.directions[0].other_median:.4g}" in shown
