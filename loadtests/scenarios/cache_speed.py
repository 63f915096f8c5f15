"""Cached answers per second, plain and by the Model Context Protocol, beside a bare app's.

The same generator loads each server of one worker in turn, so that the ratios hold while the speed
of the machine drifts.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import count, cycle, repeat
from random import Random

import orjson
import uvloop
from rich.console import Console

from loadtests.bench import turns
from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.bench.turns import Case, TurnSizes, percentile_ms
from loadtests.load import closed_loop
from loadtests.load.request import RequestTemplate
from loadtests.servers import service
from loadtests.workload.tenant_client import TenantClient, connected, new_tenant

_RATIO_MIN = 0.6  # of the bare app's requests a second, for exact hits
_P99_MAX = 2.5  # times the bare app's
_TEAMS = 200
_VERIFIED = 600  # pairs after which similar answers are served, even if one of them is wrong
_PAIRS_TRIES = 10  # checks whether they are
_SEED = 14
_QUESTION = "how many days of leave does team 17 get?"

# A busy machine delays Redis.
_PATIENCE = {"NEARHIT_REDIS_TIMEOUT_S": "2"}
# Of a worker whose memory holds neither answers nor tenants: from a shard it would compute answers
# sooner than Redis gives them.
_FORGETFUL = {
    **_PATIENCE,
    "NEARHIT_LOCAL_CACHE_BYTES_MAX": "1",
    "NEARHIT_SHARD_BYTES_MAX": "0",
}
_HITS_MIN = 0.95  # of the rows that are named for hits; a sample of similar ones is computed

# Names of the rows.
_BARE = "bare"
_EXACT = "exact hit"
_STALE = "exact hit, at most 1 s old"
_REDIS = "exact hit, by Redis alone"
_SEMANTIC = "semantic hit"
_MISS = "miss"

# By the figures of a row, how the table heads and writes them.
_COLUMNS = {
    **turns.COLUMNS,
    "ratio": ("requests/s to bare", ".2f"),
    "p99_ratio": ("P99 to bare", ".2f"),
    "hits": ("hits", ".2f"),
}
_TIMES_MAX = 3.0
_PLAIN, _TOOL, _TOOL_NOW = "plain search", "tool, with handshake", "tool, without"
_MCP_COLUMNS = {
    **turns.COLUMNS,
    "times": ("time per request", ".2f"),
    "p50_times": ("P50 to plain", ".2f"),
}
_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_HEADERS = {"MCP-Protocol-Version": _VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "search"}


def _turn_sizes(run: Run) -> TurnSizes:
    return TurnSizes(*run.sized((9, 3.0), (2, 0.5)), connections=16)


def measure(run: Run) -> Section:
    """Cached answers per second, beside a bare Starlette app that returns the same bytes."""
    with ExitStack() as stack:
        progress = stack.enter_context(run.progress())
        cases = _cases(stack, run.console)
        taken = turns.take(cases, progress, _turn_sizes(run))
    bare = taken[_BARE]
    rows = {
        name: {
            **of_case.figures,
            "ratio": of_case.ratio_to(bare),
            "p99_ratio": of_case.ratio_to(bare, percentile_ms(99)),
        }
        for name, of_case in taken.items()
    }
    exact = rows[_EXACT]
    bars = [
        Bar("exact hits a second, to the bare app's", exact["ratio"], at_least=_RATIO_MIN),
        Bar("P99 of exact hits, to the bare app's", exact["p99_ratio"], at_most=_P99_MAX),
        *(
            Bar(f"share of hits, {name}", row["hits"], at_least=_HITS_MIN)
            for name, row in rows.items()
            if "hit" in name
        ),
    ]
    return rows_section("Speed", _notes(run), "", rows, _COLUMNS, bars)


def _cases(stack: ExitStack, console: Console) -> Mapping[str, Case]:
    gateway = stack.enter_context(service.nearhit({**_PATIENCE, **service.COMPARE_ALL}))
    tenant = stack.enter_context(new_tenant(gateway, "bench"))
    tenant.put([_leave_document(number) for number in range(_TEAMS)])
    forgetful = stack.enter_context(service.beside(gateway, _FORGETFUL))
    other = stack.enter_context(connected(forgetful.url, tenant.key))
    body = _body(_QUESTION)
    _, answer = tenant.search_all([body, body], connections=1)
    assert answer.is_hit
    bare_url, bare_pid = stack.enter_context(service.bare(answer.body))
    leaves = [_body(_leave_of(number)) for number in range(_TEAMS)]
    tenant.search_all(leaves, connections=1)
    asked = repeat(body)
    older = repeat(_body(_QUESTION, max_staleness_ms=1000))
    bare = RequestTemplate(f"{bare_url}/v1/search", tenant.key)
    cases = {
        _BARE: _case(bare, bare_pid, asked),
        _EXACT: _case(tenant.search_request, gateway.pid, asked),
        _STALE: _case(tenant.search_request, gateway.pid, older),
        _REDIS: _case(other.search_request, forgetful.pid, cycle(leaves)),
    }
    rewordings = _rewordings()
    if _serves_similar(tenant, rewordings):
        cases[_SEMANTIC] = _case(tenant.search_request, gateway.pid, rewordings)
    else:
        console.print("no semantic hits: the service does not serve them, so they are left out")
    never_asked = (_body(f"leave of team {number}") for number in count())
    cases[_MISS] = _case(tenant.search_request, gateway.pid, never_asked)
    return cases


def _case(request: RequestTemplate, pid: int, bodies: Iterable[bytes]) -> Case:
    """pid: of the server, whose processor time counts."""
    return Case(request.url, map(request.encode, bodies), [lambda: (pid,)])


def _serves_similar(tenant: TenantClient, rewordings: Iterator[bytes]) -> bool:
    """Ask until a similar question's answer is served, if it ever is."""
    tenant.search_all([_similar(_leave_of(number)) for number in range(_TEAMS)], connections=4)
    for _ in range(_PAIRS_TRIES):
        answers = tenant.search_all([next(rewordings) for _ in range(_VERIFIED)], connections=4)
        if "semantic" in answers[-1].cache_status:
            return True
    return False


