"""One load test from set-up to result, with its progress on the console."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from loadtests.bench import machine
from loadtests.load.connection_pool import Unanswered
from loadtests.loadtest import budget
from loadtests.loadtest.budget import Limit
from loadtests.loadtest.driver import Load, LoadRun
from loadtests.loadtest.environment import Deployment, LoadEnvironment, load_environment
from loadtests.loadtest.result import Result
from loadtests.loadtest.setup import SetupRefused

_LINE_EVERY_S = 10.0


class NotRun(Exception):
    """Nothing could be measured; the message is one line."""


async def run(
    target: Deployment, load: Load, limits: Sequence[Limit], console: Console, *, command: str
) -> Result:
    """Ctrl-C ends it early with a result. Raises `NotRun`."""
    made_on = machine.description(())
    async with _prepared(target, load, console) as prepared, prepared.drive(load) as drive:
        with _shown(console, drive, load), suppress(asyncio.CancelledError):
            await drive.run()
        seconds = min(load.seconds, max(drive.elapsed_s, 0.001))
        return Result(
            url=target.url,
            date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            command=command,
            machine=made_on,
            summary=_summary(load),
            options=asdict(load),
            seconds=round(seconds, 3),
            figures=drive.figures,
            judge=prepared.judge,
            findings=budget.judged(list(limits), drive.figures, prepared.judge),
        )


def _summary(load: Load) -> str:
    writes = f"{load.writes:g} writes per second" if load.writes else "no writes"
    return (
        f"{load.rate:g} requests per second for {load.seconds:g} s, {load.pattern} arrivals, "
        f"{100 * load.repeats:.0f} % repeats, {writes}"
    )


@asynccontextmanager
async def _prepared(
    target: Deployment, load: Load, console: Console
) -> AsyncIterator[LoadEnvironment]:
    try:
        console.print("creating the documents of the run; they are removed at the end")
        async with load_environment(target, seed=load.seed, writes=load.writes > 0) as prepared:
            yield prepared
    except (SetupRefused, ValueError) as error:
        raise NotRun(str(error)) from None
    except Unanswered as error:
        raise NotRun(f"{target.url} does not answer: {error}") from None


@contextmanager
def _shown(console: Console, drive: LoadRun, load: Load) -> Iterator[None]:
    """A progress bar on a terminal, otherwise a line every few seconds."""
    if not console.is_terminal:
        telling = asyncio.create_task(_tell(console, drive))
        yield
        telling.cancel()
        return
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as bars:
        drawing = asyncio.create_task(_draw(bars, drive, load))
        yield
        drawing.cancel()


async def _tell(console: Console, drive: LoadRun) -> None:
    while True:
        await asyncio.sleep(_LINE_EVERY_S)
        console.print(f"{max(0, drive.elapsed_s):4.0f} s  {_state(drive)}", markup=False)


async def _draw(bars: Progress, drive: LoadRun, load: Load) -> None:
    bar = bars.add_task("", total=load.warm_up_s + load.seconds)
    while True:
        completed = max(0.0, load.warm_up_s + drive.elapsed_s)
        bars.update(bar, completed=completed, description=_state(drive))
        await asyncio.sleep(0.2)


def _state(drive: LoadRun) -> str:
    figures, counts = drive.figures, drive.judge.counts
    if not figures.count("all"):
        return "warming up"
    latencies = figures.latencies["all"]
    return (
        f"{latencies.count:,} answers, P50 {latencies.percentile_ms(50):.1f} ms, "
        f"P99 {latencies.percentile_ms(99):.1f} ms, {figures.errors.total():,} errors, "
        f"{counts['stale']:,} stale, {counts['leaked']:,} leaked"
    )
