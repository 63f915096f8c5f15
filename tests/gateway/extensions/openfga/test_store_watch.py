"""A store of OpenFGA is followed: rights come and go with its tuples, and no failure widens any."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from pydantic import ValidationError

from gateway.configured import extension_settings
from gateway.extensions.jobs.job_store import JobStore
from gateway.extensions.openfga import store_watch, store_watcher, tuple_store
from gateway.extensions.openfga.errors import OpenfgaUnavailable, TuplesMoved
from gateway.extensions.openfga.extension import EXTENSION
from gateway.extensions.openfga.openfga_services import OpenfgaServices
from gateway.extensions.openfga.openfga_settings import OpenfgaSettings
from gateway.extensions.openfga.store_watch import StoreWatch, WatchedStore, WatchServices
from gateway.extensions.openfga.tuple_store import NESTED_MAX
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from gateway.worker import job_handlers, worker_loop
from index.documents.write_causes import Reading
from index.model.document import Document
from index.search.query_embedder import Embedder
from ingest.write.revision import Written
from ingest.write.writer import Writer
from tests.gateway.extensions.openfga.fake_openfga import (
    API_TOKEN,
    Failure,
    FakeOpenfga,
    FakeStore,
    fake_openfga,
    model,
)
from tests.gateway.support.gateways import Caller, Gateway, connected, exposition, serving

pytestmark = pytest.mark.anyio

LEAVE = "Everybody has 25 days of annual leave."
STORES_MAX = 50


@dataclass(slots=True)
class Watched:
    """One tenant and its store.

    watch: the watcher in a process of its own; its caches are not those of the gateway.
    """

    gateway: Gateway
    openfga: FakeOpenfga
    store: FakeStore
    services: Services
    own: OpenfgaServices
    watching: WatchServices
    watched: WatchedStore
    watch: StoreWatch

    async def caller(self, subject: str, **fields: Any) -> Caller:
        return await self.gateway.caller(subject, **fields)

    async def document(self, name: str = "leave", text: str = LEAVE) -> None:
        owner = await self.caller("owner", roles=["writer"])
        await owner.put(name, text)

    async def readers(self, name: str = "leave") -> tuple[str, ...]:
        stored = await self.services.stores.documents.stored(self.watched.tenant, name)
        assert stored is not None
        return stored.document.readers

    async def members(self, group: str) -> list[str]:
        rows = await self.services.stores.tenants.members_page(
            self.watched.tenant, group, after="", limit=1_000
        )
        return [row.subject for row in rows]


@dataclass(slots=True)
class House:
    gateway_url: str
    openfga: FakeOpenfga
    services: Services
    own: OpenfgaServices
    watching: WatchServices
    tenants: "asyncio.Queue[tuple[str, str]]"


@pytest.fixture(scope="module")
async def house(module_settings: Settings, embedder: Embedder) -> AsyncIterator[House]:
    """A gateway, and a worker's services, for all tests of this file; each takes a store."""
    async with fake_openfga() as openfga:
        tenants: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        for number in range(STORES_MAX):
            tenants.put_nowait((f"01STORE{number}", f"fga-{number}"))
        variables = {
            "URL": openfga.url,
            "TOKEN": API_TOKEN,
            "STORES": ",".join(f"01STORE{number}=fga-{number}" for number in range(STORES_MAX)),
            "READER_RELATIONS": "document#viewer,document#editor",
            "POLL_S": "0.02",
        }
        with pytest.MonkeyPatch.context() as patched:
            for name, value in variables.items():
                patched.setenv(f"NEARHIT_OPENFGA_{name}", value)
            settings = extension_settings.read("")["openfga"]
            async with (
                serving(module_settings, embedder) as url,
                open_services(module_settings, Metrics(), embedder) as services,
                EXTENSION.open(services, settings) as own,
                store_watcher.opened(own) as watching,
            ):
                yield House(url, openfga, services, own, watching, tenants)


@pytest.fixture
async def watched(house: House) -> AsyncIterator[Watched]:
    store_id, tenant = house.tenants.get_nowait()
    store = house.openfga.stores[store_id] = FakeStore()
    watched = WatchedStore(tenant, store_id)
    async with connected(house.gateway_url) as client:
        gateway = Gateway(client, tenant)
        await gateway.tenant(tenant)
        watch = StoreWatch(house.watching, watched)
        yield Watched(
            gateway,
            house.openfga,
            store,
            house.services,
            house.own,
            house.watching,
            watched,
            watch,
        )
    house.openfga.failures.clear()


