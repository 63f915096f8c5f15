"""An ordinary tenant's requests without and with a greedy neighbour, and the targets."""

from collections import Counter
from dataclasses import dataclass, field

from loadtests.bench.section import Bar, Section, table
from loadtests.soak.greedy.ordinary import Measured

_RATIO_MAX = 2.0


@dataclass(slots=True)
class Compared:
    """calm, greedy: the ordinary tenant without and with the neighbour. statuses: of the latter."""

    calm: Measured = field(default_factory=Measured)
    greedy: Measured = field(default_factory=Measured)
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def is_greedy(self) -> bool:
        """Whether the neighbour got anything."""
        return any(status.startswith("2") for status in self.statuses)

    @property
    def ratio(self) -> float:
        return self.greedy.searches.percentile_ms(99) / self.calm.searches.percentile_ms(99)


def measured_section(compared: dict[str, Compared], seconds: float, rounds: int) -> Section:
    """The section of the page. seconds: of each of the periods, `rounds` of each kind."""
    rows, bars, figures = [], list[Bar](), {}
    for kind, one in compared.items():
        calm, greedy = one.calm, one.greedy
        refused = greedy.refused.total()
        rows.append((
            kind,
            *(f"{each.searches.percentile_ms(99):.1f}" for each in (calm, greedy)),
            f"{one.ratio:.2f}",
            *(f"{each.writes.percentile_ms(99):.0f}" for each in (calm, greedy)),
            *(f"{max(each.queued_s):.1f}" for each in (calm, greedy)),
            str(refused),
            " ".join(f"{status}: {times:,}" for status, times in sorted(one.statuses.items())),
        ))  # fmt: skip
        bars += [
            Bar(f"P99 of searches beside {kind}, times without", one.ratio, at_most=_RATIO_MAX),
            Bar(f"requests refused beside {kind}", refused, at_most=0),
        ]
        figures[kind] = {
            "calm": _figures(calm),
            "greedy": _figures(greedy),
            "neighbour": dict(one.statuses),
        }
    idle = [kind for kind, one in compared.items() if not one.is_greedy]
    bars.append(Bar("kinds of neighbours that got nothing", len(idle), at_most=0))
    head = (
        "a neighbour takes all of its", "P99 without, ms", "P99 with, ms", "ratio",
        "writes without, ms", "writes with, ms", "queued without, s", "queued with, s", "refused",
        "what the neighbour got",
    )  # fmt: skip
    text = (
        "One gateway and a worker, with all limits at their defaults. An ordinary tenant searches "
        "20 times and writes once a second; beside it, another tenant takes all that it may of one "
        f"kind. Periods of {seconds:g} s without and with it alternate, "
        f"{rounds} of each. The generators share the machine with the servers; the neighbour's "
        "has the lowest priority, the ordinary tenant's the highest where the system allows it."
    )
    return Section("Greedy neighbours", f"{text}\n\n{table(head, rows)}", figures, bars)


def _figures(measured: Measured) -> dict[str, object]:
    return {
        "searches": measured.searches.as_json(),
        "writes": measured.writes.as_json(),
        "queued_s": [round(seconds, 2) for seconds in measured.queued_s],
        "refused": dict(measured.refused),
    }
