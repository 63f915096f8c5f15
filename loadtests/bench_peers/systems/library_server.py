"""A library behind the small application, asked and written to over HTTP."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2
import orjson

from loadtests.bench_index.systems import vectors
from loadtests.bench_peers.systems.peer import Peer, PeerHit, PeerQuestion
from loadtests.bench_peers.systems.peer_setup import PeerSetup
from loadtests.servers import service


@contextmanager
def application(
    setup: PeerSetup, name: str, how: str, module: str, settings: Path, *, pids: Sequence[int] = ()
) -> Iterator[Peer]:
    """module: of the store. pids: of other processes that belong to it."""
    command = ["loadtests.bench_peers.systems.app", module, str(settings)]
    with (
        service.process(command, {}, setup.log(module)) as (url, pid),
        httpx2.Client(base_url=url, timeout=60) as client,
    ):

        def edit(row: int, text: str) -> None:
            vector = vectors.embed([text])[0].tolist()
            body = {"row": row, "text": text, "vector": vector}
            client.post("/edit", json=body).raise_for_status()

        def restrict(row: int, readers: Sequence[str]) -> None:
            body = {"row": row, "readers": list(readers)}
            client.post("/restrict", json=body).raise_for_status()

        yield Peer(
            name=name,
            how=how,
            url=f"{url}/search",
            keys=setup.keys,
            pids=[pid, *pids],
            body=_body,
            found=_found,
            edit=edit,
            restrict=restrict,
        )


def _body(question: PeerQuestion) -> bytes:
    return orjson.dumps({"text": question.text, "vector": question.vector})


def _found(body: bytes) -> list[PeerHit]:
    return [PeerHit(hit["row"], hit["text"]) for hit in orjson.loads(body)["hits"]]
