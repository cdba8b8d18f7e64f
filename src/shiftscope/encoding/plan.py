"""Which columns of two samples take part and how each is encoded, decided from facts that add up over their parts.

Nothing here looks at rows: a sample, in memory or in parts on many machines, answers questions about its columns. So
the decisions, and the notices and errors, are the same wherever the rows are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.agreed_columns import Kinds, Reading
from shiftscope.encoding.apart import apart_in_words, chance_apart
from shiftscope.encoding.column_facts import NOUNS, Facts
from shiftscope.encoding.features import Centre, Encoding, Feature, Gaps, Levels, Numbers, Standard
from shiftscope.encoding.identifiers import number_names, text_names, too_many
from shiftscope.errors import InputError, ParameterError
from shiftscope.messages import listed, shown
from shiftscope.tables.column_choice import Columns, LeftOut
from shiftscope.tables.column_kinds import Kind, Unusable, declared_fault, text_fault, value_text

LONG_VALUE = 40  # characters of a constant value that are shown as they are


class Sample(Protocol):
    """One sample, wherever its rows are."""

    @property
    def role(self) -> str:
        """Who is to blame in a message: "reference" or "current"."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        ...

    @property
    def positional(self) -> bool:
        """Whether the columns had no names of their own."""
        ...

    def facts(self, kinds: Kinds) -> dict[str, Facts | Unusable]:
        """See `Reading.facts`."""
        ...

    def squares(self, centres: Mapping[str, tuple[Kind, Centre]]) -> dict[str, int]:
        """See `Reading.squares`."""
        ...

    def equal(self, one: Feature, other: Feature) -> bool:
        """See `Reading.equal`."""
        ...

    def distinct(self, name: str) -> bool:
        """Whether no two rows have the same number, of a column without gaps of which no part repeats one."""
        ...


Samples = tuple[Sample, Sample]
Pair = tuple[Facts, Facts]


@dataclass(frozen=True)
class Plan:
    """How rows of either sample are encoded.

    Attributes
    ----------
    features : tuple of Feature
        In canonical order: by name, numbers within names by value.
    encodings : tuple of Encoding
    left_out : tuple of LeftOut
    choice : Columns
        What the user asked for.
    missing : two tuples of int
        Rows of either sample without a value, per feature.
    """

    features: tuple[Feature, ...]
    encodings: tuple[Encoding, ...]
    left_out: tuple[LeftOut, ...]
    choice: Columns
    missing: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def width(self) -> int:
        """Columns D of the matrix."""
        return sum(encoding.width for encoding in self.encodings)

    @property
    def plain(self) -> bool:
        """Whether all columns are complete numbers: the scan then bins the matrix itself."""
        return not any(feature.kind == "category" or feature.missing for feature in self.features)

    def points(self, rows: Reading, out: NDArray[np.float64]) -> None:
        """Write the matrix of some rows into (m, D) zeros."""
        for feature, encoding in zip(self.features, self.encodings, strict=True):
            encoding.fill(rows.values(feature), out, feature.columns)

    def ranked(self, rows: Reading, out: NDArray[np.float64]) -> None:
        """Write what the scan bins of some rows into (m, d): standardised numbers, places of levels, -inf: missing."""
        for at, (feature, encoding) in enumerate(zip(self.features, self.encodings, strict=True)):
            values = rows.values(feature)
            found = encoding.standard.apply(values) if isinstance(encoding, Numbers | Gaps) else values
            out[:, at] = np.where(np.isnan(values), -np.inf, found) if feature.missing else found


