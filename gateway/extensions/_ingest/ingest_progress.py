"""Progress and result of ingest, export and import, on a terminal."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from tempfile import NamedTemporaryFile

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from gateway.extensions._ingest.pace import Pace, duration
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.source import Source
from gateway.extensions._sources.sync.report import PendingRemoval, Report

_LINES_MAX = 20  # of one kind, on the terminal
_LINE_EVERY_S = 5.0
_NO_FILE_NAME = re.compile(r"[^\w.-]")


def watching(
    console: Console, source: FolderSource
) -> tuple[Callable[[Report], None], Callable[[str], None]]:
    """Callbacks that print a line for each reading with changes and for each failed reading."""
    console.print(f"watching {escape(str(source.folder))}; Ctrl-C ends it", soft_wrap=True)

    def on_failure(reason: str) -> None:
        console.print(f"[yellow]waiting[/] {escape(reason)}", soft_wrap=True)

    return partial(show, console, source=source.name), on_failure


@contextmanager
def progress(
    console: Console, source: Source, clock_s: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[Report], None]]:
    """A progress bar on a terminal; elsewhere a line every few seconds."""
    total = source.count() if isinstance(source, FolderSource) else None
    with progress_of(console, source.name, total, clock_s) as on_item:
        yield on_item


@contextmanager
def progress_of(
    console: Console,
    name: str,
    total: int | None,
    clock_s: Callable[[], float] = time.monotonic,
    *,
    items: Callable[[Report], int] = lambda report: report.items,
) -> Iterator[Callable[[Report], None]]:
    """total: the number of documents; None if it is unknown. items: how many of them are done."""
    if not console.is_terminal:
        yield _Lines(console, name, total, clock_s, items)
        return
    pace = Pace(total, clock_s)
    with progress_bars(console) as bars:
        task = bars.add_task(escape(name), total=total, status="")

        def on_item(report: Report) -> None:
            pace.record(items(report))
            bars.update(task, completed=items(report), status=_status(report, pace))

        yield on_item


class _Lines:
    def __init__(
        self,
        console: Console,
        name: str,
        total: int | None,
        clock_s: Callable[[], float],
        items: Callable[[Report], int],
    ) -> None:
        self._console = console
        self._name = name
        self._of = "" if total is None else f" of {total:,}"
        self._pace = Pace(total, clock_s)
        self._printed_s = self._pace.started_s
        self._items = items

    def __call__(self, report: Report) -> None:
        items = self._items(report)
        now_s = self._pace.record(items)
        if now_s - self._printed_s < _LINE_EVERY_S:
            return
        self._printed_s = now_s
        self._console.print(
            f"{self._name}: {items:,}{self._of}, {_status(report, self._pace)}",
            markup=False,
            soft_wrap=True,
        )


def _status(report: Report, pace: Pace) -> str:
    speed, left_s = pace.items_per_s, pace.left_s
    rate = "" if speed is None else f"{speed:,.1f}/s, "
    left = "" if left_s is None else f", {duration(left_s)} left"
    return f"{rate}{report.embedded:,} embedded, {report.reused:.0%} reused{left}"


@contextmanager
def exporting(console: Console, tenant: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar for an export: call it with the documents written and their total."""
    with progress_bars(console, TimeRemainingColumn()) as bars:
        task = bars.add_task(escape(tenant), total=None, status="")
        yield lambda written, total: bars.update(task, completed=written, total=total)


def progress_bars(console: Console, *columns: ProgressColumn) -> Bars:
    """Of documents, on a terminal alone; each has a `status` after its count."""
    return Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[status]}"),
        TimeElapsedColumn(),
        *columns,
        console=console,
        disable=not console.is_terminal,
    )


def pending_text(source: str, pending: PendingRemoval) -> str:
    number = len(pending.document_ids)
    return f"{number:,} of {pending.stored:,} documents are no longer in {source}."


def _show_pending(console: Console, source: str, pending: PendingRemoval) -> None:
    advice = "to remove them, give --yes"
    if pending.because == "empty":
        advice = "nothing was found there, so the path may be unmounted; to remove them, give "
        advice += "--allow-empty --yes"
    console.print(
        f"[yellow]kept[/] {escape(pending_text(source, pending))} They stay: {advice}",
        soft_wrap=True,
    )


def as_json(report: Report, source: str) -> dict[str, object]:
    """The report of a reading for scripts; kept: documents that `--prune` did not remove.

    missing: how many stayed without `--prune`.
    """
    pending = report.pending
    return {
        "source": source,
        "documents": report.documents,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "renamed": report.renamed,
        "missing": report.missing,
        "chunks": {
            "added": report.chunks_added,
            "unchanged": report.chunks_kept,
            "removed": report.chunks_removed,
            "embedded": report.embedded,
        },
        "refused": [{"path": item.path, "reason": item.reason} for item in report.refused],
        "warnings": report.warnings,
        "skipped": [asdict(skipped) for skipped in report.skipped],
        "kept": None
        if pending is None
        else {"because": pending.because, "document_ids": list(pending.document_ids)},
    }


def show(console: Console, report: Report, source: str) -> None:
    console.print(
        f"{report.documents} documents ({report.unchanged} unchanged), {report.removed} removed; "
        f"chunks: {report.chunks_added} added, {report.chunks_kept} unchanged, "
        f"{report.chunks_removed} removed, {report.embedded} embedded",
        soft_wrap=True,
    )
    refused = [f"{item.path}: {item.reason}" for item in report.refused]
    _show_lines(console, "refused", refused, report.refused_items, source)
    _show_lines(console, "warning", report.warnings, len(report.warnings), source)
    for skipped in report.skipped:
        names = ", ".join(skipped.examples) + (
            ", …" if skipped.number > len(skipped.examples) else ""
        )
        console.print(
            f"[dim]skipped[/] {skipped.number:,}: {escape(skipped.reason)} ({escape(names)})",
            soft_wrap=True,
        )
    if report.renamed:
        console.print(f"{report.renamed:,} of the removed documents have another name now")
    if report.missing:
        console.print(
            f"[yellow]kept[/] {report.missing:,} documents are no longer in {escape(source)}. They "
            "stay: to remove them, give --prune",
            soft_wrap=True,
        )
    if report.pending is not None:
        _show_pending(console, source, report.pending)


def _show_lines(
    console: Console, kind: str, lines: Sequence[str], number: int, source: str
) -> None:
    """The first lines; a file has all, if there are more. number: with those that are not kept."""
    for line in lines[:_LINES_MAX]:
        console.print(f"[yellow]{kind}[/] {escape(one_line(line))}", soft_wrap=True)
    if number > _LINES_MAX:
        file = _write_lines(f"nearhit-{source}-{kind}-", lines)
        console.print(
            f"[yellow]{kind}[/] … and {number - _LINES_MAX:,} more: see {file}",
            highlight=False,
            soft_wrap=True,
        )


def one_line(text: str) -> str:
    """The name of a file or a record may have line breaks."""
    return " ".join(text.splitlines())


def _write_lines(name: str, lines: Sequence[str]) -> str:
    """The path of a new file that only the user reads."""
    with NamedTemporaryFile(
        "w", encoding="utf-8", prefix=_NO_FILE_NAME.sub("_", name), suffix=".txt", delete=False
    ) as file:
        file.writelines(f"{one_line(line)}\n" for line in lines)
    return file.name
