"""Named search plans of a tenant: who stores and runs them, and what their parameters take."""

from typing import Any

import pytest

from gateway.extensions.plans.plan_schemas import PLAN_BYTES_MAX, PLAN_STEPS_MAX
from gateway.extensions.plans.strategy_store import STRATEGIES_MAX
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

COUNTRY = {"type": "string", "values": ["pt", "de"], "default": "pt", "description": "the country"}
STRATEGY: dict[str, Any] = {
    "description": "Rules of a country, and how to apply for what they grant.",
    "parameters": {
        "question": {"type": "string", "characters_max": 200},
        "country": COUNTRY,
        "most": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
    },
    "plan": {
        "steps": [
            {
                "name": "rules",
                "query": {"parameter": "question"},
                "top_k": 20,
                "filter": {"tags_any": [{"parameter": "country"}]},
            },
            {
                "name": "apply",
                "query": "how to apply",
                "top_k": {"parameter": "most"},
                "filter": {"documents": {"from": "rules.document_ids"}},
            },
        ],
        "output": ["apply"],
        "budget": {"tokens": 500},
    },
}


async def put(admin: Caller, strategy: dict[str, Any], name: str = "rules") -> dict[str, Any]:
    answer = await admin.call("PUT", f"/v1/strategies/{name}", json=strategy)
    assert answer.status_code == 200, answer.text
    stored: dict[str, Any] = answer.json()
    return stored


async def run(caller: Caller, *, budget: dict[str, int] | None = None, **parameters: Any) -> Any:
    body: dict[str, Any] = {"strategy": "rules", "parameters": parameters}
    if budget is not None:
        body["budget"] = budget
    return await caller.call("POST", "/v1/search/plan", json=body)


async def test_a_member_runs_what_an_admin_has_stored(ana: Caller, admin: Caller) -> None:
    await ana.put("pt", "Leave in Portugal: apply with the form 7.", tags=["pt"])
    await ana.put("de", "Leave in Germany: apply with the form 8.", tags=["de"])
    stored = await put(admin, STRATEGY)

    by_default = await run(ana, question="leave")
    chosen = await run(ana, question="leave", country="de", most=1)
    listed = await ana.call("GET", "/v1/strategies")
    read = await ana.call("GET", "/v1/strategies/rules")

    for answer, document in ((by_default, "pt"), (chosen, "de")):
        (step,) = answer.json()["steps"]
        assert step["name"] == "apply"
        assert [hit["document_id"] for hit in step["answer"]["hits"]] == [document]
    assert read.json() == stored
    assert {key: stored[key] for key in STRATEGY} | {"parameters": 0} == STRATEGY | {
        "parameters": 0
    }
    (summary,) = listed.json()["strategies"]
    assert (summary["name"], "plan" in summary) == ("rules", False)
    assert summary["parameters"] == stored["parameters"]


async def test_another_version_and_a_removal_count_from_the_next_call_on(
    ana: Caller, admin: Caller
) -> None:
    await ana.put("pt", "Leave in Portugal.", tags=["pt"])
    await put(admin, STRATEGY)
    before = await run(ana, question="leave")
    await put(admin, STRATEGY | {"plan": STRATEGY["plan"] | {"output": ["rules"]}})
    after = await run(ana, question="leave")
    deleted = await admin.call("DELETE", "/v1/strategies/rules")

    assert [answer.json()["steps"][0]["name"] for answer in (before, after)] == ["apply", "rules"]
    assert deleted.status_code == 204
    error = problem(await run(ana, question="leave"), 422)["errors"][0]
    assert error["field"] == "strategy"
    for method in ("GET", "DELETE"):
        problem(await admin.call(method, "/v1/strategies/rules"), 404)


async def test_the_smaller_budget_counts(ana: Caller, admin: Caller) -> None:
    await ana.put("pt", "Apply for leave in Portugal. " * 10, tags=["pt"])
    await put(admin, STRATEGY)

    left_out = [
        (await run(ana, question="leave", budget={"tokens": tokens})).json()["steps"][0]["left_out"]
        for tokens in (1, 9_000)
    ]

    assert left_out == [1, 0]


@pytest.mark.parametrize(
    ("parameters", "field", "reason"),
    [
        ({}, "parameters.question", "must be set"),
        ({"question": "q", "county": "pt"}, "parameters.county", "it has country, most, question"),
        ({"question": "q", "country": "fr"}, "parameters.country", "one of pt, de"),
        ({"question": "q" * 201}, "parameters.question", "at most 200 characters"),
        ({"question": " "}, "parameters.question", "must be text"),
        ({"question": "a\0b"}, "parameters.question", "must be text"),
        ({"question": ["q"]}, "parameters.question", "must be text"),
        ({"question": "q", "most": 21}, "parameters.most", "from 1 to 20"),
        ({"question": "q", "most": 2.5}, "parameters.most", "an integer"),
        ({"question": "q", "most": True}, "parameters.most", "an integer"),
        ({"question": "q", "most": None}, "parameters.most", "must be set"),
    ],
)
async def test_a_value_that_does_not_fit_is_refused_by_name(
    ana: Caller, admin: Caller, parameters: dict[str, Any], field: str, reason: str
) -> None:
    await put(admin, STRATEGY)

    error = problem(await run(ana, **parameters), 422)["errors"][0]

    assert error["field"] == field
    assert reason in error["detail"]


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    """The strategy with another value in one place."""

    def replaced(value: Any, rest: tuple[str | int, ...]) -> Any:
        if not rest:
            return to
        if isinstance(value, list):
            return [
                replaced(part, rest[1:]) if number == rest[0] else part
                for number, part in enumerate(value)
            ]
        return value | {rest[0]: replaced(value.get(rest[0]), rest[1:])}

    strategy: dict[str, Any] = replaced(STRATEGY, path)
    return strategy


