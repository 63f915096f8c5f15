"""Somebody of a tenant that is there already, who asks by whole requests."""

from collections.abc import Callable

import httpx2
import orjson

from loadtests.load.request import RequestTemplate
from loadtests.servers.service import Service

Ask = Callable[[str], bytes]
"""The whole request that asks a question."""


def of(made: Service, tenant: str) -> Ask:
    """One of the group `readers`."""
    wanted = {"tenant": tenant, "subject": "bench", "groups": ["readers"]}
    admin = {"Authorization": f"Bearer {made.admin_key}"}
    answer = httpx2.post(f"{made.url}/v1/keys", json=wanted, headers=admin, timeout=60)
    answer.raise_for_status()
    searches = RequestTemplate(f"{made.url}/v1/search", answer.json()["key"])
    return lambda question: searches.encode(orjson.dumps({"query": question}))
