"""Makes a language's word list from those of `wordfreq`, in up to 2 s of processor time."""

from collections import defaultdict
from collections.abc import Iterator

from index.text import tokens
from index.text.word_lists import word_list
from index.text.word_lists.stemming import SNOWBALL, UNDETERMINED, stem_spelling

RAREST = 1e-7  # the share of a word in no list; 1e-8 is no better, 1e-6 is worse


def build(language: str) -> bytes:
    """The list of a language of SNOWBALL or "und", encoded."""
    spellings: dict[str, str] = {}
    shares: defaultdict[str, float] = defaultdict(float)
    for word, share in _words(language):
        usual = spellings.setdefault(tokens.plain(word).casefold(), word)
        if share >= RAREST:
            shares[stem_spelling(usual, language)] += share
    accented = {plain: word for plain, word in spellings.items() if plain != word}
    return word_list.encode(shares, accented)


def _words(language: str) -> Iterator[tuple[str, float]]:
    """Words and their shares, the most frequent of each list first.

    Bypasses `wordfreq`'s own cache, which takes ten times as much memory.
    """
    import wordfreq  # takes 0.4 s, and is not needed once the list is stored

    if language == UNDETERMINED:
        files, codes = wordfreq.available_languages("small"), sorted(SNOWBALL)
    else:
        files, codes = wordfreq.available_languages("large"), [language]
    for code in codes:
        for centibels, words in enumerate(wordfreq.read_cBpack(files[code])):
            share = wordfreq.cB_to_freq(-centibels)
            for word in words:
                if word.isalpha() and word.isascii():  # most words are one token
                    yield word, share
                else:
                    yield from ((token, share) for token in tokens.split(word))
