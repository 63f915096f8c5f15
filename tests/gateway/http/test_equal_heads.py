"""Two heads are equal if they differ in the length, the request's id and `traceparent` alone."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from cache.rate_limit import RateLimiter
from common.shares.budget import FairBudget
from gateway.auth.authenticator import Authenticator
from gateway.auth.freshness import STRONG, Freshness
from gateway.http.admission import AdmissionControl
from gateway.http.deadlines import Deadlines
from gateway.http.known_heads import KnownHead, KnownHeads
from gateway.http.telemetry import RequestRecorder
from index.tenants.principals import Principal

pytestmark = pytest.mark.anyio

ANA = Principal(b"digest", "key", "acme", "ana", (), ("reader",), None, "a1", 0)
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Knowing:
    """Knows ana, and logs nothing."""

    def known(self, _digest: bytes) -> Principal:
        return ANA

    def recall(self, *_: object) -> SimpleNamespace:
        return SimpleNamespace(principal=ANA)


class Tokens:
    """Those of one bucket."""

    has_token = True

    def __init__(self) -> None:
        self.spent = 0

    def spend(self) -> bool:
        self.spent += 1
        return True

    def unspend(self) -> None:
        self.spent -= 1


class AnyRequest:
    freshness: Freshness = STRONG
    is_in_memory = True
    may_be_computed = False

    def recall(self, *_: object) -> None:
        return None

    async def compute(self, *_: object) -> None:
        return None


def heads(*, is_traced: bool = False) -> KnownHeads:
    budget = FairBudget(total_max=1_000, tenant_max=1_000)
    return KnownHeads(
        cast("Authenticator", Knowing()),
        AdmissionControl({}, requests=budget, streams=budget, body_bytes=budget),
        Deadlines(),
        cast("RequestRecorder", Knowing()),
        {},
        is_traced=is_traced,
    )


def request(body: bytes = b"{}", *, length: str = "", **lines: str) -> bytes:
    fields = {
        "Host": "x",
        "Authorization": "Bearer nh_ana",
        "X-Forwarded-For": "192.0.2.1",
        "X_Request_Id": "mine",
        "Content-Type": "application/json",
        "Content-Length": length or str(len(body)),
        **lines,
    }
    head = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items()]
    return b"POST /v1/search HTTP/1.1\r\n" + "".join(head).encode("latin-1") + b"\r\n" + body


def remembering(received: bytes, **options: Any) -> KnownHeads:
    knowing = heads(**options)
    read = lambda body: AnyRequest() if body.startswith(b"{") else None  # noqa: E731
    knowing.remember(received, KnownHead("POST", "/v1/search", ANA, read))
    return knowing


async def test_length_id_and_traceparent_may_differ() -> None:
    knowing = remembering(request(traceparent=PARENT))
    others = [
        request(traceparent=PARENT),
        request(b'{"query":"leave"}', traceparent=PARENT),
        request(traceparent=PARENT.replace("0af", "1af")),
        request(X_Request_Id="yours", traceparent=PARENT),
    ]

    found = [knowing.find(other, 0.0) for other in others]

    assert [each and each.trace.request_id for each in found] == ["mine"] * 3 + ["yours"]


async def test_a_head_that_differs_in_any_other_byte_is_another_one() -> None:
    received = request(traceparent=PARENT)
    knowing = remembering(received)
    end = received.index(b"\r\n\r\n")
    values = b" mine", b" " + PARENT.encode(), b" 2"  # a space before a value means nothing
    free = {at for value in values for at in _places(received, value)}

    for at in range(end + 4):
        for byte in (b"\0", b"\n", b"\r", b" ", b"x", b"~", b"\xff", b""):
            changed = received[:at] + byte + received[at + 1 :]
            if changed != received and at not in free:
                assert knowing.find(changed, 0.0) is None, changed


def _places(received: bytes, value: bytes) -> range:
    at = received.index(value + b"\r\n")
    return range(at, at + len(value))


@pytest.mark.parametrize(
    "lines",
    [
        {"Authorization": "Bearer nh_ben"},
        {"X-Forwarded-For": "192.0.2.2"},  # by which a trusted proxy names the client
        {"Nearhit_Min_Revision": "5"},
        {"Request_Timeout": "5"},
        {"Prefer": "receipt"},
        {"traceparent": "none"},
        {"traceparent": PARENT.upper()},
        {"X_Request_Id": "not one!"},
        {"X_Request_Id": "x" * 65},
        {"X_Request_Id": "mine\r\nAuthorization: Bearer nh_ben"},
        {"X_Request_Id": "mine\nAuthorization: Bearer nh_ben"},
        {"X_Request_Id": "mi\0ne"},
    ],
)
async def test_what_the_head_says_otherwise_is_not_known(lines: dict[str, str]) -> None:
    other = request(b"{}", **{"traceparent": PARENT, **lines})

    assert remembering(request(traceparent=PARENT)).find(other, 0.0) is None


@pytest.mark.parametrize("length", ["1", "3", "02", "+2", "2 ", "-2", "2, 2", "0x2", "two"])
async def test_a_length_that_is_not_the_bodys_is_left_to_the_parser(length: str) -> None:
    assert remembering(request()).find(request(length=length), 0.0) is None


async def test_bytes_after_the_body_or_before_its_end_are_left_to_the_parser() -> None:
    knowing = remembering(request())

    assert knowing.find(request() + b"{", 0.0) is None
    assert knowing.find(request()[:-1], 0.0) is None
    assert knowing.find(request() + request(), 0.0) is None
    assert knowing.find(request(b"[]"), 0.0) is None  # a body that memory has no answer to


async def test_a_traced_request_takes_the_usual_way() -> None:
    knowing = remembering(request(traceparent=PARENT), is_traced=True)

    assert knowing.find(request(traceparent=PARENT), 0.0) is None


async def test_what_takes_the_usual_way_has_spent_no_token() -> None:
    tokens, answered = Tokens(), list[object]()
    knowing = remembering(request())
    rate = SimpleNamespace(size=1, per_s=1.0)
    limiter = SimpleNamespace(local_tokens=lambda *_: tokens, rate=rate)
    knowing.admission = AdmissionControl(
        {"key": cast("RateLimiter", limiter)},
        requests=knowing.admission.requests,
        streams=knowing.admission.streams,
        body_bytes=knowing.admission.body_bytes,
    )

    assert knowing.find(request(b"[]"), 0.0) is None  # which the application has to read
    assert tokens.spent == 0
    found = knowing.find(request(), 0.0)
    assert found is not None
    assert tokens.spent == 1
    found.begin(answered.append)  # memory has no answer after all

    assert answered == [None]
    assert tokens.spent == 0
