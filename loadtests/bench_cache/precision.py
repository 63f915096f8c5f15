"""How many answers a change drops, and how many of them needlessly, over a real history of edits.

All questions are asked again after each edit: an answer that no cache gives was dropped. It is
stored again, so that the number of live answers stays the same.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import orjson
from rich.progress import Progress

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_cache import questions
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
class DroppedByWrite:
    """The answers that one write dropped.

    in_vain:  dropped although the new answer has the same bytes.
    inserted: chunks that the write added; all dropped answers are attributed to them.
    """

    live: int
    dropped: int
    in_vain: int
    inserted: int

    @property
    def share(self) -> float:
        return self.dropped / self.live


def share_by_write(taken: Sequence[DroppedByWrite]) -> float:
    """The mean share of the live answers that one write dropped."""
    return _mean([write.share for write in taken if write.live])


def share_by_chunk(taken: Sequence[DroppedByWrite]) -> float:
    """The mean over the writes that inserted chunks of the share dropped for each such chunk."""
    counted = [write for write in taken if write.inserted and write.live]
    return _mean([write.share / write.inserted for write in counted])


def _mean(shares: Sequence[float]) -> float:
    """Without an edit that met live answers there is nothing to judge, so the run fails."""
    if not shares:
        raise SystemExit("too few edits met live answers: give more --minutes")
    return fmean(shares)


def share_in_vain(taken: Sequence[DroppedByWrite]) -> float:
    """The needless share of all dropped answers."""
    dropped = sum(write.dropped for write in taken)
    return sum(write.in_vain for write in taken) / dropped if dropped else 0.0


def measure(run: CacheRun) -> Section:
    book = handbook.read(run.data)
    asked = questions.make(list(book.texts.values()), _LIVE, _SEED)
    with (
        service.nearhit(PATIENT) as gateway,
        new_tenant(gateway, "handbook") as tenant,
        run.progress() as progress,
    ):
        chunks = tenant.put(book.documents)
        edits = _until(time.monotonic() + 60 * run.options.minutes, book.edits, progress)
        taken, mistyped = zip(*_replay(tenant, edits, asked, run.options.connections), strict=True)
        counted, renewed = (
            metrics.cache_event(gateway.url, event) for event in ("dropped", "renewed")
        )
    by_chunk = share_by_chunk(taken)
    figures = {
        "edits": len(taken),
        "chunks": chunks,
        "share_by_edit": share_by_write(taken),
        "share_by_chunk": by_chunk,
        "share_in_vain": share_in_vain(taken),
        "share_by_edit_mistyped": share_by_write(mistyped),
        "inserted": sum(write.inserted for write in taken),
        "dropped": sum(write.dropped for write in taken),
        "counted": counted,
        "renewed": renewed,
    }
    what = "mean share of the live answers that one inserted chunk drops"
    return Section(
        title="Precision",
        text=_text(figures, taken, mistyped, len(book.edits)),
        figures=figures,
        bars=[Bar(what, by_chunk, at_most=_SHARE_MAX)],
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
    tenant: TenantClient, edits: Iterator[Edit], asked: Sequence[TypedQuestion], connections: int
) -> Iterator[tuple[DroppedByWrite, DroppedByWrite]]:
    """What each edit took of all answers, and of those to questions with a typo."""
    bodies = [orjson.dumps({"query": question.text}) for question in asked]
    before = tenant.search_all(bodies, connections=connections)
    for edit in edits:
        inserted = handbook.apply(edit, tenant)
        after = tenant.search_all(bodies, connections=connections)
        turned = list(zip(before, after, strict=True))
        mistyped = [pair for pair, one in zip(turned, asked, strict=True) if one.has_typo]
        yield _taken(turned, inserted), _taken(mistyped, inserted)
        before = after


def _taken(turned: Sequence[tuple[HttpResponse, HttpResponse]], inserted: int) -> DroppedByWrite:
    """turned: the answers to each question before the edit and after it."""
    live = [(then, now) for then, now in turned if then.is_hit or "; stored" in then.cache_status]
    dropped = [(then, now) for then, now in live if not now.is_hit]
    in_vain = sum(then.body == now.body for then, now in dropped)
    return DroppedByWrite(len(live), len(dropped), in_vain, inserted)


def _text(
    figures: dict[str, float],
    taken: Sequence[DroppedByWrite],
    mistyped: Sequence[DroppedByWrite],
    edits: int,
) -> str:
    rows = [
        ("one edit, mean", f"{figures['share_by_edit']:.4f}"),
        ("one inserted chunk, mean over the edits", f"{figures['share_by_chunk']:.4f}"),
        (
            f"one edit, of the {mistyped[0].live} answers to questions with a typo, mean",
            f"{figures['share_by_edit_mistyped']:.4f}",
        ),
        ("dropped needlessly, of all dropped", f"{figures['share_in_vain']:.4f}"),
    ]
    notes = (
        f"A tenant with a real handbook, {figures['chunks']:,} chunks, and "
        f"{fmean(write.live for write in taken):,.0f} live answers to as many different questions "
        f"made of its own words. {questions.HOW}\n"
        f"The first {len(taken):,} of the {edits:,} edits that its people made to it are "
        "replayed over HTTP, one commit each; a moved document is removed and written.\n"
        "After each edit all questions are asked again: an answer that no cache gives was dropped, "
        "needlessly if its bytes are the same as before.\n"
        "The dropped answers are attributed to the inserted chunks in equal parts, also those that "
        "replaced or removed chunks have dropped; an edit that "
        f"inserted none counts by edit only ({sum(not write.inserted for write in taken)} did).\n"
        f"{figures['renewed']:.0f} drains dropped everything; the gateway counted "
        f"{figures['counted']:,.0f} dropped, and {figures['dropped']:,} were found missing."
    )
    return f"{notes}\n\n{table(('share of the live answers dropped by', ''), rows)}"
