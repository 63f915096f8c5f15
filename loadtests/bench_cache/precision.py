"""How many answers a change drops, and how many of them needlessly, over a real history of edits.

All questions are asked again after each edit: an answer that no cache gives was dropped. It is
stored again, so that the number of live answers stays the same.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import orjson
from rich.progress import Progress

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_cache import attribution, questions
from loadtests.bench_cache.attribution import DroppedByWrite
from loadtests.bench_cache.options import PATIENT, CacheRun
from loadtests.bench_cache.questions import TypedQuestion
from loadtests.load.response import HttpResponse
from loadtests.servers import metrics, service
from loadtests.workload import handbook
from loadtests.workload.handbook import Edit
from loadtests.workload.tenant_client import TenantClient, new_tenant

_LIVE = 1_000
_SEED = 11
_SHARE_MAX = 0.05  # of the live answers that one inserted chunk may drop in the mean


@dataclass(frozen=True, slots=True)
class Replay:
    """chunks: of the tenant before the first edit.

    taken:    by edit; mistyped: only of the answers to questions with a typo.
    renewed:  drains that dropped everything.
    counted:  dropped answers by the gateway's own count.
    """

    chunks: int
    taken: Sequence[DroppedByWrite]
    mistyped: Sequence[DroppedByWrite]
    of_edits: int
    renewed: float
    counted: float


def measure(run: CacheRun) -> Section:
    book = handbook.read(run.data)
    question_list = questions.make(list(book.texts.values()), _LIVE, _SEED)
    with (
        service.nearhit(PATIENT) as gateway,
        new_tenant(gateway, "handbook") as tenant,
        run.progress() as progress,
    ):
        task = progress.add_task("ingesting the handbook", total=len(book.texts))
        chunks = tenant.put(book.documents, lambda count: progress.advance(task, count))
        edits = _until(time.monotonic() + 60 * run.options.minutes, book.edits, progress)
        taken, mistyped = zip(
            *_replay(tenant, edits, question_list, run.options.connections), strict=True
        )
        replay = Replay(
            chunks,
            taken,
            mistyped,
            len(book.edits),
            metrics.cache_event(gateway.url, "renewed"),
            metrics.cache_event(gateway.url, "dropped"),
        )
    return Section(
        title="Precision",
        text=_text(replay),
        figures=_figures(replay),
        bars=[
            Bar(
                "mean share of the live answers that one inserted chunk drops",
                attribution.share_by_chunk(taken),
                at_most=_SHARE_MAX,
            )
        ],
    )


def _until(ends_s: float, edits: Sequence[Edit], progress: Progress) -> Iterator[Edit]:
    """The edits in their order, until the time is over."""
    task = progress.add_task("replaying edits", total=None)
    for number, edit in enumerate(edits, start=1):
        if time.monotonic() >= ends_s:
            return
        yield edit
        progress.update(task, description=f"replaying edits: {number}")


def _replay(
    tenant: TenantClient,
    edits: Iterator[Edit],
    question_list: Sequence[TypedQuestion],
    connections: int,
) -> Iterator[tuple[DroppedByWrite, DroppedByWrite]]:
    """What each edit took of all answers, and of those to questions with a typo."""
    bodies = [orjson.dumps({"query": question.text}) for question in question_list]
    before = tenant.search_all(bodies, connections=connections)
    for edit in edits:
        inserted = handbook.apply(edit, tenant)
        after = tenant.search_all(bodies, connections=connections)
        turned = list(zip(before, after, strict=True))
        mistyped = [
            pair for pair, question in zip(turned, question_list, strict=True) if question.has_typo
        ]
        yield _taken(turned, inserted), _taken(mistyped, inserted)
        before = after


def _taken(turned: Sequence[tuple[HttpResponse, HttpResponse]], inserted: int) -> DroppedByWrite:
    """turned: the answers to each question before the edit and after it."""
    live = [(then, now) for then, now in turned if then.is_hit or "; stored" in then.cache_status]
    dropped = [(then, now) for then, now in live if not now.is_hit]
    in_vain = sum(then.body == now.body for then, now in dropped)
    return DroppedByWrite(len(live), len(dropped), in_vain, inserted)


def _text(replay: Replay) -> str:
    taken = replay.taken
    shares = [write.share for write in taken]
    single = [write for write in taken if write.inserted == 1]
    rows = [
        ("one edit, mean", f"{attribution.share_by_write(taken):.4f}"),
        ("one edit, median", f"{np.median(shares):.4f}"),
        ("one edit, P95", f"{np.quantile(shares, 0.95):.4f}"),
        ("one inserted chunk, mean over the edits", f"{attribution.share_by_chunk(taken):.4f}"),
        ("the same, pooled", f"{attribution.share_by_chunk_pooled(taken):.4f}"),
    ]
    if single:
        what = f"the {len(single)} edits that inserted just one chunk, mean"
        rows.append((what, f"{attribution.share_by_write(single):.4f}"))
    what = f"one edit, of the {replay.mistyped[0].live} answers to questions with a typo, mean"
    rows.append((what, f"{attribution.share_by_write(replay.mistyped):.4f}"))
    rows.append(("dropped needlessly, of all dropped", f"{attribution.share_in_vain(taken):.4f}"))
    notes = (
        f"A tenant with a real handbook, {replay.chunks:,} chunks, and "
        f"{fmean(write.live for write in taken):,.0f} live answers to as many different questions "
        f"made of its own words. {questions.HOW}\n"
        f"The first {len(taken):,} of the {replay.of_edits:,} edits that its people made to it are "
        "replayed over HTTP, one commit each; a moved document is removed and written.\n"
        "After each edit all questions are asked again: an answer that no cache gives was dropped, "
        "needlessly if its bytes are the same as before.\n"
        "The dropped answers are attributed to the inserted chunks in equal parts, also those that "
        "replaced or removed chunks have dropped; an edit that "
        f"inserted none counts by edit only ({sum(not write.inserted for write in taken)} did).\n"
        "The target is for the mean over the edits; pooled is the sum of the shares divided by the "
        "sum of the chunks, in which long rewrites weigh more.\n"
        f"{replay.renewed:.0f} drains dropped everything; the gateway counted "
        f"{replay.counted:,.0f} dropped, and {sum(write.dropped for write in taken):,} were found "
        "missing."
    )
    return f"{notes}\n\n{table(('share of the live answers dropped by', ''), rows)}"


def _figures(replay: Replay) -> dict[str, float]:
    taken = replay.taken
    return {
        "edits": len(taken),
        "chunks": replay.chunks,
        "share_by_edit": attribution.share_by_write(taken),
        "share_by_chunk": attribution.share_by_chunk(taken),
        "share_by_chunk_pooled": attribution.share_by_chunk_pooled(taken),
        "share_in_vain": attribution.share_in_vain(taken),
        "share_by_edit_mistyped": attribution.share_by_write(replay.mistyped),
        "inserted": sum(write.inserted for write in taken),
        "dropped": sum(write.dropped for write in taken),
        "counted": replay.counted,
        "renewed": replay.renewed,
    }
