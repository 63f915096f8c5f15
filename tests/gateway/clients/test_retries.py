"""When a call is sent again: one table for both clients. No gateway is needed."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import pytest

from nearhit_client import AsyncClient, Client, NearhitError, Retries

CASES = json.loads((Path(__file__).parent / "retries.json").read_bytes())
PROBLEM = {
    "type": "urn:nearhit:problem:quota-exceeded",
    "title": "Quota exceeded",
    "status": 409,
    "detail": "The tenant has as many documents as it may have.",
    "errors": [{"field": "text", "detail": "is one too many"}],
    "quota": "documents",
}
Case: TypeAlias = Mapping[str, Any]
_URL = "http://gateway.test"
_AT_ONCE = Retries(backoff_s=0)


class ScriptedGateway:
    """Replies one after the other: a status, `lost`, `refused`, or a status with more."""

    def __init__(self, replies: list[Any]) -> None:
        self.requests: list[httpx2.Request] = []
        self._replies = [*replies]

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        reply = self._replies.pop(0)
        if reply == "lost":
            raise httpx2.ReadError("the connection was lost")
        if reply == "refused":
            raise httpx2.ConnectError("no connection")
        fields = reply if isinstance(reply, dict) else {"status": reply}
        after = fields.get("retry_after")
        headers = {} if after is None else {"Retry-After": after}
        return httpx2.Response(fields["status"], headers=headers, json=fields)


def call(gateway: ScriptedGateway, method: str, **options: Any) -> httpx2.Response:
    with httpx2.Client(transport=httpx2.MockTransport(gateway)) as http:
        return Client(_URL, "key", retries=_AT_ONCE, http=http).request(method, "/x", **options)


def call_async(gateway: ScriptedGateway, method: str, **options: Any) -> httpx2.Response:
    async def main() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(gateway)) as http:
            client = AsyncClient(_URL, "key", retries=_AT_ONCE, http=http)
            return await client.request(method, "/x", **options)

    return asyncio.run(main())


@pytest.mark.parametrize("send", [call, call_async])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_call_is_sent_again_where_that_helps_and_does_no_harm(
    case: Case, send: Callable[..., httpx2.Response]
) -> None:
    gateway = ScriptedGateway(case["replies"])
    options = {name: case[name] for name in ("headers", "repeats") if name in case}
    last = case["replies"][case["sent"] - 1]

    if isinstance(last, int) and last < 400:
        assert send(gateway, case["method"], **options).status_code == last
    else:
        with pytest.raises(NearhitError):
            send(gateway, case["method"], **options)

    assert len(gateway.requests) == case["sent"]


def test_an_error_has_the_fields_of_its_problem() -> None:
    headers = {"X-Request-Id": "r-1", "Retry-After": "7"}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(409, headers=headers, json=PROBLEM))
    client = Client(_URL, "", retries=Retries(0), http=httpx2.Client(transport=transport))

    with pytest.raises(NearhitError) as raised:
        client.put_document("leave", text="25 days")

    error = raised.value
    assert (error.status, error.kind, error.detail) == (409, "quota-exceeded", PROBLEM["detail"])
    assert error.errors == PROBLEM["errors"]
    assert (error.problem["quota"], error.request_id) == ("documents", "r-1")
    assert error.retry_after_s == 7
    assert str(error) == f"409 Quota exceeded: {PROBLEM['detail']} text: is one too many"


def test_an_error_of_a_proxy_has_its_text() -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(404, text="<html>"))
    client = Client(_URL, "", http=httpx2.Client(transport=transport))

    with pytest.raises(NearhitError, match="404 Status 404: <html>"):
        client.search(query="leave")


def test_a_lost_connection_is_an_error_with_its_cause() -> None:
    with pytest.raises(NearhitError, match="0 No answer: ReadError: the connection") as raised:
        call(ScriptedGateway(["lost"]), "POST")

    assert raised.value.kind == "unreachable"
    assert isinstance(raised.value.__cause__, httpx2.ReadError)


def test_lines_of_a_generator_are_sent_again_too() -> None:
    gateway = ScriptedGateway([503, 200])

    call(gateway, "POST", lines=(line for line in ({"id": "a"}, {"id": "b"})), repeats=True)

    assert [request.read() for request in gateway.requests] == [b'{"id":"a"}\n{"id":"b"}\n'] * 2
