"""Compares what an exact hit costs in two checkouts: `python -m loadtests.paired_hits BASE`.

BASE is a folder with another version of the project. Three gateways serve the same question: this
version, the base, and the base once more as the control, whose ratio shows what chance alone makes.
Blocks of requests alternate between them, so that other load on the machine meets all. Processor
time of the gateway's event loop counts, not the time that the client waits.
"""

import argparse
import json
import socket
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

from loadtests.load.request import encode_request
from loadtests.servers import service
from loadtests.workload.tenant_client import new_tenant

_DRAWN = 2_000  # times, of a bootstrap
# Some staleness is allowed: the hit is from memory, and one in thousands reads the revision.
_BODY = b'{"query":"annual leave","top_k":3,"max_staleness_ms":60000}'


@dataclass(frozen=True, slots=True)
class ServedCheckout:
    """A gateway with one document. key: of a reader."""

    url: str
    pid: int
    key: str

    def processor_s(self) -> float:
        """Used by the gateway's event loop so far."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[0]) / 1e9

    def block(self, requests: int, *, repeats: bool) -> float:
        """Seconds of processor time a request. repeats: in the same bytes each time."""
        port = int(self.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            before_s = self.processor_s()
            for number in range(requests):
                headers = [("X-Request-Id", f"request-{0 if repeats else number:06}")]
                url = f"{self.url}/v1/search"
                connection.sendall(encode_request("POST", url, self.key, _BODY, headers))
                answer = connection.recv(65_536)
                assert answer.startswith(b"HTTP/1.1 200"), answer
                assert number == 0 or b"; hit" in answer, answer
            return (self.processor_s() - before_s) / requests


@contextmanager
def served(checkout: Path, further: dict[str, str]) -> Iterator[ServedCheckout]:
    with (
        service.nearhit({"NEARHIT_LOG_LEVEL": "warning", **further}, checkout=checkout) as gateway,
        new_tenant(gateway, "paired") as tenant,
    ):
        tenant.put_one("leave", "# Leave\n\nEverybody gets 25 days of annual leave.")
        yield ServedCheckout(gateway.url, gateway.pid, tenant.key)


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
