"""The report as one HTML file that loads nothing else, made of Markdown's tables and of plots."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from html import escape

from markdown_it import MarkdownIt

from loadtests.bench.section import table
from loadtests.load.figures import PERCENTILES, Figures
from loadtests.loadtest import plots
from loadtests.loadtest.budget import Finding, Verdict
from loadtests.loadtest.result import Result, StageRates

_NAMES = {"p50_ms": "P50", "p90_ms": "P90", "p95_ms": "P95", "p99_ms": "P99", "p999_ms": "P99.9"}
_LABELS = _NAMES | {
    "max_ms": "longest",
    "errors": "errors",
    "stale": "stale answers",
    "leaked": "leaked answers",
    "hit_rate": "hit rate",
}
_FEW = 100  # answers: too few for a P99
_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|~<>-])")
_FROM_WHEN = (
    "The latency of a request counts from when it was due, whether or not it could be sent then: "
    "waiting behind a stall counts. The grey line shows what a client would measure that waits for "
    "each answer before its next question."
)
_STYLE = """
:root { color-scheme: light; --faint: #6b7280; --line: #e5e7eb; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 1180px; color: #1f2937;
  font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
h1 { margin: 0; font-size: 1.6rem; } h2 { margin: 2.2rem 0 .6rem; font-size: 1.1rem; }
p { margin: .3rem 0; max-width: 75ch; }
.verdict { display: inline-block; padding: .25rem .8rem; border-radius: 99px; color: #fff;
  font-weight: 600; background: #b45309; }
.verdict.passed { background: #15803d; } .verdict.failed { background: #b91c1c; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(430px, 1fr)); gap: 1.6rem; }
figure { margin: 0; } figcaption { font-weight: 600; } svg { width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 500; } strong { color: #b91c1c; }
@media print { body { max-width: none; } figure { break-inside: avoid; } }
"""


def html(result: Result) -> str:
    figures = result.figures
    plotted = (
        ("Latency by percentile", plots.by_percentile(figures)),
        ("Latency over time", plots.over_time(figures)),
        ("Throughput", plots.throughput(figures)),
    )
    pictures = "".join(
        f"<figure><figcaption>{title}</figcaption>{svg}</figure>" for title, svg in plotted
    )
    kind, line = result.outcome.name.lower(), escape(result.outcome_line)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Load test of {escape(result.url)}</title><style>{_STYLE}</style></head>\n"
        f'<body><h1>Load test</h1><p><span class="verdict {kind}">{line}</span></p>'
        f'{_rendered(_verdict(result))}<h2>Latency and throughput</h2><div class="plots">'
        f"{pictures}</div>{_rendered(_figures(result))}</body></html>\n"
    )


def _rendered(parts: Iterable[str]) -> str:
    """Markdown in which HTML is text."""
    return str(MarkdownIt("js-default", {"html": False}).render("\n\n".join(parts)))


def _verdict(result: Result) -> Iterator[str]:
    yield " · ".join(map(_plain, (result.url, result.date, result.summary)))
    yield _table(*zip(*_cells(result), strict=True))
    yield from (f"**{_plain(warning)}**" for warning in result.warnings)
    yield "## Budget"
    head = ("of", "figure", "limit", "measured", "")
    yield _table(head, *map(_finding, result.findings), left=(0, 1))


def _figures(result: Result) -> Iterator[str]:
    figures = result.figures
    yield _FROM_WHEN
    yield "## Offered and achieved"
    yield _table(("", "offered/s", "achieved/s"), *map(_rates, result.rates))
    yield "## By tier and scope"
    head = ("", "answers", *_NAMES.values(), "longest")
    yield _table(head, *(_latencies(name, figures) for name in _groups(figures)))
    yield (
        "Milliseconds. Fewer than a hundred answers have no P99. A search that timed out "
        "counts as long as it was waited for, in all groups but the tiers."
    )
    yield from _correctness(result)
    if figures.errors:
        errors = ((_plain(what), f"{count:,}") for what, count in figures.errors.most_common())
        yield "## Errors"
        yield _table(("", "requests"), *errors)
    yield "## Slowest requests"
    head = ("second", "ms", "ms before it was sent", "tier", "scope", "Server-Timing")
    rows = (
        (
            *(f"{slow.at_s:,.1f}", _ms(slow.ms), _ms(slow.waited_ms)),
            *map(_plain, (slow.tier, slow.scope, slow.server_timing)),
        )
        for slow in figures.slowest
    )
    yield _table(head, *rows, left=(0, 5))
    yield "## Command"
    yield _plain(result.command)
    yield _plain(result.machine)


def _table(head: Sequence[str], *rows: Sequence[str], left: Collection[int] = (0,)) -> str:
    return table(head, rows, left)


def _plain(text: str) -> str:
    """Text that no mark of Markdown changes."""
    return _MARKS.sub(r"\\\1", text.replace("\n", " "))


def _cells(result: Result) -> Iterator[tuple[str, str]]:
    figures, counts, whole = result.figures, result.judge.counts, result.rates[0]
    yield "offered per second", f"{whole.offered:,.1f}"
    yield "achieved per second", f"{whole.achieved:,.1f}"
    if figures.count("all"):
        for name in ("p50_ms", "p99_ms"):
            ms = figures.latencies["all"].percentile_ms(PERCENTILES[name])
            yield _NAMES[name], f"{_ms(ms)} ms"
    yield "from a cache", f"{100 * (1 - figures.share('tier.miss')):.0f} %"
    yield "errors", f"{100 * figures.error_share:.2g} %"
    yield from ((fault, f"{counts[fault]:,}") for fault in ("stale", "leaked"))


def _finding(finding: Finding) -> Sequence[str]:
    limit, verdict = finding.limit, finding.verdict
    return (
        _plain(limit.group),
        _LABELS[limit.name],
        f"{'at least' if limit.is_least else 'at most'} {_unit(limit.name, limit.value)}",
        "nothing to measure" if finding.measured is None else _unit(limit.name, finding.measured),
        verdict if verdict is Verdict.HELD else f"**{verdict}**",
    )


def _rates(rates: StageRates) -> Sequence[str]:
    name = "" if rates.name == "all" else f"{rates.name.replace('.', ' ')}: "
    return _plain(f"{name}{rates.stage}"), f"{rates.offered:,.1f}", f"{rates.achieved:,.1f}"


def _unit(name: str, value: float) -> str:
    if name.endswith("_ms"):
        return f"{_ms(value)} ms"
    return f"{100 * value:.3g} %" if name in ("errors", "hit_rate") else f"{value:,.0f}"


def _groups(figures: Figures) -> list[str]:
    kinds = ("all", "stage.", "tier.", "scope.", "write")
    return [name for kind in kinds for name in sorted(figures.latencies) if name.startswith(kind)]


def _latencies(name: str, figures: Figures) -> Sequence[str]:
    latencies = figures.latencies[name]
    is_few = latencies.count < _FEW
    shown = (
        "" if is_few and 99 <= each < 100 else _ms(latencies.percentile_ms(each))
        for each in PERCENTILES.values()
    )
    return _plain(name.replace(".", " ")), f"{latencies.count:,}", *shown


def _correctness(result: Result) -> Iterator[str]:
    counts = result.judge.counts
    yield "## Correctness"
    yield (
        f"{counts['judged']:,} answers with {counts['hits']:,} hits were compared with what the "
        "run had written and shared: each hit has to show a document as it was, and as the caller "
        "could read it, at a moment between question and answer. "
        f"{counts['expected']:,} times a text was searched for right before it was written and "
        "right after it was acknowledged."
    )
    names = ("fault", "who", "what", "question")
    rows = [tuple(_plain(fault[name]) for name in names) for fault in result.judge.shown]
    if rows:
        yield _table(("", *names[1:]), *rows, left=range(4))


def _ms(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
