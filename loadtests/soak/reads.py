"""Questions, every way to read with its HTTP call, and its answer in one form. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import quote

import orjson

from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.workload.questions import words

PathName: TypeAlias = Literal[
    "search", "batch", "semantic", "mcp search", "mcp fetch", "vector store",
    "document", "documents",
]  # fmt: skip
PATHS: tuple[PathName, ...] = get_args(PathName)
# Ways whose answers must equal those of a fresh search; the answer to a similar question need not.
COMPARED = frozenset({"search", "batch", "mcp search", "vector store"})
PAGE = 100
_FOUND_MAX = 10
_MISSING = 404
_WIDE, _DASHES = re.compile(r"\s+"), re.compile("-{4,}")
_PUBLIC_ADDRESS = re.compile("urn:nearhit:public:[^:]+:(.+)")

_WORDS = range(2, 6)  # of a question
_UNUSUAL_SHARE = 0.3
_UNUSUAL: tuple[dict[str, object], ...] = (
    {"expand": True},
    {"document_hits_max": 1},
    {"alpha": 0.0},
    {"fusion": "rrf"},
    {"explain": True},
)
_STALE_SHARE, _STALENESS_MS = 0.1, 1000  # of the requests that permit a stale answer


@dataclass(frozen=True, slots=True)
class SoakQuestion:
    """staleness_ms: the staleness that the body permits."""

    body: bytes
    staleness_ms: int = 0

    def perhaps_older(self, random: Random) -> "SoakQuestion":
        return self.older() if random.random() < _STALE_SHARE else self

    def older(self) -> "SoakQuestion":
        """The same question, which permits a stale answer."""
        fields = orjson.loads(self.body) | {"max_staleness_ms": _STALENESS_MS}
        return SoakQuestion(orjson.dumps(fields), _STALENESS_MS)


def questions_of(texts: Iterable[str], count: int, random: Random) -> list[SoakQuestion]:
    """Generate questions of a few neighbouring words each, some with unusual options."""
    word_lists = [text_words for text in texts if len(text_words := words(text)) > max(_WORDS)]
    return [_question(random.choice(word_lists), random) for _ in range(count if word_lists else 0)]


def _question(text_words: Sequence[str], random: Random) -> SoakQuestion:
    length = random.choice(_WORDS)
    position = random.randrange(len(text_words) - length)
    fields: dict[str, object] = {"query": " ".join(text_words[position : position + length])}
    if random.random() < _UNUSUAL_SHARE:
        fields |= random.choice(_UNUSUAL)
    return SoakQuestion(orjson.dumps(fields))


@dataclass(frozen=True, slots=True)
class Read:
    """searches: the bodies of the equivalent searches. document_id: the requested document, if any.

    source: the only source, if any. after: the document before the requested page.
    """

    path: PathName
    call: Call
    searches: tuple[bytes, ...] = ()
    document_id: str = ""
    source: str = ""
    after: str = ""
    staleness_ms: int = 0


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A part of a document in an answer.

    start: its offset, -1 if not stated. text, readers: None if the answer has none.
    """

    document_id: str
    text: str | None = None
    start: int = -1
    readers: frozenset[str] | None = None

    def is_of(self, text: str) -> bool:
        """Whether it is a part of the text, after lines that it repeats of the text's lists,
        tables and code, perhaps shortened and without the spaces that align columns."""
        part = self.text
        if part is None:
            return True
        while not (part in text if self.start < 0 else text.startswith(part, self.start)):
            repeated, _, part = part.partition("\n")
            part = part.lstrip()
            if not part or _narrow(repeated) not in _narrow(text):
                return False
        return True


@dataclass(frozen=True, slots=True)
class Shown:
    """comparable: the bytes that a fresh search must give. is_found: False for a 404."""

    passages: Sequence[ShownPassage]
    comparable: bytes = b""
    is_found: bool = True


def search(question: SoakQuestion) -> Read:
    call = Call("POST", "/v1/search", question.body)
    return Read("search", call, (question.body,), staleness_ms=question.staleness_ms)


def semantic(question: SoakQuestion, query: str) -> Read:
    """The question in other words, which the semantic tier may answer."""
    fields = orjson.loads(question.body) | {"query": query, "semantic": "bounded"}
    body = orjson.dumps(fields)
    return Read("semantic", Call("POST", "/v1/search", body), (body,))


def batch(questions: Sequence[SoakQuestion]) -> Read:
    bodies = tuple(question.body for question in questions)
    call = Call("POST", "/v1/search/batch", b'{"searches":[%b]}' % b",".join(bodies))
    return Read("batch", call, bodies)


def mcp_search(query: str) -> Read:
    body = orjson.dumps({"query": query, "top_k": _FOUND_MAX})
    return Read("mcp search", _tool("search", orjson.loads(body)), (body,))


def mcp_fetch(document_id: str) -> Read:
    return Read("mcp fetch", _tool("fetch", {"id": document_id}), document_id=document_id)


