"""What is committed on another server is found at once, and what is gone there is gone here."""

import pytest

from tests.gateway.extensions.sources_postgres.conftest import (
    FollowedServer,
    put,
    reached,
    source_of,
)
from tests.gateway.support.gateways import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


@pytest.mark.slow
@pytest.mark.usefixtures("followed")
async def test_rows_are_found_once_they_are_waited_for_and_gone_once_deleted(
    admin: Caller, ana: Caller, server: FollowedServer
) -> None:
    await server.run("INSERT INTO articles VALUES (1, 'Leave', '25 days of annual leave')")
    await put(admin, server.body())

    await reached(admin, await server.run("INSERT INTO articles VALUES (2, 'Travel', 'By train')"))
    first = set(await ana.found("annual leave by train", alpha=0.0))
    await reached(admin, await server.run("UPDATE articles SET body = 'By boat' WHERE id = 2"))
    changed = await ana.found("boat", alpha=0.0), await ana.found("train", alpha=0.0)
    await reached(admin, await server.run("DELETE FROM articles WHERE id = 1"))
    deleted = await ana.found("annual leave", alpha=0.0)
    await reached(
        admin, await server.run("UPDATE articles SET readers = '{group:board}' WHERE id = 2")
    )
    revoked = await ana.found("boat", alpha=0.0)

    assert first == {"articles/1", "articles/2"}
    assert changed == (["articles/2"], [])
    assert deleted == []
    assert revoked == []
    assert (await source_of(admin))["counts"]["documents"] >= 1
