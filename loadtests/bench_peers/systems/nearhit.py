"""Nearhit as anybody else would use it: over HTTP, with a key for each caller."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import orjson

from loadtests.bench_index.measures import DEPTH
from loadtests.bench_peers.systems.peer import Peer, PeerHit, PeerQuestion
from loadtests.bench_peers.world import PeerWorld
from loadtests.servers.service import Service
from loadtests.workload.tenant_client import TenantClient, connected, new_tenant

NAME = "Nearhit"
HOW = (
    "one worker, all at its defaults but for the rates, which refuse nobody, and for answers, that "
    "no callers share, so that a new question has none; a key for each caller with its groups; "
    "`POST /v1/search` with `top_k` 10 embeds the question itself, searches by words as well as by "
    "vectors, and proves the revision of each answer; nearest with `alpha` 1"
)


@contextmanager
def filled(world: PeerWorld, gateway: Service) -> Iterator[Peer]:
    with ExitStack() as stack:
        tenants: dict[str, TenantClient] = {}
        for name in dict.fromkeys(world.tenants):
            tenants[name] = stack.enter_context(new_tenant(gateway, name, roles=("admin",)))
            tenants[name].share_no_answers()
            documents = [
                {
                    "document_id": str(row),
                    "text": world.texts[row],
                    "language": "en",
                    "readers": world.readers[row],
                }
                for row, owner in enumerate(world.tenants)
                if owner == name
            ]
            chunks = tenants[name].put(documents)
            assert chunks == len(documents), "each passage is one chunk"

        def edit(row: int, text: str) -> None:
            tenants[world.tenants[row]].put_one(
                str(row), text, language="en", readers=world.readers[row]
            )

        def restrict(row: int, readers: Sequence[str]) -> None:
            client_of_tenant = tenants[world.tenants[row]].client
            path = f"/v1/documents/{row}/access"
            client_of_tenant.patch(path, json={"readers": readers}).raise_for_status()

        yield Peer(
            name=NAME,
            how=HOW,
            url=f"{gateway.url}/v1/search",
            keys=_keys(world, gateway),
            pids=[gateway.pid],
            body=_body,
            found=_found,
            edit=edit,
            restrict=restrict,
            recall_body=lambda question: _body(question, alpha=1),
        )


def _keys(world: PeerWorld, gateway: Service) -> list[str]:
    """By caller."""
    with connected(gateway.url, gateway.admin_key) as operator:
        return [
            operator.new_key(caller.subject, tenant=caller.tenant, groups=list(caller.groups))
            for caller in world.callers
        ]


def _body(question: PeerQuestion, **options: Any) -> bytes:
    return orjson.dumps({"query": question.text, "top_k": DEPTH, **options})


def _found(body: bytes) -> list[PeerHit]:
    return [PeerHit(int(hit["document_id"]), hit["text"]) for hit in orjson.loads(body)["hits"]]
