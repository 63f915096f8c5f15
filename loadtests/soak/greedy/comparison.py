"""An ordinary tenant's requests without and with a greedy neighbour, and the targets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from loadtests.bench.section import Bar, Section, table
from loadtests.soak.greedy.ordinary import Measured

_RATIO_MAX = 2.0


@dataclass(slots=True)
class Compared:
    """calm, greedy: by round, the ordinary tenant without the neighbour, and then with it.

    statuses: of the neighbour's requests.
    """

    calm: list[Measured] = field(default_factory=list)
    greedy: list[Measured] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def is_greedy(self) -> bool:
        """Whether the neighbour got anything."""
        return any(status.startswith("2") for status in self.statuses)

    @property
    def ratios(self) -> Sequence[float]:
        """By round, the P99 of searches with the neighbour, to that without it."""
        return [
            greedy.searches.percentile_ms(99) / calm.searches.percentile_ms(99)
            for calm, greedy in zip(self.calm, self.greedy, strict=True)
        ]


def measured_section(compared: Mapping[str, Compared], seconds: float, rounds: int) -> Section:
    """The section of the page. seconds: of each of the periods, `rounds` of each kind."""
    rows, bars, figures = [], list[Bar](), {}
    for kind, one in compared.items():
        calm, greedy = (Measured.merged(each) for each in (one.calm, one.greedy))
        ratio, refused = median(one.ratios), greedy.refused.total()
        rows.append((
            kind,
            *(f"{each.searches.percentile_ms(99):.1f}" for each in (calm, greedy)),
            f"{ratio:.2f}",
            *(f"{each.writes.percentile_ms(99):.0f}" for each in (calm, greedy)),
            *(f"{max(each.queued_s):.1f}" for each in (calm, greedy)),
            str(refused),
            " ".join(f"{status}: {times:,}" for status, times in sorted(one.statuses.items())),
        ))  # fmt: skip
        bars += [
            Bar(f"P99 of searches beside {kind}, times without", ratio, at_most=_RATIO_MAX),
            Bar(f"requests refused beside {kind}", refused, at_most=0),
        ]
        figures[kind] = {
            "calm": calm.as_json(),
            "greedy": greedy.as_json(),
            "ratios": one.ratios,
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
        f"{rounds} of each. The ratio is the median over the rounds of each round's P99 with the "
        "neighbour to that of the period before, so that one bad period of the machine does not "
        "decide it; all other figures are of all periods together. The generators share the "
        "machine with the servers; the neighbour's has the lowest priority, the ordinary tenant's "
        "the highest where the system allows it."
    )
    return Section("Greedy neighbours", f"{text}\n\n{table(head, rows)}", figures, bars)
