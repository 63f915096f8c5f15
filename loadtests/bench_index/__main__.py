"""How good and how fast the index is, beside others, against bars.

    python -m loadtests.bench_index DATA [--only SECTION]…

Exits with 1 if a section that was measured misses a bar.
"""

import argparse
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from loadtests.bench_index import ingestion, latency, quality, recall, report, statement, typos
from loadtests.bench_index.section import Bench, Measure

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
    sections = report.read(arguments.report)
    measured = {}
    for name in arguments.only or _SECTIONS:
        console.rule(name)
        measured[name] = _SECTIONS[name](bench)
        # Written at once: a later section that fails takes nothing away.
        sections[name] = measured[name]
        known = {name: sections[name] for name in _SECTIONS if name in sections}
        report.write(arguments.report, known)
    missed = [bar for section in measured.values() for bar in section.bars if not bar.held]
    for bar in missed:
        console.print(f"[red]missed:[/] {bar.what}: {bar.figure:.4g}, wanted {bar.limit}")
    raise SystemExit(1 if missed else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", action="append", choices=list(_SECTIONS))
    parser.add_argument("--questions", type=int, default=1000, help="of each set; 0: all")
    parser.add_argument("--rounds", type=int, default=10, help="in which timed systems take turns")
    parser.add_argument("--report", type=Path, default=Path("docs/benchmarks/index.md"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
