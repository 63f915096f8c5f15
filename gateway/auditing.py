"""What a person sees of an audit: how far it is, and what it came to."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from gateway.audit import Verdict

_OTHERS_SHOWN_MAX = 20


class Counts:
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


@contextmanager
def progress(console: Console) -> Iterator[Counts]:
    """A line that counts on a terminal; nothing where there is none to draw on."""
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
        yield Counts(lambda line: bar.update(task, description=line))


def show(console: Console, counts: Counts) -> None:
    """Approximate: a graph took part, which may find another chunk the next time."""
    for tenant, key in counts.others[:_OTHERS_SHOWN_MAX]:
        console.print(f"[red]another answer[/] of tenant {tenant} under {key}: dropped")
    if len(counts.others) > _OTHERS_SHOWN_MAX:
        console.print(f"… and {len(counts.others) - _OTHERS_SHOWN_MAX:,} more")
    console.print(str(counts))
