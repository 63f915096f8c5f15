"""The cost of a cached answer by the Model Context Protocol, beside the plain search.

Both ask one worker for the same answer, in turns, over open connections.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, repeat
from statistics import median

import orjson
import uvloop
from rich.progress import Progress

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_cache.options import CacheRun
from loadtests.load import closed_loop
from loadtests.load.closed_loop import ClosedLoopResult
from loadtests.load.request import RequestTemplate
from loadtests.servers import service
from loadtests.workload.tenant_client import TenantClient, new_tenant

_TIMES_MAX = 3.0
_DOCUMENTS = 50
_QUESTION = "how many days of leave does team 17 get?"
_PLAIN, _TOOL, _TOOL_NOW = "plain search", "tool, with handshake", "tool, without"
_VERSION = "2026-07-28"


def measure(run: CacheRun) -> Section:
    with (
        run.progress() as progress,
        service.nearhit() as gateway,
        new_tenant(gateway, "bench") as tenant,
    ):
        tenant.put([_document(number) for number in range(_DOCUMENTS)], lambda _: None)
        tenant.search_all([_PLAIN_BODY] * 2, connections=1)
        outcomes = _outcomes(run, tenant, progress)
    rows = {name: _row(tenant, outcomes[_PLAIN]) for name, tenant in outcomes.items()}
    cells = [
        [name, f"{per_second:,.0f}", f"{p50:.2f}", f"{p99:.2f}", f"{times:.2f}", f"{p50_times:.2f}"]
        for name, (per_second, p50, p99, times, p50_times) in rows.items()
    ]
    head = ["", "requests/s", "P50 ms", "P99 ms", "time per request", "P50 to plain"]
    text = (
        f"One worker and one cached question, over {run.options.connections} open connections, in "
        f"turns of {run.options.seconds:g} s, {run.options.rounds} of each; medians. The last two "
        "columns are ratios to the plain search's turn of the same round. Older versions of the "
        "protocol begin with a handshake; newer ones send its content with each request.\n\n"
    )
    fields = ("per_second", "p50_ms", "p99_ms", "times", "p50_times")
    return Section(
        title="Model Context Protocol",
        text=text + table(head, cells),
        figures={name: dict(zip(fields, row, strict=True)) for name, row in rows.items()},
        bars=[
            Bar(f"time of a {name}, to the plain search", rows[name][3], at_most=_TIMES_MAX)
            for name in (_TOOL, _TOOL_NOW)
        ],
    )


def _outcomes(
    run: CacheRun, tenant: TenantClient, progress: Progress
) -> Mapping[str, Sequence[ClosedLoopResult]]:
    """By row, one a round; the first round warms up and is left out."""
    endpoint = RequestTemplate(str(tenant.client.base_url.join("/mcp")), tenant.key)
    now = RequestTemplate(endpoint.url, tenant.key, _HEADERS)
    first = uvloop.run(
        closed_loop.send_all(endpoint.url, [endpoint.encode(next(_calls()))], connections=1)
    )
    assert first[0].is_hit, "both give the same answer"
    outcomes: dict[str, list[ClosedLoopResult]] = {_PLAIN: [], _TOOL: [], _TOOL_NOW: []}
    for number in progress.track(range(run.options.rounds + 1), description="rounds"):
        for name, request, bodies in (
            (_PLAIN, tenant.search_request, repeat(_PLAIN_BODY)),
            (_TOOL, endpoint, _calls()),
            (_TOOL_NOW, now, _calls(_META)),
        ):
            outcome = uvloop.run(
                closed_loop.run(
                    request.url,
                    map(request.encode, bodies),
                    connections=run.options.connections,
                    seconds=run.options.seconds,
                )
            )
            if number > 0:
                outcomes[name].append(outcome)
    return outcomes


def _row(
    results: Sequence[ClosedLoopResult], plain: Sequence[ClosedLoopResult]
) -> tuple[float, float, float, float, float]:
    rounds = list(zip(results, plain, strict=True))
    return (
        median(result.per_second for result in results),
        median(result.percentile_ms(50) for result in results),
        median(result.percentile_ms(99) for result in results),
        median(other.per_second / result.per_second for result, other in rounds),
        median(result.percentile_ms(50) / other.percentile_ms(50) for result, other in rounds),
    )


def _calls(meta: Mapping[str, object] | None = None) -> Iterator[bytes]:
    """The call, each time with another number, as clients number theirs."""
    params: dict[str, object] = {"name": "search", "arguments": {"query": _QUESTION}}
    if meta is not None:
        params["_meta"] = meta
    for number in count():
        request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        yield orjson.dumps(request)


def _document(number: int) -> dict[str, object]:
    text = (
        f"# Team {number}\n\nTeam {number} gets {number % 20 + 10} days of leave. "
        "Leave is asked for two weeks ahead, and what is left over at the end of the year is kept "
        "until March. Whoever is ill on a day of leave gets the day back."
    )
    return {"document_id": f"team-{number}", "text": text, "language": "en"}


_PLAIN_BODY = orjson.dumps({"query": _QUESTION})
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_HEADERS = {"MCP-Protocol-Version": _VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "search"}
