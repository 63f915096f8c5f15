"""The length of a text in words, which stand for the tokens of an embedder."""

import re

WORD_CHARACTERS_MAX = 16  # a longer word counts as several; not measured

# Scripts of which a character counts for more, by sixths of a word. An English word has 1.2 tokens;
# a model for many languages has 0.6 to 0.8 in a character of Chinese or Japanese, 0.6 in one of
# Korean, 0.3 in one of Thai. Where each Chinese character is a token, as in other models, the
# longest chunk of 320 words still has fewer than 512.
_CHARACTERS = {
    # Hiragana, katakana, bopomofo, Han, katakana of half width
    4: "\u3041-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff",
    # Hangul
    3: "\uac00-\ud7af",
    # Thai, Lao, Tibetan, Burmese, Khmer
    2: "\u0e01-\u0fff\u1000-\u109f\u1780-\u17ff",
}
_SCRIPTS = {sixths: re.compile(f"[{ranges}]") for sixths, ranges in _CHARACTERS.items()}
_ANY_SCRIPT = re.compile(f"[{''.join(_CHARACTERS.values())}]")


def count_words(text: str) -> int:
    """The number of words; in the scripts above, of words with as many tokens as the text."""
    if text.isascii() or not _ANY_SCRIPT.search(text):
        return max(len(text.split()), -(-len(text) // WORD_CHARACTERS_MAX))
    sixths = 0
    for weight, character in _SCRIPTS.items():
        text, count = character.subn(" ", text)
        sixths += count * weight
    words = text.split()
    others = max(len(words), -(-sum(map(len, words)) // WORD_CHARACTERS_MAX))
    return -(-sixths // 6) + others
