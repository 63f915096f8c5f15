"""One load test from set-up to result, with a line on the console every few seconds."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from rich.console import Console

from loadtests.bench import machine
from loadtests.load.connection_pool import Unanswered
from loadtests.loadtest import budget
from loadtests.loadtest.budget import Limit
from loadtests.loadtest.driver import Load, LoadRun
from loadtests.loadtest.environment import Deployment, LoadEnvironment, load_environment
from loadtests.loadtest.result import Result
from loadtests.loadtest.setup import OnLeft, SetupRefused

_LINE_EVERY_S = 10.0
_BREACH_EVERY_S = 1.0
_ENDING = "ending early and removing what the run wrote; the same signal again leaves it"


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_EXIT_OF_SIGNAL = 128  # plus its number, as shells report it


@dataclass(slots=True)
class EarlyEnd:
    """reason: why the run ended early, None if it did not. received: the signal that ended it."""

    reason: str | None = None
    received: signal.Signals | None = None

    @property
    def exit_code(self) -> int | None:
        return None if self.received is None else _EXIT_OF_SIGNAL + self.received


@contextmanager
def _on_signals(ending: EarlyEnd, on_first: Callable[[], None]) -> Iterator[None]:
    """Cancel the current task on SIGINT or SIGTERM. Signals reach the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "called by a task"

    def end(number: signal.Signals) -> None:
        if ending.received is None:
            ending.received, ending.reason = number, f"ended by {number.name}"
            on_first()
        task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, end, number)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


class NotRun(Exception):
    """Nothing could be measured; the message is one line. exit_code: of the command."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


async def run(
    target: Deployment,
    load: Load,
    limits: Sequence[Limit],
    console: Console,
    *,
    command: str,
    abort_on_breach: bool = False,
) -> tuple[Result, EarlyEnd]:
    """SIGINT, SIGTERM and, if asked for, a missed limit end it early. Raises `NotRun`."""
    made_on, ending = machine.description(()), EarlyEnd()
    result: Result | None = None
    left: list[str] = []
    with (
        _on_signals(ending, lambda: console.print(_ENDING)),
        suppress(asyncio.CancelledError),
    ):
        async with (
            _prepared(target, load, console, left.append) as prepared,
            prepared.drive(load) as drive,
        ):
            with _shown(console, drive), suppress(asyncio.CancelledError):
                if abort_on_breach:
                    await _run_until_breach(drive, limits, ending)
                else:
                    await drive.run()
            seconds = min(load.counted_s, max(drive.elapsed_s, 0.001))
            result = Result(
                url=target.url,
                date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
                command=command,
                machine=made_on,
                summary=_summary(load),
                options=asdict(load),
                seconds=round(seconds, 3),
                figures=drive.figures,
                judge=prepared.judge,
                findings=budget.judged(limits, drive.figures, prepared.judge),
                stages=load.all_stages,
                ended_early=ending.reason,
            )
    if result is None:
        reasons = (ending.reason or "cancelled", "before anything was measured", *left)
        raise NotRun(" ".join(reasons), ending.exit_code or 2)
    return replace(result, not_removed=" ".join(left) or None), ending


async def _run_until_breach(drive: LoadRun, limits: Sequence[Limit], ending: EarlyEnd) -> None:
    running = asyncio.create_task(drive.run())
    try:
        while not running.done():
            await asyncio.wait({running}, timeout=_BREACH_EVERY_S)
            found = budget.breach(limits, drive.figures, drive.judge)
            if found is not None:
                ending.reason = f"aborted at the breach of {found.limit.group} {found.limit.name}"
                break
        else:
            await running
    finally:
        running.cancel()
        await asyncio.wait({running})


def _summary(load: Load) -> str:
    rates = ", ".join(map(str, load.all_stages))
    writes = f"{load.writes:g} writes per second" if load.writes else "no writes"
    repeats = f"{100 * load.repeats:.0f} % repeats"
    return f"searches at {rates}, {load.pattern} arrivals, {repeats}, {writes}"


@asynccontextmanager
async def _prepared(
    target: Deployment, load: Load, console: Console, on_left: OnLeft
) -> AsyncIterator[LoadEnvironment]:
    try:
        console.print("creating the documents of the run; they are removed at the end")
        async with load_environment(
            target, seed=load.seed, writes=load.writes > 0, on_left=on_left
        ) as prepared:
            yield prepared
    except (SetupRefused, ValueError) as error:
        raise NotRun(str(error)) from None
    except Unanswered as error:
        raise NotRun(f"{target.url} does not answer: {error}") from None


@contextmanager
def _shown(console: Console, drive: LoadRun) -> Iterator[None]:
    telling = asyncio.create_task(_tell(console, drive))
    yield
    telling.cancel()


async def _tell(console: Console, drive: LoadRun) -> None:
    while True:
        await asyncio.sleep(_LINE_EVERY_S)
        console.print(f"{max(0, drive.elapsed_s):4.0f} s  {_state(drive)}", markup=False)


def _state(drive: LoadRun) -> str:
    figures, counts = drive.figures, drive.judge.counts
    if not figures.count("all"):
        return "warming up"
    latencies = figures.latencies["all"]
    return (
        f"{figures.answers:,} answers, P50 {latencies.percentile_ms(50):.1f} ms, "
        f"P99 {latencies.percentile_ms(99):.1f} ms, {figures.errors.total():,} errors, "
        f"{counts['stale']:,} stale, {counts['leaked']:,} leaked"
    )
