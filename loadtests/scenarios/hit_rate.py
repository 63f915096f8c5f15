"""The hit rate of the cache while documents are edited, and without edits."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random

import orjson
from rich.progress import Progress

from loadtests.bench.frame import PATIENT, Run
from loadtests.bench.section import Bar, Section, table
from loadtests.servers import service
from loadtests.servers.service import Service
from loadtests.workload import handbook, questions
from loadtests.workload.handbook import Handbook
from loadtests.workload.tenant_client import new_tenant

_QUESTIONS = 1_000
_SEARCHES = 10_000
_SEARCHES_A_WRITE = (100, 20)
_RATIO_MIN = 0.9
_SEED = 12
WRITE = -1  # in a trace, among the numbers of the questions


def measure(run: Run) -> Section:
    book = handbook.read(run.data)
    bodies = [
        orjson.dumps({"query": question})
        for question in questions.typed(list(book.texts.values()), _QUESTIONS, _SEED)
    ]
    random = Random(_SEED)  # noqa: S311  no secret
    trace = [questions.zipf(_QUESTIONS, random) for _ in range(_SEARCHES)]
    with service.nearhit(PATIENT) as gateway, run.progress() as progress:
        undisturbed = _rates(gateway, book, bodies, trace, 0, progress)["precise"]
        rates = {
            each: _rates(gateway, book, bodies, trace, each, progress) for each in _SEARCHES_A_WRITE
        }
    return Section(
        title="Hit rate under edits",
        text=_text(undisturbed, rates),
        figures={
            "undisturbed": undisturbed,
            **{f"write_each_{each}": dict(shares) for each, shares in rates.items()},
        },
        bars=[_bar(each, shares, undisturbed) for each, shares in rates.items()],
    )


def coarse_hits(trace: Iterable[int]) -> int:
    """How many searches hit in a cache that drops a tenant's answers at each write."""
    cached: set[int] = set()
    count = 0
    for step in trace:
        if step == WRITE:
            cached.clear()
        elif step in cached:
            count += 1
        else:
            cached.add(step)
    return count


def mixed(trace: Iterable[int], searches_a_write: int) -> Iterable[int]:
    """The questions in their order, with a write after each so many."""
    for number, question in enumerate(trace, start=1):
        yield question
        if number % searches_a_write == 0:
            yield WRITE


def _bar(searches_a_write: int, shares: Mapping[str, float], undisturbed: float) -> Bar:
    """Compare with the rate without edits, or with the best possible rate if that is low."""
    what = f"hit rate with an edit each {searches_a_write} searches, to"
    precise, at_best = shares["precise"], shares["at_best"]
    if at_best < _RATIO_MIN * undisturbed:
        return Bar(f"{what} the best possible rate", precise / at_best, at_least=_RATIO_MIN)
    return Bar(f"{what} that without edits", precise / undisturbed, at_least=_RATIO_MIN)


def _rates(
    gateway: Service,
    book: Handbook,
    bodies: Sequence[bytes],
    trace: Sequence[int],
    searches_a_write: int,
    progress: Progress,
) -> Mapping[str, float]:
    """Shares of the searches of a new tenant; 0 searches a write: nobody writes.

    at_best: searches whose last answer still has the same bytes.
    coarse:  hits of a cache that drops everything at each write, computed and not run.
    """
    edits = iter(book.edits)
    last_bodies: dict[bytes, bytes] = {}
    hits = unchanged = 0
    with new_tenant(gateway, f"edited-{searches_a_write}") as tenant:
        what = f"an edit each {searches_a_write} searches" if searches_a_write else "no edits"
        task = progress.add_task(what, total=len(trace))
        tenant.put(book.documents)
        length = searches_a_write or 1_000
        for start in range(0, len(trace), length):
            searches = trace[start : start + length]
            batch = [bodies[number] for number in searches]
            # One after the other, so that of a question asked twice the second time is a hit.
            for body, answer in zip(batch, tenant.search_all(batch, connections=1), strict=True):
                hits += answer.is_hit
                unchanged += last_bodies.get(body) == answer.body
                last_bodies[body] = answer.body
            progress.advance(task, len(searches))
            if searches_a_write:
                handbook.apply(next(edits), tenant)
    counts = {
        "precise": hits,
        "at_best": unchanged,
        "coarse": coarse_hits(mixed(trace, searches_a_write or len(trace) + 1)),
    }
    return {name: count / len(trace) for name, count in counts.items()}


def _text(undisturbed: float, rates: Mapping[int, Mapping[str, float]]) -> str:
    notes = (
        f"The handbook again, in a new tenant for each row; {_SEARCHES:,} searches one after the "
        f"other, of {_QUESTIONS:,} questions by Zipf's law, the cache empty at first.\n"
        f"{questions.HOW}\n"
        "After each so many searches the next edit of the real stream is written.\n"
        f"Without edits, the hit rate is {undisturbed:.3f}: the rest are first times.\n"
        "At best is a cache that knows by magic which answers a write leaves as they are, byte for "
        "byte, and drops the others alone; so many edits that even it hits less than "
        f"{_RATIO_MIN:.0%} of what it would without them leave no more to be had.\n"
        "Coarse is a cache that drops all of a tenant's answers at each write, counted over the "
        "same searches and writes."
    )
    rows = [
        (
            f"one in {each} searches",
            *(f"{share:.3f} ({share / undisturbed:.2f})" for share in shares.values()),
        )
        for each, shares in rates.items()
    ]
    head = ("edits", "hit rate (to none)", "at best", "coarse")
    return f"{notes}\n\n{table(head, rows)}"
