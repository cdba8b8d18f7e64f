"""A summary in plain words: for the terminal, for print(result), and for the sentences of the page."""

from __future__ import annotations

import textwrap
from collections import Counter
from math import isfinite

from shiftscope.findings import Detectable, Direction, Kind, LeftOut, other_side
from shiftscope.messages import NAME_LENGTH, percent
from shiftscope.messages import shown_name as shown_name  # for the templates too
from shiftscope.report.axes import Axis, Ticks
from shiftscope.report.figure_data import POINTS_SHOWN
from shiftscope.report.overview_sentences import columns_sentence, tested, told_columns
from shiftscope.report.summary import ModeSummary, ScanSummary, SetSummary, Summary

WIDTH = 100
COLUMNS_NAMED = 8  # features named in a sentence; the rest are counted
TITLE_NAMES = 3  # features named in a heading
REASON_LENGTH = 120  # longest reason shown in full
PLURALS: dict[Kind, str] = {
    "number": "numbers",
    "date": "dates",
    "time": "times",
    "duration": "durations",
    "category": "categories",
}


def as_text(summary: Summary) -> str:
    """The verdict, then one paragraph per mode."""
    parts = [verdict(summary)]
    if not summary.differs:
        parts += clear_sentences(summary)
    if summary.differs and tested(summary):
        parts.append("\n".join([columns_sentence(summary), *(f"  {line}" for line in told_columns(summary))]))
    for number, mode in enumerate(summary.modes, start=1):
        lines = [f"Mode {number}: {mode_sentence(mode)}", f"  {rows_sentence(summary, mode)}"]
        lines += [f"  {direction_sentence(direction)}" for direction in mode.directions[:COLUMNS_NAMED]]
        parts.append("\n".join(lines))
    if summary.differs:
        parts.append(kept_sentence(summary))
    parts += left_out_sentence(summary)
    parts += summary.notes
    return wrapped("\n\n".join(parts))


def wrapped(text: str) -> str:
    """Text with lines of at most `WIDTH` characters; what is indented stays so."""
    return "\n".join(
        textwrap.fill(line, WIDTH, subsequent_indent=line[: len(line) - len(line.lstrip())])
        for line in text.split("\n")
    )


def verdict(summary: Summary) -> str:
    """What was decided, how sure it is, and how often such a decision errs."""
    parts = [f"Column {shown_name(left.name)} was set aside: it {left.reason}." for left in set_aside(summary)]
    if summary.detected:
        parts.insert(0, f"The samples differ (p = {p_value(summary.p_value)}). {certainty(summary)}")
    if not summary.differs:
        apart = f"Apart from {listed(aside_names(summary))}, no" if set_aside(summary) else "No"
        parts.append(
            f"{apart} difference was found between {summary.n_reference:,} reference and {summary.n_current:,} current "
            f"rows (p = {p_value(summary.p_compared)}, level {summary.alpha:g})."
        )
    elif not summary.modes:
        parts.append(ungrouped(summary))
    return " ".join(parts)


def set_aside(summary: Summary) -> tuple[LeftOut, ...]:
    """Columns that tell the samples apart by themselves."""
    return tuple(left for left in summary.left_out if left.apart)


def aside_names(summary: Summary) -> tuple[str, ...]:
    """Names of these columns."""
    return tuple(left.name for left in set_aside(summary))


def ungrouped(summary: Summary) -> str:
    """Why a difference comes without modes."""
    fewest, least = min(at_hand(summary)), summary.params.modes.least_rows
    if fewest < least:
        return (
            f"No group of rows is singled out: that takes at least {least} rows, and a sample has "
            f"{fewest}{gathered_word(summary)}."
        )
    return f"No group of rows could be singled out: the difference is broad, or fewer than {least} rows carry it."


def certainty(summary: Summary) -> str:
    """How often samples without any difference would be called different."""
    return f"Two samples of one distribution would be called different {frequency(summary.alpha)}."