@pytest.mark.parametrize(
    ("strategy", "field", "reason"),
    [
        (changed("plan", to={}), "parameters", "nowhere in the plan"),
        (changed("parameters", to={}), "plan.steps.0.query", "no parameter has the name question"),
        (changed("parameters", "most", "maximum", to=101), "plan.steps.1.top_k", "at most 100"),
        (changed("parameters", "most", "default", to=30), "parameters.most.default", "1 to 20"),
        (
            changed("parameters", "most", to={"type": "integer", "maximum": 3}),
            "parameters.most",
            "needs minimum and maximum",
        ),
        (
            changed("parameters", "most", "values", to=["a"]),
            "parameters.most",
            "integer has no values",
        ),
        (
            changed("parameters", "country", "values", to=["pt", "a\nb"]),
            "parameters.country.values.1",
            "",
        ),
        (
            changed("plan", "steps", 1, "filter", "documents", "from", to="x.document_ids"),
            "plan.steps.1.filter.documents.from",
            "no step has the name x",
        ),
        (changed("plan", "steps", 1, "limit", to=3), "plan.steps.1.limit", "unknown field"),
        (
            changed("plan", "steps", 1, "filter", "updated_after", to={"parameter": "question"}),
            "plan.steps.1.filter.updated_after",
            "datetime",
        ),
    ],
)
async def test_a_strategy_that_some_values_would_break_is_not_stored(
    admin: Caller, strategy: dict[str, Any], field: str, reason: str
) -> None:
    answer = await admin.call("PUT", "/v1/strategies/rules", json=strategy)

    error = problem(answer, 422)["errors"][0]
    assert error["field"].startswith(field)
    assert reason in error["detail"]
    problem(await admin.call("GET", "/v1/strategies/rules"), 404)


async def test_each_type_of_parameter_takes_its_place(ana: Caller, admin: Caller) -> None:
    await ana.put("pt", "Leave in Portugal.", tags=["pt"], metadata={"level": 2})
    strategy = {
        "parameters": {
            "tags": {"type": "strings", "default": ["de"]},
            "alpha": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
            "explain": {"type": "boolean", "default": False},
        },
        "plan": {
            "steps": [
                {
                    "name": "a",
                    "query": "leave",
                    "alpha": {"parameter": "alpha"},
                    "explain": {"parameter": "explain"},
                    "filter": {"tags_any": {"parameter": "tags"}},
                }
            ]
        },
    }
    await put(admin, strategy)

    by_default = await run(ana)
    chosen = await run(ana, tags=["pt", "fr"], alpha=0, explain=True)
    wrong = [await run(ana, tags=value) for value in ("pt", [], ["pt", 1], ["x" * 257], ["a\nb"])]

    assert by_default.json()["steps"][0]["answer"]["hits"] == []
    (hit,) = chosen.json()["steps"][0]["answer"]["hits"]
    assert "explain" in hit
    for answer in wrong:
        assert problem(answer, 422)["errors"][0]["field"] == "parameters.tags"


async def test_a_strategy_belongs_to_its_tenant_and_is_in_its_audit_log(
    gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    await put(admin, STRATEGY)
    stranger = await gateway.caller("eve", tenant=await gateway.new_tenant(), roles=["admin"])

    assert (await stranger.call("GET", "/v1/strategies")).json() == {"strategies": []}
    problem(await stranger.call("GET", "/v1/strategies/rules"), 404)
    problem(await run(stranger, question="leave"), 422)
    problem(await ana.call("PUT", "/v1/strategies/rules", json=STRATEGY), 403)
    await admin.call("DELETE", "/v1/strategies/rules")
    logged = (await admin.call("GET", "/v1/audit/log")).json()["rows"]
    changes = [(row["action"], row["target"]) for row in logged if row["target"] == "rules"]
    assert changes == [("strategy.remove", "rules"), ("strategy.put", "rules")]


@pytest.mark.thorough
async def test_a_tenant_has_a_limited_number_of_strategies(admin: Caller) -> None:
    plan = {"plan": {"steps": [{"name": "a", "query": "leave"}]}}
    for number in range(STRATEGIES_MAX):
        await put(admin, plan, f"s{number}")

    problem(await admin.call("PUT", "/v1/strategies/more", json=plan), 409)
    await put(admin, plan, "s1")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"strategy": "rules", "output": ["apply"]}, "output"),
        ({"strategy": "rules", "steps": [{"name": "a", "query": "q"}]}, "steps"),
        ({"strategy": "No such name"}, "strategy"),
        ({}, "steps"),
    ],
)
async def test_a_call_names_steps_or_a_strategy(
    ana: Caller, fields: dict[str, Any], field: str
) -> None:
    answer = await ana.call("POST", "/v1/search/plan", json=fields)

    assert problem(answer, 422)["errors"][0]["field"] == field


async def test_values_at_many_places_make_no_plan_that_is_too_long_to_be_sent(
    ana: Caller, admin: Caller
) -> None:
    parts = [
        {"type": "in", "key": f"key{number}", "value": {"parameter": "values"}}
        for number in range(60)
    ]
    step = {"query": "leave", "filter": {"attributes": {"type": "or", "filters": parts}}}
    steps = [{"name": f"step{number}", **step} for number in range(PLAN_STEPS_MAX)]
    parameters = {"values": {"type": "strings"}}
    await put(admin, {"parameters": parameters, "plan": {"steps": steps}})

    fits = await run(ana, values=["a" * 256])
    error = problem(await run(ana, values=["a" * 256] * 16), 422)["errors"][0]

    assert fits.status_code == 200, fits.text
    assert error["field"] == "parameters"
    assert f"{PLAN_BYTES_MAX:,} bytes" in error["detail"]
