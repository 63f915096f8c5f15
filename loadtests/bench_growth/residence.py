"""Brings a tenant into the memory of a gateway, where its searches are answered by a shard.

docs/design/answering.md#from-memory says what a shard is.
"""

import time
from collections.abc import Iterator, Mapping
from itertools import islice

import uvloop

from loadtests.load import closed_loop
from loadtests.servers import metrics
from loadtests.servers.service import Service

CHUNKS_MAX = 200_000  # as by default
# Of the two gateways that are compared; the bytes are as by default.
WITH_SHARDS: Mapping[str, str] = {
    "NEARHIT_SHARD_BYTES_MAX": "268435456",
}
WITHOUT_SHARDS: Mapping[str, str] = {"NEARHIT_SHARD_BYTES_MAX": "0"}

_SEARCHES = 3  # within a minute, after which a tenant is loaded
_WAIT_S_MAX = 300.0
_POLL_S = 0.02


def load(gateway: Service, requests: Iterator[bytes]) -> float | None:
    """The seconds from the third search of a tenant until the gateway's memory holds it.

    requests: questions of the tenant that nobody has asked.
    0 if the memory holds it already; None if it has too many chunks or bytes, so that PostgreSQL
    answers.
    Raises `TimeoutError` after five minutes.
    """
    _search(gateway, requests, _SEARCHES - 1)
    unsuitable = _loads(gateway, "unsuitable")
    started_s = ended_s = time.monotonic()
    while True:
        ended_loads = _ended_loads(gateway)
        if _is_resident(gateway, requests):
            return ended_s - started_s
        if _loads(gateway, "unsuitable") > unsuitable:
            return None
        # One partition may have been loaded of two: a tenant's, and the public one.
        while _ended_loads(gateway) == ended_loads:
            if time.monotonic() > started_s + _WAIT_S_MAX:
                raise TimeoutError("the gateway did not load the tenant")
            time.sleep(_POLL_S)
        ended_s = time.monotonic()


def _is_resident(gateway: Service, requests: Iterator[bytes]) -> bool:
    """Whether the next request is answered from a shard."""
    before = metrics.statements([gateway.url])["search_confirmation.confirm"]
    _search(gateway, requests, 1)
    return metrics.statements([gateway.url])["search_confirmation.confirm"] > before


def _search(gateway: Service, requests: Iterator[bytes], count: int) -> None:
    some = list(islice(requests, count))
    answers = uvloop.run(closed_loop.send_all(gateway.url, some, connections=1))
    assert not any(answer.is_hit for answer in answers), "a cached answer needs no shard"


def _ended_loads(gateway: Service) -> float:
    return _loads(gateway, "loaded") + _loads(gateway, "unsuitable")


def _loads(gateway: Service, event: str) -> float:
    return metrics.read(gateway.url, "nearhit_shard_events_total", event=event)
