"""Documents that are written later, and what is shown of queued work."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.isolated, pytest.mark.slow]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
LATER = {"Prefer": "respond-async"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    fields = {"document_inline_bytes_max": 2_000, "job_retry_delay_s": 0.01, "job_attempts_max": 3}
    return settings.model_copy(update=fields)


@asynccontextmanager
async def worker(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with open_services(settings, Metrics(), embedder) as services:
        yield services


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    """A worker's, which does what is queued when it is told to."""
    async with worker(settings, embedder) as made:
        yield made


async def put_later(caller: Caller, document_id: str, text: str = LEAVE, **fields: Any) -> str:
    """The job that will do it."""
    path = f"/v1/documents/{document_id}"
    answer = await caller.call("PUT", path, json={"text": text, **fields}, headers=LATER)
    assert answer.status_code == 202, answer.text
    job_id: str = answer.json()["job_id"]
    return job_id


async def job(caller: Caller, job_id: str) -> dict[str, Any]:
    answer = await caller.call("GET", f"/v1/jobs/{job_id}")
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


async def work(services: Services) -> None:
    await worker_loop.make_worker(services.worker).drain()


class TestWritingLater:
    async def test_a_large_document_is_accepted_and_found_once_a_worker_was_there(
        self, ana: Caller, services: Services
    ) -> None:
        body = {"text": LEAVE + "\n\n" + "And so on, at length. " * 100, "readers": ["tenant"]}

        answer = await ana.call("PUT", "/v1/documents/leave", json=body)
        found_before = await ana.found("annual leave")
        waiting = await job(ana, answer.json()["job_id"])
        await work(services)
        done = await job(ana, answer.json()["job_id"])

        assert answer.status_code == 202
        assert answer.headers["location"] == answer.json()["status_url"]
        assert answer.json()["status_url"] == f"/v1/jobs/{answer.json()['job_id']}"
        assert found_before == []
        assert (waiting["state"], waiting["attempts"], waiting["result"]) == ("waiting", 0, None)
        assert set(await ana.found("annual leave")) == {"leave"}
        assert (done["state"], done["attempts"], done["error"]) == ("done", 1, None)
        assert done["result"]["document_id"] == "leave"
        assert done["result"]["revision"] == 1
        assert done["result"]["chunks"]["added"] > 0

    @pytest.mark.thorough
    async def test_a_small_one_waits_only_if_the_caller_prefers_it(
        self, ana: Caller, services: Services
    ) -> None:
        await ana.put("now", LEAVE)
        preferred = await ana.call(
            "PUT",
            "/v1/documents/later",
            json={"text": LEAVE + " Ask the people team."},
            headers={"Prefer": "handling=strict, Respond-Async"},
        )
        await work(services)

        assert preferred.status_code == 202
        assert preferred.headers["preference-applied"] == "respond-async"
        assert set(await ana.found("annual leave")) == {"now", "later"}

    async def test_it_sets_the_text_and_not_what_a_later_write_has_set(
        self, ana: Caller, services: Services
    ) -> None:
        await ana.put("leave", LEAVE)
        await put_later(ana, "leave", "Now 30 days.", active=True)
        path = "/v1/documents/leave"
        answer = await ana.call("PATCH", f"{path}/access", json={"active": False})
        await work(services)
        stored = (await ana.call("GET", path)).json()

        assert answer.status_code == 200
        assert (stored["text"], stored["active"]) == ("Now 30 days.", False)
        assert await ana.found("30 days") == []

    @pytest.mark.thorough
    async def test_what_would_be_refused_is_refused_at_once(
        self, ana: Caller, ben: Caller, gateway: Gateway
    ) -> None:
        await ana.put("leave", LEAVE, readers=["tenant"])
        reader = await gateway.caller("rita", roles=["reader"])

        for caller, status in ((ben, 403), (reader, 403)):
            path, body = "/v1/documents/leave", {"text": "mine"}
            problem(await caller.call("PUT", path, json=body, headers=LATER), status)
        bad = {"text": "x", "tags": 7}
        problem(await ana.call("PUT", "/v1/documents/leave", json=bad, headers=LATER), 422)
        large = {"text": "x" * 5_000_000}
        problem(await ana.call("PUT", "/v1/documents/leave", json=large, headers=LATER), 413)

        assert (await ana.call("GET", "/v1/jobs")).json()["jobs"] == []

    async def test_the_same_twice_is_written_once(self, ana: Caller, services: Services) -> None:
        await put_later(ana, "leave")
        await work(services)
        again = await put_later(ana, "leave")
        await work(services)

        result = (await job(ana, again))["result"]
        assert result["revision"] == 1
        assert (result["chunks"]["added"], result["chunks"]["embedded"]) == (0, 0)

    async def test_a_later_write_is_not_undone_by_an_earlier_one_that_was_queued(
        self, ana: Caller, services: Services
    ) -> None:
        await ana.put("same", "# Same\n\nAs it was.")
        jobs = [await put_later(ana, name) for name in ("written", "removed", "same", "queued")]
        await ana.put("written", "# Later\n\nWritten at once.")
        await ana.put("removed", LEAVE)
        assert (await ana.call("DELETE", "/v1/documents/removed")).status_code == 200
        await ana.put("same", "# Same\n\nAs it was.")
        last = await put_later(ana, "queued", "# Later\n\nQueued later.")

        await work(services)

        texts = {
            name: (await ana.call("GET", f"/v1/documents/{name}")).json().get("text")
            for name in ("written", "removed", "same", "queued")
        }
        assert texts == {
            "written": "# Later\n\nWritten at once.",
            "removed": None,
            "same": "# Same\n\nAs it was.",
            "queued": "# Later\n\nQueued later.",
        }
        for job_id in jobs:
            assert (await job(ana, job_id))["result"] == {"superseded": True}
        assert (await job(ana, last))["result"]["chunks"]["added"] == 1

    async def test_an_access_change_does_not_undo_it(self, ana: Caller, services: Services) -> None:
        await ana.put("leave", LEAVE)
        await put_later(ana, "leave", LEAVE.replace("25", "27"))
        await ana.share("leave", "tenant")

        await work(services)

        shown = (await ana.call("GET", "/v1/documents/leave")).json()
        assert "27 days" in shown["text"]
        assert shown["readers"] == ["tenant"]

    @pytest.mark.thorough
    async def test_too_many_chunks_fail_for_good(self, ana: Caller, services: Services) -> None:
        job_id = await put_later(ana, "long", "\n\n".join(f"# {n}\n\nx" for n in range(6_000)))

        await work(services)

        failed = await job(ana, job_id)
        assert (failed["state"], failed["attempts"]) == ("failed", 1)
        assert "chunks" in failed["error"]


