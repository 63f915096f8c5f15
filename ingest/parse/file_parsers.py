"""A file's content as the fields of a document, by the file's suffix."""

from pathlib import PurePosixPath
from typing import Any

from index.model.document import TEXT_CHARACTERS_MAX, normalise
from ingest.parse import encoding, extract
from ingest.parse.extract import Extractor
from ingest.parse.inline_data import without_inline_data
from ingest.parse.markdown import front_matter, title

MARKDOWN = frozenset({".md", ".markdown", ".txt"})
SUFFIXES = MARKDOWN | extract.SUFFIXES
FILE_BYTES_MAX = 32 * 2**20  # of formats that are not plain text; a starting value, not measured


def size_bytes_max(suffix: str) -> int:
    return FILE_BYTES_MAX if suffix.lower() in extract.SUFFIXES else TEXT_CHARACTERS_MAX


def parse_fields(path: PurePosixPath, content: bytes, extractor: Extractor) -> dict[str, Any]:
    """Title, text and the other fields of the content; an unknown suffix means Markdown.

    Raises `ValueError`.
    """
    suffix = path.suffix.lower()
    if suffix not in extract.SUFFIXES:
        fields, text = front_matter(normalise(encoding.decode(content)))
    else:
        extracted = extractor.extract(suffix, content)
        text = normalise(extracted.text)
        optional = {"title": extracted.title, "language": extracted.language}
        fields = {name: value for name, value in optional.items() if value}
    text = without_inline_data(text)
    if fields.get("title") is None:
        fields["title"] = title(text) or path.stem.replace("-", " ")
    return fields | {"text": text}
