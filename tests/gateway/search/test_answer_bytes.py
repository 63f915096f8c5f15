"""What a document's metadata, an answer and the answers of one response hold in bytes at most."""

import asyncio
import gc
from typing import Any

import pytest

from common.shares.budget import FairBudget
from gateway.extensions._batches.held_answers import HeldAnswers
from gateway.http.admission import AdmissionControl, Slot
from gateway.problems.problems import Problem
from gateway.search.answer_bytes import ANSWER_BYTES_MAX, require_short
from ingest.write.document_plan import METADATA_BYTES_MAX
from tests.gateway.support.gateways import Caller, problem

pytestmark = [pytest.mark.anyio, pytest.mark.redis]


def metadata_of(size_bytes: int) -> dict[str, Any]:
    """Metadata of so many bytes as JSON, each value within its own limit."""
    values = ["x" * 4_000] * (size_bytes // 4_003)
    start = {"values": values, "rest": ""}
    rest = size_bytes - len('{"values":[],"rest":""}') - 4_003 * len(values) + bool(values)
    return start | {"rest": "y" * rest}


async def test_metadata_up_to_its_limit_is_stored_and_shown(ana: Caller) -> None:
    metadata = metadata_of(METADATA_BYTES_MAX)

    await ana.put("leave", "Annual leave.", metadata=metadata)

    (hit,) = (await ana.search("annual leave", metadata=True)).json()["hits"]
    assert hit["metadata"] == metadata


async def test_longer_metadata_is_refused_by_its_field(ana: Caller) -> None:
    metadata = metadata_of(METADATA_BYTES_MAX + 1)

    put = await ana.call("PUT", "/v1/documents/one", json={"text": "x", "metadata": metadata})
    document = problem(put, 422)

    assert document["errors"][0]["field"] == "metadata"
    assert "40,961 bytes" in document["errors"][0]["detail"]


async def test_a_write_that_would_be_queued_is_refused_as_well(ana: Caller) -> None:
    metadata = metadata_of(METADATA_BYTES_MAX + 1)
    later = {"Prefer": "respond-async"}
    long_text = "x " * 131_072

    refused = [
        await ana.call(
            "PUT", "/v1/documents/two", json={"text": text, "metadata": metadata}, headers=headers
        )
        for text, headers in (("x", later), (long_text, {}), (long_text, later))
    ]

    assert [problem(each, 422)["errors"][0]["field"] for each in refused] == ["metadata"] * 3


async def test_relations_count_as_metadata(ana: Caller) -> None:
    body = {
        "text": "x",
        "metadata": metadata_of(METADATA_BYTES_MAX - 100),
        "relates_to": {"follows": "d" * 200},
    }

    problem(await ana.call("PUT", "/v1/documents/one", json=body), 422)


@pytest.mark.isolated
async def test_metadata_that_postgresql_writes_out_longer_stays_and_hits_show_null(
    ana: Caller,
) -> None:
    metadata = {"priority": 3, "large": [1e300] * 250}  # 300 digits each
    await ana.put("leave", "Annual leave.", metadata=metadata)

    query = {"metadata": True, "boost": {"importance": {"key": "priority", "full": 5, "weight": 1}}}
    (hit,) = (await ana.search("annual leave", **query)).json()["hits"]
    stored = await ana.call("GET", "/v1/documents/leave")

    assert hit["metadata"] is None
    assert stored.json()["metadata"] == metadata


@pytest.mark.slow
async def test_a_batch_whose_answers_are_too_large_together_is_refused(ana: Caller) -> None:
    metadata = metadata_of(METADATA_BYTES_MAX)
    await asyncio.gather(
        *(ana.put(f"leave-{n}", f"Annual leave {n}.", metadata=metadata) for n in range(20))
    )
    search = {"query": "annual leave", "metadata": True, "top_k": 20}

    few = await ana.call("POST", "/v1/search/batch", json={"searches": [search] * 2})
    many = await ana.call("POST", "/v1/search/batch", json={"searches": [search] * 32})

    assert few.status_code == 200
    assert problem(many, 422)["type"] == "urn:nearhit:problem:answer-too-large"


@pytest.mark.sampled("/v1/search/batch")
@pytest.mark.slow
@pytest.mark.parametrize("path", ["/v1/search/batch", "/v1/search/plan"])
async def test_what_a_refused_response_held_is_freed_without_the_garbage_collector(
    ana: Caller, path: str
) -> None:
    metadata = metadata_of(METADATA_BYTES_MAX)
    await asyncio.gather(
        *(ana.put(f"leave-{n}", f"Annual leave {n}.", metadata=metadata) for n in range(30))
    )
    searches = [{"query": f"annual leave {n}", "metadata": True, "top_k": 30} for n in range(14)]
    steps = [{"name": f"step{n}", **search} for n, search in enumerate(searches)]
    body = {"searches": searches} if path.endswith("batch") else {"steps": steps}
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        refused = await ana.call("POST", path, json=body)
        await ana.search("annual leave")  # the request before has ended by then
        gc.collect()
        held = [each for each in gc.get_referents(*gc.garbage) if isinstance(each, bytes)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()

    assert problem(refused, 422)["type"] == "urn:nearhit:problem:answer-too-large"
    assert max(map(len, held), default=0) < METADATA_BYTES_MAX


def test_an_answer_beyond_the_limit_is_refused() -> None:
    require_short(bytes(ANSWER_BYTES_MAX))

    with pytest.raises(Problem, match="fewer hits"):
        require_short(bytes(ANSWER_BYTES_MAX + 1))


def test_answers_that_wait_for_others_count_as_the_tenants_bytes_until_the_request_ends() -> None:
    body_bytes = FairBudget(total_max=100, tenant_max=50)
    admission = AdmissionControl({}, requests=body_bytes, streams=body_bytes, body_bytes=body_bytes)
    slot = Slot(admission, "", "")
    slot.tenant = "acme"
    held = HeldAnswers(slot)
    held.hold(bytes(40))

    with pytest.raises(Problem, match="bytes of the tenant's bodies and answers"):
        held.hold(bytes(20))
    held.release(bytes(40))
    held.hold(bytes(20))
    slot.end()

    assert body_bytes.take("acme", 50) is None
