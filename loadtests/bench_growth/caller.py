"""Somebody of a tenant that is there already, who asks by whole requests."""

from collections.abc import Callable

import httpx2
import orjson

from loadtests.load.request import RequestTemplate
from loadtests.servers.service import Service

Ask = Callable[[str], bytes]
"""The whole request that asks a question."""


def of(gateway: Service, tenant: str) -> Ask:
    """One of the group `readers`."""
    body = {"tenant": tenant, "subject": "bench", "groups": ["readers"]}
    admin = {"Authorization": f"Bearer {gateway.admin_key}"}
    answer = httpx2.post(f"{gateway.url}/v1/keys", json=body, headers=admin, timeout=60)
    answer.raise_for_status()
    searches = RequestTemplate(f"{gateway.url}/v1/search", answer.json()["key"])
    return lambda question: searches.encode(orjson.dumps({"query": question}))
