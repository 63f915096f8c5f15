"""Records `snapshot.sql` and `answers.json`: `python -m tests.upgrade.record`.

Run it at each release, and commit both files: `test_upgrade.py` shows that later schemas and later
code give the answers of that release. Record anew also where answers change on purpose, such as
with another analyser, and, until the first release, where the schema changes.
"""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import asyncpg
from pydantic import SecretStr

from gateway.extensions.embedded_servers import owned_servers
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.extensions.rabbitmq.event_handler import EventHandler
from gateway.extensions.rabbitmq.event_schemas import EventAccess, EventContent, PutEvent
from gateway.extensions.rabbitmq.event_version_store import EventVersionStore
from gateway.monitoring.metrics import Metrics
from gateway.services import open_services
from gateway.settings.settings import Settings
from index.documents.partitions import Partitions
from index.search.tables.strategy import StrategyLimits
from tests.conftest import ADMIN_KEY, data_dir
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.upgrade import sample, snapshot
from tests.upgrade.sample import ExactEmbedder, SamplePut, SampleRequest

ANSWERS = Path(__file__).with_name("answers.json")
_OUTGROWN = StrategyLimits(crossover_chunks=15)  # acme has more chunks, beta has fewer


def settings_for(servers: Servers, database_url: str, cache_prefix: str) -> Settings:
    return Settings(
        database_url=SecretStr(database_url),
        redis_url=SecretStr(servers.redis_url),
        admin_key=SecretStr(ADMIN_KEY),
        cache_prefix=cache_prefix,
        redis_timeout_s=1.0,
        address_failures_per_s=0,
        public_documents=True,
        cache_audit_per_mille=0,
    )


async def answer(caller: Caller, request: SampleRequest) -> str:
    """The body of a response whose status is 200."""
    response = await caller.call(request.method, request.path, json=request.body)
    assert response.status_code == 200, f"{request}: {response.text}"
    return response.text


async def _record(servers: Servers) -> None:
    settings = settings_for(servers, servers.database_url, "nearhit-record:")
    async with running(settings, ExactEmbedder()) as gateway:
        keys = await fill(gateway)
        await gateway.receive_public("acme", "beta")
    await _apply_event_and_move(settings)
    # The snapshot holds no entry of the audit log for the requests below.
    connection = await asyncpg.connect(servers.database_url)
    try:
        text = await snapshot.dump(connection)
    finally:
        await connection.close()
    async with running(settings, ExactEmbedder()) as gateway:
        answers = [
            await answer(Caller(gateway.client, keys[request.caller]), request)
            for request in sample.REQUESTS
        ]
    snapshot.FILE.write_text(text, encoding="utf-8")
    recorded = {"keys": keys, "answers": answers}
    ANSWERS.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


async def fill(gateway: Gateway) -> Mapping[str, str]:
    """Create tenants, keys and documents; returns the key of each person."""
    for tenant in dict.fromkeys(person.tenant for person in sample.PEOPLE.values()):
        await gateway.tenant(tenant)
    people = {
        name: await gateway.caller(
            person.subject, tenant=person.tenant, groups=person.groups, roles=person.roles
        )
        for name, person in sample.PEOPLE.items()
    }
    group, member = sample.MEMBER
    added = await people["ada"].call("PUT", f"/v1/groups/{group}/members/{member}")
    assert added.status_code == 204, added.text
    for path, body in sample.TENANT_SETTINGS.items():
        response = await people["ada"].call("PUT", path, json=body)
        assert response.status_code in {200, 204}, response.text
    for put in (*sample.PUTS, sample.EDITED):
        await _put(people[put.caller], put)
    removed = await people["ada"].call("DELETE", f"/v1/documents/{sample.REMOVED}")
    assert removed.status_code == 200, removed.text
    return {name: caller.key for name, caller in people.items() if caller.key is not None}


async def _put(caller: Caller, put: SamplePut) -> None:
    body = {"text": put.text, **put.fields}
    path = f"/v1/documents/{put.document_id}"
    response = await caller.call("PUT", path, json=body, headers=put.headers)
    assert response.status_code in {200, 202}, response.text


async def _apply_event_and_move(settings: Settings) -> None:
    """Write a document by an event, and move the larger tenant to a partition of its own."""
    async with open_services(settings, Metrics(), ExactEmbedder()) as services:
        handler = EventHandler(
            services.documents.writer,
            EventVersionStore(services.stores.database),
            settings.language,
            may_publish=False,
        )
        event = PutEvent(
            type="create",
            document_id="weather",
            version=7,
            document=EventContent(text="Fog is expected at the lighthouse."),
            access=EventAccess(owner=None, readers=("tenant",)),
        )
        await handler.handle("acme", event)
        partitions = Partitions(services.stores.database, limits=_OUTGROWN)
        steps = [step async for step in partitions.maintain()]
        assert steps, "no tenant has outgrown the shared partition"


def main() -> None:
    with data_dir() as folder, owned_servers.own_servers(folder) as servers:
        asyncio.run(_record(servers))


if __name__ == "__main__":
    main()
