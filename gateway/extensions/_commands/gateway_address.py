"""The running gateway that a command calls."""

from common.command_errors import CommandError

_PORT_MAX = 65_535


def gateway_address(url: str, key: str | None) -> tuple[str, str]:
    """The URL and the key of a running gateway; refuses what no request could carry.

    Raises `CommandError`, which does not repeat the key.
    """
    import httpx2

    if not key:
        raise CommandError("no key: set NEARHIT_KEY to a key or token of the tenant")
    if not (key.isascii() and key.isprintable()):
        raise CommandError("NEARHIT_KEY must be one line of ASCII characters")
    try:
        address = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise CommandError(f"NEARHIT_URL is no URL: {error}") from None
    if (
        address.scheme not in ("http", "https")
        or not address.host
        or (address.port or 0) > _PORT_MAX
    ):
        raise CommandError("NEARHIT_URL must be http://HOST:PORT or https://HOST:PORT")
    return url, key
