"""The addresses of a host: allowed, few enough, and found in time."""

import threading
import time
from typing import Any

import pytest

from gateway.extensions._web.addresses import AddressPolicy
from gateway.extensions._web.errors import Unfetchable
from gateway.extensions._web.resolver import RESOLVED_MAX, TENANT_LOOKUPS_MAX, Resolver


def answering(*addresses: str, tenant: str = "") -> Resolver:
    found = [(2, 1, 6, "", (address, 80)) for address in addresses]
    return Resolver(AddressPolicy(), lambda _host, _port: list(found), tenant=tenant)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "x" * 300]
)
def test_a_host_whose_address_may_not_be_asked_has_none(host: str) -> None:
    with pytest.raises(Unfetchable, match=r"not public|has no address"):
        Resolver(AddressPolicy()).resolve(host, 80)


def test_a_host_with_public_and_other_addresses_is_refused() -> None:
    with pytest.raises(Unfetchable, match="not public"):
        answering("8.8.8.8", "8.8.4.4", "1.1.1.1", "9.9.9.9", "10.0.0.1").resolve("h", 80)


def test_a_few_addresses_are_tried_each_once() -> None:
    resolver = answering("8.8.8.8", "8.8.8.8", "8.8.4.4", "1.1.1.1", "9.9.9.9", "1.0.0.1")

    assert resolver.resolve("h", 80) == ["8.8.8.8", "8.8.4.4", "1.1.1.1", "9.9.9.9"]


def test_a_host_with_very_many_addresses_is_refused() -> None:
    many = [f"8.8.{number}.8" for number in range(RESOLVED_MAX + 1)]

    with pytest.raises(Unfetchable, match="more than 64 addresses"):
        answering(*many).resolve("h", 80)
    assert answering(*many[1:]).resolve("h", 80)


def test_a_name_server_that_does_not_answer_is_not_waited_for() -> None:
    ended = threading.Event()

    def lookup(_host: str, _port: int) -> list[Any]:
        ended.wait()
        return []

    begun_s = time.monotonic()
    try:
        with pytest.raises(Unfetchable, match="not found in time"):
            Resolver(AddressPolicy(), lookup, seconds_max=0.1).resolve("slow.example", 80)
        assert time.monotonic() - begun_s < 5
    finally:
        ended.set()


def test_lookups_that_nobody_answers_leave_some_to_other_tenants() -> None:
    ended, begun = threading.Event(), list[str]()

    def lookup(host: str, _port: int) -> list[Any]:
        begun.append(host)
        ended.wait()
        return []

    try:
        for number in range(TENANT_LOOKUPS_MAX + 1):
            slow = Resolver(AddressPolicy(), lookup, tenant="greedy", seconds_max=0.05)
            with pytest.raises(Unfetchable, match="not found in time"):
                slow.resolve(f"{number}.example", 80)
        others = answering("8.8.8.8", tenant="other").resolve("fast.example", 80)
    finally:
        ended.set()

    assert others == ["8.8.8.8"]
    assert len(begun) == TENANT_LOOKUPS_MAX
