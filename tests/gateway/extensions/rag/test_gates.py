"""Which messages are questions for the documents, and what becomes of those that are not."""

import pytest

from gateway.extensions._gates import query_gate
from gateway.extensions._gates.query_gate import GateWords
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

CLOSED = (
    *("Hi!", "Hello there", "Good morning :)", "Thanks a lot!", "how are you?", "OK, got it. Bye!"),
    *("Oi", "Bom dia!", "Tudo bem?", "Muito obrigada, até logo", "ok valeu", "Como vai você?"),
    *("¡Hola!", "Buenos días", "¿Qué tal?", "Muchas gracias, hasta luego", "vale, perfecto"),
    *("...", "👍", "?!"),
)
OPEN = (
    *("How do I reset my password?", "hello, my VPN is dead", "thanks, but it does not work"),
    *("and the first one?", "vacation days", "what's up with the invoice"),
    *("Como faço para trocar a senha", "oi, não consigo entrar", "obrigado, e o prazo?", "férias"),
    *(
        "¿Cómo cambio la contraseña?",
        "hola, no puedo entrar",
        "gracias, ¿y el plazo?",
        "vacaciones",
    ),
)


@pytest.mark.parametrize("message", CLOSED)
def test_small_talk_is_no_question(message: str) -> None:
    assert not query_gate.classify(message, query_gate.default_words("support")).is_open


@pytest.mark.parametrize("message", OPEN)
def test_a_question_is_one_also_amid_small_talk(message: str) -> None:
    assert query_gate.classify(message, query_gate.default_words("support")).is_open


def test_words_of_ones_own_can_close_whatever_does_not_hold_them() -> None:
    words = GateWords(("order", "track my"), ("ciao",), "closed")

    assert query_gate.classify("Where is my ORDER", words).is_open
    assert query_gate.classify("track my thing", words).is_open
    assert query_gate.classify("وزن؟", words).is_open
    assert query_gate.classify("重さは？", words).is_open  # noqa: RUF001  its own mark
    assert query_gate.classify("is it there?", words).is_open
    assert not query_gate.classify("the weather", words).is_open
    assert not query_gate.classify("ciao ciao", words).is_open


async def test_what_is_no_question_is_not_searched(gateway: Gateway, ana: Caller) -> None:
    await ana.put("thanks", "Thanks are in order.")

    closed = await ana.search("Thanks!", gate="support")
    fills = await gateway.fills()
    open_ = await ana.search("Thanks are in what?", gate="support")
    plain = await ana.search("Thanks are in what?")

    assert closed.json() == {"hits": [], "gate": "closed"}
    assert closed.headers["nearhit-gate"] == "closed; small-talk"
    assert closed.headers["cache-control"] == "no-store"
    assert fills == 0
    assert open_.headers["nearhit-gate"] == "open; question"
    assert open_.content == plain.content
    assert plain.headers["cache-status"] == "nearhit; hit; detail=memory"


async def test_a_tenant_says_its_own_words_from_the_next_message_on(
    gateway: Gateway, other_worker: Gateway, ana: Caller, admin: Caller
) -> None:
    globex = await gateway.new_tenant()
    eve = await gateway.caller("eve", tenant=globex)
    body = {"open": ["order"], "default": "closed"}
    for name in ("support", "shop"):
        put = await admin.call("PUT", f"/v1/gates/{name}", json=body)
        assert put.json()["open"] == ["order"]
        assert put.json()["custom"] is True
    asked = {"query": "the weather", "gate": "support"}

    for worker in (gateway, other_worker):
        there = worker.as_(ana)
        assert (await there.call("POST", "/v1/search", json=asked)).json()["gate"] == "closed"
    assert "gate" not in (await eve.call("POST", "/v1/search", json=asked)).json()
    problem(await eve.call("POST", "/v1/search", json=asked | {"gate": "shop"}), 422)
    await admin.call("PUT", "/v1/gates/support", json={})
    assert "gate" not in (await ana.call("POST", "/v1/search", json=asked)).json()
    shown = (await admin.call("GET", "/v1/gates/support")).json()
    assert shown["custom"] is False
    assert "obrigado" in shown["closed"]


async def test_of_a_gate_that_is_built_in_each_list_stays_until_it_is_set(admin: Caller) -> None:
    usual = (await admin.call("GET", "/v1/gates/support")).json()
    set_, empty = {"open": ["order"]}, {"open": [], "closed": ["ciao"]}

    put = [
        (await admin.call("PUT", f"/v1/gates/{name}", json=body)).json()
        for name in ("support", "shop")
        for body in (set_, {"closed": ["ciao"]}, empty)
    ]

    assert [(each["open"], each["closed"]) for each in put] == [
        (["order"], usual["closed"]),
        (usual["open"], ["ciao"]),
        ([], ["ciao"]),
        (["order"], []),
        ([], ["ciao"]),
        ([], ["ciao"]),
    ]


@pytest.mark.thorough
async def test_what_is_no_gate_is_refused(ana: Caller, admin: Caller) -> None:
    problem(await admin.call("GET", "/v1/gates/none"), 404)
    problem(await admin.call("PUT", "/v1/gates/No", json={"open": ["x"]}), 422)
    problem(await admin.call("PUT", "/v1/gates/x", json={"open": ["x"] * 1_001}), 422)
    for phrase in ("x" * 101, "nul\0", "line\nbreak", " "):
        problem(await admin.call("PUT", "/v1/gates/x", json={"open": [phrase]}), 422)
    problem(await ana.call("PUT", "/v1/gates/x", json={"open": ["x"]}), 403)
    for number in range(20):
        assert (
            await admin.call("PUT", f"/v1/gates/g{number}", json={"open": ["x"]})
        ).status_code == 200
    problem(await admin.call("PUT", "/v1/gates/more", json={"open": ["x"]}), 409)
