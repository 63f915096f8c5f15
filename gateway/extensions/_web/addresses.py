"""Which addresses a page may come from: public ones, and networks that the operator lists."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_network,
)
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

# IANA gives out IPv6 addresses of hosts from here alone.
_GLOBAL_UNICAST = ip_network("2000::/3")
# Of IANA's registries of special purposes and of clouds, what some version of Python counts as
# global. An address that contains another one leads to that.
_NOT_PUBLIC: tuple[Network, ...] = (
    ip_network("168.63.129.16/32"),  # services of Azure's virtual machines
    ip_network("192.0.0.0/24"),  # of Oracle's cloud, among others
    ip_network("192.88.99.0/24"),  # relays of 6to4
    ip_network("198.18.0.0/15"),
    ip_network("2001::/23"),  # of protocols, such as Teredo
    ip_network("2002::/16"),  # 6to4
    ip_network("3ffe::/16"),  # of a network that ended: RFC 3701
    ip_network("3fff::/20"),  # documentation: RFC 9637
)


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """networks: further ones that may be asked, such as that of an internal help centre.

    allows_public: False if these alone may be asked.
    """

    networks: tuple[Network, ...] = ()
    allows_public: bool = True

    def of_messages_to(self, url: str) -> "AddressPolicy":
        """Where a message to this URL may go: without TLS, to the operator's networks alone."""
        return self if url.startswith("https:") else replace(self, allows_public=False)

    def allows(self, address: Address) -> bool:
        plain = getattr(address, "ipv4_mapped", None) or address
        return _is_in(plain, self.networks) or (
            self.allows_public
            and plain.is_global
            and not (plain.is_multicast or plain.is_reserved or plain.is_unspecified)
            and (plain.version == 4 or plain in _GLOBAL_UNICAST)
            and not _is_in(plain, _NOT_PUBLIC)
        )


def parse_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Raises `ValueError`."""
    return tuple(map(ip_network, texts))


def _is_in(address: Address, networks: Sequence[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)
