"""robots.txt of a host (RFC 9309)."""

from typing import Protocol
from urllib.parse import urljoin

from gateway.extensions._web.client import AGENT, Fetched, WebClient
from gateway.extensions._web.errors import Unfetchable

ROBOTS_BYTES_MAX = 512 * 2**10  # the standard asks for 500 KiB at least
DELAY_S_MAX = 60.0  # a host that asks for a longer delay is not read


class Rules(Protocol):
    """Of `protego.Protego`."""

    def can_fetch(self, url: str, user_agent: str, /) -> bool: ...

    def crawl_delay(self, user_agent: str, /) -> float | None: ...


class Robots:
    """What a host allows. Raises `Unfetchable` where it does not say: see `read`."""

    def __init__(self, rules: Rules | None) -> None:
        self._rules = rules

    def require(self, url: str) -> None:
        """Raises `Unfetchable` if the host asks not to read the page."""
        if self._rules is not None and not self._rules.can_fetch(url, AGENT):
            raise Unfetchable("the host's robots.txt asks not to read it")

    @property
    def delay_s(self) -> float:
        delay = None if self._rules is None else self._rules.crawl_delay(AGENT)
        return float(delay or 0.0)


def read(client: WebClient, start: str) -> Robots:
    """The rules of the host; none if it has no such file. Raises `Unfetchable`.

    While the file can't be read, nothing may be: the host may have forbidden it.
    """
    fetched = client.get(urljoin(start, "/robots.txt"), body_bytes_max=ROBOTS_BYTES_MAX)
    if 400 <= fetched.status < 500 and fetched.status != 429:
        return Robots(None)
    if fetched.status != 200:
        raise Unfetchable(f"robots.txt is answered with {fetched.status}, so nothing may be read")
    robots = Robots(_parse(fetched))
    if robots.delay_s > DELAY_S_MAX:
        raise Unfetchable(f"robots.txt asks for a delay of more than {DELAY_S_MAX:.0f} s")
    return robots


def _parse(fetched: Fetched) -> Rules:
    try:
        from protego import Protego
    except ImportError:
        raise Unfetchable("needs the extra `web`: pip install '.[web]' in a checkout") from None
    rules: Rules = Protego.parse(fetched.body.decode("utf-8", "replace"))
    return rules
