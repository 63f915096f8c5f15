"""Writes of one tenant while another one uploads files that take long to read."""

import asyncio
import resource
import time
from collections.abc import Sequence
from typing import Any

import pytest

from gateway.extensions._files.extract import SECONDS_MIN
from tests.gateway.extensions._sources.files import docx, slow_pdf
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.thorough]

WRITES = 15
STORES = 7
SLOWER_MAX = 25.0  # times, and a second; where both share threads, a write takes up to a minute
LONG = "\n\n".join(f"Paragraph {number} of a text that is cut in a thread." for number in range(60))


def processor_time_of_ended_processes() -> float:
    """Each reading beyond its limit ends its process."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def seconds(caller: Caller, name: str) -> Sequence[float]:
    taken = []
    for number in range(WRITES):
        started_s = time.perf_counter()
        await caller.put(f"{name}-{number}", f"{LONG} {name} {number}")
        taken.append(time.perf_counter() - started_s)
    return sorted(taken)


async def upload(caller: Caller, name: str, content: bytes) -> str:
    answer = await caller.call(
        "POST", "/v1/files", data={"purpose": "assistants"}, files={"file": (name, content)}
    )
    assert answer.status_code == 200, answer.text
    file_id: str = answer.json()["id"]
    return file_id


async def attach(caller: Caller, file_id: str) -> dict[str, Any]:
    """To a store of its own."""
    made = await caller.call("POST", "/v1/vector_stores", json={"name": "Store"})
    path = f"/v1/vector_stores/{made.json()['id']}/files"
    answer = await caller.call("POST", path, json={"file_id": file_id}, timeout=120)
    assert answer.status_code == 200, answer.text
    attached: dict[str, Any] = answer.json()
    return attached


async def test_uploads_that_take_long_to_read_do_not_hold_up_the_writes_of_others(
    gateway: Gateway, ana: Caller
) -> None:
    beta = await gateway.new_tenant()
    ben = await gateway.caller("ben", tenant=beta)
    comments = [await upload(ana, f"{number}.html", b"<!--" * 500_000) for number in range(8)]
    slow = [await upload(ana, f"{number}.pdf", slow_pdf()) for number in range(2)]
    bomb = await upload(ana, "bomb.docx", docx(["Leave"] + [""] * 500_000))
    await seconds(ben, "first")
    unloaded = await seconds(ben, "unloaded")

    attaching = [
        asyncio.create_task(attach(ana, file_id))
        for file_id in (*comments, *slow, *[slow[0]] * (STORES - 1), bomb)
    ]
    await asyncio.sleep(0)
    loaded = await seconds(ben, "loaded")
    begun = sum(not task.done() for task in attaching)
    results = await asyncio.gather(*attaching)

    assert begun > 0
    assert loaded[-1] < SLOWER_MAX * unloaded[len(unloaded) // 2] + 1
    assert {result["status"] for result in results} == {"failed"}
    told = [result["last_error"]["message"] for result in results]
    assert sum("has no text" in reason for reason in told) == len(comments)
    assert sum("takes longer to read" in reason for reason in told) == len(slow) + STORES - 1
    assert "bytes of XML" in told[-1]


async def test_a_file_of_several_stores_is_read_once(gateway: Gateway, ana: Caller) -> None:
    slow = await upload(ana, "slow.pdf", slow_pdf())
    before_s = processor_time_of_ended_processes()

    results = await asyncio.gather(*(attach(ana, slow) for _ in range(STORES)))

    assert {result["status"] for result in results} == {"failed"}
    assert all("takes longer to read" in result["last_error"]["message"] for result in results)
    # The kernel samples it, and misses some on a busy machine; each further reading takes as much.
    used_s = processor_time_of_ended_processes() - before_s
    assert 0.5 * SECONDS_MIN < used_s < 1.5 * SECONDS_MIN
