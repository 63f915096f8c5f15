"""The cost of a cached answer by the Model Context Protocol, beside the plain search.

Both ask one worker for the same answer, in turns, over open connections.
"""

from collections.abc import Iterator, Mapping
from itertools import count, repeat

import orjson
import uvloop

from loadtests.bench import turns
from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.bench.turns import Case, percentile_ms
from loadtests.bench_cache.speed import case, leave_document, turn_sizes
from loadtests.load import closed_loop
from loadtests.load.request import RequestTemplate
from loadtests.servers import service
from loadtests.workload.tenant_client import TenantClient, new_tenant

_TIMES_MAX = 3.0
_DOCUMENTS = 50
_QUESTION = "how many days of leave does team 17 get?"
_PLAIN, _TOOL, _TOOL_NOW = "plain search", "tool, with handshake", "tool, without"
_COLUMNS = {
    **turns.COLUMNS,
    "times": ("time per request", ".2f"),
    "p50_times": ("P50 to plain", ".2f"),
}
_VERSION = "2026-07-28"


def measure(run: Run) -> Section:
    sizes = turn_sizes(run)
    with (
        run.progress() as progress,
        service.nearhit() as gateway,
        new_tenant(gateway, "bench") as tenant,
    ):
        tenant.put([leave_document(number) for number in range(_DOCUMENTS)])
        tenant.search_all([_PLAIN_BODY] * 2, connections=1)
        taken = turns.take(
            _cases(tenant, gateway.pid),
            progress,
            sizes,
        )
    plain = taken[_PLAIN]
    rows = {
        name: {
            **of_case.figures,
            "times": plain.ratio_to(of_case),
            "p50_times": of_case.ratio_to(plain, percentile_ms(50)),
        }
        for name, of_case in taken.items()
    }
    notes = (
        f"One worker and one cached question, over {sizes.connections} open connections, in "
        f"turns of {sizes.seconds:g} s, {sizes.rounds} of each; medians. The last two "
        "columns are ratios to the plain search's turn of the same round. Older versions of the "
        "protocol begin with a handshake; newer ones send its content with each request."
    )
    bars = [
        Bar(f"time of a {name}, to the plain search", rows[name]["times"], at_most=_TIMES_MAX)
        for name in (_TOOL, _TOOL_NOW)
    ]
    return rows_section("Model Context Protocol", notes, "", rows, _COLUMNS, bars)


def _cases(tenant: TenantClient, pid: int) -> Mapping[str, Case]:
    endpoint = RequestTemplate(str(tenant.client.base_url.join("/mcp")), tenant.key)
    first = uvloop.run(
        closed_loop.send_all(endpoint.url, [endpoint.encode(next(_calls()))], connections=1)
    )
    assert first[0].is_hit, "both give the same answer"
    search = tenant.search_request
    now = RequestTemplate(endpoint.url, tenant.key, _HEADERS)
    return {
        _PLAIN: case(search, pid, repeat(_PLAIN_BODY)),
        _TOOL: case(endpoint, pid, _calls()),
        _TOOL_NOW: case(now, pid, _calls(_META)),
    }


def _calls(meta: Mapping[str, object] | None = None) -> Iterator[bytes]:
    """The call, each time with another number, as clients number theirs."""
    params: dict[str, object] = {"name": "search", "arguments": {"query": _QUESTION}}
    if meta is not None:
        params["_meta"] = meta
    for number in count():
        request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        yield orjson.dumps(request)


_PLAIN_BODY = orjson.dumps({"query": _QUESTION})
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_HEADERS = {"MCP-Protocol-Version": _VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "search"}
