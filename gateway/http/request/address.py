"""The address of a request's client: the peer's, or the one that a trusted proxy reports."""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.types import Scope

from gateway.settings.groups.lists import listed

_IPV6_PREFIX = 64  # one client has all addresses of such a network


class ClientAddresses:
    """trusted: proxies' addresses or networks, separated by commas.

    header: in which proxies name the client.
    """

    def __init__(self, trusted: str | None, header: str) -> None:
        self._trusted = [ip_network(part) for part in listed(trusted)]
        self._header = header.encode()

    def is_trusted(self, peer: str) -> bool:
        """Whether the peer is a trusted proxy."""
        address = _parse(peer) if self._trusted else None
        return address is not None and any(address in network for network in self._trusted)

    def network_of(self, scope: Scope) -> str:
        """The network of a request's client: an IPv4 address, or a /64 of IPv6.

        It is the rightmost address that is no trusted proxy's: a client can forge those before it.
        """
        client = scope.get("client")
        peer = client[0] if client else ""
        if not self.is_trusted(peer):
            return client_network(peer)
        for address in reversed(self._reported(scope["headers"])):
            if _parse(address) is None:
                break
            peer = address
            if not self.is_trusted(peer):
                break
        return client_network(peer)

    def _reported(self, headers: Iterable[tuple[bytes, bytes]]) -> Sequence[str]:
        values = [value.decode("latin-1") for name, value in headers if name == self._header]
        parts = ",".join(values).split(",")
        if self._header == b"forwarded":
            return list(_parse_forwarded(parts))
        return [_without_port(part.strip()) for part in parts]


def client_network(address: str) -> str:
    """An IPv4 address as it is; the /64 network of an IPv6 address."""
    parsed = _parse(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((parsed, _IPV6_PREFIX), strict=False))
    return address if parsed is None else str(parsed)


def _parse_forwarded(parts: Sequence[str]) -> Iterator[str]:
    """The `for` of each element (RFC 7239, section 4); empty for an element without one."""
    for part in parts:
        fields = dict(field.strip().partition("=")[::2] for field in part.split(";"))
        values = {name.lower(): value for name, value in fields.items()}
        yield _without_port(values.get("for", "").strip('"'))


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def _parse(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
