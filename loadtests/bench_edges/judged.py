"""Every answer is judged while regions are cut off, paused and killed, and the primary moves."""

import asyncio
import json
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console

from index.embedders.static_embedder import StaticEmbedder
from loadtests.bench.section import Bar, Section, table
from loadtests.bench_edges import edge_servers, faults
from loadtests.bench_edges.edge_servers import EdgeServers
from loadtests.bench_edges.options import EdgesRun
from loadtests.servers import metrics
from loadtests.soak import stage, verdict
from loadtests.soak.audit import VIOLATIONS, Audit
from loadtests.soak.driver import Soak
from loadtests.soak.model.state import SoakState
from loadtests.soak.options import SoakOptions
from loadtests.soak.oracle import oracle
from loadtests.soak.work.context import SoakContext
from loadtests.workload import history
from loadtests.workload.history import RecordedHistory
from loadtests.workload.rights import Rights
from loadtests.workload.world import GeneratedHistory, HistorySource

# Starting values, not measured.
_DOCUMENTS = 60  # generated
_SUBJECTS = 20
ASKERS, REPEATERS, WRITERS = 9, 6, 24
WRITE_TURNS = (0, 0, 0, 1, 0, 0, 0, 1, 2)  # a write from a far region takes seconds
_REST_EVERY_S = 60.0
_REST_QUESTIONS = 15
_LINE_EVERY_S = 5.0
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
        askers=ASKERS,
        repeaters=REPEATERS,
        writers=WRITERS,
        write_turns=WRITE_TURNS,
    )
    with edge_servers.running(
        reads_standby=bool(chosen.standbys), delays=chosen.delays, launcher=("gateway",)
    ) as servers:
        soak = asyncio.run(
            judged(servers, past(run.data_folder, chosen.seed), options, run.console)
        )
        answers = metrics.sums_by_label(servers.ways, "nearhit_cache_lookups_total")
    return _section(soak, dict(answers))


async def judged(
    servers: EdgeServers, source: HistorySource, options: SoakOptions, console: Console
) -> Soak:
    """The soak on these servers, after it has ended."""
    async with oracle(servers.regions.database_url, StaticEmbedder()) as truth:
        home = servers.gateways[0]
        keys = await stage.make_keys(home.url, servers.admin_key, source.subjects)
        state = SoakState(Rights(), keys.credentials)
        context = SoakContext(servers, state, Audit(state), truth, keys.admins)
        soak = Soak(context, source, options, faults.of(servers, options.faults))
        showing = asyncio.create_task(_show(soak, console))
        try:
            with suppress(asyncio.CancelledError):
                context.outages.begin(time.monotonic())  # gateways are cold
                await soak.settle()
                await faults.warm_up(context)
                context.outages.end(time.monotonic())
                await soak.run()
        finally:
            showing.cancel()
        return soak


def past(data: Path | None, seed: int) -> HistorySource:
    """The real histories in the folder, or generated ones without a folder."""
    if data is None:
        return GeneratedHistory(documents=_DOCUMENTS, seed=seed)
    return RecordedHistory(history.read(data), subjects_max=_SUBJECTS, seed=seed)


async def _show(soak: Soak, console: Console) -> None:
    """A line of progress every few seconds, and each violation as it is found."""
    shown = 0
    while True:
        await asyncio.sleep(_LINE_EVERY_S)
        console.print(verdict.progress(soak), markup=False, highlight=False)
        violations = soak.context.audit.shown[shown:]
        shown += len(violations)
        for violation in violations:
            console.print(json.dumps(violation, default=str), markup=False, soft_wrap=True)


def _section(soak: Soak, answers: dict[str, int]) -> Section:
    audit = soak.context.audit
    counts, times = audit.counts, soak.plan.happened
    by_tier = {tier: counts[f"judged_{tier}"] for tier in ("memory", "redis", "semantic", "miss")}
    text = _TEXT.format(askers=ASKERS, repeaters=REPEATERS) + (
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
        f"PostgreSQL's history changed meanwhile.\n\n{_by_fault(soak)}"
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


def _by_fault(soak: Soak) -> str:
    by_fault, kinds = soak.context.audit.by_fault, ("judged", *VIOLATIONS, "excused")
    times: Collection[tuple[str, int]] = [("none", 0), *sorted(soak.plan.happened.items())]
    rows = [
        (fault, f"{count:,}", *(f"{by_fault[fault, kind]:,}" for kind in kinds))
        for fault, count in times
    ]
    return table(("until the next fault", "times", *kinds), rows)
