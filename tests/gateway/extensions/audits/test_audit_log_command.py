"""`nearhit audit log`: what an operator sees of all tenants, and how it is told of tampering."""

import asyncio
import re

import pytest

from common.audit_actor import OPERATOR, SYSTEM, current_actor
from gateway.cli import operations
from gateway.settings.settings import Settings
from tests.conftest import run_sql
from tests.gateway.support.commands import command, environment_of, refused, succeeds
from tests.gateway.support.gateways import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"log_level": "warning"})


@pytest.mark.thorough
@pytest.mark.slow
async def test_the_command_lists_and_verifies(
    settings: Settings, database_url: str, ana: Caller
) -> None:
    environment = environment_of(settings)
    await ana.put("leave", LEAVE)
    created = await succeeds(environment, "key", "create", "--tenant", "acme", "--subject", "zoe")
    listed = await succeeds(environment, "audit", "log")
    of_ana = await succeeds(environment, "audit", "log", "--tenant", "acme", "--subject", "ana")
    of_none = await succeeds(environment, "audit", "log", "--since", "2999-01-01", "--limit", "1")
    head = (await succeeds(environment, "audit", "log", "--verify")).strip()
    await ana.put("leave", f"{LEAVE} And 2 more.")
    await succeeds(environment, "audit", "log", "--verify", "--head", head, "--tenant", "acme")
    unknown = await refused(environment, "audit", "log", "--verify", "--tenant", "nowhere")
    unlisted = await refused(environment, "audit", "log", "--tenant", "nowhere")
    mistaken = await refused(environment, "audit", "log", "--verify", "--head", "acme:1")

    assert created.startswith("nh_")
    assert "leave: added" in listed
    assert "operator" in listed
    assert "leave: added" in of_ana
    assert "operator" not in of_ana
    assert of_none == "no rows match\n"
    assert re.fullmatch(r"acme:\d+:[0-9a-f]{64}", head)
    assert "no audit log of nowhere" in unknown
    assert unlisted == "nearhit: there is no tenant nowhere"
    assert "TENANT:NUMBER:HASH" in mistaken


@pytest.mark.slow
async def test_the_command_lists_who_was_shown_a_chunk(settings: Settings, ana: Caller) -> None:
    environment = environment_of(settings)
    await ana.put("leave", LEAVE)
    (hit,) = (await ana.search("annual leave")).json()["hits"]
    question = ("audit", "recipients", "leave", "--tenant", "acme")
    async with asyncio.timeout(60):
        while "ana" not in await succeeds(environment, *question):
            await asyncio.sleep(0)

    of_chunk = await succeeds(environment, *question, "--chunk", str(hit["chunk_id"]))
    of_other = await succeeds(environment, *question, "--chunk", "1000000000")
    before = await succeeds(environment, *question, "--until", "2020-01-01")
    unknown = await refused(environment, "audit", "recipients", "leave", "--tenant", "nowhere")

    assert "ana" in of_chunk
    assert of_other == before == "nobody was shown it\n"
    assert unknown == "nearhit: there is no tenant nowhere"


@pytest.mark.slow
async def test_the_command_names_the_row_that_somebody_changed(
    settings: Settings, database_url: str, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await run_sql(
        database_url,
        "SET session_replication_role = replica; "
        "UPDATE audit_log SET subject = 'eve' WHERE tenant = 'acme' AND subject = 'ana'",
    )

    done = await command(environment_of(settings), "audit", "log", "--verify")

    assert done.exit_code == 1
    assert re.fullmatch(r"acme: row \d+ is not what was written\n", done.stdout)


async def test_who_works_on_the_servers_acts_as_the_operator_for_so_long(
    settings: Settings,
) -> None:
    before = current_actor()

    async with operations.open_database(settings):
        assert current_actor() == OPERATOR

    assert current_actor() == before == SYSTEM
