"""Every answer is judged while regions are cut off, paused and killed, and the primary moves."""

import asyncio
from collections import Counter
from typing import Any

from loadtests.bench.section import Bar, Section
from loadtests.bench_edges import edge_servers, faults
from loadtests.bench_edges.edge_servers import EdgeServers
from loadtests.bench_edges.options import EdgesRun
from loadtests.servers import metrics
from loadtests.soak import outcome
from loadtests.soak import run as soak_run
from loadtests.soak.audit import VIOLATIONS, Audit
from loadtests.soak.driver import Soak
from loadtests.soak.options import SoakOptions

# Starting values, not measured.
CALLERS: dict[str, Any] = {
    "askers": 9,
    "repeaters": 6,
    "writers": 24,
    "write_turns": (0, 0, 0, 1, 0, 0, 0, 1, 2),  # a write from a far region takes seconds
}
_REST_EVERY_S = 60.0
_REST_QUESTIONS = 15
_TEXT = """\
The judge, the model of rights and the callers are those of the [soak](soak.md), on the clock of \
this machine: *stale* is an answer that misses a write which was acknowledged before it was asked, \
*leaked* one that shows what its caller could no longer read, or to an ended key. Callers and \
writers are in all regions; a gateway in each holds a read lease of 1 s. Beside {askers} callers \
that read in every way, {repeaters} repeat a few questions as fast as one gateway answers them.

- *region cut off:* its connections to the primary are lost, and none can be opened, for up to \
three leases. *Region silent:* nothing comes through; afterwards all of it arrives late.
- *region killed:* its gateway, Redis and standby are killed and started again.
- *gateway paused:* any gateway stops (`SIGSTOP`) for up to three leases, and goes on.
- *primary failed over:* the primary is killed, and a standby that has all that was acknowledged \
is promoted, while the third region is silent and its lease runs on. The relays lead to the new \
primary; no gateway is restarted.
- *primary lost with its last writes:* the promoted standby was cut off before, and lacks what was \
acknowledged last. That is void, and must not be shown when one lease has passed since the \
promotion; until then nothing is judged.

All processes share one clock here. Clocks that run apart are covered by the model of the rules \
(`tests/cache/protocol/test_read_lease_model.py`), not by this section.

"""


def measure(run: EdgesRun) -> Section:
    chosen = run.options
    options = SoakOptions(
        minutes=chosen.minutes,
        answers=chosen.answers,
        seed=chosen.seed,
        faults=tuple(
            name for name in faults.FAULTS if chosen.standbys or name != faults.OF_STANDBYS
        ),
        faults_min=chosen.faults,
        fault_every_s=chosen.fault_every_s,
        rest_every_s=_REST_EVERY_S,
        rest_questions=_REST_QUESTIONS,
        **CALLERS,
    )
    with edge_servers.running(
        reads_standby=bool(chosen.standbys), delays=chosen.delays, launcher=("gateway",)
    ) as servers:
        soak = judged(servers, run, options)
        soak_run.show_violations(soak)
        answers = metrics.sums_by_label(servers.ways, "nearhit_cache_lookups_total")
    return _section(soak, dict(answers))


def judged(servers: EdgeServers, run: EdgesRun, options: SoakOptions) -> Soak:
    past = soak_run.past(run.data_folder, run.options.seed)
    chosen = faults.of(servers, options.faults)
    soaking = soak_run.soaked(servers, past, options, chosen, run.console, faults.warm_up)
    return asyncio.run(soaking)


def _section(soak: Soak, answers: dict[str, int]) -> Section:
    audit = soak.context.audit
    counts, times = audit.counts, soak.plan.happened
    by_tier = {tier: counts[f"judged_{tier}"] for tier in ("memory", "redis", "semantic", "miss")}
    text = _TEXT.format(**CALLERS) + (
        f"{counts['judged']:,} answers were judged in {soak.seconds:,.0f} s: "
        f"{by_tier['memory']:,} from the memory of a gateway, {by_tier['redis']:,} from a Redis, "
        f"{by_tier['semantic']:,} of similar questions, {by_tier['miss']:,} computed. "
        f"{soak.writers.written:,} writes were acknowledged and {soak.writers.queued:,} queued. "
        f"{soak.holders.rotated:,} keys were rotated, {soak.holders.revoked:,} keys and tokens "
        f"revoked; {counts['refused']:,} requests with an ended one were rejected. "
        f"{counts['revoked']:,} times a subject lost access to a document that it had just been "
        f"shown, and asked again at once at another gateway. "
        f"{counts['compared_at_work'] + counts['compared_at_rest']:,} answers were compared byte "
        f"for byte with a fresh search, and {counts['not_judged']:,} not judged, because "
        f"PostgreSQL's history changed meanwhile.\n\n"
        f"{_by_fault(soak.context.audit, soak.plan.happened)}"
    )
    figures: dict[str, Any] = {
        "seconds": round(soak.seconds),
        "seed": soak.options.seed,
        "writes": soak.writers.written,
        "queued": soak.writers.queued,
        "audit": dict(sorted(counts.items())),
        "faults": dict(times),
        "by_fault": {f"{fault}: {kind}": n for (fault, kind), n in sorted(audit.by_fault.items())},
        "lookups": answers,
        "shown": audit.shown,
    }
    bars = [
        Bar("answers judged", counts["judged"], at_least=soak.options.answers),
        Bar("kinds of faults that happened", len(times), at_least=len(soak.options.faults)),
        Bar(
            "lost access, and shown by the very next answer",
            counts["revoked_and_still_shown"],
            at_most=0,
        ),
        *(Bar(violation, counts[violation], at_most=0) for violation in VIOLATIONS),
    ]
    return Section("Every answer judged", text, figures, bars)


def _by_fault(audit: Audit, happened: Counter[str]) -> str:
    times = {"none": 0} | dict(sorted(happened.items()))
    return outcome.fault_table("until the next fault", audit, times)
