"""Generated passages and questions about them, made once for all sections."""

from collections.abc import Iterator
from functools import cache
from itertools import count

import uvloop

from loadtests.bench_index import corpus
from loadtests.bench_index.corpus import Passages
from loadtests.workload import topics
from loadtests.workload.topics import TopicWorld

_PASSAGES, _QUESTIONS, SEED = 5_000, 20_000, 19


@cache
def built() -> TopicWorld:
    return topics.build(_PASSAGES, _QUESTIONS, SEED)


@cache
def passages() -> Passages:
    return uvloop.run(corpus.understood([document["text"] for document in built().documents]))


def questions() -> Iterator[str]:
    """Endless questions, all different."""
    for round_number in count():
        for question in built().questions:
            yield f"{question} {round_number}" if round_number else question