def vector_store(query: str, source: str) -> Read:
    body = orjson.dumps({"query": query, "max_num_results": _FOUND_MAX})
    filters = {"sources": [source]}
    searched = {"query": query, "top_k": _FOUND_MAX, "filter": filters, "metadata": True}
    call = Call("POST", f"/v1/vector_stores/{source}/search", body)
    return Read("vector store", call, (orjson.dumps(searched),), source=source)


def document(document_id: str) -> Read:
    return Read("document", Call("GET", f"/v1/documents/{document_id}"), document_id=document_id)


def documents(after: str, source: str) -> Read:
    parameters = {"limit": str(PAGE), "cursor": after, "source": source}
    query = "&".join(f"{name}={quote(value)}" for name, value in parameters.items() if value)
    call = Call("GET", "/v1/documents", query=f"?{query}")
    return Read("documents", call, source=source, after=after)


def of_query(path: PathName, query: str, document_id: str, source: str) -> Read:
    """A read that shows the document to a caller who may read it; query: words of the document."""
    question = SoakQuestion(orjson.dumps({"query": query, "top_k": 2 * _FOUND_MAX}))
    match path:
        case "search" | "semantic":
            return search(question)
        case "batch":
            return batch([question, SoakQuestion(orjson.dumps({"query": query}))])
        case "mcp search":
            return mcp_search(query)
        case "mcp fetch":
            return mcp_fetch(document_id)
        case "vector store":
            return vector_store(query, source)
        case "document":
            return document(document_id)
        case "documents":
            return documents("", source)


def shown(read: Read, reply: HttpResponse) -> Shown | None:
    """The content of an answer; None for an error that this way of reading must not get."""
    if reply.status == _MISSING and read.path in ("document", "vector store"):
        return Shown((), orjson.dumps(()), is_found=False)
    if reply.status != 200:
        return None
    return _SHOWN[read.path](orjson.loads(reply.body), reply.body)


def listed(hits: Sequence[Mapping[str, Any]]) -> bytes:
    """The hits of a search in the form of a vector store's search."""
    rows = [
        [hit["document_id"], hit["title"] or hit["document_id"], hit["score"], hit["text"]]
        for hit in hits
    ]
    return orjson.dumps(rows)


def _tool(name: str, arguments: Mapping[str, Any]) -> Call:
    params = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Call("POST", "/mcp", orjson.dumps(body))


def _document_id(address: str) -> str:
    """The identifier in the address of another tenant's document; others are addresses too."""
    match = _PUBLIC_ADDRESS.fullmatch(address)
    return address if match is None else match[1]


def _narrow(text: str) -> str:
    return _WIDE.sub(" ", _DASHES.sub("---", text))


def _passages(hits: Sequence[Mapping[str, Any]]) -> list[ShownPassage]:
    return [ShownPassage(hit["document_id"], hit["text"], hit["start"]) for hit in hits]


def _of_search(content: Any, body: bytes) -> Shown:
    return Shown(_passages(content["hits"]), body)


def _of_batch(content: Any, body: bytes) -> Shown:
    return Shown([entry for part in content["answers"] for entry in _passages(part["hits"])], body)


def _of_mcp_search(content: Any, _: bytes) -> Shown | None:
    results = content.get("result", {}).get("structuredContent")
    if results is None:
        return None
    found = [ShownPassage(_document_id(one["id"]), one["text"]) for one in results["results"]]
    return Shown(found, orjson.dumps(results))


def _of_mcp_fetch(content: Any, _: bytes) -> Shown | None:
    result = content.get("result")
    if result is None:
        return None
    if result["isError"]:
        return Shown((), is_found=False)
    document = result["structuredContent"]
    return Shown([ShownPassage(document["id"], document["text"], document["metadata"]["start"])])


def _of_vector_store(content: Any, _: bytes) -> Shown:
    rows = [
        [_document_id(one["file_id"]), one["filename"], one["score"], one["content"][0]["text"]]
        for one in content["data"]
    ]
    return Shown([ShownPassage(row[0], row[3]) for row in rows], orjson.dumps(rows))


def _of_document(content: Any, _: bytes) -> Shown:
    readers = frozenset(content["readers"])
    return Shown([ShownPassage(content["document_id"], content["text"], 0, readers)])


def _of_documents(content: Any, _: bytes) -> Shown:
    listed = content["documents"]
    return Shown(
        [ShownPassage(one["document_id"], readers=frozenset(one["readers"])) for one in listed]
    )


_SHOWN: Mapping[PathName, Callable[[Any, bytes], Shown | None]] = {
    "search": _of_search,
    "semantic": _of_search,
    "batch": _of_batch,
    "mcp search": _of_mcp_search,
    "mcp fetch": _of_mcp_fetch,
    "vector store": _of_vector_store,
    "document": _of_document,
    "documents": _of_documents,
}
