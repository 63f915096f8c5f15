"""The formats of files, by the end of their names.

Text, Markdown above all, is read in the process that reads the source. Extensions bring the other
formats, whose files are read in a process of its own.
"""

import pickle
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from gateway.extensions._files.extracted import Extracted, ReadOptions
from index.model.document_limits import TEXT_CHARACTERS_MAX

FILE_BYTES_MAX = 32 * 2**20  # a starting value, not measured
_SUFFIX = re.compile(r"\.[^.A-Z]+")  # as `PurePath.suffix` gives it, in lower case


@dataclass(frozen=True, slots=True)
class Format:
    """name: with its article, for messages. suffixes: as `.pdf`.

    read: raises `Unreadable`, or what its library raises; None: a text, which needs no library. The
        process that calls it imports its module alone, so it is a function of a module, or a
        `partial` of one.
    missing: why this machine reads no such file; empty: it does.
    bytes_max: of a file. scans_s: the processor time that replaces others if scans are read.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[bytes, ReadOptions], Extracted] | None = None
    missing: str = ""
    bytes_max: int = FILE_BYTES_MAX
    scans_s: float | None = None

    def __post_init__(self) -> None:
        assert all(map(_SUFFIX.fullmatch, self.suffixes)), self.suffixes
        pickle.dumps(self.read)  # raises for what another process can't import


Formats: TypeAlias = Mapping[str, Format]  # by suffix


def by_suffix(formats: Iterable[Format]) -> Formats:
    return {suffix: each for each in formats for suffix in each.suffixes}


TEXT = Format("a text", (".md", ".markdown", ".txt"), bytes_max=TEXT_CHARACTERS_MAX)
TEXT_FORMATS = by_suffix([TEXT])
