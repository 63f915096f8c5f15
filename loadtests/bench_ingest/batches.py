"""Batches over HTTP into an empty database: what a chunk costs the gateway and PostgreSQL."""

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Any

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, list_section
from loadtests.bench_ingest.reading import passages
from loadtests.servers import processes, service
from loadtests.servers.processes import Meter
from loadtests.workload import tenant_client

_WORDS = 62  # of a chunk, as many as a passage of SQuAD has
_POSTGRES_MS_MAX = 1.0
_HOW = (
    f"Public passages of {_WORDS} words, each a document of one chunk, two of three for the whole "
    "tenant and one for a group, by `POST /v1/documents/batch` into a new database. All of "
    "PostgreSQL's processes count, those that write its log and its pages too."
)
_ROWS = {
    "chunks": ("chunks", ",d"),
    "gateway_ms": ("the gateway's processor time a chunk, ms", ".2f"),
    "postgres_ms": ("PostgreSQL's, ms", ".2f"),
}


def measure(run: Run) -> Section:
    documents = list(islice(_documents(run), run.sized(30_000, 1_000)))
    with (
        service.nearhit(service.UNLIMITED) as gateway,
        tenant_client.new_tenant(gateway, "acme", ["few"]) as tenant,
        run.console.status("writing") as status,
    ):
        status.update(f"writing {len(documents):,} documents")
        with Meter(lambda: (gateway.pid,), lambda: processes.database(gateway)) as meter:
            chunks = tenant.put(documents)
    gateway_ms, postgres_ms = (1000 * spent_s / chunks for spent_s in meter.spent_s)
    figures = {"chunks": chunks, "gateway_ms": gateway_ms, "postgres_ms": postgres_ms}
    bar = Bar("PostgreSQL's milliseconds a chunk", postgres_ms, at_most=_POSTGRES_MS_MAX)
    return list_section("Batches over HTTP", _HOW, figures, _ROWS, [bar])


def _documents(run: Run) -> Iterator[Mapping[str, Any]]:
    numbers = count()
    for title, text in passages(run.data):
        words = text.split()
        for at in range(0, len(words) - _WORDS, _WORDS):
            number = next(numbers)
            yield {
                "document_id": f"passage-{number}",
                "title": title,
                "text": " ".join(words[at : at + _WORDS]),
                "readers": ["tenant" if number % 3 else "group:few"],
            }