async def test_members_and_readers_come_from_all_pages_of_the_tuples(watched: Watched) -> None:
    for number in range(130):
        watched.store.write(f"user:u{number}", "member", "group:core")
    watched.store.write("group:core#member", "member", "group:eng")
    watched.store.write("user:lea", "member", "group:eng")
    watched.store.write("group:eng#member", "viewer", "document:leave")
    await watched.document()
    nested, direct = await watched.caller("u129"), await watched.caller("lea")
    stranger = await watched.caller("nobody")

    await watched.watch.poll()

    assert len(await watched.members("core")) == 130
    assert len(await watched.members("eng")) == 131
    assert await watched.readers() == ("group:eng",)
    assert await nested.found("leave") == ["leave"]
    assert await direct.found("leave") == ["leave"]
    assert await stranger.found("leave") == []


async def test_changes_of_many_pages_are_applied_together_and_a_large_store_in_parts(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuple_store, "ROWS_MAX", 7)
    monkeypatch.setattr(store_watch, "BATCH_EVERY", timedelta(hours=1))
    tuples, tenant = watched.watching.tuples, watched.watched.tenant
    for number in range(30):
        watched.store.write(f"user:a{number}", "member", "group:core")
    await watched.watch.poll()
    assert len(await watched.members("core")) == 30
    before = await tuples.position(tenant)
    for number in range(250):
        watched.store.write(f"user:b{number}", "member", "group:core")
    watched.store.delete("user:a0", "member", "group:core")

    watched.openfga.failures = [None, None, None, (500, {}, "internal_error")]
    with pytest.raises(OpenfgaUnavailable):
        await watched.watch.poll()

    assert len(await watched.members("core")) == 230, "two pages came before the failure"
    assert (await tuples.position(tenant)).sequence == before.sequence + 1
    await watched.watch.poll()
    assert len(await watched.members("core")) == 279
    assert (await tuples.position(tenant)).sequence == before.sequence + 2


async def test_a_removed_viewer_gets_nothing_from_a_warm_cache(watched: Watched) -> None:
    watched.store.write("user:anna", "viewer", "document:leave")
    watched.store.write("user:anna", "editor", "document:leave")
    watched.store.write("user:ben", "viewer", "document:leave")
    await watched.document()
    await watched.watch.poll()
    anna, ben = await watched.caller("anna"), await watched.caller("ben")
    for _ in range(2):
        assert await anna.found("leave") == ["leave"]
        assert await ben.found("leave") == ["leave"]

    watched.store.delete("user:anna", "viewer", "document:leave")
    await watched.watch.poll()
    assert await anna.found("leave") == ["leave"], "the other relation still names her"

    watched.store.delete("user:anna", "editor", "document:leave")
    await watched.watch.poll()
    assert await anna.found("leave") == []
    assert await ben.found("leave") == ["leave"]


async def test_a_removed_member_loses_the_group_also_in_keys_that_name_it(
    watched: Watched,
) -> None:
    watched.store.write("group:core#member", "member", "group:eng")
    watched.store.write("group:eng#member", "member", "group:core")  # a circle
    watched.store.write("user:anna", "member", "group:core")
    watched.store.write("group:eng#member", "viewer", "document:leave")
    await watched.document()
    await watched.watch.poll()
    anna = await watched.caller("anna")
    key = await watched.caller("anna", groups=["eng", "other"])
    for caller in (anna, key, anna, key):
        assert await caller.found("leave") == ["leave"]

    watched.store.delete("user:anna", "member", "group:core")
    await watched.watch.poll()

    assert await watched.members("eng") == []
    assert await anna.found("leave") == []
    assert await key.found("leave") == []


async def test_groups_are_followed_as_deep_as_openfga_follows_them(watched: Watched) -> None:
    watched.store.write("user:anna", "member", "group:g0")
    for depth in range(NESTED_MAX + 1):
        watched.store.write(f"group:g{depth}#member", "member", f"group:g{depth + 1}")
    await watched.watch.poll()

    assert await watched.members(f"g{NESTED_MAX}") == ["anna"]
    assert await watched.members(f"g{NESTED_MAX + 1}") == []


