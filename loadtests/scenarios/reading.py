"""A long reading on one core beside Nearhit's own embedder, and batches over HTTP."""

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from statistics import fmean, median
from typing import Any

import psutil

from index.embedders.static_embedder import StaticEmbedder
from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, list_section
from loadtests.scenarios import edits
from loadtests.servers import processes, service
from loadtests.servers.processes import Meter
from loadtests.servers.service import Service
from loadtests.workload import json_lines, tenant_client

_SETS = ("medquad_en", "scifact", "squad_sent_dev")
_PASSAGES = 8  # of a document, each a section of its own
_EMBEDDED = 10_000  # passages, before the reading and once more after it
_SAMPLE_S = 0.5
_SHARE_MIN, _GROWTH_MAX = 0.6, 1.1
_HOW = (
    "`nearhit ingest` of a folder of public passages, eight sections a document, into an empty "
    "tenant, its start included. The command has one core, and so has the embedder by itself, "
    "which is given the same chunks before and after; PostgreSQL has what the machine has. What "
    "else the machine does is in the seconds, and hardly in those of the processor. Memory is the "
    "command's resident size: caches of words fill during the first half, up to some 140 MiB, and "
    "nothing else may grow."
)
_REPORTED = re.compile(r"^(\d+) documents .* (\d+) embedded$", re.MULTILINE)


_ROWS = {
    "documents": ("documents", ",d"),
    "chunks": ("chunks embedded", ",d"),
    "seconds": ("seconds", ",.0f"),
    "processor_s": ("seconds of the processor", ",.0f"),
    "per_s": ("chunks a second", ",.0f"),
    "embedder_per_s": ("the embedder's own", ",.0f"),
    "per_processor_s": ("chunks a second of the processor", ",.0f"),
    "embedder_per_processor_s": ("the embedder's own", ",.0f"),
    "processor_share": ("the share of it, by the processor's time", ".4f"),
}


_WORDS = 62  # of a chunk, as many as a passage of SQuAD has
_POSTGRES_MS_MAX = 1.0
_BATCHES_HOW = (
    f"Public passages of {_WORDS} words, each a document of one chunk, two of three for the whole "
    "tenant and one for a group, by `POST /v1/documents/batch` into a new database. All of "
    "PostgreSQL's processes count, those that write its log and its pages too."
)
_BATCHES_ROWS = {
    "chunks": ("chunks", ",d"),
    "gateway_ms": ("the gateway's processor time a chunk, ms", ".2f"),
    "postgres_ms": ("PostgreSQL's, ms", ".2f"),
}


def measure(run: Run) -> Section:
    """A long reading on one core: its speed beside that of the embedder, and its memory."""
    with (
        tempfile.TemporaryDirectory(prefix="nearhit-bench-") as name,
        service.nearhit() as gateway,
        run.console.status("reading") as status,
    ):
        size = run.sized(200_000, 5_000)
        texts = _write(run, Path(name), size)
        before = _embedder(texts)
        status.update(f"reading {size:,} chunks")
        documents, chunks, seconds, processor_s, memory = _read(gateway, Path(name))
        after = _embedder(texts)
    embedder_per_s, embedder_per_processor_s = map(fmean, zip(before, after, strict=True))
    per_s, per_processor_s = chunks / seconds, chunks / processor_s
    # Without what else the machine does, and without waiting.
    processor_share = per_processor_s / embedder_per_processor_s
    values = (
        *(documents, chunks, seconds, processor_s, per_s, embedder_per_s),
        *(per_processor_s, embedder_per_processor_s, processor_share),
    )
    figures: dict[str, float] = dict(zip(_ROWS, values, strict=True))
    rows = dict(_ROWS)
    for share in (0.1, 0.25, 0.5, 0.75, 1):
        rows[f"mebibytes_{share:g}"] = f"memory after {share:.0%} of the time, MiB", ",.0f"
        figures[f"mebibytes_{share:g}"] = memory[round(share * (len(memory) - 1))]
    bars = [
        Bar("chunks a second, of the embedder's own", per_s / embedder_per_s, at_least=_SHARE_MIN),
        Bar("memory at the end, of that at half the time", _growth(memory), at_most=_GROWTH_MAX),
    ]
    return list_section("A long reading", _HOW, figures, rows, bars)


