"""The languages whose words are analysed, and their word lists, which a process loads once."""

import re
from collections.abc import Collection
from functools import lru_cache
from threading import Lock

from index.text.word_lists import stemming, stored_lists
from index.text.word_lists.stemming import UNDETERMINED
from index.text.word_lists.word_list import WordList

LANGUAGES = frozenset({*stemming.SNOWBALL, UNDETERMINED})
LOADED: dict[str, WordList] = {}  # by language; each is a function of its language
_LOADING = Lock()


def load(languages: Collection[str]) -> None:
    """Load the languages' word lists: milliseconds each, or 2 s if one is not stored yet.

    Of threads that need a list at once, one loads it and the others wait.
    """
    for code in languages:
        word_list(base_language(code))


def load_stored() -> bool:
    """Load the lists that are stored, in milliseconds; True if none of LANGUAGES is missing."""
    folder = stored_lists.folder()
    for language in LANGUAGES - LOADED.keys():
        if found := stored_lists.find(language, folder):
            LOADED.setdefault(language, found)
    return LOADED.keys() >= LANGUAGES


@lru_cache(maxsize=1_024)
def base_language(code: str) -> str:
    """The member of LANGUAGES that analyses a BCP 47 code: pt for pt-BR, und for fi."""
    base = re.split("[-_]", code, maxsplit=1)[0].lower()
    return base if base in LANGUAGES else UNDETERMINED


def word_list(language: str) -> WordList:
    """The list of a member of LANGUAGES, which is loaded first if it has to be."""
    found = LOADED.get(language)
    if found is not None:
        return found
    with _LOADING:
        if language not in LOADED:
            folder = stored_lists.folder()
            LOADED[language] = stored_lists.find(language, folder) or stored_lists.make(
                language, folder
            )
    return LOADED[language]
