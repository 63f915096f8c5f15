"""The share of authentication, scope and rate limits in the processor time of an exact hit."""

import json
import os
import signal
import tempfile
from collections.abc import Collection, Mapping
from itertools import repeat
from pathlib import Path

import orjson
import uvloop

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.bench_cache.speed import turn_sizes
from loadtests.load import closed_loop
from loadtests.servers import service
from loadtests.workload.tenant_client import connected, new_tenant

_SHARE_MAX = 0.15
_QUESTION = "how many days of leave do I get?"
_WARM_S = 2.0

_SERVER = "server"  # as `sampled_gateway` calls the files of uvicorn
_PARTS: Mapping[str, Collection[str]] = {
    # What a request passes whose head, and so whose credential, came before.
    "known heads": {"gateway/http/known_heads.py"},
    "authentication": {
        "gateway/auth/authenticator.py",
        "gateway/auth/freshness.py",
        "gateway/http/request/request_context.py",
        "gateway/http/endpoint.py",
        "index/tenants/principals.py",
    },
    "rate limits": {"gateway/http/admission.py", "cache/rate_limit.py"},
    "scope": {"index/model/scope.py", "index/model/query.py", "gateway/bodies/schemas.py"},
    "the revision": {
        "cache/revision_reader.py",
        "index/postgres/database.py",
        "index/postgres/dedicated_connection.py",
        "index/postgres/statement_comment.py",
        "index/tenants/tenant_store.py",
        "index/postgres/statements.py",
    },
    "the server": {
        _SERVER,
        "gateway/http/transport/buffered_transport.py",
        "gateway/http/transport/connection.py",
    },
}
_ADMISSION = ("known heads", "authentication", "rate limits", "scope")
_REST = "the rest: turns, cache, headers, log and counters"
_SAMPLED = "loadtests.servers.sampled_gateway"
_ROOT = Path(__file__).parents[2]


def measure(run: Run) -> Section:
    gone = [file for files in _PARTS.values() for file in files if not (_ROOT / file).exists()]
    assert gone == [_SERVER], f"{gone} would count as the rest"
    samples = _samples(run)
    total = sum(samples.values())
    shares = dict.fromkeys((*_PARTS, _REST), 0.0)
    for file, count in samples.items():
        part = next((name for name, places in _PARTS.items() if file in places), _REST)
        shares[part] += count / total
    admission = sum(shares[name] for name in _ADMISSION)
    notes = (
        "One worker answers one cached question again and again, over "
        f"{turn_sizes(run).connections} connections. A thousand times per second of its processor "
        "time a sampler looks which of its files is running; what that file calls in other "
        "packages counts as its own. Each request counts against the rate of its key and of its "
        f"tenant. Of a known head, route and credential are found by its digest. {total:,} samples."
    )
    rows = {name: {"share": share} for name, share in shares.items()}
    bar = Bar(", ".join(_ADMISSION), admission, at_most=_SHARE_MAX)
    return rows_section("Admission", notes, "", rows, {"share": ("share", ".1%")}, [bar])


def _samples(run: Run) -> Mapping[str, int]:
    body, sizes = orjson.dumps({"query": _QUESTION}), turn_sizes(run)
    with tempfile.TemporaryDirectory(prefix="nearhit-bench-") as name:
        file = Path(name) / "samples"
        with service.nearhit() as gateway, new_tenant(gateway, "bench") as tenant:
            tenant.put([{"document_id": "leave", "text": "25 days of leave."}])
            with (
                service.beside(gateway, launcher=(_SAMPLED, str(file))) as sampled,
                connected(sampled.url, tenant.key) as other,
            ):
                for seconds in (_WARM_S, sizes.seconds * sizes.rounds):
                    os.kill(sampled.pid, signal.SIGUSR1)
                    uvloop.run(
                        closed_loop.run(
                            other.search_request.url,
                            repeat(other.search_request.encode(body)),
                            connections=sizes.connections,
                            seconds=seconds,
                        )
                    )
        samples: Mapping[str, int] = json.loads(file.read_text())
        return samples
