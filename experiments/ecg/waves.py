"""What a feature's name says to a clinician: wave, lead, unit.

Names are `WAVE_Quantity_LEAD`, in the measured features and in those of PTB-XL+ alike.
"""

from __future__ import annotations

from dataclasses import dataclass

LEADS = ("I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6")
WAVES = ("P", "QRS", "ST", "T", "baseline")
GLOBAL = "global"
_WAVE_OF = {
    **dict.fromkeys(("P", "PP"), "P"),
    **dict.fromkeys(("Q", "R", "S", "RP", "SP", "QRS"), "QRS"),
    **dict.fromkeys(("ST", "STJ", "STM", "STE", "J"), "ST"),
    "T": "T",
}
_UNITS = (  # of the measured features; the first piece of the quantity that fits decides
    ("BeatStd", "µV"),
    ("Ampl", "µV"),
    ("PeakToPeak", "µV"),
    ("Level", "µV"),
    ("Deflection", "µV"),
    ("Area", "µV·s"),
    ("Slope", "µV/ms"),
    ("Time", "ms"),
    ("Duration", "ms"),
    ("Interval", "ms"),
    ("Bazett", "ms"),
    ("PeakEnd", "ms"),
    ("Axis", "°"),
    ("Angle", "°"),
    ("HeartRate", "1/min"),
)


@dataclass(frozen=True)
class Feature:
    """A feature's name in parts: `wave` is one of `WAVES` or GLOBAL, `lead` one of `LEADS` or GLOBAL."""

    name: str
    wave: str
    lead: str
    unit: str


def parse(name: str) -> Feature:
    """The wave, lead and unit of a feature.

    >>> parse("ST_J20_V2")
    Feature(name='ST_J20_V2', wave='ST', lead='V2', unit='µV')
    """
    pieces = name.split("_")
    if pieces[-1] not in LEADS:
        return Feature(name, GLOBAL, GLOBAL, _unit(name))
    wave = (
        "baseline" if pieces[:2] == ["TP", "Level"] else _WAVE_OF.get(pieces[0], "T" if pieces[0] == "TP" else GLOBAL)
    )
    return Feature(name, wave, pieces[-1], "µV" if wave == "ST" and pieces[1] != "Slope" else _unit(name))


def _unit(name: str) -> str:
    return next((unit for piece, unit in _UNITS if piece in name), "")
