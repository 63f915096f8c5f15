"""What load a gateway bears, and how fast it is at half of it, against bars.

    python -m loadtests.bench_load [DATA] [--only SECTION]… [--seconds S] [--report FILE]

    hits   exact hits alone, 500 a second
    mix    70 % repeats with writers: the capacity, and the latencies at half of it

DATA holds real histories; without it they are made up. Exits with 1 if a bar is missed.
"""

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from rich.console import Console

from loadtests.bench.report import BenchmarkReport
from loadtests.bench_load import bench, hits, mix
from loadtests.bench_load.bench import Bench, Measure

_HEAD = """# Load

Written by `make bench-load`; `make bench-load ONLY=hits` measures one section anew and leaves the other.
The command fails if a bar is missed.
One gateway of one worker, its PostgreSQL, its Valkey and the driver share the machine.
Requests are sent when they are due and timed from then, whatever the service does meanwhile; [how load is judged](../decisions/0027-load-is-judged-by-when-requests-were-due.md) says why.
The figures of this page, second by second, are also in [load.json](load.json).
"""  # noqa: E501  a sentence a line

_SECTIONS: Mapping[str, Measure] = {"hits": hits.measure, "mix": mix.measure}


def main() -> None:
    arguments = _arguments()
    console = Console()
    given = Bench(arguments.data, console, arguments.seconds)
    report = BenchmarkReport(arguments.report, _HEAD, bench.PACKAGES)
    measures = {name: partial(measure, given) for name, measure in _SECTIONS.items()}
    missed = report.measure(measures, arguments.only, console)
    raise SystemExit(1 if missed else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.bench_load",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, nargs="?", help="folder of the real histories")
    parser.add_argument(
        "--only", action="append", choices=list(_SECTIONS), default=[], help="may come again"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="of each steady load")
    parser.add_argument("--report", type=Path, default=Path("docs/benchmarks/load.md"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
