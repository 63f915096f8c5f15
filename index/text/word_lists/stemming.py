"""Stems of words, by Snowball's rules of each language.

Pure.
"""

import Stemmer

from index.text import tokens

SNOWBALL = {
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "pt": "portuguese",
}
UNDETERMINED = "und"  # words are not stemmed; their shares are those of all the languages together


def stem_spelling(word: str, language: str) -> str:
    """The stem, without accents, of a word in its spelling. language: of SNOWBALL or "und"."""
    if language != UNDETERMINED:
        # A new one, made in less than a microsecond: threads must not share a stemmer.
        word = Stemmer.Stemmer(SNOWBALL[language], 0).stemWord(word)
    return tokens.plain(word)
