"""A gateway and a worker run as the chart confines them: read-only files, no rights."""

import asyncio
import os
import shutil
import subprocess
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gateway.settings.settings import Settings
from loadtests.servers.ports import free_port
from tests.deploy.test_chart import container_of, environment_of
from tests.deploy.tools import needs_tools, render
from tests.gateway.support.commands import environment_of as environment_of_servers

_WAIT_S_MAX = 60.0
_CONFINED = ("unshare", "--mount", "bash", str(Path(__file__).parent / "confine.sh"))


def may_confine() -> bool:
    if os.geteuid() or not (shutil.which("unshare") and shutil.which("setpriv")):
        return False
    tried = subprocess.run([*_CONFINED, "true"], check=False, capture_output=True)  # noqa: S603  our own
    return tried.returncode == 0


pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    needs_tools,
    pytest.mark.skipif(not may_confine(), reason="only root may mount; containers often may not"),
]


@dataclass(frozen=True, slots=True)
class Confined:
    process: Process
    client: httpx2.AsyncClient

    async def until_ok(self, probe: Any) -> str:
        """What the probe's address answers, as soon as something does."""
        async with asyncio.timeout(_WAIT_S_MAX):
            while True:
                assert self.process.returncode is None, "it has ended"
                with suppress(httpx2.TransportError):
                    answer = await self.client.get(probe["httpGet"]["path"])
                    assert answer.status_code == 200, answer.text
                    return answer.text
                await asyncio.sleep(0.05)


@asynccontextmanager
async def confined(
    container: Any, settings: Settings, port: int, port_setting: str
) -> AsyncIterator[Confined]:
    """The container's command with its own environment and nothing else; it ends well."""
    environment = environment_of(container) | environment_of_servers(settings)
    process = await asyncio.create_subprocess_exec(
        *_CONFINED,
        *(str(Path(sys.executable).parent / "nearhit"), *container["args"]),
        env={"PATH": os.environ["PATH"], **environment, port_setting: str(port)},
        stdout=PIPE,
        stderr=STDOUT,
    )
    output = asyncio.create_task(process.communicate())
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", verify=False) as client:
            yield Confined(process, client)
        assert process.returncode is None, (await output)[0]
        process.terminate()
        async with asyncio.timeout(_WAIT_S_MAX):
            log, _ = await output
            status = await process.wait()
        assert status == 0, log.decode()
        assert b"rror" not in log, log.decode()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        print((await output)[0].decode())  # for pytest, if the test fails


@pytest.mark.thorough
async def test_a_gateway_of_two_processes_starts_answers_its_probes_and_stops(
    settings: Settings,
) -> None:
    objects = await render(
        {"gateway": {"workers": 2}, "settings": {"NEARHIT_SHARD_BYTES_MAX": 10_000_000}}
    )
    container = container_of(objects, "gateway")

    async with confined(container, settings, free_port(), "NEARHIT_PORT") as gateway:
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            await gateway.until_ok(container[probe])
        assert (
            "nearhit_http_request_duration_seconds_sum"
            in (await gateway.client.get("/metrics")).text
        )


@pytest.mark.thorough
async def test_a_worker_starts_answers_its_probe_and_stops(settings: Settings) -> None:
    container = container_of(await render(), "worker")

    setting = "NEARHIT_WORKER_METRICS_PORT"
    async with confined(container, settings, free_port(), setting) as worker:
        assert "nearhit_" in await worker.until_ok(container["livenessProbe"])