class TestRights:
    """They are those of the moment in which the job runs."""

    async def test_a_revoked_key_takes_its_jobs_with_it(
        self, gateway: Gateway, admin: Caller, services: Services
    ) -> None:
        body = {"tenant": "acme", "subject": "ana"}
        made = (await gateway.operator.call("POST", "/v1/keys", json=body)).json()
        ana = Caller(gateway.client, made["key"])
        job_id = await put_later(ana, "leave", readers=["tenant"])
        await admin.call("DELETE", f"/v1/keys/{made['id']}")

        await work(services)

        failed = await job(admin, job_id)
        assert (failed["state"], failed["attempts"]) == ("failed", 1)
        assert "revoked" in failed["error"]
        assert await admin.found("annual leave") == []

    async def test_a_key_revoked_while_its_job_runs_ends_the_write(
        self, gateway: Gateway, admin: Caller, settings: Settings, embedder: Embedder
    ) -> None:
        body = {"tenant": "acme", "subject": "ana"}
        made = (await gateway.operator.call("POST", "/v1/keys", json=body)).json()
        ana = Caller(gateway.client, made["key"])
        token = (await ana.call("POST", "/v1/tokens", json={})).json()["token"]
        job_id = await put_later(Caller(gateway.client, token), "leave", readers=["tenant"])
        moody = MoodyEmbedder(embedder)
        moody.hold()
        async with worker(settings, moody) as services:
            working = asyncio.create_task(work(services))
            await asyncio.wait_for(moody.asked.wait(), 60)
            await admin.call("DELETE", f"/v1/keys/{made['id']}")
            moody.go_on()
            await working

        failed = await job(admin, job_id)
        assert (failed["state"], failed["attempts"]) == ("failed", 1)
        assert "revoked" in failed["error"]
        assert (await admin.call("GET", "/v1/documents/leave")).status_code == 404

    async def test_who_has_lost_a_document_meanwhile_does_not_write_it(
        self, ana: Caller, ben: Caller, services: Services
    ) -> None:
        await ana.put("leave", LEAVE, readers=["tenant"])
        job_id = await put_later(ana, "leave", "# Mine\n\nAll mine.")
        admin = await Gateway(ana.client).caller("ada", roles=["admin"])
        path, body = "/v1/documents/leave/access", {"owner": "ben", "readers": ["tenant"]}
        assert (await admin.call("PATCH", path, json=body)).status_code == 200

        await work(services)

        assert (await job(ana, job_id))["state"] == "failed"
        assert "25 days" in (await ben.call("GET", "/v1/documents/leave")).json()["text"]