def measure_batches(run: Run) -> Section:
    """Batches over HTTP into an empty database: what a chunk costs the gateway and PostgreSQL."""
    documents = list(islice(_short_documents(run), run.sized(30_000, 1_000)))
    with (
        service.nearhit(service.UNLIMITED) as gateway,
        tenant_client.new_tenant(gateway, "acme", ["few"]) as tenant,
        run.console.status(f"writing {len(documents):,} documents"),
        Meter(lambda: (gateway.pid,), lambda: processes.database(gateway)) as meter,
    ):
        chunks = tenant.put(documents)
    gateway_ms, postgres_ms = (1000 * spent_s / chunks for spent_s in meter.spent_s)
    figures = {"chunks": chunks, "gateway_ms": gateway_ms, "postgres_ms": postgres_ms}
    bar = Bar("PostgreSQL's milliseconds a chunk", postgres_ms, at_most=_POSTGRES_MS_MAX)
    return list_section("Batches over HTTP", _BATCHES_HOW, figures, _BATCHES_ROWS, [bar])


def _short_documents(run: Run) -> Iterator[Mapping[str, Any]]:
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


def _growth(mebibytes: Sequence[float]) -> float:
    """The memory of the last tenth of the time, of that of the first tenth of its half."""
    samples = len(mebibytes)
    late, half = (
        mebibytes[int(first * samples) : max(int(last * samples), 1)]
        for first, last in ((0.9, 1), (0.5, 0.6))
    )
    return median(late) / median(half)


def _write(run: Run, folder: Path, size: int) -> list[str]:
    """As many documents as have so many chunks; returns what is embedded of the first of them."""
    texts: list[str] = []
    chunks = 0
    for number, document in enumerate(_documents(run.data)):
        chunks_of_document = edits.chunks(document)
        chunks += len(chunks_of_document)
        texts += [chunk.embedded_text for chunk in chunks_of_document[: _EMBEDDED - len(texts)]]
        path = folder / "passages" / f"{number // 500:03}" / f"{number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document, encoding="utf-8")
        if chunks >= size:
            return texts
    raise AssertionError("the documents never end")


def _documents(data: Path) -> Iterator[str]:
    """All passages, again and again: the heading says which time it is, so that none comes back."""
    for time_ in count(1):
        these = passages(data)
        while together := list(islice(these, _PASSAGES)):
            yield "\n\n".join(f"# {title} ({time_})\n\n{text}" for title, text in together)


def passages(data: Path) -> Iterator[tuple[str, str]]:
    for name in _SETS:
        for number, passage in enumerate(json_lines.read(data / name / "corpus.jsonl.gz")):
            yield passage["title"] or f"{name} {number}", passage["text"]


def _embedder(texts: Sequence[str]) -> tuple[float, float]:
    """Its passages a second, by the clock and of the processor's time."""
    with _one_core():
        embedder = StaticEmbedder()
        size = embedder.batch_texts_max
        asyncio.run(embedder.embed_passages(texts[:100]))  # the first call loads what it needs
        started_s, processor_s = time.perf_counter(), time.process_time()
        for at in range(0, len(texts), size):
            asyncio.run(embedder.embed_passages(texts[at : at + size]))
        ended_s, processor_ended_s = time.perf_counter(), time.process_time()
        return len(texts) / (ended_s - started_s), len(texts) / (processor_ended_s - processor_s)


def _read(gateway: Service, folder: Path) -> tuple[int, int, float, float, list[float]]:
    """Documents, chunks, seconds, seconds of the processor, and the memory meanwhile."""
    log, memory, processor_s = folder / "log", list[float](), 0.0
    command = [sys.executable, "-m", "gateway", "ingest", str(folder / "passages")]
    started_s = time.perf_counter()
    with log.open("w") as output, _one_core():
        process = psutil.Popen(command, env=os.environ | gateway.server_settings, stdout=output)
    while process.poll() is None:
        time.sleep(_SAMPLE_S)
        processor_s = max(processor_s, processes.processor_s(process.pid))
        if resident := process.memory_info().rss:  # none once it has ended
            memory.append(resident / 2**20)
    seconds = time.perf_counter() - started_s
    reported = _REPORTED.search(log.read_text())
    assert reported is not None, log.read_text()
    return int(reported[1]), int(reported[2]), seconds, processor_s, memory


@contextmanager
def _one_core() -> Iterator[None]:
    """What runs or is started meanwhile has the first of our cores, where the system can say so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    ours = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(ours)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, ours)
