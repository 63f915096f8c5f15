"""What a person sees of an ingestion: how far it is, and what it came to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ingest.folder import FolderSource
from ingest.run import Report

_REFUSED_SHOWN_MAX = 20


@contextmanager
def progress(console: Console, source: FolderSource) -> Iterator[Callable[[Report], None]]:
    """A bar on a terminal; nothing where there is none to draw on."""
    bar = Progress(
        TextColumn("ingesting"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[embedded]} embedded"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("", total=sum(1 for _ in source.documents()), embedded=0)
        yield lambda report: bar.update(
            task, completed=report.documents + len(report.refused), embedded=report.embedded
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
