"""`nearhit loadtest` against a gateway, as its operator and as the holder of a key would."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gateway.cli.main import app
from tests.conftest import ADMIN_KEY
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio

TENANTS = 3  # that a run makes
QUICK = ("--rate", "40", "--seconds", "2", "--warm-up", "0", "--writes", "8", "--timeout", "30")


@pytest.fixture(autouse=True)
def no_blocking_calls() -> None:
    """The command may block the loop that it starts for itself: nobody else waits in it."""


async def loadtest(gateway: Gateway, folder: Path, *arguments: str) -> Result:
    """In a thread of its own, for it starts a loop of its own."""
    unset = {name: None for name in os.environ if name.startswith("NEARHIT_")}
    line = ["loadtest", str(gateway.client.base_url), *QUICK, *arguments]
    line += ["--report", str(folder / "report.html")]
    return await asyncio.to_thread(CliRunner().invoke, app, line, env=unset)


@pytest.mark.slow
async def test_the_operator_gets_a_verdict_and_a_report_and_nothing_is_left(
    gateway: Gateway, tmp_path: Path
) -> None:
    done = await loadtest(gateway, tmp_path, "--admin-key", ADMIN_KEY)

    told = json.loads((tmp_path / "report.json").read_text())
    assert done.exit_code == 0, f"{done.output} {done.exception!r}"
    assert "held all leaked: 0" in done.output
    assert told["held"] is True
    assert told["judged"]["judged"] > 60
    assert told["figures"]["latencies"]["write"]["count"] > 5
    assert "<svg" in (tmp_path / "report.html").read_text()
    deleted = {"route": "/v1/tenants/{tenant}", "status": "202", "tier": ""}
    assert (
        await gateway.counted("nearhit_http_request_duration_seconds_count", **deleted) == TENANTS
    )


@pytest.mark.slow
async def test_who_has_a_key_leaves_no_document_behind(
    gateway: Gateway, ana: Caller, tmp_path: Path
) -> None:
    assert ana.key is not None

    done = await loadtest(gateway, tmp_path, "--key", ana.key)

    left = (await ana.call("GET", "/v1/documents")).json()["documents"]
    told = json.loads((tmp_path / "report.json").read_text())
    assert done.exit_code == 0, f"{done.output} {done.exception!r}"
    assert told["judged"]["hits"] > 0
    assert left == []


@pytest.mark.slow
async def test_a_missed_budget_exits_with_1(gateway: Gateway, ana: Caller, tmp_path: Path) -> None:
    assert ana.key is not None
    file = tmp_path / "budget.toml"
    file.write_text("[all]\np50_ms = 0.001\n")

    done = await loadtest(gateway, tmp_path, "--key", ana.key, "--budget", str(file))

    assert done.exit_code == 1, f"{done.output} {done.exception!r}"
    assert "missed all p50_ms" in done.output


async def test_what_cannot_be_measured_exits_with_2_and_says_why(
    gateway: Gateway, tmp_path: Path
) -> None:
    file = tmp_path / "budget.toml"
    file.write_text("[all]\nquick = 1\n")

    nobody = await loadtest(gateway, tmp_path)
    wrong_key = await loadtest(gateway, tmp_path, "--key", "nh_wrong")
    no_budget = await loadtest(gateway, tmp_path, "--key", "k", "--budget", str(file))

    assert [nobody.exit_code, wrong_key.exit_code, no_budget.exit_code] == [2, 2, 2]
    assert "--admin-key" in nobody.stderr
    assert "401" in wrong_key.stderr
    assert "quick is none of" in no_budget.stderr
