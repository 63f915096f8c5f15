"""URLs of one host in one spelling, and the identifiers of their documents."""

import re
from hashlib import blake2b
from ipaddress import IPv6Address
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

from index.model.document import DOCUMENT_ID_CHARACTERS_MAX
from index.model.document_limits import URI_CHARACTERS_MAX

_HOST = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[(?P<ipv6>[0-9a-f:.]+)\])(?P<port>:[0-9]{1,5})?"
)
_WRONG_ADDRESS = "must have a valid IPv6 address in its brackets"
_SAFE = "/%:@!$&'()*+,;=~-._"
_PORTS = {"http": 80, "https": 443}
_DIGEST_CHARACTERS = 32


def normalise(url: str, base: str | None = None) -> str:
    """The URL without fragment and default port, its host in lower case.

    base: of a relative URL. Raises `ValueError`, also for a user name or another protocol.
    """
    try:
        parts = urlsplit(urljoin(base, url.strip()) if base else url.strip())
    except ValueError:  # Python checks what is in brackets
        raise ValueError(_WRONG_ADDRESS) from None
    host = canonical_host(parts.netloc.lower())
    if parts.scheme not in _PORTS or host is None:
        raise ValueError("must be an http or https URL without a user name")
    if _port(parts) == 0:
        raise ValueError("must have a port from 1 to 65,535, or none")
    host = host.removesuffix(f":{_PORTS[parts.scheme]}")
    path, query = quote(parts.path, _SAFE) or "/", quote(parts.query, _SAFE + "?")
    normalised = urlunsplit((parts.scheme, host, path, query, ""))
    if len(normalised) > URI_CHARACTERS_MAX:
        raise ValueError(f"is longer than {URI_CHARACTERS_MAX:,} characters")
    return normalised


def canonical_host(host: str) -> str | None:
    """A host in lower case, with its port if it names one; an IPv6 address in its shortest form.

    None if it is none, such as one with a user name. Raises `ValueError` for a wrong address.
    """
    if (parts := _HOST.fullmatch(host)) is None:
        return None
    if parts["ipv6"] is None:
        return host
    try:
        address = IPv6Address(parts["ipv6"])
    except ValueError:
        raise ValueError(_WRONG_ADDRESS) from None
    return f"[{address}]{parts['port'] or ''}"


def _port(parts: SplitResult) -> int | None:
    """None if it has none, 0 if no server can have it."""
    try:
        return parts.port
    except ValueError:
        return 0


def host_of(url: str) -> str:
    """With its port, unless it is the usual one."""
    return urlsplit(url).netloc


def is_within(url: str, start: str) -> bool:
    """Whether the URL is of the same host, and at least as safe."""
    return host_of(url) == host_of(start) and not (
        start.startswith("https:") and url.startswith("http:")
    )


def document_path(url: str) -> str:
    """What identifies the page in its source: path and query, whatever the protocol.

    A long one ends in a digest of the whole.
    """
    parts = urlsplit(url)
    path = parts.path.lstrip("/") + (f"?{parts.query}" if parts.query else "")
    path = path or "index"
    room = DOCUMENT_ID_CHARACTERS_MAX - 129  # the name of a source, and a slash
    if len(path) <= room:
        return path
    digest = blake2b(path.encode(), digest_size=_DIGEST_CHARACTERS // 2).hexdigest()
    return f"{path[: room - _DIGEST_CHARACTERS - 1]}-{digest}"
