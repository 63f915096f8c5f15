"""The same pairs asked of a running gateway: what its semantic tier really serves."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import httpx2

from loadtests.bench_semantic import judge
from loadtests.bench_semantic.pairs import Corpus, Pair

_TIER = "semantic"  # in the header Cache-Status of what the tier has served


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """One question asked with `semantic: bounded`, after the other was answered."""

    pair: Pair
    served: bool
    wrong: bool


def asked(corpus: Corpus, client: httpx2.Client, seed: int) -> Iterator[LiveAnswer]:
    """The pairs in random order; the client has a key, and the passages are written."""
    pairs = Random(seed).sample(corpus.pairs, len(corpus.pairs))  # noqa: S311  no secret
    for pair in pairs:
        _search(client, pair.cached)
        served_answer = _search(client, pair.asked, semantic="bounded")
        real = _search(client, pair.asked)
        served = _TIER in served_answer.headers["cache-status"]
        wrong = served and judge.is_wrong(_chunks(served_answer), _chunks(real))
        yield LiveAnswer(pair, served, wrong)


def _search(client: httpx2.Client, query: str, **options: Any) -> httpx2.Response:
    answer = client.post("/v1/search", json={"query": query, **options})
    answer.raise_for_status()
    return answer


def _chunks(answer: httpx2.Response) -> list[int]:
    return [hit["chunk_id"] for hit in answer.json()["hits"]]
