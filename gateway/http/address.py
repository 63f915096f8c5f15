"""The address of a request's client: the peer's, or what a trusted proxy says of it."""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.types import Scope

from gateway.setting_groups.lists import listed

_IPV6_PREFIX = 64  # of one client, which has all addresses in it


class ClientAddresses:
    """trusted: addresses or networks, parted by commas. header: in which they name the client."""

    def __init__(self, trusted: str | None, header: str) -> None:
        self._trusted = [ip_network(part) for part in listed(trusted)]
        self._header = header.encode()

    def is_trusted(self, peer: str) -> bool:
        """Whether the peer is a proxy that is believed."""
        address = _parsed(peer) if self._trusted else None
        return address is not None and any(address in each for each in self._trusted)

    def of(self, scope: Scope) -> str:
        """The client that a request counts for: an IPv4 address, or a /64 of IPv6.

        From the right, the first address that no trusted proxy has: what is left of it, the client
        itself may have written.
        """
        client = scope.get("client")
        peer = client[0] if client else ""
        if not self.is_trusted(peer):
            return counted(peer)
        for each in reversed(self._named(scope["headers"])):
            if _parsed(each) is None:
                break
            peer = each
            if not self.is_trusted(peer):
                break
        return counted(peer)

    def _named(self, headers: Iterable[tuple[bytes, bytes]]) -> Sequence[str]:
        values = [value.decode("latin-1") for name, value in headers if name == self._header]
        parts = ",".join(values).split(",")
        if self._header == b"forwarded":
            return list(_of_forwarded(parts))
        return [_without_port(part.strip()) for part in parts]


def counted(address: str) -> str:
    """What addresses of one client have in common."""
    parsed = _parsed(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((parsed, _IPV6_PREFIX), strict=False))
    return address if parsed is None else str(parsed)


def _of_forwarded(parts: Sequence[str]) -> Iterator[str]:
    """RFC 7239, section 4; an element without `for` names nobody."""
    for part in parts:
        fields = dict(field.strip().partition("=")[::2] for field in part.split(";"))
        named = {name.lower(): value for name, value in fields.items()}
        yield _without_port(named.get("for", "").strip('"'))


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
