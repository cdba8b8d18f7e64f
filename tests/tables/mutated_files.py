"""Files of the corpus, damaged: each is read, or refused in one clear line.

python -m tests.tables.mutated_files --count 500 --seed 0
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from shiftscope.errors import InputError
from shiftscope.tables.look import look
from shiftscope.tables.table import read_table
from tests.tables.corpus.cases import CASES

Mutation = Callable[[bytes, np.random.Generator], bytes]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    answers: Counter[str] = Counter()
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for at in range(asked.count):
            start = time.perf_counter()
            answers[answer(Path(folder), asked.seed, at)] += 1
            slowest = max(slowest, time.perf_counter() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{asked.count} files: {dict(answers)}; slowest {slowest:.2f} s; peak memory {memory:.0f} MB")


def answer(folder: Path, seed: int, at: int) -> str:
    """Whether a damaged file is read or refused; anything else is raised, and the file stays for inspection."""
    rng = np.random.default_rng([seed, at])
    case = CASES[int(rng.integers(len(CASES)))]
    mutation = MUTATIONS[int(rng.integers(len(MUTATIONS)))]
    path = folder / case.name
    path.write_bytes(mutation(case.content, rng))
    try:
        table = read_table(path, "reference")
        shown = str(look(path))
    except InputError as error:
        message = str(error)
        if len(message.splitlines()) != 1 or not message.startswith("reference: ") or len(message) > 400:
            raise AssertionError(f"not one clear line: {message!r}") from error
        return "refused"
    finally:
        path.unlink()
    assert table.n_rows >= 2
    assert all(name for name in table.names)
    assert len({*table.names}) == len(table.names)
    assert "rows" in shown
    return "read"


def flip(content: bytes, rng: np.random.Generator) -> bytes:
    """Some bits."""
    found = np.frombuffer(content, np.uint8).copy()
    for at in rng.integers(len(found), size=int(rng.integers(1, 9))):
        found[at] ^= 1 << int(rng.integers(8))
    return found.tobytes()


def overwrite(content: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes by others that mean something."""
    found = bytearray(content)
    signs = b"\x00\xff\"',;\t|\n\r #%\\-.?0aE\xe9"
    for at in rng.integers(len(found), size=int(rng.integers(1, 9))):
        found[at] = signs[int(rng.integers(len(signs)))]
    return bytes(found)


def cut(content: bytes, rng: np.random.Generator) -> bytes:
    """The end is missing."""
    return content[: int(rng.integers(len(content) + 1))]


def lines(content: bytes, rng: np.random.Generator) -> bytes:
    """Lines dropped, repeated, shuffled or cut."""
    found = content.split(b"\n")
    for at in rng.integers(len(found), size=3):
        way = int(rng.integers(4))
        line = found[at]
        found[at] = (b"", line + b"\n" + line, line[: len(line) // 2], line + line)[way]
    if rng.random() < 0.3:
        found = [found[at] for at in rng.permutation(len(found))]
    return b"\n".join(found)


def columns(content: bytes, rng: np.random.Generator) -> bytes:
    """The fields of some lines in another order, or one more or less."""
    sign = (b",", b";", b"\t", b" ")[int(rng.integers(4))]
    found = content.split(b"\n")
    for at in range(len(found)):
        fields = found[at].split(sign)
        if rng.random() < 0.5:
            fields = [fields[place] for place in rng.permutation(len(fields))]
        if rng.random() < 0.2:
            fields = fields[1:] if rng.random() < 0.5 else [*fields, fields[0]]
        found[at] = sign.join(fields)
    return b"\n".join(found)


def encodings(content: bytes, rng: np.random.Generator) -> bytes:
    """Half of the lines in another encoding."""
    half = len(content) // 2
    text = content[half:].decode("latin-1") + "é€ß"[int(rng.integers(3))]
    other = ("utf-16", "cp1252", "utf-8", "utf-32", "mac-roman")[int(rng.integers(5))]
    return content[:half] + text.encode(other, "replace")


def spliced(content: bytes, rng: np.random.Generator) -> bytes:
    """Half of it another file."""
    other = CASES[int(rng.integers(len(CASES)))].content
    return content[: len(content) // 2] + other[len(other) // 2 :]


MUTATIONS: tuple[Mutation, ...] = (flip, overwrite, cut, lines, columns, encodings, spliced)


if __name__ == "__main__":
    main()