def headline(summary: Summary) -> str:
    """The verdict in a few words."""
    if not summary.differs and set_aside(summary):
        names = listed(aside_names(summary)[:TITLE_NAMES])
        return f"The samples differ in {names}" if summary.detected else f"No difference found apart from {names}"
    if not summary.differs:
        return "No difference found"
    sides = {mode.side for mode in summary.modes}
    if not sides:
        return "The samples differ"
    if len(sides) == 2:
        return "The samples differ: each has rows that the other lacks"
    return f"The samples differ: the {next(iter(sides))} sample has rows in excess"


def caution(summary: Summary) -> str:
    """What the absence of a finding does not mean."""
    columns = len(summary.names)
    hidden = f", or hidden in a few of the {columns} columns" if columns > 1 else ""
    return f"This does not prove them equal: a difference may be too small to be seen with this number of rows{hidden}."


def clear_sentences(summary: Summary) -> list[str]:
    """What to think of the absence of a finding: what it does not mean, and what would have been found."""
    return [caution(summary), *smallest_sentence(summary)]


def smallest_sentence(summary: Summary) -> list[str]:
    """The smallest group of rows that these data would have shown, for the current sample; none if it is not known."""
    groups = [] if summary.scan is None else [group for group in summary.scan.smallest if group.side == "current"]
    if not groups:
        return []
    best = min(groups, key=lambda group: group.rows)
    where = "one column" if best.columns == 1 else f"each of {number_word(best.columns)} columns"
    return [
        f"A compact group of {best.rows:,} current rows ({percent(best.share)}) or more would have been found nine "
        f"times in ten, if it spans no more than {percent(best.width)} of all rows (by rank) in {where}. "
        f"{assumption(best)} Looser groups and overall changes have to be larger."
    ]


def assumption(group: Detectable) -> str:
    """What the size of the smallest group rests on."""
    about = f"about {group.background:,.0f}" if group.background >= 1.5 else "one or two"
    if group.columns == 1:
        return f"This counts on {about} ordinary rows of both samples in the same place."
    return f"This takes the columns for unrelated, so that {about} ordinary rows of both samples lie in the same place."


def compared_sentence(summary: Summary) -> str:
    """What was compared, and with which version."""
    left_out = f", {len(summary.left_out):,} left out" if summary.left_out else ""
    return (
        f"Compared: {summary.n_reference:,} reference with {summary.n_current:,} current rows in "
        f"{len(summary.names):,} column{'s' if len(summary.names) != 1 else ''}{left_out}; "
        f"seed {summary.random_state}, shiftscope {summary.version}."
    )


def kinds_sentence(summary: Summary) -> str:
    """How many columns of each kind were compared: "3 numbers, 1 category"."""
    counts = Counter(column.kind for column in summary.columns)
    return ", ".join(f"{count:,} {kind if count == 1 else PLURALS[kind]}" for kind, count in counts.most_common())


def left_out_sentence(summary: Summary) -> list[str]:
    """A notice that names the columns that took no part; none if all did."""
    named = [
        f"{shown_name(left.name)} ({shown_name(left.reason, REASON_LENGTH)})"
        for left in summary.left_out
        if not left.apart
    ]
    if not named:
        return []
    rest = f" and {len(named) - COLUMNS_NAMED:,} more" if len(named) > COLUMNS_NAMED else ""
    return [f"Left out: {'; '.join(named[:COLUMNS_NAMED])}{rest}."]


def number_word(number: int) -> str:
    """Small numbers as words."""
    return {1: "one", 2: "two", 3: "three"}.get(number, str(number))


def mode_sentence(mode: ModeSummary) -> str:
    """Who has how much in excess, and where it is visible."""
    low, high = mode.excess_interval
    if mode.excess <= 0:
        return (
            f"the two samples differ in {listed(mode.features)} as a whole; the rows named are those where the "
            f"{mode.side} sample stands out most, but around them it has no excess "
            f"({percent(mode.excess)} of its rows, between {percent(low)} and {percent(high)}, a 95 % interval)."
        )
    return (
        f"the {mode.side} sample has an excess of about {percent(mode.excess)} of its rows "
        f"(between {percent(low)} and {percent(high)}, a 95 % interval), visible in {listed(mode.features)}."
    )


