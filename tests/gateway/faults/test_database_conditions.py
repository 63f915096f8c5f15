"""What a server of PostgreSQL says that it lacks is told to the caller, and to the operator."""

import asyncio

import pytest
from structlog.testing import CapturingLogger

from gateway.problems import problems
from gateway.settings.settings import Settings
from index.errors import DatabaseCondition
from tests.conftest import run_sql
from tests.gateway.support.commands import WAIT_S_MAX
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

SAYS = """
CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'told by a test' USING ERRCODE = '{sqlstate}';
END $$;
CREATE TRIGGER say BEFORE INSERT OR UPDATE ON documents EXECUTE FUNCTION say()"""
SETS = """
DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I {}', current_database());
END $$"""
DISCONNECT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()"""
IS_SILENT = "DROP TRIGGER say ON documents; DROP FUNCTION say"


CONDITIONS = {
    "25006": DatabaseCondition.READ_ONLY,
    "53100": DatabaseCondition.FULL,
    "53300": DatabaseCondition.CONNECTIONS,
    "57P01": DatabaseCondition.RESTARTING,
    "57P03": DatabaseCondition.RESTARTING,
    "53200": None,
}


async def test_a_condition_has_a_problem_of_its_own_and_its_code_is_logged(
    settings: Settings, gateway: Gateway, ana: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    for sqlstate, condition in CONDITIONS.items():
        logger = CapturingLogger()
        monkeypatch.setattr(problems, "log", logger)
        await run_sql(url, SAYS.format(sqlstate=sqlstate))
        refused = await ana.call("PUT", "/v1/documents/leave", json={"text": f"{sqlstate} days."})
        await run_sql(url, IS_SILENT)

        kind = problem(refused, 503)["type"].removeprefix("urn:nearhit:problem:")
        assert kind == (condition or "unavailable")
        assert "Retry-After" in refused.headers
        (line,) = logger.calls
        assert (line.method_name, line.args) == ("warning", ("database",))
        assert (line.kwargs["sqlstate"], line.kwargs["state"]) == (sqlstate, condition)
        await ana.put("leave", f"{sqlstate} days.")


@pytest.mark.thorough
async def test_a_database_that_is_read_only_still_answers_searches(
    settings: Settings, gateway: Gateway, ana: Caller
) -> None:
    """As after a failover, when the gateway still leads to what is a standby now."""
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    await ana.put("leave", "25 days of annual leave.")
    await ana.search("annual leave")  # creates the functions of searches
    await run_sql(url, SETS.format("SET default_transaction_read_only = on"))
    try:
        await run_sql(url, DISCONNECT)
        async with asyncio.timeout(WAIT_S_MAX):
            while (await gateway.client.get("/readyz")).status_code != 200:
                await asyncio.sleep(0.02)
        refused = await ana.call("PUT", "/v1/documents/pay", json={"text": "4000 a month."})
        found = await ana.found("annual leave")
    finally:
        reset = SETS.format("RESET default_transaction_read_only")
        await run_sql(url, f"BEGIN READ WRITE; {reset}; COMMIT")
        await run_sql(url, DISCONNECT)

    assert problem(refused, 503)["type"].endswith(":database-read-only")
    assert found == ["leave"]
