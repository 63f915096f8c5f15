"""What a soak has come to, in words, in figures and against its bars."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from loadtests.section import Bar, Section, table
from loadtests.soak.audit import FAULTS
from loadtests.soak.driver import Options, Soak

ANSWERS = 100_000  # that a full soak audits
_EVENTS = ("drained", "dropped", "renewed", "reset", "refused", "stored", "contended", "away")

HEAD = """# Soak

Written by `make soak DATA=FOLDER MINUTES=10`.
Two gateways share a PostgreSQL and a Redis, while the real histories of a handbook's edits and of an organisation's rights are written through them as fast as they go, and members of it ask, by Zipf's law, for words of the documents.
The command fails if a single answer was stale, leaked, or not byte for byte what a fresh search gives.
FOLDER holds `edits_18f_handbook` and `acl_k8s_org`; the figures of this page are also in [soak.json](soak.json).

- *Judged:* each hit shows a document as it was, and as the asker might read it, at some moment between the request and the answer, by a model that knows when each write was asked for and acknowledged; and `Nearhit-Revision` is not older than what was acknowledged before the request, or a second before it where the request allows that (one in ten).
- *Compared:* the body is byte for byte that of a fresh search, straight on PostgreSQL and at the same revisions; while others write, those that had moved on meanwhile are not counted. At rest nobody writes, and what was asked before is asked of both gateways.
"""  # noqa: E501  a sentence a line


def section(soak: Soak, seconds: float, answers: Counter[str], events: Counter[str]) -> Section:
    counts = soak.audit.counts
    figures: dict[str, Any] = {
        "seconds": round(seconds),
        "writes": soak.written,
        "rests": soak.rests,
        "audit": dict(sorted(counts.items())),
        "answers": dict(sorted(answers.items())),
        "events": dict(sorted(events.items())),
        "redis_killed": soak.faults,
        "refused_ms": [round(1000 * seconds, 3) for seconds in _quantiles(soak.refused_s)],
        "shown": soak.audit.shown,
    }
    return Section(
        _title(soak.options),
        _text(soak, seconds, answers, events),
        figures,
        [
            Bar("answers audited", counts["judged"], at_least=ANSWERS),
            Bar(
                "lost, and shown by the very next answer", counts["lost_and_still_shown"], at_most=0
            ),
            *(Bar(fault, counts[fault], at_most=0) for fault in FAULTS),
        ],
    )


def _title(options: Options) -> str:
    title = "With a Redis that is killed" if options.faults else "With all servers well"
    return f"{title}, through a balancer" if options.balanced else title


def _text(soak: Soak, seconds: float, answers: Counter[str], events: Counter[str]) -> str:
    counts = soak.audit.counts
    kinds = ("judged", "compared_at_work", "compared_at_rest")
    tiers = ("memory", "redis", "miss")
    audited = table(
        ("answers", "all", *tiers),
        [
            (name, *(f"{counts[key]:,}" for key in (kind, *(f"{kind}_{tier}" for tier in tiers))))
            for kind, name in zip(kinds, _KINDS, strict=True)
        ],
    )
    total = sum(answers.values())
    hit_rate = 1 - answers["miss"] / total if total else 0.0
    happened = table(("in the caches", "times"), [(name, f"{events[name]:,}") for name in _EVENTS])
    summary = (
        f"{soak.written:,} writes in {seconds:,.0f} s, {soak.written / seconds:.0f} a second; "
        f"{counts['hits']:,} hits looked at; Redis was killed {soak.faults} times. "
        f"Of all answers a cache gave {hit_rate:.0%}."
    )
    if soak.refused_s:
        median_s, worst_s, longest_s = _quantiles(soak.refused_s)
        summary += (
            f"\n\n{counts['lost']:,} times somebody who had just been shown a document, by both "
            f"gateways, lost it and asked again at once, {_ASKED_AGAIN[soak.options.balanced]}: "
            f"{counts['lost_and_still_shown']} were shown it. From the acknowledgement to that "
            f"answer it took {1000 * median_s:.1f} ms, {1000 * worst_s:.1f} at P99 and "
            f"{1000 * longest_s:.1f} at most."
        )
    return "\n\n".join((summary, audited, happened))


def _quantiles(seconds: Sequence[float]) -> tuple[float, float, float]:
    """The median, the P99 and the longest; 0 of none."""
    if not seconds:
        return 0.0, 0.0, 0.0
    ordered = sorted(seconds)
    return ordered[len(ordered) // 2], ordered[int(0.99 * len(ordered))], ordered[-1]


_ASKED_AGAIN = {  # whether a balancer decides
    False: "through the gateway that had not written",
    True: "through whichever gateway the balancer chose",
}
_KINDS: Sequence[str] = (
    "judged while others write",
    "of these, compared with a fresh search",
    "compared with a fresh search at rest",
)
