"""People who write and read documents, on a gateway that a file's tests share."""

import secrets

import pytest

from tests.gateway.documents.handbook import People
from tests.gateway.support.gateways import Caller, Gateway
from tests.gateway.support.module_gateway import *  # noqa: F403  the fixtures


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
