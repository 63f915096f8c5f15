"""A long body is parsed beside the event loop, on whatever route: other tenants' steps go on."""

import re
import threading
from typing import Any

import pytest

from gateway.bodies import content
from gateway.settings.groups.limits import SEARCH_BYTES_MAX
from gateway.settings.settings import Settings
from tests.gateway.support.gateways import Gateway
from tests.gateway.support.routes import ROUTES

pytestmark = pytest.mark.anyio

LONG = b'{"unknown": "%b"}' % (b"y" * SEARCH_BYTES_MAX)  # longer than what is parsed in one step


async def test_a_long_body_is_parsed_in_a_thread(
    gateway: Gateway, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    roles = ["reader", "writer", "publisher", "admin"]
    admin, threads, decode = await gateway.caller("ana", roles=roles), [], content.decode_json

    def decode_watched(body: bytes, *limits: int) -> Any:
        if len(body) >= len(LONG):
            threads.append(threading.get_ident())
        return decode(body, *limits)

    monkeypatch.setattr(content, "decode_json", decode_watched)
    by_route = {}
    for route in ROUTES:
        if route.body is not None and route.body_bytes_max(settings) >= len(LONG):
            caller = gateway.operator if route.needs == "operator" else admin
            headers = {"content-type": route.body_type or route.media_type}
            path = re.sub(r"\{[^}]*\}", "name", route.path)
            threads.clear()
            await caller.call(route.method, path, content=LONG, headers=headers)
            by_route[f"{route.method} {route.path}"] = [*threads]

    on_loop = {name for name, seen in by_route.items() if threading.get_ident() in seen}
    assert not on_loop
    assert {name for name, seen in by_route.items() if seen} >= {
        "PUT /v1/documents/{document_id:path}",
        "POST /v1/documents/batch",
        "POST /v1/faq-import",
        "POST /v1/compress",
    }, by_route
