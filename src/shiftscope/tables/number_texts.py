"""Texts of numbers -> numbers, whole columns at a time: decimal signs, grouped digits, percentages and money."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shiftscope.tables.field_kinds import COMMA_GROUPED, GROUPS, MONEY, PERCENT, POINT_GROUPED


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal
        "." or ",".
    grouped
        Digits are grouped: 1,234,567, 1.234.567, 1 234 567 or 1'234'567.
    mark
        "%" or "$" for any currency, if every value has one; else "".
    """

    decimal: str = "."
    grouped: bool = False
    mark: str = ""

    def values(self, text: pl.Series) -> pl.Series:
        """The numbers of stripped texts; null where a text is none."""
        if self.mark:
            text = _bare(text, self.mark)
        if self == USUAL_FORM:
            return text.cast(pl.Float64, strict=False)
        if self.decimal == "." and not self.grouped:
            return text.cast(pl.Float64, strict=False)
        plain = text.str.replace_all(GROUPS, "")
        if self.decimal == ".":
            digits = plain.str.replace_all(",", "", literal=True)
            form = POINT_GROUPED
        else:
            digits = plain.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
            form = COMMA_GROUPED
        return digits.set((~text.str.contains(form)).fill_null(True), None).cast(pl.Float64, strict=False)

    def said(self) -> str:
        """In words, what is special of it."""
        parts = []
        if self.mark:
            parts.append("percentages" if self.mark == "%" else "money")
        if self.decimal == ",":
            parts.append("decimal comma")
        elif self.grouped:
            parts.append("grouped digits")
        return ", ".join(parts)


USUAL_FORM = NumberForm()


def number_form(text: pl.Series, decimal: str, thousands: str | None = None) -> NumberForm:
    """The form in which most of some texts are numbers; the file's own decimal sign where it makes no difference."""
    if not text.str.contains(r"[.,'’%$€£¥\s]").any():
        return USUAL_FORM
    other = "," if decimal == "." else "."
    forms = [NumberForm(decimal, decimal == "," or thousands not in (None, "")), NumberForm(decimal, True)]
    if thousands is None:
        forms += [USUAL_FORM, NumberForm(other, True)]
    if decimal == ".":
        forms.insert(0, USUAL_FORM)
    marked = {mark: form for mark, form in (("%", PERCENT), ("$", MONEY)) if _all_match(text, form)}
    forms = [NumberForm(form.decimal, form.grouped, mark) for mark in marked for form in forms] + forms
    counts = [len(text) - form.values(text).null_count() for form in forms]
    return forms[max(range(len(forms)), key=counts.__getitem__)]


def _all_match(text: pl.Series, form: str) -> bool:
    return not text.is_empty() and bool(text.str.contains(form).all())


def _bare(text: pl.Series, mark: str) -> pl.Series:
    """The numbers without their mark; null where a text has none."""
    if mark == "%":
        return text.str.extract(PERCENT, 1)
    groups = text.str.extract_groups(MONEY).struct.unnest()
    sign, behind, before = (groups.to_series(at) for at in range(3))
    return (sign.fill_null("") + behind).fill_null(before).str.strip_chars()
