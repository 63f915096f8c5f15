"""A file's content as the fields of a document, by the file's suffix."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from gateway.extensions._files import encoding
from gateway.extensions._files.extract import Extractor
from gateway.extensions._files.formats import TEXT
from gateway.extensions._files.front_matter import front_matter
from gateway.extensions._files.inline_data import without_inline_data
from index.model.document import normalise
from index.model.provenance import Provenance
from ingest.parse.markdown import title


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """fields: of the document. losses: what of the file they lack, or have in another form."""

    fields: dict[str, Any]
    losses: Sequence[str] = ()


def parse(path: PurePosixPath, content: bytes, extractor: Extractor) -> ParsedFile:
    """Title, text and the other fields of the content; an unknown suffix means Markdown.

    Raises `ValueError`.
    """
    suffix, stem = path.suffix.lower(), path.stem.replace("-", " ")
    losses: list[str] = []
    reader = extractor.formats.get(suffix, TEXT).read
    if reader is None or not content.strip():  # none reads no content
        fields, text = front_matter(normalise(encoding.decode(content)), losses)
    else:
        extracted = extractor.extract(suffix, content)
        text = normalise(extracted.text)
        losses += extracted.losses
        optional = {"title": extracted.title, "language": extracted.language}
        fields = {name: value for name, value in optional.items() if value}
        if extracted.has_hidden_text:
            fields["provenance"] = Provenance(hidden_text=True)
        if extracted.title == "":
            fields["title"] = stem
    text = without_inline_data(text)
    if fields.get("title") in (None, ""):
        fields["title"] = title(text) or stem
    return ParsedFile(fields | {"text": text}, losses)