def mode_title(mode: ModeSummary) -> str:
    """Side, share and strongest features of a mode, as a heading."""
    who = f"{percent(mode.excess)} of the {mode.side} sample" if mode.excess > 0 else f"The {mode.side} sample"
    return f"{who}, in {listed(mode.features[:TITLE_NAMES])}" + (
        f" and {len(mode.features) - TITLE_NAMES} more" if len(mode.features) > TITLE_NAMES else ""
    )


def scatter_note(mode: ModeSummary) -> str:
    """How to read the scatter plots of a mode."""
    return (
        f"Up to {POINTS_SHOWN:,} rows of each sample, chosen at random. "
        f"The dashed boxes are the same in both and hold most of the mode's rows (ringed): "
        f"what lies in them beyond the {other_side(mode.side)} sample is the excess."
    )


def at_hand(summary: Summary) -> tuple[int, int]:
    """Rows of either sample that scores, modes and kept rows are about: all, or those gathered from a cluster."""
    if summary.gathered is None:
        return summary.n_reference, summary.n_current
    return len(summary.gathered.reference), len(summary.gathered.current)


def gathered_word(summary: Summary) -> str:
    """What to say behind a number of rows that are not all."""
    return "" if summary.gathered is None else " gathered"


def rows_sentence(summary: Summary, mode: ModeSummary) -> str:
    """How many rows stand for the mode, and how far they can be trusted."""
    count = f"{len(mode.rows):,} row{'s' if len(mode.rows) != 1 else ''} of the {mode.side} sample"
    if summary.gathered is not None:
        n_rows = at_hand(summary)[mode.side == "current"]
        count = f"{len(mode.rows):,} of the {n_rows:,} rows gathered of the {mode.side} sample"
    purity = f"about {percent(mode.purity)} of what lies around them is in excess of the {other_side(mode.side)} sample"
    unsettled = "" if mode.settled else "; its features did not settle: take them as a lead"
    return f"{count} stand for it; {purity}{unsettled}."


def rows_code(summary: Summary, mode: ModeSummary, number: int) -> str:
    """What gives the positions of a mode's rows in Python."""
    rows = f"result.modes[{number - 1}].rows"
    return rows if summary.gathered is None else f'result.positions("{mode.side}", {rows})'


def direction_sentence(direction: Direction) -> str:
    """How one feature of the mode's rows differs from the other sample."""
    return f"{shown_name(direction.feature)} {direction.change}"


def directions_note(summary: Summary, mode: ModeSummary) -> str:
    """What the numbers of the directions are."""
    other = other_side(mode.side)
    everyone = f"all{gathered_word(summary)} rows"
    notes = []
    if any(not direction.level for direction in mode.directions):
        notes.append(f"Medians are those of the mode's rows, against {everyone} of the {other} sample.")
    if any(" -> " in direction.change for direction in mode.directions):
        notes.append("An arrow leads from the share in the reference sample to that in the current sample.")
    return " ".join(notes)


def shift_text(direction: Direction) -> str:
    """How far a median has moved, in pooled standard deviations; a dash where there is no median."""
    return "–" if direction.level else f"{direction.shift:+.2f}"


def kept_sentence(summary: Summary) -> str:
    """What is left once the excess is taken away, and whether it still differs: only a test may say so."""
    n_reference, n_current = at_hand(summary)
    rows = (
        f"Without the excess, {len(summary.kept_reference):,} of {n_reference:,} reference and "
        f"{len(summary.kept_current):,} of {n_current:,} current rows{gathered_word(summary)} remain"
    )
    p = summary.kept_p_value
    if p is None:
        return f"{rows}; whether they still differ was not tested."
    if p <= summary.alpha:
        return f"{rows}. Compared by themselves, they still differ (p = {p_value(p)}): the modes do not tell it all."
    return (
        f"{rows}. Compared by themselves, they show no difference (p = {p_value(p)}, level {summary.alpha:g}; "
        "that is no proof of equality)."
    )


