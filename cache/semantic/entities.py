"""What a question names by digits and signs, in any language: numbers, units, identifiers.

Texts are in Unicode's form NFKC: m² is m2.
Every pattern takes time linear in the text, which comes from strangers.
"""

import re
from collections.abc import Iterator

_NUMBER = re.compile(r"(?:(?<![^\s(])-(?=\d))?\d+(?:[.,]\d+)*")  # 5-10 has no minus
_THOUSANDS = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")  # 1.000 and 1,000 alike
_MEASURE = re.compile(r"\d( ?)(%|°?[a-z\u03bc]+\b|[$€£¥])")
_PRICE = re.compile(r"[$€£¥](?= ?\d)")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|o|a|e|er|re|eme)?")
_BEFORE = ",;:!?\"'()[]{}<>«»“”\u2018\u2019¿¡"
_AFTER = _BEFORE + ".…"
_PARTS = re.compile(r"[^\W_]+")
_COMPARISONS = frozenset("<>≤≥=≠±")
_NAMES = frozenset({"US", "IT", "WHO", "AM", "UN", "UM"})  # for us is not for the US

# A sign beside a number, and the words for it are one unit; so are all spellings of one.
_SIGNS = {
    "mg": "mg", "g": "g", "kg": "kg", "lb": "lb", "lbs": "lb", "oz": "oz", "mcg": "mcg",
    "\u03bcg": "mcg",
    "ml": "ml", "l": "l", "cl": "cl", "mm": "mm", "cm": "cm", "m": "m", "km": "km", "ft": "ft",
    "in": "inch", "mi": "mile", "nm": "nm", "ha": "ha", "ms": "ms", "s": "second", "sec": "second",
    "min": "minute", "mins": "minute", "h": "hour", "hr": "hour", "hrs": "hour", "d": "day",
    "b": "b", "kb": "kb", "mb": "mb", "gb": "gb", "tb": "tb", "hz": "hz", "khz": "khz",
    "mhz": "mhz", "ghz": "ghz", "w": "w", "kw": "kw", "mw": "mw", "kwh": "kwh", "v": "v", "a": "a",
    "bar": "bar", "psi": "psi", "pa": "pa", "kpa": "kpa", "mpa": "mpa", "ppm": "ppm", "c": "°c",
    "°c": "°c", "f": "°f", "°f": "°f", "k": "k", "%": "percent", "$": "dollar", "usd": "dollar",
    "€": "euro", "eur": "euro", "£": "pound", "gbp": "pound", "¥": "yen", "jpy": "yen",
    "brl": "real", "chf": "chf", "am": "am", "pm": "pm", "bc": "bc", "ad": "ad",
}  # fmt: skip
# Units only where they touch the number.
_ALSO_WORDS = frozenset({"ad", "am", "bar", "ha", "in", "mi", "pa", *"abcdfhklmsvw"})


def numbers(text: str) -> list[str]:
    """As plain as can be: 1,000 and 1.000 as 1000, 1,5 as 1.5, 07 as 7."""
    return [_plain(number) for number in _NUMBER.findall(text)]


def units(text: str) -> frozenset[str]:
    """Those that stand beside a number as a sign or an abbreviation."""
    text = text.casefold()
    signs = [sign for space, sign in _MEASURE.findall(text) if not (space and sign in _ALSO_WORDS)]
    return frozenset(_SIGNS[sign] for sign in signs + _PRICE.findall(text) if sign in _SIGNS)


def codes(text: str) -> frozenset[str]:
    """Identifiers, versions, file names, addresses, options; and names that are small words too."""
    tokens = list(_bare(text))
    names = frozenset() if text.isupper() else _NAMES.intersection(tokens)
    return (
        names
        | _COMPARISONS.intersection(text)
        | {token.casefold() for token in tokens if _is_code(token)}
    )


def _plain(number: str) -> str:
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    if _THOUSANDS.fullmatch(digits):
        return sign + re.sub("[.,]", "", digits)
    return sign + (digits.replace(",", ".").lstrip("0") or "0")


def _bare(text: str) -> Iterator[str]:
    for token in text.split():
        bare = token.rstrip(_AFTER).lstrip(_BEFORE)
        if bare:
            yield bare


def _is_code(token: str) -> bool:
    if token.isalpha():
        return False
    if "_" in token or "@" in token or "::" in token or "\\" in token:
        return True
    if token.startswith(("--", "#")) or token.endswith(("++", "#")):
        return True
    parts = _PARTS.findall(token)
    lettered = any(not part.isdigit() for part in parts)
    if lettered and any(map(_is_mixed, parts)):
        return True
    if "/" in token and len(parts) > 2:
        return True
    return lettered and "." in token and min(map(len, parts)) > 1


def _is_mixed(part: str) -> bool:
    """Letters and digits, but no ordinal and no number with its unit."""
    if part.isalpha() or part.isdigit():
        return False
    folded = part.casefold()
    return not _ORDINAL.fullmatch(folded) and folded.lstrip("0123456789") not in _SIGNS
