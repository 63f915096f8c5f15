"""Numbers, units and identifiers of a question, in any language.

Texts are in Unicode's form NFKC: m² is m2.
Texts are untrusted, so every pattern takes time linear in the text.
"""

import re
from collections.abc import Iterator

from gateway.extensions.similar_questions.words import word_lists

_NUMBER = re.compile(r"(?:(?<![^\s(])-(?=\d))?\d+(?:[.,]\d+)*")  # 5-10 has no minus
_THOUSANDS = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")  # 1.000 and 1,000 are equal
_MEASURE = re.compile(r"\d( ?)(%|°?[a-z\u03bc]+\b|[$€£¥])")
_PRICE = re.compile(r"[$€£¥](?= ?\d)")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|o|a|e|er|re|eme)?")
_BEFORE = ",;:!?\"'()[]{}<>«»“”\u2018\u2019¿¡"
_AFTER = _BEFORE + ".…"
_PARTS = re.compile(r"[^\W_]+")
_COMPARISONS = frozenset("<>≤≥=≠±")
_LISTS = word_lists.load("any")
_NAMES = frozenset(_LISTS.words("names"))  # "for us" and "for the US" differ
_UNIT_BY_SIGN = _LISTS.keys("unit signs")  # signs, abbreviations and words of a unit are equal
_AMBIGUOUS_SIGNS = frozenset(_LISTS.words("ambiguous unit signs"))


def numbers(text: str) -> list[str]:
    """The numbers in one form: 1,000 and 1.000 are 1000, 1,5 is 1.5, 07 is 7."""
    return [_normalise(number) for number in _NUMBER.findall(text)]


def units(text: str) -> frozenset[str]:
    """The units that follow or precede a number as a sign or an abbreviation."""
    text = text.casefold()
    signs = [
        sign for space, sign in _MEASURE.findall(text) if not (space and sign in _AMBIGUOUS_SIGNS)
    ]
    return frozenset(
        _UNIT_BY_SIGN[sign] for sign in signs + _PRICE.findall(text) if sign in _UNIT_BY_SIGN
    )


def codes(text: str) -> frozenset[str]:
    """Identifiers, versions, file names, addresses, options; and names that are also words."""
    tokens = list(_tokens(text))
    names = frozenset() if text.isupper() else _NAMES.intersection(tokens)
    return (
        names
        | _COMPARISONS.intersection(text)
        | {token.casefold() for token in tokens if _is_code(token)}
    )


def _normalise(number: str) -> str:
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    if _THOUSANDS.fullmatch(digits):
        return sign + re.sub("[.,]", "", digits)
    return sign + (digits.replace(",", ".").lstrip("0") or "0")


def _tokens(text: str) -> Iterator[str]:
    for token in text.split():
        stripped = token.rstrip(_AFTER).lstrip(_BEFORE)
        if stripped:
            yield stripped


def _is_code(token: str) -> bool:
    if token.isalpha():
        return False
    if "_" in token or "@" in token or "::" in token or "\\" in token:
        return True
    if token.startswith(("--", "#")) or token.endswith(("++", "#")):
        return True
    parts = _PARTS.findall(token)
    has_letters = any(not part.isdigit() for part in parts)
    if has_letters and any(map(_is_mixed, parts)):
        return True
    if "/" in token and len(parts) > 2:
        return True
    return has_letters and "." in token and min(map(len, parts)) > 1


def _is_mixed(part: str) -> bool:
    """Whether it has letters and digits, and is no ordinal and no number with a unit."""
    if part.isalpha() or part.isdigit():
        return False
    folded = part.casefold()
    return not _ORDINAL.fullmatch(folded) and folded.lstrip("0123456789") not in _UNIT_BY_SIGN
