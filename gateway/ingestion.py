"""What a person sees of long work on documents: how far it is, and what it came to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

from ingest.reembed import Progress
from ingest.run import Report
from ingest.sources.folder import FolderSource

_REFUSED_SHOWN_MAX = 20


@contextmanager
def progress(console: Console, source: FolderSource) -> Iterator[Callable[[Report], None]]:
    """A bar on a terminal; nothing where there is none to draw on."""
    bar = _bars(console)
    with bar:
        task = bar.add_task("ingesting", total=source.count(), embedded=0)
        yield lambda report: bar.update(
            task, completed=report.documents + len(report.refused), embedded=report.embedded
        )


@contextmanager
def reembedding(console: Console) -> Iterator[Callable[[str, int], Callable[[Progress], None]]]:
    """A bar for each tenant on a terminal; nothing where there is none to draw on."""
    bars = _bars(console)

    def on_tenant(tenant: str, documents: int) -> Callable[[Progress], None]:
        task = bars.add_task(escape(tenant), total=documents, embedded=0)
        return lambda progress: bars.update(
            task, completed=progress.documents, embedded=progress.embedded
        )

    with bars:
        yield on_tenant


def _bars(console: Console) -> Bars:
    return Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[embedded]} embedded"),
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
        console.print(f"[yellow]refused[/] {escape(refused.path)}: {escape(refused.reason)}")
    if len(report.refused) > _REFUSED_SHOWN_MAX:
        console.print(f"… and {len(report.refused) - _REFUSED_SHOWN_MAX} more refused")