class TestAnEmbedderThatIsAway:
    @pytest.fixture
    def moody(self, embedder: Embedder) -> MoodyEmbedder:
        return MoodyEmbedder(embedder)

    async def test_delays_what_is_to_be_written(
        self, settings: Settings, moody: MoodyEmbedder
    ) -> None:
        async with (
            running(settings, moody) as gateway,
            worker(settings.model_copy(update={"job_attempts_max": 3}), moody) as services,
        ):
            await gateway.tenant("acme")
            ana = await gateway.caller("ana")
            moody.away = True
            at_once = await ana.call("PUT", "/v1/documents/now", json={"text": LEAVE})
            job_id = await put_later(ana, "leave")
            await work(services)
            failed = await job(ana, job_id)
            moody.away = False
            admin = await gateway.caller("ada", roles=["admin"])
            replayed = await admin.call("POST", f"/v1/jobs/{job_id}/replay")
            await work(services)

            assert at_once.status_code == 202
            assert (await job(ana, at_once.json()["job_id"]))["state"] == "failed"
            assert (failed["state"], failed["attempts"]) == ("failed", 3)
            assert failed["error"] == "the test said so"
            assert replayed.json()["state"] == "waiting"
            assert await ana.found("annual leave") == ["leave"]

    @pytest.mark.thorough
    async def test_leaves_a_batch_in_its_order(
        self, settings: Settings, moody: MoodyEmbedder
    ) -> None:
        async with running(settings, moody) as gateway, worker(settings, moody) as services:
            await gateway.tenant("acme")
            ana = await gateway.caller("ana")
            await ana.put("same", LEAVE)
            early = await put_later(ana, "same", "# Queued\n\nBefore the batch.")
            moody.away = True
            texts = {
                "twice": ["# New\n\nNever seen.", LEAVE],
                "same": [LEAVE],
                "new": ["# First\n\nNever seen.", "# Second\n\nNever seen."],
            }
            lines = [
                orjson.dumps({"document_id": name, "text": text})
                for name, versions in texts.items()
                for text in versions
            ]
            answer = await ana.call("POST", "/v1/documents/batch", content=b"\n".join(lines))
            moody.away = False
            await work(services)

            results = [orjson.loads(line) for line in answer.content.splitlines()]
            assert [result.get("status") for result in results] == [503, None, None, None, None]
            assert ["job_id" in result for result in results] == [False, False, False, True, True]
            assert (await job(ana, early))["result"] == {"superseded": True}
            assert (await job(ana, results[3]["job_id"]))["result"] == {"superseded": True}
            for name, versions in texts.items():
                shown = (await ana.call("GET", f"/v1/documents/{name}")).json()
                assert shown["text"] == versions[-1]


class TestWhoSeesWhat:
    async def test_others_jobs_are_an_admins_to_see_and_to_mend(
        self, ana: Caller, ben: Caller, admin: Caller, gateway: Gateway
    ) -> None:
        job_id = await put_later(ana, "leave", "A secret text.")
        await put_later(ben, "other")
        await gateway.tenant("beta")
        stranger = await gateway.caller("eve", tenant="beta", roles=["admin"])
        path = f"/v1/jobs/{job_id}"

        assert (await job(ana, job_id))["subject"] == "ana"
        assert (await job(admin, job_id))["target"] == "document:leave"
        assert "secret" not in (await admin.call("GET", path)).text
        problem(await ben.call("GET", path), 404)
        problem(await stranger.call("GET", path), 404)
        problem(await ana.call("DELETE", path), 403)
        problem(await ana.call("POST", f"{path}/replay"), 403)
        problem(await stranger.call("DELETE", path), 404)
        problem(await admin.call("POST", f"{path}/replay"), 409)
        problem(await admin.call("GET", "/v1/jobs/job_unknown"), 404)
        assert (await admin.call("DELETE", path)).status_code == 204
        problem(await ana.call("GET", path), 404)
        assert len((await ana.call("GET", "/v1/jobs")).json()["jobs"]) == 0
        assert len((await admin.call("GET", "/v1/jobs")).json()["jobs"]) == 1

    @pytest.mark.thorough
    async def test_a_list_is_read_page_by_page_and_by_state_and_kind(self, ana: Caller) -> None:
        asked = [await put_later(ana, f"document-{number}") for number in range(5)]

        first = (await ana.call("GET", "/v1/jobs?limit=3")).json()
        second = (await ana.call("GET", f"/v1/jobs?limit=3&cursor={first['cursor']}")).json()
        waiting = (await ana.call("GET", "/v1/jobs?state=waiting&kind=document.write")).json()
        failed = (await ana.call("GET", "/v1/jobs?state=failed")).json()

        shown = [job["job_id"] for job in first["jobs"] + second["jobs"]]
        assert shown == asked[::-1]
        assert second["cursor"] is None
        assert len(waiting["jobs"]) == 5
        assert failed["jobs"] == []

    async def test_what_makes_no_sense_is_told(self, ana: Caller) -> None:
        digits = "9" * 30
        for query in (
            "state=lost",
            "limit=0",
            "limit=101",
            "limit=x",
            "cursor=-1",
            f"cursor={digits}",
        ):
            answer = problem(await ana.call("GET", f"/v1/jobs?{query}"), 422)
            assert answer["errors"][0]["field"] == query.partition("=")[0]


@pytest.mark.thorough
async def test_a_gateway_works_off_what_is_queued_where_it_is_told_to(
    settings: Settings, embedder: Embedder
) -> None:
    async with running(settings.model_copy(update={"serve_jobs": True}), embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        job_id = await put_later(ana, "leave")
        while (await job(ana, job_id))["state"] != "done":
            pass

        assert await ana.found("annual leave") == ["leave"]
