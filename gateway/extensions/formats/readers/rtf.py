"""RTF, by `striprtf`."""

import re
from collections.abc import Iterator

from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable

_TITLE = re.compile(r"\{\\title ([^{}\\]{1,1000})\}")
# Control words of parts that striprtf leaves out, or keeps although they are deleted.
_LEFT_OUT = {"headers": "header", "footers": "footer", "footnotes": "footnote"}
_LEFT_OUT |= {"comments": "annotation", "images": "pict", "embedded files": "object"}


def read(content: bytes, _options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    from striprtf.striprtf import rtf_to_text

    if not content.lstrip().startswith(b"{\\rtf"):
        raise Unreadable("is not an RTF")
    source = content.decode("latin-1")  # other characters are escaped
    text = rtf_to_text(source, encoding="cp1252", errors="replace")  # type: ignore[no-untyped-call]  # it has no types
    if not text.strip():
        raise Unreadable("has no text")
    named = _TITLE.search(source)
    title = named[1] if named else None
    return Extracted(text.replace("\n", "\n\n"), title, losses=[*_losses(source)])


def _losses(source: str) -> Iterator[str]:
    words = set(re.findall(r"\\([a-z]{1,32})", source))
    left_out = [noun for noun, word in _LEFT_OUT.items() if word in words]
    if left_out:
        yield f"these parts are not read: {', '.join(left_out)}"
    if "deleted" in words:
        yield "it has tracked changes; words that they delete are in the text"
