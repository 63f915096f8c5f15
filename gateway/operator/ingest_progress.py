"""What a person sees of long work on documents: how far it is, and what it came to."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from ingest.sources.folder import FolderSource
from ingest.sources.source import Source
from ingest.sources.source_sync import Report
from ingest.write.reembed import ReembedProgress

_REFUSED_SHOWN_MAX = 20
_LINE_EVERY_S = 5.0


def watching(
    console: Console, source: FolderSource
) -> tuple[Callable[[Report], None], Callable[[str], None]]:
    """A line for each reading that did something, and for each that could not be done."""
    console.print(f"watching {escape(str(source.folder))}; Ctrl-C ends it", soft_wrap=True)

    def failed(why: str) -> None:
        console.print(f"[yellow]waiting[/] {escape(why)}", soft_wrap=True)

    return partial(show, console), failed


@contextmanager
def progress(
    console: Console, source: Source, clock_s: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[Report], None]]:
    """A bar on a terminal; a line now and then where there is none to draw on."""
    total = source.count() if isinstance(source, FolderSource) else None
    with progress_of(console, source.name, total, clock_s) as on_item:
        yield on_item


@contextmanager
def progress_of(
    console: Console,
    name: str,
    total: int | None,
    clock_s: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[[Report], None]]:
    """total: how many documents there are, if anybody knows."""
    if not console.is_terminal:
        yield _Lines(console, name, total, clock_s)
        return
    with _bars(console) as bars:
        task = bars.add_task(escape(name), total=total, said="")
        yield lambda report: bars.update(
            task, completed=report.items, said=_said(report, bars.tasks[0].speed)
        )


class _Lines:
    def __init__(
        self, console: Console, name: str, total: int | None, clock_s: Callable[[], float]
    ) -> None:
        self._console = console
        self._name = name
        self._total = total
        self._clock_s = clock_s
        self._started_s = self._told_s = clock_s()

    def __call__(self, report: Report) -> None:
        now_s = self._clock_s()
        if now_s - self._told_s < _LINE_EVERY_S:
            return
        self._told_s = now_s
        speed = report.items / (now_s - self._started_s)
        of, left = "", ""
        if self._total is not None:
            of = f" of {self._total:,}"
            left = f", {max(self._total - report.items, 0) / speed:,.0f} s left"
        self._console.print(
            f"{self._name}: {report.items:,}{of}, {_said(report, speed)}{left}",
            markup=False,
            soft_wrap=True,
        )


def _said(report: Report, speed: float | None) -> str:
    rate = f"{speed:,.1f}/s, " if speed else ""
    return f"{rate}{report.embedded:,} embedded, {report.reused:.0%} reused"


@contextmanager
def exporting(console: Console, tenant: str) -> Iterator[Callable[[int, int], None]]:
    """Is told how many documents are written, and of how many; a bar, on a terminal."""
    with _bars(console) as bars:
        task = bars.add_task(escape(tenant), total=None, said="")
        yield lambda done, total: bars.update(task, completed=done, total=total)


@contextmanager
def reembedding(
    console: Console,
) -> Iterator[Callable[[str, int], Callable[[ReembedProgress], None]]]:
    """A bar for each tenant on a terminal; nothing where there is none to draw on."""
    bars = _bars(console)

    def on_tenant(tenant: str, documents: int) -> Callable[[ReembedProgress], None]:
        task = bars.add_task(escape(tenant), total=documents, said="")
        return lambda progress: bars.update(
            task, completed=progress.documents, said=f"{progress.embedded:,} embedded"
        )

    with bars:
        yield on_tenant


def _bars(console: Console) -> Bars:
    return Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[said]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


def show(console: Console, report: Report) -> None:
    console.print(
        f"{report.documents} documents ({report.unchanged} unchanged), {report.removed} removed; "
        f"chunks: {report.chunks_added} added, {report.chunks_kept} kept, "
        f"{report.chunks_removed} removed, {report.embedded} embedded",
        soft_wrap=True,
    )
    for refused in report.refused[:_REFUSED_SHOWN_MAX]:
        console.print(
            f"[yellow]refused[/] {escape(refused.path)}: {escape(refused.reason)}", soft_wrap=True
        )
    if len(report.refused) > _REFUSED_SHOWN_MAX:
        console.print(f"… and {len(report.refused) - _REFUSED_SHOWN_MAX} more refused")
