"""Every query of the boards, and every alert rule, on a Prometheus that scraped a busy gateway."""

import asyncio
import json
import math
import re
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from pydantic import SecretStr

from gateway.configured import configured_embedders
from gateway.configured.installed_extensions import with_metrics
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.monitoring.metrics import Metrics
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.gateway.monitoring.own_prometheus import OwnPrometheus, own_prometheus
from tests.gateway.monitoring.test_metric_names import families
from tests.gateway.support.event_listener import listening, subscribe
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.writes.test_queued_writes import put_later
from tests.stub_openai import WIDTH, chat, stub_openai
from tests.system_programs import needs

DEPLOY = Path(__file__).parents[3] / "deploy"
ADAPTER = yaml.safe_load((DEPLOY / "helm" / "prometheus-adapter.yaml").read_text("utf-8"))
BOARDS: dict[str, Any] = {
    file.stem: json.loads(file.read_text("utf-8")) for file in (DEPLOY / "grafana").glob("*.json")
}
EXPRESSIONS: dict[str, str] = {
    f"{name}: {panel['title']} {target['refId']}": target["expr"]
    for name, board in BOARDS.items()
    for panel in board["panels"]
    for target in panel.get("targets", ())
}
VARIABLES = {
    variable["query"]["query"]
    for board in BOARDS.values()
    for variable in board["templating"]["list"]
    if variable["type"] == "query"
}
# Metrics without a series in the deployment of these tests.
WITHOUT_SERIES = {
    "nearhit_standby_reads_total": "it has no standby; the tests of regions count them",
    "nearhit_standby_lag_seconds": "it has no standby; the tests of regions measure it",
    "nearhit_read_leases_held": "it has no region",
    "nearhit_openfga_lag_seconds": "it has no store of OpenFGA; its extension's tests measure it",
}
_INTERVALS = {"$__rate_interval": "1m", "$__range": "1m"}
_TRAFFIC_S_MAX = 120.0

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
async def prometheus(
    servers: Servers, databases: DatabaseCopies, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[OwnPrometheus]:
    """It has scraped a gateway with every kind of traffic, until each panel has values.

    A rate needs calls between two scrapes, and on a busy machine many a scrape takes too long.
    """
    folder = tmp_path_factory.mktemp("prometheus")
    async with stub_openai() as stub, fresh_settings(servers, databases) as fresh:
        stub.chat_answer = lambda _: chat("Since when is there annual leave?")
        settings = fresh.model_copy(
            update={
                "embedder": "openai",
                "openai_base_url": stub.url,
                "openai_api_key": SecretStr("key"),
                "openai_dimensions": WIDTH,
                "chat_model": "stub",
                "chat_base_url": stub.url,
                "prices": {"embedding": 1.0, "chat_input": 1.0},
                "confidence_min": 0.3,
                "cache_audit_per_mille": 1000,
                "shard_bytes_max": 100_000_000,
                "serve_jobs": True,
            }
        )
        metrics = Metrics(tenants_max=3)
        (embedder,) = configured_embedders.make_all(settings, metrics.embedding_tokens)
        async with running(settings, embedder, metrics) as gateway:
            await gateway.tenant("acme")
            ana = await gateway.caller("ana", tenant="acme")
            address = f"{gateway.client.base_url.host}:{gateway.client.base_url.port}"
            rules = DEPLOY / "prometheus" / "alerts.yml"
            subscription = await subscribe(ana, "annual leave")
            async with (
                listening(ana, subscription),
                own_prometheus(folder, {"nearhit": address}, rules) as started,
            ):
                gives_up_s = time.monotonic() + _TRAFFIC_S_MAX
                for number in count(1):
                    await use(gateway, ana, number)
                    # Rates are of the last seconds, and tests may wait for each other for longer.
                    now = replace(started, at_s=time.time())
                    if await all_panels_have_values(now) or time.monotonic() > gives_up_s:
                        break
                yield now


@pytest.mark.thorough
@needs("prometheus")
async def test_the_autoscalers_metric_is_the_requests_in_flight(prometheus: OwnPrometheus) -> None:
    """One value for each pod. The caller of these tests waits for each answer, and then pauses."""
    (rule,) = ADAPTER["rules"]["custom"]
    expression = (
        rule["metricsQuery"]
        .replace("<<.Series>>", rule["seriesQuery"].partition("{")[0])
        .replace("<<.LabelMatchers>>", 'instance=~".+"')
        .replace("<<.GroupBy>>", "instance")
    )

    (in_flight,) = await prometheus.values(expression)

    assert rule["name"]["as"] == "nearhit_requests_in_flight"
    assert 0 < in_flight < 2


async def use(gateway: Gateway, ana: Caller, number: int) -> None:
    """One round of every kind of traffic."""
    await ana.put("leave", f"# Leave\n\nEverybody gets {number} days of annual leave.")
    long = f"# Long {number}\n\n" + "A sentence that a model may shorten. " * 250
    await ana.put("long", long, chunker="model", summaries="model")
    await put_later(ana, "later", f"# Later\n\nWritten by a job, version {number}.")
    for query in ("annual leave", "annual leave", f"question {number}"):
        await ana.search(query)
    await ana.search("leave", filter={"sources": ["nowhere"]})
    await ana.search("since when?", history=[{"role": "user", "content": f"Leave {number}?"}])
    await ana.call("GET", "/v1/documents/missing")
    await gateway.client.get("/nothing")
    await asyncio.sleep(0.1)


def has_series(expression: str) -> bool:
    return not WITHOUT_SERIES.keys() & set(re.findall(r"nearhit_\w+", expression))


async def all_panels_have_values(prometheus: OwnPrometheus) -> bool:
    for expression in filter(has_series, EXPRESSIONS.values()):
        if not any(map(math.isfinite, await prometheus.values(at_test(expression)))):
            return False
    return True


def at_test(expression: str) -> str:
    for name, value in _INTERVALS.items():
        expression = expression.replace(name, value)
    expression = re.sub(r"\$(instance|tenant)\b", ".*", expression)
    assert "$" not in expression
    return expression


@pytest.mark.thorough
@needs("prometheus")
@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
async def test_a_panel_has_values(prometheus: OwnPrometheus, expression: str) -> None:
    if not has_series(expression):
        assert await prometheus.values(at_test(expression)) == []
        return

    values = await prometheus.values(at_test(expression))

    assert any(map(math.isfinite, values)), values


@pytest.mark.thorough
@needs("prometheus")
@pytest.mark.parametrize("definition", sorted(VARIABLES))
async def test_a_variable_has_values(prometheus: OwnPrometheus, definition: str) -> None:
    found = re.fullmatch(r"label_values\((\w+), (\w+)\)", definition)
    assert found is not None

    values = await prometheus.get(f"label/{found[2]}/values", **{"match[]": found[1]})

    assert values
    if found[2] == "tenant":
        assert values == ["acme"]


@pytest.mark.thorough
@needs("prometheus")
async def test_prometheus_evaluates_every_rule(prometheus: OwnPrometheus) -> None:
    async with asyncio.timeout(60):
        while True:
            groups = (await prometheus.get("rules"))["groups"]
            rules = [rule for group in groups for rule in group["rules"]]
            if all(rule["health"] != "unknown" for rule in rules):
                break
            await asyncio.sleep(0.1)

    assert {
        rule["name"]: rule.get("lastError", "") for rule in rules if rule["health"] != "ok"
    } == {}
    assert len(rules) > 15
    async with asyncio.timeout(60):
        while not await replace(prometheus, at_s=None).values("nearhit:search_slow:ratio_rate5m"):
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_grafanas_types_hold_all_of_a_board(board: dict[str, Any]) -> None:
    """Grafana's own SDK, made from its schemas, reads every field and drops none."""
    plugins.register_default_plugins()

    read = json.loads(json.dumps(Dashboard.from_json(board), cls=JSONEncoder))

    assert_holds(read, board, "board")


def assert_holds(whole: Any, part: Any, path: str) -> None:
    if isinstance(part, dict):
        for key, value in part.items():
            assert key in whole or value is None, f"{path}.{key}"
            assert_holds(whole.get(key), value, f"{path}.{key}")
    elif isinstance(part, list):
        assert len(whole) == len(part), path
        for number, (one, other) in enumerate(zip(whole, part, strict=True)):
            assert_holds(one, other, f"{path}[{number}]")
    else:
        assert whole == part, path


def test_every_metric_is_on_a_board() -> None:
    queries = " ".join(EXPRESSIONS.values())
    names = {
        re.sub(r"_(total|bucket|sum|count)$", "", name)
        for name in re.findall(r"nearhit_\w+", queries)
    }

    assert names == families(with_metrics(Metrics())).keys()


def test_boards_and_panels_have_stable_and_unique_names() -> None:
    assert {board["uid"] for board in BOARDS.values()} == {
        f"nearhit-{name}" for name in ("operator", "cost", "quality")
    }
    for board in BOARDS.values():
        ids = [panel["id"] for panel in board["panels"]]
        assert len(ids) == len(set(ids))
        titles = [panel["title"] for panel in board["panels"]]
        assert len(titles) == len(set(titles))
        first = board["templating"]["list"][0]
        assert (first["name"], first["type"]) == ("datasource", "datasource")


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_panels_do_not_overlap_and_use_the_variable_data_source(board: dict[str, Any]) -> None:
    cells = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in cells, panel["title"]
                cells.add((x, y))
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == "${datasource}"
