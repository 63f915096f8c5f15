"""A tenant of a gateway, used over HTTP with a key."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2
import uvloop

from loadtests.load import closed_loop
from loadtests.load.request import RequestTemplate
from loadtests.load.response import HttpResponse
from loadtests.servers.service import Service

_BATCH_DOCUMENTS = 500


@dataclass(frozen=True, slots=True)
class TenantClient:
    """An HTTP client with a key of the tenant."""

    client: httpx2.Client
    key: str

    @property
    def search_request(self) -> RequestTemplate:
        return RequestTemplate(str(self.client.base_url.join("/v1/search")), self.key)

    def put(self, documents: Sequence[Mapping[str, Any]]) -> int:
        """Write documents in batches; returns how many chunks they became."""
        chunks = 0
        for at in range(0, len(documents), _BATCH_DOCUMENTS):
            batch = documents[at : at + _BATCH_DOCUMENTS]
            lines = "\n".join(json.dumps(document) for document in batch)
            response = self.client.post("/v1/documents/batch", content=lines)
            response.raise_for_status()
            written = map(json.loads, response.text.splitlines())
            chunks += sum(line["chunks"]["added"] for line in written)
        return chunks

    def put_one(self, document_id: str, text: str, **fields: Any) -> dict[str, int]:
        """Write a document; returns how many chunks were added, unchanged and removed."""
        path = f"/v1/documents/{quote(document_id)}"
        written = self.client.put(path, json={"text": text, **fields})
        written.raise_for_status()
        chunks: dict[str, int] = written.json()["chunks"]
        return chunks

    def edit_first(self, text: str) -> float:
        """Write the first document of generated topics; returns the seconds that it took."""
        started_s = time.perf_counter()
        self.put_one("document-0", text, language="en", readers=["tenant"])
        return time.perf_counter() - started_s

    def remove(self, document_id: str) -> None:
        self.client.delete(f"/v1/documents/{quote(document_id)}").raise_for_status()

    def share_no_answers(self) -> None:
        """Keep callers who see the same from getting each other's cached answers."""
        self.client.put("/v1/shared-answers", json={"shares": False}).raise_for_status()

    def new_key(self, subject: str, **fields: Any) -> str:
        """Of another subject, made by an administrator or the operator."""
        body = {"subject": subject, **fields}
        key: str = self.client.post("/v1/keys", json=body).raise_for_status().json()["key"]
        return key

    def search_all(self, bodies: Sequence[bytes], *, connections: int) -> list[HttpResponse]:
        """The responses to these search bodies, each sent once."""
        template = self.search_request
        requests = list(map(template.encode, bodies))
        return uvloop.run(closed_loop.send_all(template.url, requests, connections=connections))

    def search(self, query: str, **options: Any) -> list[dict[str, Any]]:
        """The hits of a search."""
        hits: list[dict[str, Any]] = self._answer(query, options).json()["hits"]
        return hits

    def has_low_confidence(self, query: str) -> bool:
        """Whether the answer says that no hit is good enough."""
        return bool(self._answer(query, {}).json().get("low_confidence"))

    def _answer(self, query: str, options: dict[str, Any]) -> httpx2.Response:
        answer = self.client.post("/v1/search", json={"query": query, **options})
        answer.raise_for_status()
        return answer


@contextmanager
def new_tenant(
    service: Service,
    name: str,
    groups: Sequence[str] = (),
    roles: Sequence[str] = ("reader", "writer"),
) -> Iterator[TenantClient]:
    """A new tenant of the gateway, with a key of these groups and roles."""
    with connected(service.url, service.admin_key) as operator:
        operator.client.post("/v1/tenants", json={"id": name}).raise_for_status()
    key = new_key(service, name, "bench", groups=list(groups), roles=list(roles))
    with connected(service.url, key) as tenant:
        yield tenant


def new_key(service: Service, tenant: str, subject: str, **fields: Any) -> str:
    """A key of a subject of a tenant, made by the operator."""
    with connected(service.url, service.admin_key) as operator:
        return operator.new_key(subject, tenant=tenant, **fields)


@contextmanager
def connected(url: str, key: str) -> Iterator[TenantClient]:
    """The caller who has this key, through this gateway."""
    headers = {"Authorization": f"Bearer {key}"}
    with httpx2.Client(base_url=url, headers=headers, timeout=600) as client:
        yield TenantClient(client, key)
