from __future__ import annotations

from collections import Counter

from tests.tables.mutated_files import answer


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path) -> None:
    """A few here; `python -m tests.tables.mutated_files` tries as many as are asked for."""
    answers = Counter(answer(tmp_path, 1, at) for at in range(60))
    assert set(answers) == {"read", "refused"}
    assert not list(tmp_path.iterdir())
