"""A summary as Markdown: for pull requests, job summaries and wikis."""

from __future__ import annotations

from os import PathLike

from shiftscope.output_files import write_text
from shiftscope.report import sentences as text
from shiftscope.report.summary import ModeSummary, Summary

SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#|!~$&@"})


def write_markdown(summary: Summary, path: str | PathLike[str] | None = None) -> str:
    """Verdict, modes and what was compared as Markdown text, also written to `path` if given."""
    parts = [f"# {_safe(text.headline(summary))}", _safe(text.verdict(summary))]
    if not summary.detected:
        parts += [_safe(sentence) for sentence in text.clear_sentences(summary)]
    parts += [_mode(number, mode) for number, mode in enumerate(summary.modes, start=1)]
    if summary.detected:
        parts.append(_safe(text.kept_sentence(summary)))
    parts.append(_safe(" ".join([text.compared_sentence(summary), *text.left_out_sentence(summary), *summary.notes])))
    written = "\n\n".join(parts) + "\n"
    if path is not None:
        write_text(path, written)
    return written


def _mode(number: int, mode: ModeSummary) -> str:
    sentence = text.mode_sentence(mode)
    lines = [f"## Mode {number}: {_safe(text.mode_title(mode))}", ""]
    lines += [_safe(f"{sentence[0].upper()}{sentence[1:]} {text.rows_sentence(mode)}"), ""]
    lines += [f"- {_safe(text.direction_sentence(direction))}" for direction in mode.directions[: text.NAMES_SHOWN]]
    return "\n".join(lines)


def _safe(sentence: str) -> str:
    """Text that no Markdown reader takes for markup."""
    return sentence.translate(SPECIAL)
