"""Compares what an exact hit costs in two checkouts: `python -m loadtests.paired_hits BASE`.

BASE is a folder with another version of the project. Three gateways serve the same question: this
version, the base, and the base once more as the control, whose ratio shows what chance alone makes.
Blocks of requests alternate between them, so that other load on the machine meets all. Processor
time of the gateway's event loop counts, not the time that the client waits.
"""

import argparse
import json
import os
import re
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import httpx2

_START_S_MAX = 120.0
_DRAWN = 2_000  # times, of a bootstrap
# Some staleness is allowed: the hit is from memory, and one in thousands reads the revision.
_BODY = b'{"query":"annual leave","top_k":3,"max_staleness_ms":60000}'


@dataclass(frozen=True, slots=True)
class ServedCheckout:
    """A gateway with one document. key: of a reader."""

    process: subprocess.Popen[str]
    port: int
    key: str

    def processor_s(self) -> float:
        """Used by the gateway's event loop so far."""
        nanoseconds = Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]
        return int(nanoseconds) / 1e9

    def block(self, requests: int, *, repeats: bool) -> float:
        """Seconds of processor time a request. repeats: in the same bytes each time."""
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            before_s = self.processor_s()
            for number in range(requests):
                connection.sendall(self._request(0 if repeats else number))
                answer = connection.recv(65_536)
                assert answer.startswith(b"HTTP/1.1 200"), answer
            return (self.processor_s() - before_s) / requests

    def _request(self, number: int) -> bytes:
        return (
            f"POST /v1/search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(_BODY)}\r\n"
            f"X-Request-Id: request-{number:06}\r\n\r\n"
        ).encode() + _BODY


@contextmanager
def served(checkout: Path, further: dict[str, str]) -> Iterator[ServedCheckout]:
    admin_key = f"nh_{secrets.token_hex(16)}"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        process = subprocess.Popen(
            [sys.executable, "-m", "gateway", "serve", "--port", "0"],
            cwd=checkout,
            env=os.environ
            | {
                "NEARHIT_DATA_DIR": f"{folder}/data",
                "NEARHIT_ADMIN_KEY": admin_key,
                "NEARHIT_KEY_REQUESTS_PER_S": "0",
                "NEARHIT_TENANT_REQUESTS_PER_S": "0",
                "NEARHIT_LOG_LEVEL": "warning",
            }
            | further,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            line = next(line for line in process.stdout if "listening" in line)
            (url,) = re.findall(r"http://[^\s\"]+", line)
            with httpx2.Client(base_url=url, timeout=_START_S_MAX) as client:
                yield ServedCheckout(process, int(url.rpartition(":")[2]), _key(client, admin_key))
        finally:
            process.terminate()
            process.wait()


def _key(client: httpx2.Client, admin_key: str) -> str:
    """The key of a reader of a tenant with one document."""
    operator = {"Authorization": f"Bearer {admin_key}"}
    assert client.get("/readyz").status_code == 200
    client.post("/v1/tenants", json={"id": "paired"}, headers=operator)
    body = {"tenant": "paired", "subject": "ana"}
    key: str = client.post("/v1/keys", json=body, headers=operator).json()["key"]
    document = {"text": "# Leave\n\nEverybody gets 25 days of annual leave."}
    headers = {"Authorization": f"Bearer {key}"}
    assert client.put("/v1/documents/leave", json=document, headers=headers).status_code == 200
    return key


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--requests", type=int, default=2_000, help="of one block")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE of this version")
    options = parser.parse_args()
    further = dict(pair.split("=", 1) for pair in options.set)
    with ExitStack() as stack:
        checkouts = {
            "base": stack.enter_context(served(options.base, {})),
            "control": stack.enter_context(served(options.base, {})),
            "ours": stack.enter_context(served(Path(__file__).parents[1], further)),
        }
        for kind, repeats in (("same_bytes", True), ("other_id", False)):
            rounds = []
            for number in range(-1, options.rounds):
                order = list(permutations(checkouts))[number % 6]
                times_s = {
                    name: checkouts[name].block(options.requests, repeats=repeats) for name in order
                }
                if number >= 0:  # the first one warms up
                    rounds.append(times_s)
            for name in ("control", "ours"):
                print(json.dumps({"hits": kind, "of": name} | _summary(rounds, name)))


def _summary(rounds: Sequence[Mapping[str, float]], name: str) -> dict[str, Any]:
    """ratio: to the base. low, high: nine of ten medians of rounds drawn anew are between."""
    ratios = [times_s[name] / times_s["base"] for times_s in rounds]
    drawn = Random(1)  # noqa: S311  no secret
    medians = sorted(statistics.median(drawn.choices(ratios, k=len(ratios))) for _ in range(_DRAWN))
    return {
        "us": round(statistics.median(times_s[name] for times_s in rounds) * 1e6, 2),
        "ratio": round(statistics.median(ratios), 4),
        "low": round(medians[_DRAWN // 20], 4),
        "high": round(medians[-_DRAWN // 20], 4),
    }


if __name__ == "__main__":
    main()
