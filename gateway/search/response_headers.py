"""The headers of an answer: where it comes from, and up to which revision it is correct."""

from collections.abc import Iterator, Mapping

from cache.lookup import ServedAnswer
from gateway.auth.freshness import revision_header
from gateway.http.responses import cache_headers
from gateway.search.search_request import SearchRequest
from gateway.settings.settings import Settings
from index.model.query import Postprocessing

Header = tuple[bytes, bytes]

_CACHE_STATUS = {
    ("memory", False): b"nearhit; hit; detail=memory",
    ("redis", False): b"nearhit; hit; detail=redis",
    ("miss", True): b"nearhit; fwd=miss; stored",
    ("miss", False): b"nearhit; fwd=miss",
}


def response_headers(
    settings: Settings, search: SearchRequest, served: ServedAnswer, consistency: bytes
) -> list[Header]:
    """consistency: the promise that the answer keeps."""
    headers = [
        *cache_headers(settings, (b"cache-status", cache_status(served))),
        (b"nearhit-revision", revision_header(served.valid_until, search.scope.tenant)),
        (b"nearhit-consistency", consistency),
        (b"cache-control", b"no-store"),  # the caller's own cache would not hear of revocations
        *degraded_header(served),
    ]
    if search.query.postprocessing is not None:
        headers += _postprocessing_headers(search.query.postprocessing, served.missing_parts or {})
    return headers


def cache_status(served: ServedAnswer) -> bytes:
    """A member of `Cache-Status`: RFC 9211."""
    if served.detail:
        return b'nearhit; hit; detail="%b"' % served.detail.encode()
    return _CACHE_STATUS[served.tier, served.stored]


def degraded_header(served: ServedAnswer) -> list[Header]:
    """The header of an answer that was computed without the embedder, or without a word list."""
    missing_parts = served.missing_parts or {}
    found = missing_parts.get("embedder") or missing_parts.get("word_list")
    return [(b"nearhit-degraded", found.encode())] if found else []


def _postprocessing_headers(
    postprocessing: Postprocessing, missing_parts: Mapping[str, str]
) -> Iterator[Header]:
    """What reordered the hits, and what shortened them."""
    if postprocessing.ranker is not None:
        ranker = postprocessing.ranker.partition(":")[0]
        failure = missing_parts.get("rerank")
        yield b"nearhit-rerank", (ranker if failure is None else f"failed; {failure}").encode()
    if postprocessing.compressor is not None:
        compressor = postprocessing.compressor.partition(":")[0]
        failure = missing_parts.get("compress")
        header = compressor if failure is None else f"extract; {failure}"
        yield b"nearhit-context", header.encode()
