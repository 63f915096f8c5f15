"""Counts the files of a folder that are not read, by the reason."""

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from gateway.extensions._sources.source import SkippedFiles

EXAMPLES_MAX = 5
BLANK = "files without text"
HIDDEN = "hidden files and folders"
SOURCES = "files of many documents, which you ingest by their own paths"
LINKS = "links to folders, whose files are read at their own paths"
BROKEN = "links that lead nowhere"
TYPES = "files of other types"


class SkippedCounter:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    def add(self, path: Path, reason: str) -> None:
        self._numbers[reason] += 1
        examples = self._examples.setdefault(reason, [])
        if len(examples) < EXAMPLES_MAX:
            relative = path.relative_to(self._folder).as_posix()
            examples.append(relative.encode(errors="backslashreplace").decode())

    def items(self) -> Iterator[SkippedFiles]:
        for reason, number in sorted(self._numbers.items()):
            yield SkippedFiles(reason, number, tuple(self._examples[reason]))


def reason_of_file(path: Path, source_suffixes: Collection[str]) -> str:
    """Why a file that a folder does not read is skipped, by its name."""
    if path.is_symlink() and not path.exists():
        return BROKEN
    return SOURCES if path.suffix.lower() in source_suffixes else TYPES