def make_plan(samples: Samples, columns: Columns) -> Plan:
    """Match the columns of two samples by name, and decide how those that can take part are encoded.

    Raises
    ------
    InputError
        If the samples have no column in common, if plain arrays differ in width, or if no column varies.
    """
    names, left_out = _match(samples, columns)
    agreed, unfit = _agreed(samples, names, columns)
    fit, names_only = _without_names(samples, agreed, columns)
    meeting, aside = _without_apart(fit, columns)
    kept, useless = _choose(samples, list(_encoded(samples, meeting)))
    if aside and not kept:  # nothing else could be compared
        aside, (kept, useless) = [], _choose(samples, list(_encoded(samples, fit)))
    unfit += names_only + aside + useless
    if not kept:
        raise InputError(f"reference and current: none of the common columns ({listed(names)}) {_why_none(unfit)}")
    owned = _layout([column.encoding.width for column in kept])
    return Plan(
        tuple(column.feature(own) for column, own in zip(kept, owned, strict=True)),
        tuple(column.encoding for column in kept),
        tuple(sorted(left_out + unfit, key=lambda left: _natural(left.name))),
        columns,
        (tuple(column.pair[0].missing for column in kept), tuple(column.pair[1].missing for column in kept)),
    )


@dataclass(frozen=True)
class _Column:
    """One user column of both samples, encoded."""

    name: str
    kind: Kind
    levels: tuple[str, ...]
    pair: Pair
    encoding: Encoding

    def feature(self, own: tuple[int, ...] = ()) -> Feature:
        return Feature(self.name, self.kind, self.levels, any(facts.missing for facts in self.pair), own)


def _match(samples: Samples, columns: Columns) -> tuple[list[str], list[LeftOut]]:
    """Names of the common columns that are wanted, in canonical order, and the columns that are not."""
    reference, current = samples
    if reference.positional and current.positional and len(reference.names) != len(current.names):
        raise InputError(
            f"reference has {len(reference.names)} columns and current has {len(current.names)}; "
            "plain arrays are matched by position, so give both the same columns or pass named data frames"
        )
    everything = {*reference.names, *current.names}
    wanted = everything if columns.include is None else set(columns.include)
    unknown = [name for name in (*(columns.include or ()), *columns.exclude, *columns.kinds) if name not in everything]
    if unknown:
        raise ParameterError(f"columns: neither sample has a column {listed(unknown)}; check the names")
    common = set(reference.names) & set(current.names)
    if not common:
        raise InputError(
            f"reference and current have no column in common: reference has {listed(reference.names)}, "
            f"current has {listed(current.names)}; columns are matched by name, so rename them "
            "(--names gives a file without a header the names of its columns)"
        )
    chosen = wanted - {*columns.exclude}
    left_out = [LeftOut(name, "left out on request") for name in everything if name not in chosen]
    asked = everything - {left.name for left in left_out}
    if not asked:
        raise ParameterError("columns: include and exclude leave no column; include one that is not excluded")
    left_out += [LeftOut(n, "only in the reference sample") for n in reference.names if n in asked and n not in common]
    left_out += [LeftOut(n, "only in the current sample") for n in current.names if n in asked and n not in common]
    return sorted(common & asked, key=_natural), left_out


def _natural(name: str) -> tuple[object, ...]:
    """Sorts names as people do: x2 before x10."""
    parts = re.split(r"([0-9]+)", name)
    numbers = [part.lstrip("0") for part in parts[1::2]]
    return (*((text, len(n), n) for text, n in zip(parts[::2], [*numbers, ""], strict=True)), name)


def _agreed(samples: Samples, names: list[str], columns: Columns) -> tuple[dict[str, Pair], list[LeftOut]]:
    """Facts of the columns that are of one kind in both samples, and the columns that cannot take part."""
    found = [sample.facts(dict.fromkeys(names)) for sample in samples]
    kinds: dict[str, Kind] = {}
    unfit: list[LeftOut] = []
    for name in names:
        first, second = (facts[name] for facts in found)
        if isinstance(first, Unusable) or isinstance(second, Unusable):
            unfit.append(LeftOut(name, next(part.reason for part in (first, second) if isinstance(part, Unusable))))
            continue
        kind = _declared(samples, name, (first, second), columns) or _common_kind(first, second)
        if kind is None:
            reason = (
                f"{NOUNS[first.kind]} in the reference sample and {NOUNS[second.kind]} in the current one; "
                "make both of one kind"
            )
            unfit.append(LeftOut(name, reason))
        else:
            kinds[name] = kind
    read = [_as_kinds(sample, facts, kinds) for sample, facts in zip(samples, found, strict=True)]
    return {name: (read[0][name], read[1][name]) for name in kinds}, unfit