async def test_everybody_is_the_tenant_and_another_readers_of_the_document_stay(
    watched: Watched,
) -> None:
    await watched.document()
    owner = await watched.caller("owner", roles=["writer"])
    await owner.share("leave", "user:guest")
    watched.store.write("user:*", "viewer", "document:leave")
    await watched.watch.poll()
    assert set(await watched.readers()) == {"user:guest", "tenant"}

    watched.store.delete("user:*", "viewer", "document:leave")
    await watched.watch.poll()

    assert await watched.readers() == ("user:guest",)


async def test_what_a_tuple_does_not_give_by_itself_is_ignored(watched: Watched) -> None:
    watched.store.model = model(
        editor={"difference": {"base": {"this": {}}, "subtract": {"this": {}}}}
    )
    await watched.document()
    watched.store.write("user:anna", "editor", "document:leave")
    watched.store.write(
        "user:anna", "viewer", "document:leave", condition={"name": "in_office", "context": {}}
    )
    watched.store.write("user:anna", "owner", "document:leave")
    watched.store.write("user:*", "member", "group:eng")
    await watched.watch.poll()
    assert await watched.readers() == ()

    watched.store.model = model(editor={"this": {}})  # and now it counts
    assert await watched.watch.poll(), "all tuples are read anew"
    assert await watched.readers() == ("user:anna",)

    watched.store.model = None
    await watched.watch.poll()
    assert await watched.readers() == ()


async def test_a_tuple_that_postgresql_can_not_hold_stops_no_other(watched: Watched) -> None:
    await watched.watch.poll()
    for name in ("an\0na", "\U00012000" * 128, "#", "ben"):
        watched.store.write(f"user:{name}", "member", "group:eng")
        watched.store.write(f"user:{name}", "member", f"group:{name}")
        watched.store.delete(f"user:{name}", "member", f"group:{name}")
    await watched.watch.poll()

    assert await watched.members("eng") == ["ben", "\U00012000" * 128]


async def test_a_tuple_that_gets_a_condition_no_longer_counts(watched: Watched) -> None:
    await watched.document()
    watched.store.write("user:anna", "viewer", "document:leave")
    await watched.watch.poll()

    watched.store.delete("user:anna", "viewer", "document:leave")
    watched.store.write(
        "user:anna", "viewer", "document:leave", condition={"name": "in_office", "context": {}}
    )
    await watched.watch.poll()

    assert await watched.readers() == ()


async def test_what_is_deleted_while_all_tuples_are_read_gives_nothing(watched: Watched) -> None:
    for number in range(150):
        watched.store.write(f"user:u{number}", "member", "group:eng")

    def delete_once_the_first_page_is_read() -> None:
        if watched.openfga.requests.count(f"POST /stores/{watched.watched.store_id}/read") == 2:
            watched.store.delete("user:u0", "member", "group:eng")
            watched.store.write("user:late", "member", "group:eng")

    watched.store.on_read = delete_once_the_first_page_is_read
    await watched.watch.poll()

    members = await watched.members("eng")
    assert "u0" not in members
    assert "late" in members


@pytest.mark.parametrize(
    ("failure", "retry_after_s"),
    [
        ((401, {}, "auth_failed_invalid_bearer_token"), 0),
        ((429, {"Retry-After": "7"}, "rate_limit_exceeded"), 7),
        ((500, {}, "internal_error"), 0),
        ("cut", 0),
        ("malformed", 0),
    ],
)
async def test_a_failure_changes_nothing_and_the_next_look_goes_on(
    watched: Watched, failure: Failure, retry_after_s: float
) -> None:
    watched.store.write("user:anna", "member", "group:eng")
    await watched.watch.poll()
    watched.store.delete("user:anna", "member", "group:eng")
    watched.store.write("user:ben", "member", "group:eng")

    for answered in range(2):  # before the model, and before the changes
        watched.openfga.failures = [None] * answered + [failure]
        with pytest.raises(OpenfgaUnavailable) as raised:
            await watched.watch.poll()
        assert raised.value.retry_after_s == retry_after_s
        assert API_TOKEN not in str(raised.value)
        assert await watched.members("eng") == ["anna"]
    assert not await watched.watch.poll()

    assert await watched.members("eng") == ["ben"]


