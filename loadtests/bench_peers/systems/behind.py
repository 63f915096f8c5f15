"""A library behind the small application, asked and written to over HTTP."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2
import orjson

from loadtests.bench_index.systems import vectors
from loadtests.bench_peers.systems.host import PeerSetup
from loadtests.bench_peers.systems.peer import Found, Peer, PeerQuestion
from loadtests.servers import service


@contextmanager
def application(
    place: PeerSetup, name: str, how: str, module: str, settings: Path, *, pids: Sequence[int] = ()
) -> Iterator[Peer]:
    """module: of the store. pids: of other processes that belong to it."""
    command = ["loadtests.bench_peers.systems.app", module, str(settings)]
    with (
        service.process(command, {}, place.log(module)) as (url, pid),
        httpx2.Client(base_url=url, timeout=60) as client,
    ):

        def edit(row: int, text: str) -> None:
            vector = vectors.embed([text])[0].tolist()
            asked = {"row": row, "text": text, "vector": vector}
            client.post("/edit", json=asked).raise_for_status()

        def restrict(row: int, readers: Sequence[str]) -> None:
            asked = {"row": row, "readers": list(readers)}
            client.post("/restrict", json=asked).raise_for_status()

        yield Peer(
            name=name,
            how=how,
            url=f"{url}/search",
            keys=place.keys,
            pids=[pid, *pids],
            body=_body,
            found=_found,
            edit=edit,
            restrict=restrict,
        )


def fresh(asked: PeerQuestion) -> bytes:
    """What is sent for an answer that no cache gives."""
    return orjson.dumps({"text": asked.text, "vector": asked.vector, "fresh": True})


def _body(asked: PeerQuestion) -> bytes:
    return orjson.dumps({"text": asked.text, "vector": asked.vector})


def _found(body: bytes) -> list[Found]:
    return [Found(hit["row"], hit["text"]) for hit in orjson.loads(body)["hits"]]
