"""Progress and result of an audit of cached answers or of the index, on a terminal."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from gateway.extension import IndexProblem
from gateway.extensions.audits.cache_auditor import Verdict

_LISTED_MAX = 20

Counts = TypeVar("Counts")


class AuditCounts:
    """Counts of audited answers. on_change: called after each entry with a line of the counts."""

    def __init__(self, on_change: Callable[[str], None]) -> None:
        self.verdicts: Counter[Verdict] = Counter()
        self.differing: list[tuple[str, str]] = []
        self._on_change = on_change

    def add(self, tenant: str, key: str, verdict: Verdict) -> None:
        self.verdicts[verdict] += 1
        if verdict == "other":
            self.differing.append((tenant, key))
        self._on_change(str(self))

    def __str__(self) -> str:
        return (
            f"{self.verdicts.total():,} entries: {self.verdicts['equal']:,} equal, "
            f"{self.verdicts['other']:,} different, {self.verdicts['approximate']:,} approximate, "
            f"{self.verdicts['moved']:,} superseded, {self.verdicts['gone']:,} expired"
        )

    def as_json(self) -> dict[str, object]:
        return {
            "entries": self.verdicts.total(),
            "equal": self.verdicts["equal"],
            "different": self.verdicts["other"],
            "approximate": self.verdicts["approximate"],
            "superseded": self.verdicts["moved"],
            "expired": self.verdicts["gone"],
            "dropped": [{"tenant": tenant, "key": key} for tenant, key in self.differing],
        }


class ProblemCounts:
    """Counts of index problems. on_change: called after each document and problem with a line."""

    def __init__(self, on_change: Callable[[str], None]) -> None:
        self.kinds: Counter[str] = Counter()
        self.unrepaired = 0
        self.listed: list[tuple[str, IndexProblem]] = []
        self._documents = 0
        self._on_change = on_change

    def add_documents(self, documents: int) -> None:
        self._documents += documents
        self._on_change(str(self))

    def add(self, tenant: str, problem: IndexProblem) -> None:
        self.kinds[problem.kind] += 1
        self.unrepaired += not problem.is_repaired
        if len(self.listed) < _LISTED_MAX:
            self.listed.append((tenant, problem))
        self._on_change(str(self))

    def __str__(self) -> str:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(self.kinds.items()))
        total = f"{self.kinds.total():,} problems ({kinds}), {self.unrepaired:,} unrepaired"
        return f"{self._documents:,} documents: {total if kinds else 'no problems'}"

    def as_json(self) -> dict[str, object]:
        """problems: the first of them."""
        return {
            "documents": self._documents,
            "kinds": dict(self.kinds),
            "unrepaired": self.unrepaired,
            "problems": [{"tenant": tenant, **asdict(problem)} for tenant, problem in self.listed],
        }


@contextmanager
def counting(
    console: Console, counts: Callable[[Callable[[str], None]], Counts]
) -> Iterator[Counts]:
    """New counts, drawn as a line on a terminal; nothing is drawn elsewhere."""
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
        yield counts(lambda line: bar.update(task, description=line))


def show(console: Console, counts: AuditCounts) -> None:
    """Print the result. Approximate: an approximate index search may give another answer."""
    for tenant, key in counts.differing[:_LISTED_MAX]:
        console.print(f"[red]different answer[/] of tenant {tenant} under {key}: dropped")
    if len(counts.differing) > _LISTED_MAX:
        console.print(f"… and {len(counts.differing) - _LISTED_MAX:,} more")
    console.print(str(counts))


def show_problems(console: Console, counts: ProblemCounts) -> None:
    for tenant, problem in counts.listed:
        state = "[green]repaired[/]" if problem.is_repaired else "[red]problem[/]"
        where = f"{tenant}/{problem.where}" if problem.where else tenant
        console.print(f"{state} {problem.kind} of {escape(where)}: {escape(problem.detail)}")
    if counts.kinds.total() > len(counts.listed):
        console.print(f"… and {counts.kinds.total() - len(counts.listed):,} more")
    console.print(str(counts))
