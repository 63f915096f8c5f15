"""A section of a page: text, figures and targets."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Bar:
    """A target: the figure has to be at least, or at most, the limit.

    judged: whether the run's conditions were those of the target; if not, it is never missed.
    """

    what: str
    figure: float
    at_least: float | None = None
    at_most: float | None = None
    judged: bool = True

    @property
    def held(self) -> bool:
        if not self.judged:
            return True
        enough = self.at_least is None or self.figure >= self.at_least
        return enough and (self.at_most is None or self.figure <= self.at_most)

    @property
    def verdict(self) -> str:
        """In Markdown."""
        if not self.judged:
            return "not judged"
        return "yes" if self.held else "**no**"

    @property
    def limit(self) -> str:
        if self.at_least is not None:
            return f"at least {self.at_least:g}"
        return f"at most {self.at_most:g}"


@dataclass(frozen=True, slots=True)
class Section:
    """text: Markdown without a heading. figures: JSON values.

    machine: filled in by the report.
    """

    title: str
    text: str
    figures: dict[str, Any]
    bars: Sequence[Bar]
    date: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d}")
    machine: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Section":
        bars = [Bar(**bar) for bar in stored["bars"]]
        return cls(**(stored | {"bars": bars}))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """A Markdown table. left: the columns that are aligned to the left."""
    ruler = ["---" if column in left else "---:" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ruler, *rows))


Columns: TypeAlias = Mapping[str, tuple[str, str]]
"""By the name of a figure: the head of its column, and its format."""


def figure_table(head: str, rows: Mapping[str, Mapping[str, Any]], columns: Columns) -> str:
    """A row for each name; a figure that it lacks is empty. head: of the names."""
    cells = [
        (
            name,
            *(
                "" if figures.get(field) is None else f"{figures[field]:{form}}"
                for field, (_, form) in columns.items()
            ),
        )
        for name, figures in rows.items()
    ]
    return table((head, *(title for title, _ in columns.values())), cells)


def rows_section(
    title: str,
    notes: str,
    head: str,
    rows: Mapping[str, Mapping[str, Any]],
    columns: Columns,
    bars: Sequence[Bar] = (),
    **more: Any,
) -> Section:
    """A section of one table, whose rows are its figures. more: of the figures."""
    table_of_rows = figure_table(head, rows, columns)
    return Section(title, f"{notes}\n\n{table_of_rows}", {**rows, **more}, bars)


def list_section(
    title: str, notes: str, figures: dict[str, Any], rows: Columns, bars: Sequence[Bar]
) -> Section:
    """A section with a row for each of these figures."""
    cells = [(what, f"{figures[name]:{form}}") for name, (what, form) in rows.items()]
    return Section(title, f"{notes}\n\n{table(('', ''), cells)}", figures, bars)