def _declared(samples: Samples, name: str, pair: Pair, columns: Columns) -> Kind | None:
    """The kind that the user declares a column to be, after the check that it can be."""
    kind = columns.kinds.get(name)
    if kind is not None:
        for sample, facts in zip(samples, pair, strict=True):
            fault = None if facts.empty else declared_fault(facts.kind, sorted(facts.levels), kind)
            if fault is not None:
                raise InputError(
                    f"{sample.role}: column {shown(name)} is declared as {kind!r} but {fault}; mend or drop it"
                )
    return kind


def _common_kind(first: Facts, second: Facts) -> Kind | None:
    """Text beside another kind: that kind if all of it can be read so, else numbers become text; None beside others."""
    if first.kind == second.kind or second.empty:
        return first.kind
    if first.empty:
        return second.kind
    if "category" not in (first.kind, second.kind):
        return None
    text, other = (first, second) if first.kind == "category" else (second, first)
    if text_fault(sorted(text.levels), other.kind) is None:
        return other.kind
    return "category" if other.kind == "number" else None


def _as_kinds(sample: Sample, found: Mapping[str, Facts | Unusable], kinds: Mapping[str, Kind]) -> dict[str, Facts]:
    """Facts of a sample's columns as the agreed kinds, after the check that all values are finite."""
    changed: dict[str, Kind | None] = {}
    for name, kind in kinds.items():
        facts = found[name]
        if isinstance(facts, Facts) and facts.kind != kind:
            changed[name] = kind
    found = {**found, **(sample.facts(changed) if changed else {})}
    read = {name: facts for name in kinds if isinstance(facts := found[name], Facts)}
    for name, facts in read.items():
        if facts.infinite:
            raise InputError(
                f"{sample.role}: column {shown(name)} has {facts.infinite} infinite value{'s' * (facts.infinite > 1)} "
                f"(first in row {facts.first_infinite}, counting from 0); replace such values or leave the column out"
            )
    return read


def _without_names(samples: Samples, found: dict[str, Pair], columns: Columns) -> tuple[dict[str, Pair], list[LeftOut]]:
    """Columns that say something of their rows, and those that only name them."""
    unfit = []
    for name, pair in found.items():
        reason = None
        if pair[0].kind == "category":
            reason = too_many(pair)
        if name not in columns.kinds and reason is None:
            reason = _mere_name(samples, name, pair)
        if reason is not None:
            unfit.append(LeftOut(name, reason))
    names = {left.name for left in unfit}
    return {name: pair for name, pair in found.items() if name not in names}, unfit


def _without_apart(found: dict[str, Pair], columns: Columns) -> tuple[dict[str, Pair], list[LeftOut]]:
    """Columns in which the samples meet, and those that tell them apart; what the user has named stays."""
    aside = []
    for name, pair in found.items():
        chance = None if name in columns.kinds or name in (columns.include or ()) else chance_apart(pair)
        if chance is not None and pair[0].kind == "date":
            aside.append(LeftOut(name, f"holds different times: {apart_in_words(pair)}", apart=True))
        elif chance is not None:
            reason = f"tells the samples apart by itself: {apart_in_words(pair)}"
            aside.append(LeftOut(name, reason, apart=True, chance=min(1.0, len(found) * chance)))
    names = {left.name for left in aside}
    return {name: pair for name, pair in found.items() if name not in names}, aside


def _mere_name(samples: Samples, name: str, pair: Pair) -> str | None:
    if pair[0].kind == "category":
        return text_names(pair)
    if any(sample.positional for sample in samples):
        return None
    reason = number_names(name, pair)
    return reason if reason is not None and all(sample.distinct(name) for sample in samples) else None


