"""Numbers of one sample that look like those of the other in another unit."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Unit:
    """A conversion of units: y = factor * x + offset."""

    factor: float
    offset: float
    words: str

    @property
    def formula(self) -> str:
        """The converted sample in terms of the other one, whose name is to be put in its place."""
        times = f"{self.factor:.6g} x {{other}}" if self.factor != 1 else "{other}"
        return f"{times}{f' + {self.offset:g}' if self.offset else ''} ({self.words})"


UNITS = (
    Unit(10.0, 0.0, "as from cm to mm"),
    Unit(100.0, 0.0, "as from m to cm, or shares to per cent"),
    Unit(1e3, 0.0, "as from kilo to one, or s to ms"),
    Unit(1e6, 0.0, "as from s to µs"),
    Unit(1e9, 0.0, "as from s to ns"),
    Unit(2.54, 0.0, "as from inches to cm"),
    Unit(25.4, 0.0, "as from inches to mm"),
    Unit(12.0, 0.0, "as from feet to inches, or years to months"),
    Unit(30.48, 0.0, "as from feet to cm"),
    Unit(1.0 / 0.3048, 0.0, "as from metres to feet"),
    Unit(1.609344, 0.0, "as from miles to km"),
    Unit(1.0 / 0.45359237, 0.0, "as from kg to pounds"),
    Unit(28.349523, 0.0, "as from ounces to grams"),
    Unit(3.785412, 0.0, "as from gallons to litres"),
    Unit(3.6, 0.0, "as from m/s to km/h"),
    Unit(60.0, 0.0, "as from hours to minutes"),
    Unit(3600.0, 0.0, "as from hours to seconds"),
    Unit(24.0, 0.0, "as from days to hours"),
    Unit(7.0, 0.0, "as from weeks to days"),
    Unit(365.25, 0.0, "as from years to days"),
    Unit(4.184, 0.0, "as from kcal to kJ"),
    Unit(18.0182, 0.0, "as glucose from mmol/l to mg/dl"),
    Unit(38.67, 0.0, "as cholesterol from mmol/l to mg/dl"),
    Unit(88.42, 0.0, "as creatinine from mg/dl to µmol/l"),
    Unit(133.322, 0.0, "as from mmHg to Pa"),
    Unit(1.8, 32.0, "as from Celsius to Fahrenheit"),
    Unit(1.0, 273.15, "as from Celsius to kelvin"),
)


def other_unit(
    reference: NDArray[np.float64], current: NDArray[np.float64], tolerance: NDArray[np.float64]
) -> tuple[str, str] | None:
    """The conversion that makes one sample of the other; None if there is none.

    Parameters
    ----------
    reference, current : arrays
        The same places of either distribution, such as quantiles, increasing.
    tolerance : array
        How far a converted place may be off, as a part of the range of the places.

    Returns
    -------
    (str, str) or None
        `Unit.formula` of the reference or of the current sample, the other one empty.
    """
    forward = min((_off(unit, reference, current, tolerance), unit.formula) for unit in UNITS)
    back = min((_off(unit, current, reference, tolerance), unit.formula) for unit in UNITS)
    if min(forward, back)[0] > 1.0:
        return None
    return ("", forward[1]) if forward <= back else (back[1], "")


def unit_in_words(formulas: tuple[str, str]) -> str:
    """Such a conversion as people read it: "current = 1.8 x reference + 32 (...)"."""
    reference, current = formulas
    if current:
        return f"current = {current.format(other='reference')}"
    return f"reference = {reference.format(other='current')}"


def _off(unit: Unit, before: NDArray[np.float64], after: NDArray[np.float64], tolerance: NDArray[np.float64]) -> float:
    """How far converted places are off on average, in units of what is tolerated."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest are in no unit
        converted = unit.factor * before + unit.offset
        span = float(converted[-1] - converted[0])
        off = float(np.mean(np.abs(converted - after) / (tolerance * span))) if span > 0 else inf
    return off if off >= 0 else inf
