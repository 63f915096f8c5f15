"""A caller of an existing tenant, who encodes questions as requests."""

from collections.abc import Callable

import orjson

from loadtests.load.request import RequestTemplate
from loadtests.servers.service import Service
from loadtests.workload import tenant_client

Ask = Callable[[str], bytes]
"""Encodes a question as a request."""


def of(gateway: Service, tenant: str, subject: str = "bench") -> Ask:
    """A new caller in the group `readers`; callers of one subject share cached answers."""
    return asking(gateway, new_key(gateway, tenant, subject))


def new_key(gateway: Service, tenant: str, subject: str) -> str:
    """A key of the subject, in the group `readers`."""
    return tenant_client.new_key(gateway, tenant, subject, groups=["readers"])


def asking(gateway: Service, key: str) -> Ask:
    """The caller that has the key."""
    searches = RequestTemplate(f"{gateway.url}/v1/search", key)
    return lambda question: searches.encode(orjson.dumps({"query": question}))
