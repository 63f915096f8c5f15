"""The report as one HTML file that loads nothing else."""

from collections.abc import Collection, Iterable, Sequence
from html import escape

from loadtests.load.figures import Figures
from loadtests.load.latencies import PERCENTILES
from loadtests.loadtest import plots
from loadtests.loadtest.budget import Finding
from loadtests.loadtest.result import Result, StageRates

_NAMES = {"p50_ms": "P50", "p90_ms": "P90", "p95_ms": "P95", "p99_ms": "P99", "p999_ms": "P99.9"}
_LABELS = _NAMES | {
    "max_ms": "longest",
    "errors": "errors",
    "stale": "stale answers",
    "leaked": "leaked answers",
    "hit_rate": "hit rate",
}
_LEFT = ' class="left"'
_FEW = 100  # answers: too few for a P99

_FROM_WHEN = (
    "The latency of a request counts from when it was due, whether or not it could be sent then: "
    "waiting behind a stall counts. The grey line shows what a client would measure that waits for "
    "each answer before its next question."
)

_STYLE = """
:root { color-scheme: light; --ink: #1f2937; --faint: #6b7280; --line: #e5e7eb; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 1180px; color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
h1 { margin: 0; font-size: 1.6rem; } h2 { margin: 2.2rem 0 .6rem; font-size: 1.1rem; }
p { margin: .3rem 0; max-width: 75ch; } .faint { color: var(--faint); }
.verdict { display: inline-block; padding: .25rem .8rem; border-radius: 99px; color: #fff;
  font-weight: 600; }
.verdict.passed { background: #15803d; } .verdict.failed { background: #b91c1c; }
.verdict.not_judged { background: #b45309; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); gap: .8rem;
  margin: 1.4rem 0; } .figures div { border: 1px solid var(--line); border-radius: 10px;
  padding: .6rem .9rem; } .figures b { display: block; font-size: 1.4rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(430px, 1fr)); gap: 1.6rem; }
figure { margin: 0; } figcaption { font-weight: 600; } svg { width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; } .wide { overflow-x: auto; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child, .left { text-align: left; } th { color: var(--faint);
  font-weight: 500; } .missed { color: #b91c1c; font-weight: 600; } .held { color: #15803d; }
.not_judged { color: #b45309; }
code { font: 12px/1.4 ui-monospace, monospace; }
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
    head = " · ".join(map(escape, (result.url, result.date, result.summary)))
    parts = (
        "<h1>Load test</h1>",
        _faint(head),
        f"<p>{_verdict(result)}</p>",
        f'<div class="figures">{"".join(_figures(result))}</div>',
        *(f'<p class="missed">{escape(warning)}</p>' for warning in result.warnings),
        "<h2>Budget</h2>",
        _table(
            ("of", "figure", "limit", "measured", ""), map(_finding, result.findings), left=(0, 1)
        ),
        f'<h2>Latency and throughput</h2><div class="plots">{pictures}</div>',
        _faint(_FROM_WHEN),
        "<h2>Offered and achieved</h2>",
        _table(("", "offered/s", "achieved/s"), map(_rates, result.rates)),
        "<h2>By tier and scope</h2>",
        _table(
            ("", "answers", *_NAMES.values(), "longest"),
            (_latencies(name, figures) for name in _groups(figures)),
        ),
        _faint(
            "Milliseconds. Fewer than a hundred answers have no P99. A search that timed out "
            "counts as long as it was waited for, in all groups but the tiers."
        ),
        "<h2>Correctness</h2>",
        _correctness(result),
        *_errors(figures),
        "<h2>Slowest requests</h2>",
        _slowest(figures),
        f"<h2>Command</h2><p>{_code(result.command)}</p>",
        _faint(escape(result.machine)),
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Load test of {escape(result.url)}</title><style>{_STYLE}</style></head>\n"
        f"<body>{chr(10).join(parts)}</body></html>\n"
    )


def _verdict(result: Result) -> str:
    kind, line = result.outcome.name.lower(), escape(result.outcome_line)
    return f'<span class="verdict {kind}">{line}</span>'


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _faint(text: str) -> str:
    return f'<p class="faint">{text}</p>'


def _figures(result: Result) -> Iterable[str]:
    figures, counts = result.figures, result.judge.counts
    whole = result.rates[0]
    cells = {
        "offered per second": f"{whole.offered:,.1f}",
        "achieved per second": f"{whole.achieved:,.1f}",
    }
    if figures.count("all"):
        for name in ("p50_ms", "p99_ms"):
            ms = figures.latencies["all"].percentile_ms(PERCENTILES[name])
            cells[_NAMES[name]] = f"{_ms(ms)} ms"
    cells |= {
        "from a cache": f"{100 * (1 - figures.share('tier.miss')):.0f} %",
        "errors": f"{100 * figures.error_share:.2g} %",
        "stale": f"{counts['stale']:,}",
        "leaked": f"{counts['leaked']:,}",
    }
    for label, value in cells.items():
        yield f'<div><b>{value}</b><span class="faint">{label}</span></div>'


def _finding(finding: Finding) -> Sequence[str]:
    limit = finding.limit
    return (
        escape(limit.group),
        _LABELS[limit.name],
        f"{'at least' if limit.is_least else 'at most'} {_unit(limit.name, limit.value)}",
        "nothing to measure" if finding.measured is None else _unit(limit.name, finding.measured),
        f'<span class="{finding.verdict.name.lower()}">{finding.verdict}</span>',
    )


def _rates(rates: StageRates) -> Sequence[str]:
    name = "" if rates.name == "all" else f"{rates.name.replace('.', ' ')}: "
    return escape(f"{name}{rates.stage}"), f"{rates.offered:,.1f}", f"{rates.achieved:,.1f}"


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
    return escape(name.replace(".", " ")), f"{latencies.count:,}", *shown


def _correctness(result: Result) -> str:
    counts = result.judge.counts
    text = (
        f"<p>{counts['judged']:,} answers with {counts['hits']:,} hits were compared with what the "
        "run had written and shared: each hit has to show a document as it was, and as the caller "
        "could read it, at a moment between question and answer. "
        f"{counts['expected']:,} times a text was searched for right before it was written and "
        "right after it was acknowledged.</p>"
    )
    rows = [
        (*(escape(fault[name]) for name in ("fault", "who", "what")), _code(fault["question"]))
        for fault in result.judge.shown
    ]
    return text + (_table(("", "who", "what", "question"), rows, left=range(4)) if rows else "")


def _errors(figures: Figures) -> Iterable[str]:
    if figures.errors:
        yield "<h2>Errors</h2>"
        rows = ((escape(what), f"{count:,}") for what, count in figures.errors.most_common())
        yield _table(("", "requests"), rows)


def _slowest(figures: Figures) -> str:
    rows = (
        (
            *(f"{slow.at_s:,.1f}", _ms(slow.ms), _ms(slow.waited_ms)),
            *(escape(slow.tier), escape(slow.scope), _code(slow.server_timing)),
        )
        for slow in figures.slowest
    )
    head = ("second", "ms", "ms before it was sent", "tier", "scope", "Server-Timing")
    return f'<div class="wide">{_table(head, rows, left=(0, 5))}</div>'


def _table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, left: Collection[int] = (0,)
) -> str:
    """left: the columns that are aligned to the left."""

    def row(cells: Sequence[str], tag: str) -> str:
        marked = (
            f"<{tag}{_LEFT if column in left else ''}>{cell}</{tag}>"
            for column, cell in enumerate(cells)
        )
        return f"<tr>{''.join(marked)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(head, 'th')}</thead><tbody>{body}</tbody></table>"


def _ms(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