def _encoded(samples: Samples, found: dict[str, Pair]) -> Iterator[_Column]:
    """Each column with its encoding; a single value beside gaps is a category of value and missing."""
    centres = {
        name: (pair[0].kind, _centre(pair))
        for name, pair in found.items()
        if pair[0].kind != "category" and any(facts.there for facts in pair)
    }
    varying = {
        name: entry for name, entry in centres.items() if len({end for f in found[name] for end in _ends(f)}) > 1
    }
    squares = [sample.squares(varying) if varying else {} for sample in samples]
    for name, pair in found.items():
        missing, rows = sum(facts.missing for facts in pair), sum(facts.rows for facts in pair)
        counts = Counter(pair[0].levels) + Counter(pair[1].levels)
        if name in centres and name not in varying and missing:
            counts = Counter({value_text(pair[0].kind, _centre_value(pair)): rows - missing})
        if pair[0].kind == "category" or counts:
            levels = tuple(sorted(counts, key=lambda level: (-counts[level], level)))
            encoding: Encoding = Levels(tuple(counts[level] for level in levels), missing)
            yield _Column(name, "category", levels, pair, encoding)
            continue
        standard = Standard(0, 0.0, 0.0)
        if name in varying:
            standard = Standard.of(centres[name][1], sum(sums[name] for sums in squares))
        yield _Column(name, pair[0].kind, (), pair, Gaps(standard, missing, rows) if missing else Numbers(standard))


def _ends(facts: Facts) -> tuple[float, ...]:
    return (facts.low, facts.high) if facts.there else ()


def _centre_value(pair: Pair) -> float:
    """The value of a column that has only one."""
    return next(facts.low for facts in pair if facts.there)


def _centre(pair: Pair) -> Centre:
    first, second = pair
    return Centre.of(
        first.there + second.there, first.total + second.total, min(first.low, second.low), max(first.high, second.high)
    )


def _choose(samples: Samples, found: list[_Column]) -> tuple[list[_Column], list[LeftOut]]:
    """Columns that carry information of their own, and those that do not."""
    kept: list[_Column] = []
    useless: list[LeftOut] = []
    alike: dict[object, list[_Column]] = {}  # only columns with the same moments or as many levels can be equal
    for column in found:
        encoding = column.encoding
        candidates = alike.setdefault((column.kind, encoding.centre, encoding.scale), [])
        if encoding.scale == 0.0:
            value = _single_text(column)
            useless.append(
                LeftOut(column.name, f"constant: {value if len(value) < LONG_VALUE else shown(value)} in every row")
            )
            continue
        one = column.feature()
        twin = next(
            (other for other in candidates if all(sample.equal(one, other.feature()) for sample in samples)), None
        )
        if twin is not None:
            useless.append(LeftOut(column.name, f"equal to column {shown(twin.name)} in every row"))
        else:
            kept.append(column)
            candidates.append(column)
    return kept, useless


def _single_text(column: _Column) -> str:
    """The value of a constant column."""
    if column.levels:
        return column.levels[0]
    there = any(facts.there for facts in column.pair)
    return value_text(column.kind, _centre_value(column.pair)) if there else "missing"


def _why_none(left_out: list[LeftOut]) -> str:
    if all(left.reason.startswith(("constant", "equal")) for left in left_out):
        return "varies; give at least one column with two different values"
    first = next(left for left in left_out if not left.reason.startswith(("constant", "equal")))
    return f"can be compared; {shown(first.name)}: {first.reason}"


def _layout(widths: list[int]) -> list[tuple[int, ...]]:
    """Matrix columns of each user column: the leading ones first, the further ones behind all of them."""
    further = len(widths)
    owned = []
    for leading, width in enumerate(widths):
        owned.append((leading, *range(further, further + width - 1)))
        further += width - 1
    return owned
