"""The soaks: with all servers well, with faults, and with rules broken."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, table
from loadtests.mutants.rules import CACHE, Mutant
from loadtests.servers import metrics, server_set
from loadtests.servers.server_set import ServerSet
from loadtests.soak import run
from loadtests.soak.audit import VIOLATIONS
from loadtests.soak.driver import SETTINGS, WITHOUT_SHARDS, Soak, SoakOptions
from loadtests.soak.faults import FAULTS
from loadtests.soak.reads import PATHS

_GATEWAYS = 2
_MUTANT_MINUTES, _MUTANT_REST_S, _MUTANT_FAULT_EVERY_S = 1.0, 10.0, 5.0
# Some broken rules show only in the milliseconds between a commit and the end of its drain.
_MUTANT_COMPARED_SHARE = 0.5
_MUTANTS_TEXT = """\
In both gateways and in the worker one rule of the cache is broken; the soak has to find a wrong \
answer within a minute. With no rule broken it has to find none."""


def soak(bench: Run) -> Section:
    """All servers are well."""
    return _measured(bench)


def faults(bench: Run) -> Section:
    """Servers are killed, paused, filled, restored and failed over."""
    return _measured(bench, tuple(bench.picked([*FAULTS])))


def mutants(bench: Run) -> Section:
    """Rules of the cache are broken, each of which has to be found."""

    def broken(name: str, mutant: Mutant) -> Soak:
        options = mutant_options(
            mutant,
            minutes=_MUTANT_MINUTES,
            seed=bench.seed,
            fault_every_s=_MUTANT_FAULT_EVERY_S,
            rest_every_s=_MUTANT_REST_S,
            compared_share=_MUTANT_COMPARED_SHARE,
        )
        with _running(launcher=("loadtests.mutants", "cache", name)) as started:
            return run.soaked(started, bench.data_folder, options, FAULTS)

    chosen = {name: CACHE[name] for name in bench.picked([*CACHE])}
    return mutants_section(_MUTANTS_TEXT, chosen, broken)


def _measured(bench: Run, faults: tuple[str, ...] = ()) -> Section:
    options = SoakOptions(
        minutes=bench.minutes or bench.sized(10.0, 2.0),
        answers=bench.sized(100_000, 1_000),
        seed=bench.seed,
        faults=faults,
        faults_min=len(faults),
        fault_every_s=bench.sized(20.0, 1.0),
    )
    with _running() as started:
        return soak_section(run.soaked(started, bench.data_folder, options, FAULTS))


def _running(launcher: tuple[str, ...] = ("gateway",)) -> AbstractContextManager[ServerSet]:
    return server_set.running(
        _GATEWAYS, SETTINGS, works=True, last_settings=WITHOUT_SHARDS, launcher=launcher
    )


_FOUND = [violation for violation in VIOLATIONS if violation != "failed"]


def mutant_options(mutant: Mutant, **more: Any) -> SoakOptions:
    """Queued writes and credentials are left out, since no mutant concerns them."""
    return SoakOptions(
        answers=0,
        faults=mutant.faults,
        plain=True,
        until_caught=not mutant.is_control,
        **more,
    )


def mutants_section(
    text: str, mutants: Mapping[str, Mutant], broken: Callable[[str, Mutant], Soak]
) -> Section:
    """broken: a soak, after it has ended, whose servers break the rule of that name."""
    rows, figures, missed = [], dict[str, Any](), 0
    for name, mutant in mutants.items():
        soak = broken(name, mutant)
        counts = soak.context.audit.counts
        missed += not _is_right(name, mutant, soak)
        wrong = ", ".join(f"{counts[violation]} {violation}" for violation in _FOUND)
        rows.append((mutant.what, f"{soak.seconds:.1f}", f"{counts['judged']:,}", wrong))
        figures[name] = {"seconds": round(soak.seconds, 1), **counts}
    bars = [Bar("broken rules that were not found, or found where none is", missed, at_most=0)]
    head = ("broken rule", "seconds", "judged", "found")
    return Section("Broken rules", f"{text}\n\n{table(head, rows)}", figures, bars)


def _is_right(name: str, mutant: Mutant, soak: Soak) -> bool:
    """Whether the soak found the broken rule, or nothing in a control; says so in one line."""
    has_wrong_answer = soak.context.audit.has_wrong_answer
    is_right = soak.passed if mutant.is_control else has_wrong_answer
    found = "caught" if has_wrong_answer else "nothing found"
    print(f"{'PASS' if is_right else 'FAIL'} {name}: {found}; {run.progress(soak)}", flush=True)
    return is_right


_EVENTS = (
    "drained", "dropped", "renewed", "reset", "refused", "stored", "contended", "unavailable"
)  # fmt: skip
Counts: TypeAlias = Counter[tuple[str, str]]
_TIERS = ("memory", "redis", "semantic", "miss")


def soak_section(soak: Soak) -> Section:
    """Of a soak whose gateways still run, for they count what their caches did."""
    audit, seconds = soak.context.audit, soak.seconds
    counts = audit.counts
    urls = [gateway.url for gateway in soak.context.servers.gateways]
    answers, events = (
        metrics.sums_by_label(urls, f"nearhit_cache_{name}_total") for name in ("lookups", "events")
    )
    for violation in audit.shown:
        print(json.dumps(violation, default=str))
    figures: dict[str, Any] = {
        "seconds": round(seconds),
        "seed": soak.options.seed,
        "writes": soak.writers.written,
        "queued": soak.writers.queued,
        "rotated": soak.holders.rotated,
        "narrowed": soak.holders.narrowed,
        "revoked": soak.holders.revoked,
        "rests": soak.rests,
        "audit": dict(sorted(counts.items())),
        "by_path": _nested(audit.by_path),
        "by_fault": _nested(audit.by_fault),
        "answers": dict(sorted(answers.items())),
        "events": dict(sorted(events.items())),
        "faults": dict(soak.plan.happened),
        "refused_ms": [soak.writers.refused.percentile_ms(each) for each in (50, 99, 100)],
        "shown": audit.shown,
    }
    still_shown = counts["revoked_and_still_shown"]
    bars = [
        Bar("answers audited", counts["judged"], at_least=soak.options.answers or 1),
        Bar("lost, and shown by the very next answer", still_shown, at_most=0),
        *(Bar(violation, counts[violation], at_most=0) for violation in VIOLATIONS),
        *(Bar(f"answers by {tier}", answers[tier], at_least=1) for tier in ("memory", "redis")),
    ]
    if kinds := len(soak.options.faults):
        happened = len(soak.plan.happened)
        bars.append(Bar("kinds of faults that happened", happened, at_least=kinds))
    return Section(_title(soak.options), _text(soak, seconds, answers, events), figures, bars)


def _title(options: SoakOptions) -> str:
    return "With faults" if options.faults else "With all servers well"


def _text(soak: Soak, seconds: float, answers: Counter[str], events: Counter[str]) -> str:
    happened = table(("in the caches", "times"), [(name, f"{events[name]:,}") for name in _EVENTS])
    parts = (_summary(soak, seconds, answers), _losses(soak), *_tables(soak), happened)
    return "\n\n".join(filter(None, parts))


def _summary(soak: Soak, seconds: float, answers: Counter[str]) -> str:
    counts = soak.context.audit.counts
    total = sum(answers.values())
    hit_rate = 1 - answers["miss"] / total if total else 0.0
    return (
        f"{soak.writers.written:,} writes in {seconds:,.0f} s, "
        f"{soak.writers.written / seconds:.0f} per second, and {soak.writers.queued:,} queued; "
        f"{counts['hits']:,} hits checked; {sum(soak.plan.happened.values())} faults. "
        f"A cache gave {hit_rate:.0%} of all answers. "
        f"{soak.holders.rotated:,} keys were rotated, {soak.holders.narrowed:,} tokens made, "
        f"{soak.holders.revoked:,} keys and tokens revoked; {counts['refused']:,} requests with an "
        f"ended one were rejected."
    )


def _losses(soak: Soak) -> str:
    refused = soak.writers.refused
    if not refused.count:
        return ""
    counts = soak.context.audit.counts
    return (
        f"{counts['revoked']:,} times a subject that both gateways had just shown a document lost "
        "access and asked again at once, through the gateway that had not written: "
        f"{counts['revoked_and_still_shown']} answers still showed it. From the acknowledgement to "
        f"that answer it took {refused.percentile_ms(50):.1f} ms (median), "
        f"{refused.percentile_ms(99):.1f} at P99 and {refused.percentile_ms(100):.1f} at most."
    )


def _tables(soak: Soak) -> Iterator[str]:
    """By tier, by way to read, and by fault if there were any."""
    audit, happened = soak.context.audit, soak.plan.happened

    def rows(of: Counts, names: Iterable[str], kinds: Sequence[str]) -> list[list[str]]:
        return [[name, *(f"{of[name, kind]:,}" for kind in kinds)] for name in names]

    tiers = ("", *(f"_{tier}" for tier in _TIERS))
    by_tier = [
        (name, *(f"{audit.counts[kind + tier]:,}" for tier in tiers))
        for kind, name in _KINDS.items()
    ]
    yield table(("answers", "all", *_TIERS), by_tier)
    kinds = ("judged", "compared", *VIOLATIONS)
    others = sorted({path for path, _ in audit.by_path} - {"", *PATHS})
    yield table(("way to read", *kinds), rows(audit.by_path, (*PATHS, *others), kinds))
    if happened:
        kinds = ("times", "judged", *VIOLATIONS, "excused")
        times = {(fault, "times"): count for fault, count in happened.items()}
        by_fault = Counter(times) + audit.by_fault
        yield table(("fault", *kinds), rows(by_fault, sorted(happened), kinds))


def _nested(counts: Counts) -> dict[str, dict[str, int]]:
    nested: dict[str, dict[str, int]] = {}
    for (name, kind), count in sorted(counts.items()):
        nested.setdefault(name, {})[kind] = count
    return nested


_KINDS = {
    "judged": "judged while others write",
    "compared_at_work": "of these, compared with a fresh search",
    "compared_at_rest": "compared with a fresh search at rest",
}