def _rewordings() -> Iterator[bytes]:
    """The teams' questions with their words in another order, hardly ever the same one."""
    random = Random(_SEED)  # noqa: S311  no secret
    while True:
        how, many, *others = _leave_of(random.randrange(_TEAMS)).rstrip("?").split()
        random.shuffle(others)
        yield _similar(f"{' '.join([how, many, *others])}?")


def _leave_of(team: int) -> str:
    return f"how many days of leave does team {team} get?"


def _similar(question: str) -> bytes:
    return _body(question, semantic="bounded")


def _body(question: str, **options: object) -> bytes:
    return orjson.dumps({"query": question, **options})


def _leave_document(number: int) -> dict[str, object]:
    text = (
        f"# Team {number}\n\nTeam {number} gets {number % 20 + 10} days of leave. "
        "Leave is asked for two weeks ahead, and what is left over at the end of the year is kept "
        "until March. Whoever is ill on a day of leave gets the day back."
    )
    return {"document_id": f"team-{number}", "text": text, "language": "en"}


def _notes(run: Run) -> str:
    rounds, seconds, connections = _turn_sizes(run)
    return (
        f"One worker, {connections} connections in a closed loop, {rounds} rounds of {seconds:g} s "
        "each; medians of the rounds, ratios within a round.\n"
        "The bare app parses the body and returns the bytes that exact hits return, under the same "
        "server settings.\n"
        "The generator, PostgreSQL and Redis share the machine's cores with the worker; other work "
        "on the machine affects the worker's processor time per request the least.\n"
        f"Exact hits repeat one question; those of Redis repeat {_TEAMS} questions in turn, at a "
        "worker whose memory holds nothing. A miss is a new question each time, over "
        f"{_TEAMS} documents. A semantic hit is one of {_TEAMS} questions with its words in "
        "another order, each order once; the gateway also computes a sample of them, as always."
    )


def measure_mcp(run: Run) -> Section:
    """A cached answer by the Model Context Protocol, beside the plain search, in turns."""
    sizes = _turn_sizes(run)
    with (
        run.progress() as progress,
        service.nearhit() as gateway,
        new_tenant(gateway, "bench") as tenant,
    ):
        tenant.put([_leave_document(number) for number in range(_TEAMS)])
        tenant.search_all([_body(_QUESTION)] * 2, connections=1)
        taken = turns.take(_mcp_cases(tenant, gateway.pid), progress, sizes)
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
    return rows_section("Model Context Protocol", notes, "", rows, _MCP_COLUMNS, bars)


def _mcp_cases(tenant: TenantClient, pid: int) -> Mapping[str, Case]:
    endpoint = RequestTemplate(str(tenant.client.base_url.join("/mcp")), tenant.key)
    first = uvloop.run(
        closed_loop.send_all(endpoint.url, [endpoint.encode(next(_calls()))], connections=1)
    )
    assert first[0].is_hit, "both give the same answer"
    search = tenant.search_request
    now = RequestTemplate(endpoint.url, tenant.key, _HEADERS)
    return {
        _PLAIN: _case(search, pid, repeat(_body(_QUESTION))),
        _TOOL: _case(endpoint, pid, _calls()),
        _TOOL_NOW: _case(now, pid, _calls(_META)),
    }


def _calls(meta: Mapping[str, object] | None = None) -> Iterator[bytes]:
    """The call, each time with another number, as clients number theirs."""
    params: dict[str, object] = {"name": "search", "arguments": {"query": _QUESTION}}
    if meta is not None:
        params["_meta"] = meta
    for number in count():
        request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        yield orjson.dumps(request)
