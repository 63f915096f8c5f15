"""Which addresses a page may come from."""

from ipaddress import ip_address

import pytest

from gateway.extensions._web.addresses import AddressPolicy, parse_networks

SCHEMES = ("http", "https")


@pytest.mark.parametrize(
    "text",
    ["8.8.8.8", "93.184.215.14", "2606:2800:220:1::1", "2a00:1450:4003::1", "::ffff:8.8.8.8"],
)
def test_a_public_address_may_be_asked(text: str) -> None:
    assert AddressPolicy().allows(ip_address(text))


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "127.8.9.1",
        "0.0.0.0",  # noqa: S104  nothing is bound
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",  # of a provider's own network
        "169.254.169.254",  # metadata of most clouds
        "100.100.100.200",  # of Alibaba's
        "192.0.0.192",  # of Oracle's
        "168.63.129.16",  # Azure's
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",  # metadata of Amazon's
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::1",
        "2001:0:4136:e378::1",
        "2001:1::1",
        "2001:db8::1",
        "3ffe::1",
        "3fff::1",
        "3fff:fff::1",
        "fec0::1",  # once of a site
        "feff::1",
        "5f00::1",  # segments of routes
        "100::1",
        "100:0:0:1::1",
        "::8.8.8.8",
        "4000::1",
    ],
)
def test_any_other_address_may_not(text: str) -> None:
    assert not AddressPolicy().allows(ip_address(text))


def test_a_listed_network_may_be_asked_and_nothing_beside_it() -> None:
    policy = AddressPolicy(parse_networks(["10.1.2.0/24", "fd00:1::/64"]))

    assert policy.allows(ip_address("10.1.2.3"))
    assert policy.allows(ip_address("::ffff:10.1.2.3"))
    assert policy.allows(ip_address("fd00:1::5"))
    assert not policy.allows(ip_address("10.1.3.3"))


def test_a_message_without_tls_goes_to_the_operators_networks_alone() -> None:
    policy = AddressPolicy(parse_networks(["10.1.2.0/24"]))
    plain, safe = (policy.of_messages_to(f"{scheme}://hooks.example") for scheme in SCHEMES)

    assert [each.allows(ip_address("10.1.2.3")) for each in (plain, safe)] == [True, True]
    assert [each.allows(ip_address("8.8.8.8")) for each in (plain, safe)] == [False, True]
    assert [each.allows(ip_address("10.1.3.3")) for each in (plain, safe)] == [False, False]
