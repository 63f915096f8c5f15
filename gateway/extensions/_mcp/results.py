"""Results of tools, in the shape that chat products expect, within a budget of tokens.

Models differ in their tokenizers. Three bytes of UTF-8 per token overestimates ordinary text in
Latin script and is about right for other scripts.

Pure.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import orjson

from gateway.extension import PUBLIC_PREFIX, address_of_hit
from index.model.document import Document

BYTES_PER_TOKEN = 3
LOW_CONFIDENCE = "true if no result is good enough to rely on: tell the user"
TOKENS_MAX = 8_000  # of a result; a starting value, not measured
_FRAME_BYTES = 64  # reserve for the JSON around the results
_TEXT_BYTES_MIN = 200  # a shorter excerpt is left out
_SENTENCE_END = re.compile(r"[.!?…][\"'”)\]]*\s|[。\n]")


def url(address: str, uri: str) -> str:
    """The document's URI, or a URN of its address if it has none."""
    if uri or not address.startswith(PUBLIC_PREFIX):
        return uri or f"urn:nearhit:document:{quote(address, safe='/')}"
    return quote(address, safe="/:")


def search(answer: Mapping[str, Any], *, tenant: str, tokens_max: int) -> bytes:
    """The hits, best first; the last may be truncated and the ones after it left out.

    tenant: of the caller.
    """
    hits = answer["hits"]
    remaining = tokens_max * BYTES_PER_TOKEN - _FRAME_BYTES
    facets = answer.get("facets")
    if facets is not None:
        facets = _fit_facets(facets, remaining // 2)
        remaining -= len(orjson.dumps(facets))
    results: list[Mapping[str, Any]] = []
    for hit in hits:
        address = address_of_hit(tenant, hit)
        result = {
            "id": address,
            "title": hit["title"] or hit["document_id"],
            "url": url(address, hit["uri"]),
            "text": hit["text"],
            "passage": hit["chunk_id"],
            "source": hit["source"],
            "score": round(hit["score"], 3),
            "scope": hit["scope"],
        }
        result |= {name: hit[name] for name in ("tenant", "trust") if name in hit}
        size = len(orjson.dumps(result)) + 1
        if size > remaining:
            text = truncate(hit["text"], remaining - (size - _size(hit["text"])))
            results += [result | {"text": text}] if text else []
            break
        results.append(result)
        remaining -= size
    result_fields: dict[str, Any] = {"results": results}
    if len(results) < len(hits):
        result_fields["left_out"] = len(hits) - len(results)
    if facets is not None:
        result_fields["facets"] = facets
    if answer.get("low_confidence"):
        result_fields["low_confidence"] = True
    return orjson.dumps(result_fields)


def _fit_facets(facets: Mapping[str, Any], bytes_max: int) -> Mapping[str, Any]:
    """The facets, with half of the values of each field until they fit, or none."""
    while len(orjson.dumps(facets)) > bytes_max:
        fields = facets["fields"]
        if not any(facet["values"] for facet in fields.values()):
            break
        halved = {name: _halve_values(facet) for name, facet in fields.items()}
        facets = {**facets, "fields": halved}
    return facets


def _halve_values(facet: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = len(facet["values"]) // 2
    left_out = facet["values"][kept:]
    return {
        "values": facet["values"][:kept],
        "other_values": facet["other_values"] + len(left_out),
        "other_count": facet["other_count"] + sum(value["count"] for value in left_out),
    }


def fetch(document: Document, address: str, *, start: int, tokens_max: int) -> bytes:
    """The document from a character offset on; `metadata.end` is the offset of the next part."""
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
    fields = {
        "id": address,
        "title": document.title or document.document_id,
        "url": url(address, document.uri),
        "text": "",
        "metadata": metadata,
    }
    bytes_max = tokens_max * BYTES_PER_TOKEN - len(orjson.dumps(fields)) - _FRAME_BYTES
    text = truncate(document.text[start:], max(bytes_max, _TEXT_BYTES_MIN))
    metadata["end"] = start + len(text)
    return orjson.dumps(fields | {"text": text})


def truncate(text: str, bytes_max: int) -> str:
    """The start of the text, at most that many bytes as JSON; empty if the limit is too small.

    It ends at the end of a sentence if one ends in its second half.
    """
    if _size(text) <= bytes_max:
        return text
    if bytes_max < _TEXT_BYTES_MIN:
        return ""
    start = text[:bytes_max]
    while (size := _size(start)) > bytes_max:
        start = start[: len(start) * bytes_max // size]
    ends = [match.end() for match in _SENTENCE_END.finditer(start, len(start) // 2)]
    return start[: ends[-1]] if ends else start


def _size(text: str) -> int:
    return len(orjson.dumps(text))
