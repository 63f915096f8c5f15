"""`nearhit restore`, while gateways go on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.settings.settings import Settings
from tests.conftest import run_sql
from tests.gateway.servers.own_postgres import place, run
from tests.gateway.support.commands import environment_of, process_output, refused, succeeds
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated, pytest.mark.slow]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"log_level": "error"})


@pytest.fixture
def folder() -> Iterator[Path]:
    with place() as made:
        yield made


async def test_a_dump_comes_back_and_nothing_that_was_cached_since_is_served(
    settings: Settings, database_url: str, ana: Caller, folder: Path
) -> None:
    environment, dump = environment_of(settings), folder / "dump"
    await ana.put("leave", "25 days of annual leave.")
    first = await ana.search("annual leave")
    await run("pg_dump", "-Fc", "--no-privileges", "-f", dump, "-d", database_url)
    await ana.put("leave", "27 days of annual leave.")
    assert "27 days" in (await ana.search("annual leave")).text

    told = await refused(environment, "restore", str(dump))
    assert "not empty" in told
    assert "27 days" in (await ana.search("annual leave")).text

    # In a process of its own: meanwhile the gateway may log that its tables are gone.
    status, _, told = await process_output(environment, "restore", str(dump), "--replace")

    assert (status, told) == (0, "")
    assert "acme" in await succeeds(
        environment, "tenant", "list"
    )  # roles may do no more than before
    assert (await ana.search("annual leave")).content == first.content
    await ana.put("bees", "Bees.")
    assert "25 days" in (await ana.search("annual leave")).text
    assert await ana.found("bees", alpha=0.0) == ["bees"]


async def test_what_had_ended_stays_so_and_a_deleted_tenant_comes_back(
    settings: Settings, database_url: str, gateway: Gateway, folder: Path
) -> None:
    environment, dump = environment_of(settings), folder / "dump"
    admin = await gateway.caller("ada", roles=["admin"])
    keys = [
        (await admin.call("POST", "/v1/keys", json={"subject": name})).json()
        for name in ("revoked", "rotated", "suspended", "kept", "pruned")
    ]
    kept = Caller(gateway.client, keys[3]["key"])
    token = (await kept.call("POST", "/v1/tokens", json={"expires_in_s": 3600})).json()
    await gateway.tenant("globex")
    of_deleted = await gateway.caller("gil", tenant="globex")
    await run("pg_dump", "-Fc", "--no-privileges", "-f", dump, "-d", database_url)
    await admin.call("DELETE", f"/v1/keys/{keys[0]['id']}")
    rotated = await admin.call("POST", f"/v1/keys/{keys[1]['id']}/rotate", json={"overlap_s": 0})
    assert rotated.is_success, rotated.text
    suspend = "INSERT INTO suspended_subjects (tenant, subject) VALUES ('acme', 'suspended')"
    await run_sql(database_url, suspend)
    await run_sql(database_url, "DELETE FROM keys WHERE subject = 'pruned'")
    await kept.call("DELETE", f"/v1/tokens/{token['id']}")
    await run_sql(database_url, "DELETE FROM tenants WHERE tenant = 'globex'")

    status, _, told = await process_output(environment, "restore", str(dump), "--replace")

    assert (status, told) == (0, "")
    ended = [*(keys[number]["key"] for number in (0, 1, 2, 4)), token["token"]]
    callers = [*(Caller(gateway.client, each) for each in ended), kept, of_deleted]
    answers = [await each.call("GET", "/v1/documents") for each in callers]
    assert [answer.status_code for answer in answers] == [401] * 5 + [200] * 2


async def test_what_is_no_dump_leaves_all_as_it_is(
    settings: Settings, ana: Caller, tmp_path: Path
) -> None:
    (tmp_path / "dump").write_bytes(b"PGDMP, cut")
    await ana.put("leave", "25 days of annual leave.")

    told = await refused(environment_of(settings), "restore", str(tmp_path / "dump"), "--replace")

    assert "nothing was restored" in told
    assert await ana.found("annual leave") == ["leave"]


@pytest.mark.thorough
async def test_without_a_file_the_history_gets_another_name(
    settings: Settings, database_url: str, ana: Caller
) -> None:
    """For who has put rows back by hand."""
    await ana.put("leave", "25 days of annual leave.")
    await ana.search("annual leave")
    await run_sql(database_url, "UPDATE chunk_texts SET text = 'Older leave.'")

    told = await succeeds(environment_of(settings), "restore")

    assert told.startswith("nothing restored, as no file is named; all earlier cached answers")
    assert "Older leave." in (await ana.search("annual leave")).text
