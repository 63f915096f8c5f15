"""The audiences that a web token names; URLs are equal in their normal form.

Issuers write a resource's URL in their own way: with a slash at its end, the default port, or a
host in capitals. RFC 3986, section 6.2, says which differences mean nothing; of the others, only
one slash at the end of the path is ignored, as authorization of MCP recommends.
"""

import re
from collections.abc import Iterable

import httpx2

_ENCODED = re.compile("%([0-9a-f]{2})", re.IGNORECASE)
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")


def normal_forms(claim: object) -> frozenset[str]:
    """The audiences of a claim that is one string or a list of strings; none if it is neither."""
    names: Iterable[object] = [claim] if isinstance(claim, str) else ()
    if isinstance(claim, list):
        names = claim
    return frozenset(normal_form(name) for name in names if isinstance(name, str))


def normal_form(audience: str) -> str:
    """Equal for all forms of one URL. What is no URL of HTTP is left as it is."""
    try:
        # The second time, the scheme in small letters tells the default port.
        url = httpx2.URL(str(httpx2.URL(_ENCODED.sub(_decoded, audience))))
    except httpx2.InvalidURL:
        return audience
    if url.scheme not in ("https", "http") or not url.host:
        return audience
    text = str(url)
    return text if "?" in text or "#" in text else text.removesuffix("/")


def _decoded(encoded: re.Match[str]) -> str:
    character = chr(int(encoded[1], 16))
    return character if _UNRESERVED.fullmatch(character) else encoded[0].upper()
