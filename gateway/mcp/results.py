"""What tools show of an answer, in the shape that chat products take, within a budget of tokens.

How many tokens a text is, each model says otherwise. Three bytes of UTF-8 for one is more than
common tokenizers make of ordinary text in Latin letters, and about what they make of others.

Pure.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import orjson

from index.model.document import Document

BYTES_PER_TOKEN = 3
_BESIDE_BYTES = 64  # of what stands around the results
_TEXT_BYTES_MIN = 200  # less of a text is not worth a result
_SENTENCE_END = re.compile(r"[.!?…][\"'”)\]]*\s|[。\n]")


def url(document_id: str, uri: str) -> str:
    """Where a person finds it; else a name that is a URI and leads nowhere."""
    return uri or f"urn:nearhit:document:{quote(document_id, safe='/')}"


def search(found: Mapping[str, Any], *, tokens_max: int) -> bytes:
    """What a search found: hits best first; the last may be cut short, those after it left out."""
    hits = found["hits"]
    left = tokens_max * BYTES_PER_TOKEN - _BESIDE_BYTES
    results: list[Mapping[str, Any]] = []
    for hit in hits:
        result = {
            "id": hit["document_id"],
            "title": hit["title"] or hit["document_id"],
            "url": url(hit["document_id"], hit["uri"]),
            "text": hit["text"],
            "source": hit["source"],
        }
        size = len(orjson.dumps(result)) + 1
        if size > left:
            text = cut(hit["text"], left - (size - _size(hit["text"])))
            results += [result | {"text": text}] if text else []
            break
        results.append(result)
        left -= size
    shown: dict[str, Any] = {"results": results}
    if len(results) < len(hits):
        shown["left_out"] = len(hits) - len(results)
    if found.get("low_confidence"):
        shown["low_confidence"] = True
    return orjson.dumps(shown)


def fetch(document: Document, *, start: int, tokens_max: int) -> bytes:
    """The document from that character on; where it goes on, if it does."""
    end = len(document.text)
    metadata = {
        **document.metadata,
        "source": document.source,
        "language": document.language,
        "tags": document.tags,
        "start": start,
        "end": end,
        "characters": end,
    }
    shown = {
        "id": document.document_id,
        "title": document.title or document.document_id,
        "url": url(document.document_id, document.uri),
        "text": "",
        "metadata": metadata,
    }
    room = tokens_max * BYTES_PER_TOKEN - len(orjson.dumps(shown)) - _BESIDE_BYTES
    text = cut(document.text[start:], max(room, _TEXT_BYTES_MIN))
    metadata["end"] = start + len(text)
    return orjson.dumps(shown | {"text": text})


def cut(text: str, bytes_max: int) -> str:
    """As much of the text as is no longer than that within JSON; nothing if that is too little.

    It ends with a sentence, if one ends in the second half of what there is room for.
    """
    if _size(text) <= bytes_max:
        return text
    if bytes_max < _TEXT_BYTES_MIN:
        return ""
    kept = text[:bytes_max]
    while (size := _size(kept)) > bytes_max:
        kept = kept[: len(kept) * bytes_max // size]
    ends = [match.end() for match in _SENTENCE_END.finditer(kept, len(kept) // 2)]
    return kept[: ends[-1]] if ends else kept


def _size(text: str) -> int:
    return len(orjson.dumps(text))
