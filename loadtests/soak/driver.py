"""The soak: writers, askers, holders of keys, faults, and pauses for comparisons."""

import asyncio
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from loadtests.soak import reads
from loadtests.soak.faults import FaultSchedule, SoakFault
from loadtests.soak.reads import SoakQuestion
from loadtests.soak.work.askers import Askers
from loadtests.soak.work.context import SoakContext, together
from loadtests.soak.work.holders import Holders
from loadtests.soak.work.interleaving import Interleaved
from loadtests.soak.work.jobs import Jobs
from loadtests.soak.work.writers import Writers
from loadtests.workload.world import HistorySource
from loadtests.workload.writes import PutDocument

_QUESTIONS = 60  # of each tenant; a starting value, not measured


# Of the gateways and the worker.
SETTINGS = {
    "NEARHIT_CACHE_AUDIT_PER_MILLE": "0",  # gateways repair what their audit finds
    "NEARHIT_REDIS_TIMEOUT_S": "0.1",  # the load generator delays Redis on a busy machine
    "NEARHIT_LOG_LEVEL": "error",
    "NEARHIT_PUBLIC_DOCUMENTS": "true",
    "NEARHIT_SIMILAR_QUESTIONS_SEARCHES": "all",  # its searches call no model
    "NEARHIT_DOCUMENT_INLINE_BYTES_MAX": "16000",  # some of the documents are longer
    "NEARHIT_PRICES": "embedding=1",  # so that a budget can be spent
    "NEARHIT_JOB_LEASE_S": "2",  # the jobs of a killed worker are taken over within the soak
    "NEARHIT_JOB_RETRY_DELAY_S": "0.5",
    "NEARHIT_JOB_ATTEMPTS_MAX": "30",  # a fault costs attempts, and there are many
}
# Of one of the gateways. The other computes what its shards hold sooner than Redis gives it, so
# that without this one hardly an answer is Redis's.
WITHOUT_SHARDS = {"NEARHIT_SHARD_BYTES_MAX": "0"}


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """answers: the number that ends the soak; 0: no limit. faults: the names of the faults.

    faults_min: how many have to happen before the answers are enough.

    plain: without queued writes, and without changes of keys and tokens.
    until_caught: the first wrong answer ends the soak.
    compared_share: of the answers while others write, to compare with a fresh search.
    askers: callers that read in every way. writers: each writes some of the documents.
    repeaters: callers that repeat the same few questions at one gateway, which a cache answers.
    write_turns: the numbers of the gateways that are sent writes, in turns; all if empty.
    rest_questions: sent to every gateway at each rest.
    """

    minutes: float
    answers: int
    seed: int
    faults: tuple[str, ...] = ()
    faults_min: int = 0
    fault_every_s: float = 20.0
    rest_every_s: float = 20.0
    plain: bool = False
    until_caught: bool = False
    compared_share: float = 0.1  # a starting value, not measured
    # Starting values, not measured.
    askers: int = 12
    writers: int = 2
    write_turns: Sequence[int] = ()
    repeaters: int = 0
    rest_questions: int = 100


