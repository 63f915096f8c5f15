"""`nearhit loadtest` against a gateway, as its operator and as the holder of a key would."""

import asyncio
import json
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gateway.cli.main import app
from tests.conftest import ADMIN_KEY
from tests.gateway.support.commands import WAIT_S_MAX, without_settings
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = [pytest.mark.anyio, pytest.mark.blocking]

TENANTS = 3  # that a run makes
QUICK = ("--rate", "40", "--seconds", "2", "--warm-up", "0", "--writes", "8", "--timeout", "30")


async def loadtest(gateway: Gateway, folder: Path, *arguments: str) -> Result:
    """In a thread of its own, for it starts a loop of its own."""
    unset = {name: None for name in os.environ if name.startswith("NEARHIT_")}
    line = ["loadtest", str(gateway.client.base_url), *QUICK, *arguments]
    line += ["--report", str(folder / "report.html")]
    return await asyncio.to_thread(CliRunner().invoke, app, line, env=unset)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.isolated
async def test_the_operator_gets_a_verdict_and_a_report_and_nothing_is_left(
    gateway: Gateway, tmp_path: Path
) -> None:
    done = await loadtest(gateway, tmp_path, "--admin-key", ADMIN_KEY)

    told = json.loads((tmp_path / "report.json").read_text())
    assert done.exit_code == 0, f"{done.output} {done.exception!r}"
    assert "held all leaked: 0" in done.output
    assert told["outcome"] == "PASS"
    assert done.output.splitlines()[-1] == "PASS"
    assert told["judged"]["judged"] > 60
    assert told["figures"]["latencies"]["write"]["count"] > 5
    assert "<svg" in (tmp_path / "report.html").read_text()
    deleted = {"route": "/v1/tenants/{tenant}", "status": "202", "tier": ""}
    assert (
        await gateway.counted("nearhit_http_request_duration_seconds_count", **deleted) == TENANTS
    )


@pytest.mark.thorough
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


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_missed_budget_exits_with_1(gateway: Gateway, ana: Caller, tmp_path: Path) -> None:
    assert ana.key is not None
    file = tmp_path / "budget.toml"
    file.write_text("[all]\np50_ms = 0.001\n")

    done = await loadtest(gateway, tmp_path, "--key", ana.key, "--budget", str(file))

    assert done.exit_code == 1, f"{done.output} {done.exception!r}"
    assert "missed all p50_ms" in done.output


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_a_run_which_then_removes_its_documents(
    gateway: Gateway, tmp_path: Path, number: signal.Signals
) -> None:
    await gateway.tenant(f"ended-{number}")
    ana = await gateway.caller("ana", tenant=f"ended-{number}")
    line = ["loadtest", str(gateway.client.base_url), *QUICK, "--seconds", "600"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *line, "--report", str(tmp_path / "report.html")),
        env=without_settings() | {"NEARHIT_LOADTEST_KEY": str(ana.key)},
        stdout=PIPE,
        stdin=DEVNULL,
    )
    async with asyncio.timeout(WAIT_S_MAX):
        while not (await ana.call("GET", "/v1/documents")).json()["documents"]:
            await asyncio.sleep(0.02)
        process.send_signal(number)
        output, _ = await process.communicate()

    left = (await ana.call("GET", "/v1/documents")).json()["documents"]
    assert process.returncode == 128 + number, output.decode()
    assert left == []
    assert "PASS" not in output.decode()


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_breach_ends_the_run_if_that_is_asked_for(
    gateway: Gateway, ana: Caller, tmp_path: Path
) -> None:
    file = tmp_path / "budget.toml"
    file.write_text("[all]\np50_ms = 0.001\n")
    arguments = ("--key", str(ana.key), "--budget", str(file), "--abort-on-breach")

    async with asyncio.timeout(WAIT_S_MAX):
        done = await loadtest(gateway, tmp_path, *arguments, "--seconds", "600")

    assert done.exit_code == 1, f"{done.output} {done.exception!r}"
    last = done.output.splitlines()[-1]
    assert last.startswith("FAIL: aborted at the breach of all p50_ms after ")
    assert (await ana.call("GET", "/v1/documents")).json()["documents"] == []


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_run_that_compares_nothing_is_not_judged_if_the_budget_demands_it(
    gateway: Gateway, ana: Caller, tmp_path: Path
) -> None:
    questions, file = tmp_path / "questions.txt", tmp_path / "budget.toml"
    questions.write_text("how many days of leave?\n")
    file.write_text("[all]\nstale = 0\n")
    asked = ("--key", str(ana.key), "--questions", str(questions), "--writes", "0")

    done = await loadtest(gateway, tmp_path, *asked, "--budget", str(file), "--seconds", "1")

    assert done.exit_code == 2, f"{done.output} {done.exception!r}"
    assert done.output.splitlines()[-1] == "NOT JUDGED: not judged: all stale"


@pytest.mark.thorough
@pytest.mark.slow
async def test_stages_and_junits_xml_are_written(
    gateway: Gateway, ana: Caller, tmp_path: Path
) -> None:
    file = tmp_path / "run.xml"
    stages = ("--stage", "20:1", "--stage", "20-40:1")

    done = await loadtest(gateway, tmp_path, "--key", str(ana.key), *stages, "--junit", str(file))

    assert done.exit_code == 0, f"{done.output} {done.exception!r}"
    assert re.search(
        r"^stage\.2: .* achieved, P50 \d+\.\d ms, P95 .*, P99 ", done.output, re.MULTILINE
    )
    assert 'failures="0"' in file.read_text()


async def test_what_cannot_be_measured_exits_with_2_and_says_why(
    gateway: Gateway, tmp_path: Path
) -> None:
    file = tmp_path / "budget.toml"
    file.write_text("[all]\nquick = 1\n")

    nobody = await loadtest(gateway, tmp_path)
    wrong_key = await loadtest(gateway, tmp_path, "--key", "nh_wrong")
    no_budget = await loadtest(gateway, tmp_path, "--key", "k", "--budget", str(file))

    no_stage = await loadtest(gateway, tmp_path, "--key", "k", "--stage", "fast")

    runs = (nobody, wrong_key, no_budget, no_stage)
    assert [run.exit_code for run in runs] == [2, 2, 2, 2]
    assert "fast is no stage" in no_stage.stderr
    assert "--admin-key" in nobody.stderr
    assert "/v1/documents/batch answers 401: The key is missing" in wrong_key.stderr
    assert "quick is none of" in no_budget.stderr