async def test_after_a_lost_position_all_is_read_and_what_is_gone_ends(watched: Watched) -> None:
    await watched.document()
    watched.store.write("user:anna", "member", "group:eng")
    watched.store.write("user:anna", "viewer", "document:leave")
    watched.store.write("user:ben", "viewer", "document:leave")
    await watched.watch.poll()
    watched.store.write("user:carl", "member", "group:eng")
    await watched.watch.poll()

    watched.store.delete("user:anna", "member", "group:eng")
    watched.store.delete("user:anna", "viewer", "document:leave")
    watched.store.restore()

    assert await watched.watch.poll(), "OpenFGA refuses the token"
    assert await watched.members("eng") == ["carl"]
    assert await watched.readers() == ("user:ben",)


async def test_changes_older_than_earlier_ones_are_not_believed(watched: Watched) -> None:
    watched.store.write("user:anna", "member", "group:eng")
    await watched.watch.poll()
    watched.store.delete("user:anna", "member", "group:eng")
    await watched.watch.poll()

    old = {**watched.store.changes[0], "timestamp": "2020-01-01T00:00:00Z"}
    watched.store.changes.append(old)

    assert await watched.watch.poll(), "all tuples are read anew"
    assert await watched.members("eng") == []


async def test_a_change_that_comes_twice_counts_once(watched: Watched) -> None:
    await watched.watch.poll()
    watched.store.write("user:anna", "member", "group:eng")
    watched.store.changes *= 2
    watched.store.write("user:ben", "member", "group:eng")
    watched.store.delete("user:ben", "member", "group:eng")
    watched.store.changes.append(watched.store.changes[-1])
    await watched.watch.poll()
    before = await watched.services.stores.tenants.revisions_aside([watched.watched.tenant])

    await watched.watch.poll()

    assert await watched.members("eng") == ["anna"]
    after = await watched.services.stores.tenants.revisions_aside([watched.watched.tenant])
    assert before == after, "a look without changes moves no revision"


async def test_a_document_that_comes_after_its_tuples_gets_its_readers(watched: Watched) -> None:
    watched.store.write("user:anna", "viewer", "document:leave")
    await watched.watch.poll()
    await watched.document()
    anna = await watched.caller("anna")
    assert await anna.found("leave") == []

    later = replace(watched.watching, now=lambda: datetime.now(UTC) + timedelta(seconds=6))
    watch = StoreWatch(later, watched.watched)
    await watch.poll()
    assert await anna.found("leave") == ["leave"]

    watched.store.write("user:ben", "viewer", "document:leave")
    await watch.poll()
    assert set(await watched.readers()) == {"user:anna", "user:ben"}, "at once, by its change"


async def test_readers_of_tuples_undo_no_queued_write_and_it_brings_none_back(
    watched: Watched,
) -> None:
    await watched.document()
    owner = await watched.caller("owner", roles=["writer"])
    path = "/v1/documents/leave"
    await owner.share("leave", "user:ben")
    watched.store.write("user:anna", "viewer", "document:leave")
    await watched.watch.poll()
    body = {"text": LEAVE, "readers": ["user:anna", "user:carl"]}
    queued = await owner.call("PUT", path, json=body, headers={"Prefer": "respond-async"})
    assert queued.status_code == 202, queued.text

    watched.store.delete("user:anna", "viewer", "document:leave")
    watched.store.write("user:dora", "viewer", "document:leave")
    await watched.watch.poll()
    assert set(await watched.readers()) == {"user:ben", "user:dora"}
    await worker_loop.make_worker(watched.services.worker).drain()
    assert await watched.readers() == ("user:carl",), "before the next look"
    later = replace(watched.watching, now=lambda: datetime.now(UTC) + timedelta(seconds=6))
    await StoreWatch(later, watched.watched).poll()

    assert set(await watched.readers()) == {"user:carl", "user:dora"}
    assert not await watched.own.tuples.documents_to_restrict(
        watched.watched.tenant, after="", limit=1
    )


@pytest.mark.parametrize("state", ["waiting", "running", "failed"])
@pytest.mark.parametrize("is_new", [False, True])
async def test_a_queued_write_gives_no_reader_that_ended_while_it_was(
    watched: Watched,
    state: str,
    is_new: bool,  # noqa: FBT001  a parameter
) -> None:
    owner, jobs = await watched.caller("owner", roles=["writer"]), watched.services.stores.jobs
    if not is_new:
        await watched.document()
    watched.store.write("user:anna", "viewer", "document:leave")
    await watched.watch.poll()
    body = {"text": LEAVE + "\n\nAsk.", "readers": ["user:anna", "user:carl"]}
    later = {"Prefer": "respond-async"}
    queued = await owner.call("PUT", "/v1/documents/leave", json=body, headers=later)
    claimed = None
    if state != "waiting":
        claimed = await jobs.claim(
            uuid4(), lease_s=60.0, tenant_jobs_max=9, kinds=["document.write"]
        )
        assert claimed is not None
        assert claimed.job_id == queued.json()["job_id"]
    if claimed is not None and state == "failed":
        await jobs.fail(claimed.run, "refused")

    watched.store.delete("user:anna", "viewer", "document:leave")
    await watched.watch.poll()
    if claimed is not None and state == "running":
        await job_handlers.handlers(watched.services.worker)[claimed.kind](claimed)
    store = JobStore(watched.services.stores.database)
    await store.replay(watched.watched.tenant, queued.json()["job_id"])
    await worker_loop.make_worker(watched.services.worker).drain()

    assert await watched.readers() == ("user:carl",)