class Soak:
    """faults: by name; they happen one after the other."""

    def __init__(
        self,
        context: SoakContext,
        past: HistorySource,
        options: SoakOptions,
        faults: Mapping[str, SoakFault],
    ) -> None:
        self.context = context
        self.options = options
        self.rests = 0
        self.writers = Writers(
            context, options.writers, options.write_turns, self._seeded("writers")
        )
        self.holders = Holders(context, past.subjects, self._seeded("holders"))
        self.plan = FaultSchedule(context, faults, options.fault_every_s, self._seeded("faults"))
        self._past = past
        self._has_faults = bool(faults)
        self._jobs = Jobs(context)
        self._tenants = sorted({tenant for tenant, _ in past.subjects})
        self._random = self._seeded("rests")
        share = options.compared_share
        self._askers = Askers(
            context, past.subjects, self._made_up(), seed=options.seed, compared_share=share
        )
        self.began_s = time.monotonic()

    async def settle(self) -> None:
        """Write the first documents."""
        await self.writers.write_all(iter(self._past.first))
        await self._jobs.wait()
        self.writers.written = self.writers.queued = 0
        await self._learn_revisions()

    async def run(self) -> None:
        """Run until the time is over or enough answers are audited; may be cancelled."""
        self.began_s = time.monotonic()
        async with together(list(self._works())) as running:
            while not self.is_over:
                done, _ = await asyncio.wait(
                    running, timeout=0.2, return_when=asyncio.FIRST_EXCEPTION
                )
                for task in done:
                    task.result()
            if not self.options.until_caught or not self.context.audit.has_wrong_answer:
                async with self.context.calm:
                    await self._rest()

    @property
    def is_over(self) -> bool:
        counts = self.context.audit.counts
        if self.options.until_caught and self.context.audit.has_wrong_answer:
            return True
        enough = (
            0 < self.options.answers <= counts["judged"]
            and self.plan.happened.total() >= self.options.faults_min
        )
        return enough or self.seconds >= self.options.minutes * 60

    @property
    def passed(self) -> bool:
        """Whether answers were judged, and nothing was wrong."""
        audit = self.context.audit
        return audit.held and audit.counts["judged"] > 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began_s

    def _works(self) -> Iterator[Coroutine[Any, Any, None]]:
        writes = self._past.writes()
        if not self.options.plain:
            writes = Interleaved(self._seeded("interleaving")).of(writes)
            yield self.plan.stall_worker()
        yield self._jobs.watch()  # long documents are queued in any case
        yield self.writers.write_all(writes)
        yield from (self._askers.ask_forever(number) for number in range(self.options.askers))
        yield from (self._askers.repeat_forever(number) for number in range(self.options.repeaters))
        if not self.options.plain:
            yield self.holders.change()
        if self._has_faults:
            yield self.plan.cause_faults()
        yield self._rest_now_and_then()

    def _seeded(self, name: str) -> Random:
        return Random(f"{self.options.seed} {name}")  # noqa: S311  no secret

    def _made_up(self) -> Mapping[str, Sequence[SoakQuestion]]:
        """Questions by tenant, of words of its own documents and of the public ones."""
        random = self._seeded("questions")
        puts = [write for write in self._past.first if isinstance(write, PutDocument)]
        puts.sort(key=lambda put: (put.tenant, put.document_id))
        texts = {
            tenant: [put.text for put in puts if put.tenant == tenant or "public" in put.readers]
            for tenant in self._tenants
        }
        return {
            tenant: reads.questions_of(own, _QUESTIONS, random) for tenant, own in texts.items()
        }

    async def _rest_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(self.options.rest_every_s)
            async with self.context.calm:
                await self._rest()

    async def _rest(self) -> None:
        """Stop the writers and compare recent questions at every gateway with fresh searches."""
        ways = self.context.ways()
        async with self.context.at_rest():
            self.context.servers.worker.resume()
            await self._jobs.wait()
            self.context.oracle.forget()
            for credential, read in self._askers.recent(self.options.rest_questions, self._random):
                for way in ways:
                    answer = await self.context.ask(way, credential, read)
                    if answer is None:
                        continue
                    self.context.audit.judge(answer)
                    if self.context.audit.is_comparable(answer):
                        await self.context.compare(answer, "compared_at_rest")
            await self._compare_stored()
            await self._learn_revisions()
            self.rests += 1
        for way in ways:
            await way.connection.close()

    async def _compare_stored(self) -> None:
        """Compare the database with what was acknowledged."""
        audit, oracle = self.context.audit, self.context.oracle
        for tenant, document_id, versions in self.context.state.rights.stored():
            stored = await oracle.stored(tenant, document_id)
            if not versions and stored is not None:
                audit.stored("stale", tenant, document_id, "it was removed, and is there")
            elif versions and stored is None:
                if self.context.state.rights.is_certain(tenant, document_id):
                    audit.stored("lost", tenant, document_id, "it is not there")
            elif stored is not None and not any(
                (version.text, version.readers) == (stored.text, frozenset(stored.readers))
                for version in versions
            ):
                is_text = any(version.text == stored.text for version in versions)
                what = "its readers are others" if is_text else "its text is another"
                audit.stored("lost", tenant, document_id, what)
            audit.counts["compared_stored"] += 1

    async def _learn_revisions(self) -> None:
        """Read the revisions from the database, also the public one, which no response states."""
        now_s = time.monotonic()
        revisions = await self.context.oracle.revisions(self._tenants)
        for partition, revision in revisions.items():
            self.context.state.floors.acknowledged(partition, revision, now_s)
