"""A summary as Markdown: for pull requests, job summaries and wikis."""

from __future__ import annotations

from os import PathLike

from shiftscope.output_files import write_text
from shiftscope.report import overview_sentences, sentences
from shiftscope.report.summary import ModeSummary, Summary

SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#|!~$&@"})


def write_markdown(summary: Summary, path: str | PathLike[str] | None = None) -> str:
    """Verdict, modes and what was compared as Markdown text, also written to `path` if given."""
    parts = [f"# {_safe(sentences.headline(summary))}", _safe(sentences.verdict(summary))]
    if not summary.differs:
        parts += [_safe(sentence) for sentence in sentences.clear_sentences(summary)]
    if summary.differs and overview_sentences.tested(summary):
        parts.append(_columns(summary))
    parts += [_mode(number, summary, mode) for number, mode in enumerate(summary.modes, start=1)]
    if summary.differs:
        parts.append(_safe(sentences.kept_sentence(summary)))
    parts.append(
        _safe(" ".join([sentences.compared_sentence(summary), *sentences.left_out_sentence(summary), *summary.notes]))
    )
    written = "\n\n".join(parts) + "\n"
    if path is not None:
        write_text(path, written)
    return written


def _columns(summary: Summary) -> str:
    told = [f"- {_safe(line)}" for line in overview_sentences.told_columns(summary)]
    return "\n".join([_safe(overview_sentences.columns_sentence(summary)), *([""] if told else []), *told])


def _mode(number: int, summary: Summary, mode: ModeSummary) -> str:
    sentence = sentences.mode_sentence(mode)
    lines = [f"## Mode {number}: {_safe(sentences.mode_title(mode))}", ""]
    lines += [_safe(f"{sentence[0].upper()}{sentence[1:]} {sentences.rows_sentence(summary, mode)}"), ""]
    lines += [
        f"- {_safe(sentences.direction_sentence(direction))}"
        for direction in mode.directions[: sentences.COLUMNS_NAMED]
    ]
    return "\n".join(lines)


def _safe(sentence: str) -> str:
    """Text that no Markdown reader takes for markup."""
    return sentence.translate(SPECIAL)
