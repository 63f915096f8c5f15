"""DOCX, by `mammoth` as HTML; it reads tracked changes as if they were accepted."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO

from gateway.extensions._files.extracted import Extracted, ReadOptions
from gateway.extensions._html import html_reader
from gateway.extensions.formats.office import office_package

_CHANGES = ("ins", "del", "moveFrom", "moveTo")
_MARGIN = re.compile(r"word/(header|footer)\d*\.xml")
# Elements that mammoth leaves out, by what a reader calls them.
_LEFT_OUT = {
    "equations": "oMath",
    "charts": "chart",
    "diagrams": "relIds",
    "embedded documents": "altChunk",
    "embedded files": "OLEObject",
}


def read(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    import mammoth

    from gateway.extensions.formats.office import word_hidden, word_tables

    elements = office_package.check(content)
    visible, hidden = word_hidden.rewrite(content, marks_hidden=options.marks_hidden)
    page = mammoth.convert_to_html(
        BytesIO(word_tables.rewrite(visible)), convert_image=lambda _image: []
    ).value
    found = html_reader.convert_text(page, options, hidden)
    return replace(found, losses=[*found.losses, *_losses(elements)])


def _losses(elements: Mapping[str, Counter[str]]) -> Iterator[str]:
    margins: set[str] = set()
    counts: Counter[str] = Counter()
    for name, part in elements.items():
        if margin := _MARGIN.fullmatch(name):
            margins |= {margin[1]} if part["t"] else set()
        elif name.startswith("word/"):
            counts.update(part)
    if any(counts[name] for name in _CHANGES):
        yield "it has tracked changes; its text is as if all of them were accepted"
    # Of a box in both forms, the library reads the older one, `textbox`.
    boxes = max(0, counts["txbx"] - counts["textbox"])
    numbers = {"comments": counts["comment"], "text boxes": boxes}
    numbers |= {noun: counts[name] for noun, name in _LEFT_OUT.items()}
    left_out = [f"{margin}s" for margin in sorted(margins, reverse=True)]
    left_out += [f"{noun} ({number})" for noun, number in numbers.items() if number]
    if left_out:
        yield f"these parts are not read: {', '.join(left_out)}"