@pytest.mark.parametrize("is_new", [False, True])
async def test_a_reading_of_a_source_gives_no_reader_that_ended_since_it_began(
    watched: Watched,
    is_new: bool,  # noqa: FBT001  a parameter
) -> None:
    tenant, documents = watched.watched.tenant, watched.services.stores.documents
    if not is_new:
        await watched.document()
    watched.store.write("user:anna", "viewer", "document:leave")
    await watched.watch.poll()

    async def read(reading: Reading, text: str) -> None:
        readers = ("user:anna", "user:carl")
        document = Document("leave", "", text, "wiki", "", "en", (), {}, None, readers)
        await watched.services.documents.writer.put(tenant, "leave", lambda _: document, reading)

    begun = Reading(await documents.next_sequence())
    watched.store.delete("user:anna", "viewer", "document:leave")
    await watched.watch.poll()
    await read(begun, LEAVE + "\n\nAsk.")
    assert await watched.readers() == ("user:carl",)
    await read(Reading(await documents.next_sequence()), LEAVE)
    assert await watched.readers() == ("user:anna", "user:carl"), "the source still names it"


async def test_a_share_after_a_tuple_has_ended_stays_beside_an_earlier_queued_write(
    watched: Watched,
) -> None:
    await watched.document()
    owner = await watched.caller("owner", roles=["writer"])
    watched.store.write("user:anna", "viewer", "document:leave")
    await watched.watch.poll()
    body, later = {"text": LEAVE, "readers": ["user:anna"]}, {"Prefer": "respond-async"}
    await owner.call("PUT", "/v1/documents/leave", json=body, headers=later)
    watched.store.delete("user:anna", "viewer", "document:leave")
    await watched.watch.poll()

    await owner.share("leave", "user:anna")
    await watched.watch.poll()
    assert await watched.readers() == ("user:anna",)
    await worker_loop.make_worker(watched.services.worker).drain()
    await watched.watch.poll()

    assert await watched.readers() == ("user:anna",)


class DyingWriter(Writer):
    """Dies before it changes a document."""

    def __init__(self, inner: Writer) -> None:
        self.__dict__.update(inner.__dict__)

    async def put_access(self, *_arguments: Any, **_named: Any) -> Written:
        raise ConnectionResetError


async def test_a_worker_that_dies_after_the_position_moved_loses_no_revocation(
    watched: Watched,
) -> None:
    await watched.document()
    watched.store.write("user:anna", "viewer", "document:leave")
    await watched.watch.poll()
    before = await watched.own.tuples.position(watched.watched.tenant)
    watched.store.delete("user:anna", "viewer", "document:leave")

    dying = replace(watched.watching, writer=DyingWriter(watched.watching.writer))
    with pytest.raises(ConnectionResetError):
        await StoreWatch(dying, watched.watched).poll()
    between = await watched.own.tuples.position(watched.watched.tenant)
    assert between.sequence > before.sequence
    assert between.as_of == before.as_of, "no header may say that it has been applied"
    assert await watched.readers() == ("user:anna",)

    assert not await StoreWatch(watched.watching, watched.watched).poll()
    assert await watched.readers() == ()


async def test_a_late_worker_changes_nothing(watched: Watched) -> None:
    await watched.document()
    tuples, tenant = watched.own.tuples, watched.watched.tenant
    watched.store.write("user:anna", "viewer", "document:leave")
    await watched.watch.poll()
    late_position = await tuples.position(tenant)
    late_update = replace(
        await tuples.reader_update(tenant, "leave"), granted=("user:anna", "user:eve")
    )
    watched.store.write("user:ben", "member", "group:eng")
    await watched.watch.poll()

    with pytest.raises(TuplesMoved):
        await tuples.apply(tenant, {}, late_position)

    def share(stored: Document | None) -> Document:
        assert stored is not None
        return replace(stored, readers=late_update.granted)

    with pytest.raises(TuplesMoved):
        await watched.services.documents.writer.put_access(
            tenant, "leave", share, cause=late_update
        )

    assert await watched.readers() == ("user:anna",)


