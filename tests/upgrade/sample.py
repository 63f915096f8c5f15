"""The index that is recorded, and the requests whose answers have to outlast an upgrade."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from re import findall
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ExactEmbedder:
    """Vectors of 16 elements of 1/4 each, whose products are exact on every processor."""

    alpha = 0.5
    languages = None
    confident_score = None
    tokens_max = 4_096
    batch_texts_max = 1_000
    dimensions = 32
    space = "exact-32"

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = (await self.embed_passages([text]))[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape (texts, 32); texts with common words are similar."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            vector[_positions(text)] = 0.25
        return vectors


def _positions(text: str) -> list[int]:
    weights = np.zeros(ExactEmbedder.dimensions, np.int64)
    for word in findall(r"\w+", text.casefold()):
        digest = blake2b(word.encode(), digest_size=4).digest()
        weights[[byte % ExactEmbedder.dimensions for byte in digest]] += 1
    order = np.argsort(-weights, kind="stable")
    return [int(position) for position in order[:16]]


@dataclass(frozen=True, slots=True)
class Person:
    tenant: str
    subject: str
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ("reader", "writer")


PEOPLE: Mapping[str, Person] = {
    "ada": Person("acme", "ada", roles=("reader", "writer", "admin", "publisher")),
    "ana": Person("acme", "ana"),
    "ben": Person("acme", "ben", groups=("sales",)),
    "bea": Person("beta", "bea", roles=("reader", "writer", "publisher")),
}
MEMBER = ("crew", "ana")  # a group of acme, and its member

TENANT_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "/v1/confidence": {"score_min": 0.1, "sources": {"log": 0.95}},
    "/v1/gates/lamps": {"open": ["lamp"]},
}

_GUIDE = """# Lighthouse guide

The lighthouse stands on the northern cliff. Its lamp turns every twelve seconds.

## Cleaning the lens

Clean the lens with soft cloth and vinegar. The keeper writes each cleaning into the log.

## Fog signals

In fog the horn sounds twice a minute. The horn needs compressed air from the pump house."""


@dataclass(frozen=True, slots=True)
class SamplePut:
    caller: str
    document_id: str
    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


PUTS: Sequence[SamplePut] = [
    SamplePut(
        "ada",
        "guide",
        _GUIDE,
        {
            "title": "Lighthouse guide",
            "uri": "https://example.org/guide",
            "readers": ["tenant"],
            "tags": ["light", "manual"],
            "summaries": "extract",
        },
    ),
    SamplePut(
        "ada", "prices", "Tickets for the lighthouse tour cost nine euros.", {"readers": ["public"]}
    ),
    SamplePut(
        "ada",
        "salaries",
        "The keeper's salary rises with each year on the cliff.",
        {"readers": ["user:ada"], "source": "hr", "metadata": {"year": 2025, "level": "secret"}},
    ),
    SamplePut(
        "ada",
        "pump",
        "Nach dem Nebel werden die Pumpen im Maschinenhaus geprüft.",
        {"readers": ["tenant"], "language": "de", "metadata": {"year": 2024}, "source": "hr"},
    ),
    *(
        SamplePut(
            "ada",
            f"log{day}",
            f"Log of day {day}: the lamp burned {day + 5} hours, and the horn sounded {day} times.",
            {
                "readers": ["group:crew"] if day % 2 else ["group:sales"],
                "tags": ["log", f"day{day}"],
                "source": "log",
                "metadata": {"day": day},
            },
        )
        for day in range(1, 9)
    ),
    SamplePut("ana", "notes", "Ask the harbour master for a new lens.", {"readers": ["user:ana"]}),
    SamplePut(
        "ana", "list", "Vinegar, soft cloth, lamp oil.", {"readers": ["user:ana", "user:ben"]}
    ),
    SamplePut("bea", "harbour", "The harbour opens at dawn, before the lighthouse lamp goes out."),
    SamplePut(
        "bea", "tides", "Tides are public knowledge: see the lighthouse.", {"readers": ["public"]}
    ),
    SamplePut(
        "bea", "boats", "Boats need a permit in fog.", {"readers": ["tenant"], "tags": ["manual"]}
    ),
    SamplePut("ada", "queued", "A queued document.", headers={"Prefer": "respond-async"}),
]
EDITED = SamplePut("ana", "notes", "Ask the harbour master for a new lens and a brass lamp.")
REMOVED = "log8"


@dataclass(frozen=True, slots=True)
class SampleRequest:
    caller: str
    path: str
    body: Mapping[str, Any] | None = None

    @property
    def method(self) -> str:
        return "GET" if self.body is None else "POST"


def _search(caller: str, query: str, **fields: Any) -> SampleRequest:
    return SampleRequest(caller, "/v1/search", {"query": query, **fields})


REQUESTS: Sequence[SampleRequest] = [
    SampleRequest("ada", "/v1/audit/log?limit=100"),  # before the others add to it
    _search("ana", "who cleans the lens"),
    _search("ben", "who cleans the lens"),
    _search("ada", "salary of the keeper"),
    _search("ana", "salary of the keeper"),
    _search("bea", "lighthouse lamp"),
    _search("ana", "lighthouse lamp", explain=True),
    _search("ana", "lighthuose horn", explain=True),
    _search("ana", "lamp hours", filter={"tags_any": ["log"]}, top_k=3),
    _search("ben", "lamp hours", filter={"sources": ["log"]}, top_k=20),
    _search("ana", "horn in fog", expand=True, document_hits_max=1),
    _search("ana", "horn in fog", summaries=True),
    _search("ana", "horn in fog", fusion="rrf", explain=True),
    _search("ana", "horn in fog", fusion="relative", alpha=0.8),
    _search("ana", "Pumpen", language="de", filter={"languages": ["de"]}),
    _search("ada", "keeper", filter={"metadata": {"year": 2025}}),
    _search("ana", "lighthouse", scopes=["public"]),
    _search("ana", "harbour master", scopes=["private"]),
    SampleRequest("ana", "/v1/documents/guide"),
    SampleRequest("ana", "/v1/documents"),
    SampleRequest("ada", "/v1/documents/log1/access/explain?subject=ana"),
    SampleRequest("ada", "/v1/jobs"),
    SampleRequest("ada", "/v1/sources"),
    SampleRequest("ada", "/v1/confidence"),
    SampleRequest("ada", "/v1/gates/lamps"),
]
