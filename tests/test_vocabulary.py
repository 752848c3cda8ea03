"""Source and pages use the words of the field; ``CONTRIBUTING.md`` says which."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORDS = {
    r"held[ -]out": "cross-validated, out-of-fold or leave-one-out",
    r"whoever|\bthose who\b": "name the caller or the user",
    r"\btold\b": "reported, or passed",
    r"likes? best": "minimises",
    r"\bgo(es)? with\b": "requires, or suits",
    r"looked at": "evaluated, or a subsample",
    r"\bjudged?\b": "evaluated",
    r"\b(un|dis)trust": "outlier screening, screened samples",
}
FILES = [
    *(path for path in sorted((ROOT / "src" / "hilbertlearn").rglob("*.py")) if path.name != "names.py"),
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(
        path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts and "results" not in path.parts
    ),
]


@pytest.mark.parametrize("word", WORDS, ids=WORDS.values())
def test_words_that_need_a_second_reading(word):
    pattern = re.compile(word, re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{number}: {line.strip()}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, f"write: {WORDS[word]}\n" + "\n".join(found)
