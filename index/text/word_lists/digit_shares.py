"""How often numbers of a shape are a certain number; lists only hold the sum of each shape.

Equals `wordfreq.numbers`, which is not imported: its package takes 0.4 s of processor time.

Pure. Source: wordfreq 3.1, https://github.com/rspeer/wordfreq; Benford's law.
"""

import re
from math import prod

_LEADING = [0.009, 0.300, 0.175, 0.124, 0.096, 0.078, 0.066, 0.057, 0.050, 0.045]
_YEARS = range(2019, 2039 + 1)  # equally frequent
_YEAR_LOG_PEAK = -1.9185
_NOT_A_YEAR = 0.1

_RUN = re.compile(r"\d[\d.,]+")
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d+")


def shape(word: str) -> str:
    """The word with 0 for each digit of a longer number."""
    return _RUN.sub(lambda run: _DIGIT.sub("0", run[0]), word)


def share_of_shape(word: str) -> float:
    """The share of the word among all words of its shape, 0 to 1."""
    runs = _RUN.findall(word)
    return prod((_share(digits) for run in runs for digits in _DIGITS.findall(run)), start=1.0)


def _share(digits: str) -> float:
    return _year(digits) if len(digits) == 4 else _benford(digits)


def _benford(digits: str) -> float:
    return float(_LEADING[int(digits[0])] / 10 ** (len(digits) - 1))


def _year(digits: str) -> float:
    year = int(digits)
    if year < _YEARS[0]:
        log_share = _YEAR_LOG_PEAK - 0.0083 * (_YEARS[0] - year)
    elif year in _YEARS:
        log_share = _YEAR_LOG_PEAK
    else:
        log_share = _YEAR_LOG_PEAK - 0.2 * (year - _YEARS[-1])
    return float(10.0**log_share) + _NOT_A_YEAR * _benford(digits)
