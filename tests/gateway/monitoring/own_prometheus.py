"""A Prometheus of the tests' own, which scrapes what it is told to."""

import asyncio
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import yaml

from loadtests.servers.ports import free_port
from tests import system_programs

_START_S_MAX = 30.0
SCRAPE_S = 0.5


@dataclass(frozen=True, slots=True)
class OwnPrometheus:
    """at_s: the time, in seconds since 1970, at which expressions are evaluated; None: now."""

    client: httpx2.AsyncClient
    at_s: float | None = None

    async def get(self, path: str, **parameters: str) -> Any:
        """The data of an answer of its API; the test fails if it is refused."""
        answer = await self.client.get(f"/api/v1/{path}", params=parameters)
        body = answer.json()
        assert body["status"] == "success", body
        return body["data"]

    async def values(self, expression: str) -> list[float]:
        """The value of each series that the expression yields."""
        at = {} if self.at_s is None else {"time": str(self.at_s)}
        data = await self.get("query", query=expression, **at)
        if data["resultType"] == "scalar":
            return [float(data["result"][1])]
        return [float(series["value"][1]) for series in data["result"]]


@asynccontextmanager
async def own_prometheus(
    folder: Path, targets: dict[str, str], rules: Path
) -> AsyncIterator[OwnPrometheus]:
    """targets: address by job."""
    configuration = {
        "global": {
            "scrape_interval": f"{int(SCRAPE_S * 1000)}ms",
            "evaluation_interval": "1s",
        },
        "rule_files": [str(rules)],
        "scrape_configs": [
            {"job_name": job, "static_configs": [{"targets": [address]}]}
            for job, address in targets.items()
        ],
    }
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(configuration), encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    program = system_programs.require("prometheus")
    process = await asyncio.create_subprocess_exec(
        program,
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
        "--enable-feature=exemplar-storage",
        stdout=PIPE,
        stderr=STDOUT,
    )
    output = asyncio.create_task(process.communicate())
    try:
        async with httpx2.AsyncClient(base_url=f"http://{address}", verify=False) as client:
            async with asyncio.timeout(_START_S_MAX):
                while not await _is_ready(client):
                    assert process.returncode is None, (await output)[0]
                    await asyncio.sleep(0.05)
            yield OwnPrometheus(client)
    finally:
        if process.returncode is None:
            process.terminate()
        await output


async def _is_ready(client: httpx2.AsyncClient) -> bool:
    try:
        return (await client.get("/-/ready")).status_code == 200
    except httpx2.TransportError:
        return False
