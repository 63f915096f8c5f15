"""Long texts are planned in a process, and as they would be here."""

from collections.abc import Iterator

import pytest

from common.errors import Saturated
from common.processes.module_worker import ProcessKilled
from common.processes.worker_pool import WorkerPool
from index.documents.document_store import DocumentStore
from index.embedders.static_embedder import StaticEmbedder
from ingest.write import document_plan
from ingest.write.planning_process import PlanningProcess
from ingest.write.write_planner import PROCESS_CHARACTERS_MIN
from ingest.write.writer import Writer
from tests.index.support.samples import RecordingInvalidation, a_document, as_put

SENTENCE = "The harbour master lights the lamp at dusk and notes it in the book of the pier. "
LONG = SENTENCE * (PROCESS_CHARACTERS_MIN // len(SENTENCE) + 1)


@pytest.fixture(scope="module")
def process() -> Iterator[PlanningProcess]:
    made = PlanningProcess(seconds_max=0.5)
    yield made
    made.close()


@pytest.mark.thorough
def test_plans_of_the_process_are_those_made_here(process: PlanningProcess) -> None:
    german = a_document("german", "Die Ablage der Verträge liegt im Keller. " * 40, language="en")
    odd = a_document("odd", "| |\n" * 2_000 + "🚢 naïve\u0000", title="", metadata={"a": [1, None]})
    large = a_document("large", metadata={"all": "x" * 50_000})
    stored = None
    changed = [(stored, document) for document in (a_document("long", LONG), german, odd, large)]

    plans, too_long = process.plan(changed, {})

    here, too_long_here = document_plan.prepare_and_plan(changed, {})
    assert plans == here
    assert [plan.warnings != () for plan in plans] == [False, True, False]
    assert (*too_long,) == ("large",)
    assert too_long["large"].field == too_long_here["large"].field == "metadata"
    assert str(too_long["large"]) == str(too_long_here["large"])


def test_a_text_that_takes_too_long_is_refused_alone(process: PlanningProcess) -> None:
    nested = "\n".join(f"{' ' * (number % 7)}- item {number}" for number in range(50_000))
    endless = a_document("endless", nested)
    changed = [(None, a_document("before")), (None, endless), (None, a_document("after"))]

    plans, too_long = process.plan(changed, {})

    assert [plan.write.document_id for plan in plans] == ["before", "after"]
    assert (*too_long,) == ("endless",)
    assert "0.5 s of a processor" in str(too_long["endless"])


@pytest.mark.anyio
async def test_a_writer_plans_long_texts_in_a_process_and_short_ones_itself(
    documents: DocumentStore, static_embedder: StaticEmbedder
) -> None:
    begun = list[PlanningProcess]()

    def begin() -> PlanningProcess:
        begun.append(PlanningProcess())
        return begun[-1]

    pool = WorkerPool(begin, 2, name="plan", waiting_max=8, wait_s_max=60.0)
    async with pool:
        writer = Writer(documents, static_embedder, RecordingInvalidation(), processes=pool)
        await writer.put_all("acme", [as_put(a_document("short"))])
        assert not begun
        outcomes = await writer.put_all(
            "acme", [as_put(a_document("long", LONG)), as_put(a_document("other"))]
        )

    assert len(begun) == 1
    assert not any(isinstance(outcome, Exception) for outcome in outcomes)
    stored = await documents.stored_all("acme", ["long", "other"])
    assert stored["long"].document.text == LONG
    assert len(stored["long"].all_ids) > 1


class KilledProcess(PlanningProcess):
    def ask(self, *_: bytes, cpu_s: float) -> bytes:  # noqa: ARG002  as the base class
        raise ProcessKilled


@pytest.mark.thorough
@pytest.mark.anyio
async def test_a_document_whose_process_is_killed_is_not_refused_for_ever(
    documents: DocumentStore, static_embedder: StaticEmbedder
) -> None:
    pool = WorkerPool[PlanningProcess](
        KilledProcess, 2, name="plan", waiting_max=8, wait_s_max=60.0
    )
    async with pool:
        writer = Writer(documents, static_embedder, RecordingInvalidation(), processes=pool)

        (outcome,) = await writer.put_all("acme", [as_put(a_document("long", LONG))])

    assert isinstance(outcome, Saturated)
