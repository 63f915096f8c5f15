"""An index of an earlier schema, once migrated, gives byte for byte the answers of before."""

import json
import secrets

import pytest

from gateway.embedded.embedded_servers import Servers
from tests.conftest import named, run_sql
from tests.gateway.support.gateways import Caller, running
from tests.upgrade import record, sample, snapshot
from tests.upgrade.sample import ExactEmbedder

pytestmark = pytest.mark.anyio


async def test_a_migrated_index_gives_the_recorded_answers_and_accepts_writes(
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
            ana = Caller(gateway.client, recorded["keys"]["ana"])
            received = (await ana.search("lighthouse tides", top_k=50)).json()["hits"]
            # Since 0032_public_documents.sql a tenant has to ask for what others make public.
            await run_sql(url, "UPDATE tenants SET receives_public = true, access_revision = 1000")
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

    assert received
    assert not any("tenant" in hit for hit in received)
    for request, before, now in zip(sample.REQUESTS, recorded["answers"], answers, strict=True):
        assert now == before, request
    assert found == ["new"]
