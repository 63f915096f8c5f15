"""What a person sees of an audit, of answers or of the index: how far it is, what it came to."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from gateway.search.cache_audit import Verdict
from ingest.index_audit import Flaw

_OTHERS_SHOWN_MAX = 20


class AuditCounts:
    """on_change: told after each entry what they come to by now."""

    def __init__(self, on_change: Callable[[str], None]) -> None:
        self.of: Counter[Verdict] = Counter()
        self.others: list[tuple[str, str]] = []
        self._on_change = on_change

    def add(self, tenant: str, key: str, verdict: Verdict) -> None:
        self.of[verdict] += 1
        if verdict == "other":
            self.others.append((tenant, key))
        self._on_change(str(self))

    def __str__(self) -> str:
        return (
            f"{self.of.total():,} entries: {self.of['equal']:,} equal, {self.of['other']:,} other, "
            f"{self.of['approximate']:,} approximate, {self.of['moved']:,} in motion, "
            f"{self.of['gone']:,} gone"
        )


class ProblemCounts:
    """on_change: told after each document and each flaw what they come to by now."""

    def __init__(self, on_change: Callable[[str], None]) -> None:
        self.of: Counter[str] = Counter()
        self.left = 0
        self.shown: list[tuple[str, Flaw]] = []
        self._documents = 0
        self._on_change = on_change

    def looked_at(self, documents: int) -> None:
        self._documents += documents
        self._on_change(str(self))

    def add(self, tenant: str, flaw: Flaw) -> None:
        self.of[flaw.kind] += 1
        self.left += not flaw.is_repaired
        if len(self.shown) < _OTHERS_SHOWN_MAX:
            self.shown.append((tenant, flaw))
        self._on_change(str(self))

    def __str__(self) -> str:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(self.of.items()))
        found = f"{self.of.total():,} flaws ({kinds}), {self.left:,} left" if kinds else "no flaws"
        return f"{self._documents:,} documents: {found}"


@contextmanager
def progress(console: Console) -> Iterator[AuditCounts]:
    """A line that counts on a terminal; nothing where there is none to draw on."""
    with _line(console) as write:
        yield AuditCounts(write)


@contextmanager
def flaws(console: Console) -> Iterator[ProblemCounts]:
    """The same, of an audit of the index."""
    with _line(console) as write:
        yield ProblemCounts(write)


@contextmanager
def _line(console: Console) -> Iterator[Callable[[str], None]]:
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
    with bar:
        task = bar.add_task("auditing")
        yield lambda line: bar.update(task, description=line)


def show(console: Console, counts: AuditCounts) -> None:
    """Approximate: a graph took part, which may find another chunk the next time."""
    for tenant, key in counts.others[:_OTHERS_SHOWN_MAX]:
        console.print(f"[red]another answer[/] of tenant {tenant} under {key}: dropped")
    if len(counts.others) > _OTHERS_SHOWN_MAX:
        console.print(f"… and {len(counts.others) - _OTHERS_SHOWN_MAX:,} more")
    console.print(str(counts))


def show_flaws(console: Console, flaws: ProblemCounts) -> None:
    for tenant, flaw in flaws.shown:
        state = "[green]mended[/]" if flaw.is_repaired else "[red]flaw[/]"
        where = f"{tenant}/{flaw.where}" if flaw.where else tenant
        console.print(f"{state} {flaw.kind} of {escape(where)}: {escape(flaw.detail)}")
    if flaws.of.total() > len(flaws.shown):
        console.print(f"… and {flaws.of.total() - len(flaws.shown):,} more")
    console.print(str(flaws))
