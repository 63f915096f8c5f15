"""People who write and read documents, on a gateway that a file's tests share."""

import secrets
from collections.abc import AsyncIterator

import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from index.search.query_embedder import Embedder
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.gateway.documents.handbook import People
from tests.gateway.support.gateways import Caller, Gateway, running


@pytest.fixture(scope="module")
async def gateway(
    servers: Servers, databases: DatabaseCopies, embedder: Embedder
) -> AsyncIterator[Gateway]:
    """One for all tests here, each of which has a tenant of its own."""
    async with fresh_settings(servers, databases) as settings, running(settings, embedder) as made:
        yield made


@pytest.fixture
async def people(gateway: Gateway) -> People:
    tenant = f"t-{secrets.token_hex(6)}"
    await gateway.tenant(tenant)
    return People(
        ana=await gateway.caller("ana", tenant=tenant, roles=["reader", "writer", "publisher"]),
        ben=await gateway.caller("ben", tenant=tenant, groups=["sales"]),
        eve=await gateway.caller("eve", tenant=tenant),
        admin=await gateway.caller("ada", tenant=tenant, roles=["admin"]),
        reader=await gateway.caller("rui", tenant=tenant, roles=["reader"]),
    )


@pytest.fixture
def ana(people: People) -> Caller:
    return people.ana


@pytest.fixture
def ben(people: People) -> Caller:
    return people.ben


@pytest.fixture
def admin(people: People) -> Caller:
    return people.admin
