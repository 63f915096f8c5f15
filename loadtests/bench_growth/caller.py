"""A caller of an existing tenant, who encodes questions as requests."""

from collections.abc import Callable

import httpx2
import orjson

from loadtests.load.request import RequestTemplate
from loadtests.servers.service import Service

Ask = Callable[[str], bytes]
"""Encodes a question as a request."""


def of(gateway: Service, tenant: str) -> Ask:
    """A new caller in the group `readers`."""
    body = {"tenant": tenant, "subject": "bench", "groups": ["readers"]}
    admin = {"Authorization": f"Bearer {gateway.admin_key}"}
    answer = httpx2.post(f"{gateway.url}/v1/keys", json=body, headers=admin, timeout=60)
    answer.raise_for_status()
    searches = RequestTemplate(f"{gateway.url}/v1/search", answer.json()["key"])
    return lambda question: searches.encode(orjson.dumps({"query": question}))