async def test_a_membership_that_was_removed_here_comes_back_when_all_is_read(
    watched: Watched,
) -> None:
    watched.store.write("user:anna", "member", "group:eng")
    await watched.watch.poll()
    await watched.services.stores.tenants.remove_member(watched.watched.tenant, "eng", "anna")
    await watched.watch.poll()
    assert await watched.members("eng") == []

    watched.store.restore()
    watched.store.write("user:anna", "viewer", "document:x")
    hurried = replace(watched.watching, reread_s=0)
    assert await StoreWatch(hurried, watched.watched).poll()

    assert await watched.members("eng") == ["anna"]


async def test_one_worker_at_a_time_watches_a_store(watched: Watched) -> None:
    database, tenant = watched.services.stores.database, watched.watched.tenant
    async with database.direct_session() as first, database.direct_session() as second:
        assert await first.value("openfga.try_lead", tenant)
        assert not await second.value("openfga.try_lead", tenant)
        assert await second.value("openfga.try_lead", f"{tenant}-other")
        assert await first.value("openfga.try_lead", tenant), "it still leads"


async def test_a_worker_stops_although_openfga_does_not_answer(
    watched: Watched, house: House
) -> None:
    store = watched.watched
    one = {"stores": f"{store.store_id}={store.tenant}"}
    settings = house.own.settings.model_copy(update=one)
    watched.openfga.failures = ["silent"]
    watched.openfga.requests.clear()
    stop = asyncio.Event()
    services = replace(house.own, settings=settings)
    task = asyncio.create_task(store_watcher.watch_stores(services, stop))

    async with asyncio.timeout(60):
        while not watched.openfga.requests:
            await asyncio.sleep(0.01)
        stop.set()
        await task


@asynccontextmanager
async def working(house: House, watched: Watched) -> AsyncIterator[None]:
    stop = asyncio.Event()
    watcher = store_watcher.StoreWatcher(house.own, house.watching, watched.watched)
    task = asyncio.create_task(watcher.run(stop))
    try:
        yield
    finally:
        stop.set()
        await task


async def test_answers_say_how_new_the_rights_are_and_metrics_how_late(
    watched: Watched, house: House
) -> None:
    watched.store.write("user:anna", "viewer", "document:leave")
    await watched.document()
    anna = await watched.caller("anna")
    assert "nearhit-rights-as-of" not in (await anna.search("leave")).headers
    watched.openfga.failures = [(500, {}, "internal_error")]

    async with working(house, watched), asyncio.timeout(60):
        while "nearhit-rights-as-of" not in (answer := await anna.search("leave")).headers:
            await asyncio.sleep(0.05)
        first = answer.headers["nearhit-rights-as-of"]
        while (answer := await anna.search("leave")).headers["nearhit-rights-as-of"] <= first:
            await asyncio.sleep(0.05)
    assert [hit["document_id"] for hit in answer.json()["hits"]] == ["leave"]
    assert answer.headers["cache-status"].startswith("nearhit; hit"), "a repeat has it too"

    await house.own.rights_as_of.read()
    text = exposition(house.services.http.metrics)[0].decode()
    assert f'nearhit_openfga_lag_seconds{{store="{watched.watched.store_id}"}}' in text
    unread = f"01STORE{STORES_MAX - 1}"  # the tests take them in order
    assert f'nearhit_openfga_lag_seconds{{store="{unread}"}} +Inf' in text
    assert 'nearhit_openfga_polls_total{outcome="failed"} 1.0' in text


@pytest.mark.parametrize(
    "values",
    [
        {"url": "file:///etc/passwd", "stores": "A=acme"},
        {"url": "http://fga"},
        {"url": "http://fga", "stores": "A=acme,B=acme"},
        {"url": "http://fga", "stores": "A/../B=acme"},
        {"reader_relations": "document#viewer,folder#viewer"},
        {"group_relation": "group"},
    ],
)
def test_settings_that_would_mix_names_or_tenants_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        OpenfgaSettings(**values)
