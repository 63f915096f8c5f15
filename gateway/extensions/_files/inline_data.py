"""Files that a text embeds as characters, `data:` URLs and base64: they have no words."""

import re

CHARACTERS_MIN = 200  # a shorter one may explain what it is; a starting value
_LINE_MIN, _LINES_MIN = 60, 4  # of wrapped base64, as in mails; starting values

# By RFC 2397. Within quotes base64 may have line breaks, and other data spaces and brackets.
_DATA_URL = re.compile(
    r"""(?<![\w.-])(?P<quote>["'])?
    (?P<header>data:(?:[\w.+-]{1,100}/[\w.+-]{1,100})?(?:;[\w.+=-]{1,100}){0,9},)
    (?P<data>(?(quote)
        (?:(?<=;base64,)[\w+/=%\s-]*|(?:(?!(?P=quote))[^\n])*)
        |[^\s"'<>()\[\]`\\]*
    ))""",
    re.VERBOSE | re.IGNORECASE,
)
# What follows these is a part of a URL.
_RUN = re.compile(rf"(?<![\w+/.=?&%#~@-])[A-Za-z0-9+/_-]{{{CHARACTERS_MIN},}}={{0,2}}")
_LINES = re.compile(
    rf"(?:^[ \t>]{{0,40}}[A-Za-z0-9+/_-]{{{_LINE_MIN},}}={{0,2}}[ \t]*\n){{{_LINES_MIN},}}"
    r"(?:[ \t>]{0,40}[A-Za-z0-9+/_-]+={0,2}[ \t]*$)?",
    re.MULTILINE,
)
_KINDS_OF_CHARACTERS = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))


def without_inline_data(text: str) -> str:
    """The text with empty `data:` URLs, and a note in the place of long base64."""
    if "data:" in text.lower():
        text = _DATA_URL.sub(_emptied, text)
    # To split a text takes a sixth of the time of looking for a run at each of its places.
    if max(map(len, text.split()), default=0) < _LINE_MIN:
        return text
    return _LINES.sub(_noted, _RUN.sub(_noted, text))


def _emptied(url: re.Match[str]) -> str:
    if len(url["data"]) < CHARACTERS_MIN:
        return url[0]
    return (url["quote"] or "") + url["header"]


def _noted(run: re.Match[str]) -> str:
    """Rules of dashes, paths and words in capitals are no base64."""
    if not all(kind.search(run[0]) for kind in _KINDS_OF_CHARACTERS):
        return run[0]
    end = "\n" if run[0].endswith("\n") else ""
    return f"[base64, {len(run[0].strip()):,} characters]{end}"