def evidence_sentence(summary: Summary) -> str:
    """How the p-value came about."""
    labellings, found = summary.params.labellings, summary.calibration
    smallest = min(found.p_reference, found.p_current) <= 1 / (labellings + 1)
    return (
        f"Each{gathered_word(summary)} row is scored by how far its own sample outnumbers the other among its nearest "
        "neighbours. "
        f"The highest scores are compared with those of {labellings} random relabellings of the same rows: "
        f"p = {p_value(found.p_reference)} on the reference side and p = {p_value(found.p_current)} on the current side"
        f"{f' ({1 / (labellings + 1):.2g} is the smallest value that can come out)' if smallest else ''}."
    )


def scan_sentence(summary: Summary, scan: ScanSummary) -> str:
    """What the scan of small feature sets adds."""
    everywhere = "" if summary.gathered is None else " in all rows of the samples, gathered or not"
    return (
        f"Small sets of columns were counted as well{everywhere}, each cell against "
        f"{scan.n_permutations} random relabellings of the whole search: p = {p_value(scan.p_value)}. "
        "The verdict takes twice the smaller p-value of the two searches, the price of looking twice."
    )


def map_sentence(scan: ScanSummary) -> str:
    """How to read the map of features."""
    return (
        "Each square is a pair of columns, each square of the diagonal a column alone: the stronger its colour, the "
        "more evidence beyond chance"
        + (f"; outlined where it is enough for the verdict ({scan.critical:.2g})." if isfinite(scan.critical) else ".")
    )


def shade(value: float, scan: ScanSummary) -> float:
    """How dark a square of the map is, from 0 to 1; what the verdict needs is in the middle at least."""
    strongest = float(scan.pairs.values.max(initial=0.0))
    return min(1.0, max(0.0, value) / max(strongest, 2 * scan.critical if isfinite(scan.critical) else 1.0, 1.0))


def box_sentence(found: SetSummary) -> str:
    """Where the strongest cell of a feature set lies."""
    return ", ".join(f"{shown_name(name)} {part}" for name, part in zip(found.names, found.where, strict=False))


def figures_note(summary: Summary) -> str:
    """How to read the figures of the evidence."""
    scores = (
        "Where the observed line lies above the expected one, rows score higher than expected. Neighbours score alike, "
        "so lines wander by chance too; the p-values take this into account."
    )
    if summary.equalisation is None:
        return scores
    return (
        f"{scores} Equalisation removes rows around the highest scores until neither tail stands out "
        f"({len(summary.equalisation.removed_reference):,} reference and "
        f"{len(summary.equalisation.removed_current):,} current rows{gathered_word(summary)} in the space of all "
        "columns)."
    )


def frequency(alpha: float) -> str:
    """How often a level errs, in words."""
    times = round(1 / alpha)
    if abs(times * alpha - 1) < 1e-9:
        return f"at most 1 time in {times:,}"
    return f"at most {percent(alpha)} of the time"


def p_value(p: float) -> str:
    """A p-value with two significant digits."""
    return f"{p:.2g}"


def listed(names: tuple[str, ...]) -> str:
    """The first names, and how many more there are."""
    shown = [shown_name(name) for name in names[:COLUMNS_NAMED]]
    rest = len(names) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def axis_name(axis: Axis, marks: Ticks, length: int = NAME_LENGTH) -> str:
    """A column's name beside its axis, with what its ticks leave out."""
    name = shown_name(axis.name, length)
    if axis.standardised:
        return f"{name} (standardised)"
    return f"{name} ({marks.common})" if marks.common else name
