"""Device-induced shift between healthy ECG cohorts: the whole study.

    python -m experiments.ecg --data DIR --out DIR

DIR of --data holds features.parquet and recordings.parquet, or PTB-XL+'s features/12sl_features.csv beside PTB-XL's
ptbxl_database.csv. Every unit of work leaves a file in OUT/units: a study that was stopped goes on, and deleting a file
repeats its unit. Tables (CSV) and figures (PNG) are written to OUT; --page docs/results/ecg.md renews its numbers.
Seeds are draws of the cohorts (10 by default); the small form has one, and one of the other encodings.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from experiments.command import Seeds, StudyParser
from experiments.ecg.figures import write_figures
from experiments.ecg.page import fill_page
from experiments.ecg.study import OTHER_ENCODINGS, run_study
from experiments.ecg.tables import write_tables

DRAWS, SPLITS = range(10), range(20)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, write tables and figures, print the tables."""
    parser = StudyParser(__doc__, "ecg")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", nargs="+", action=Seeds, metavar="N", help="negative controls per device")
    parser.add_argument("--processes", type=int, default=2, help="one core each; 0 shows what is done so far")
    parser.add_argument("--page", type=Path, help="a Markdown page whose marked tables and numbers are renewed")
    asked = parser.parse_args(arguments)
    draws, splits, encodings = (part[: 1 if asked.quick else None] for part in (DRAWS, SPLITS, OTHER_ENCODINGS))
    if asked.seeds and 0 not in asked.seeds:
        parser.error("argument --seeds: expected draw 0, which the tables show, among the draws")
    study = run_study(
        asked.data, asked.out / "units", asked.seeds or draws, asked.splits or splits, asked.processes, encodings
    )
    tables = write_tables(study, asked.out)
    write_figures(study, asked.out)
    if asked.page is not None:
        fill_page(asked.page, tables)
    with pl.Config(tbl_rows=200, tbl_cols=40, tbl_width_chars=250, float_precision=4, tbl_hide_dataframe_shape=True):
        for name, table in tables.items():
            print(name, table, sep="\n")


if __name__ == "__main__":
    main()
