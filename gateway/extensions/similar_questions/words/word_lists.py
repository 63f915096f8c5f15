"""The word lists in the folder `words`: `any.txt`, and one file for each language.

A line `[name]` begins a list, and `#` begins a comment. The words of a language are as the index
compares them: without accents and case, split at apostrophes. A line of a list has one of three
forms, which its comment explains:

    word word …
    key: word word …
    word word … / word word …
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

LANGUAGES = ("de", "en", "es", "fr", "it", "pt")
_LISTS = frozenset(
    {
        "ambiguous months", "ambiguous unit signs", "antonyms", "before months", "contractions",
        "courtesies", "days", "directions", "first question words", "months",
        "names", "negations", "numbers", "question phrases", "question words", "unit signs",
        "units",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WordLists:
    """The lists of one file, by name, each as its lines. A list that is missing is empty."""

    by_name: Mapping[str, Sequence[str]]

    def lines(self, name: str) -> Sequence[str]:
        assert name in _LISTS, name
        return self.by_name.get(name, ())

    def words(self, name: str) -> list[str]:
        """All words of a list, in order."""
        return [word for line in self.lines(name) for word in line.split()]

    def keyed(self, name: str) -> list[tuple[str, str]]:
        """The lines `key: words` of a list as pairs."""
        pairs = (line.split(":", 1) for line in self.lines(name))
        return [(key, words.strip()) for key, words in pairs]

    def keys(self, name: str) -> dict[str, str]:
        """The key of each word of a list of lines `key: words`."""
        return {word: key for key, words in self.keyed(name) for word in words.split()}


@cache
def load(file: str) -> WordLists:
    """Read the file `words/FILE.txt`. Raises `ValueError` for an unknown list."""
    text = (resources.files(__package__) / f"{file}.txt").read_text(encoding="utf-8")
    by_name: dict[str, list[str]] = {}
    lines: list[str] = []
    for raw_line in text.splitlines():
        line = raw_line.partition("#")[0].strip()
        if line.startswith("["):
            name = line.strip("[]")
            if name not in _LISTS:
                raise ValueError(f"{file}.txt: there is no list {name!r}")
            lines = by_name.setdefault(name, [])
        elif line:
            lines.append(line)
    return WordLists(by_name)


def of_languages() -> dict[str, WordLists]:
    """The lists of every language."""
    return {language: load(language) for language in LANGUAGES}
