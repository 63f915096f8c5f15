"""A recorded index, once migrated, gives byte for byte the recorded answers."""

import json
import secrets

import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from tests.conftest import named, run_sql
from tests.gateway.support.gateways import Caller, running
from tests.upgrade import record, sample, snapshot
from tests.upgrade.sample import ExactEmbedder

pytestmark = pytest.mark.anyio


async def test_a_recorded_index_gives_the_recorded_answers_and_accepts_writes(
    servers: Servers,
) -> None:
    name = f"nearhit_upgrade_{secrets.token_hex(6)}"
    url = named(servers.database_url, name)
    recorded = json.loads(record.ANSWERS.read_text(encoding="utf-8"))
    await run_sql(servers.database_url, f"CREATE DATABASE {name}")
    try:
        await snapshot.load(url)
        settings = record.settings_for(servers, url, f"nearhit-test-{name}:")

        async with running(settings, ExactEmbedder()) as gateway:  # which migrates
            answers = [
                await record.answer(
                    Caller(gateway.client, recorded["keys"][request.caller]), request
                )
                for request in sample.REQUESTS
            ]
            ada = Caller(gateway.client, recorded["keys"]["ada"])
            await ada.put("new", "An aqueduct.")
            await ada.put("guide", "A shorter guide.")
            found = await ada.found("aqueduct", top_k=1)
    finally:
        await run_sql(servers.database_url, f"DROP DATABASE {name} WITH (FORCE)")

    for request, before, now in zip(sample.REQUESTS, recorded["answers"], answers, strict=True):
        assert now == before, request
    assert found == ["new"]
