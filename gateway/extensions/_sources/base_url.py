"""The address below which a source's documents open in a browser.

Pure.
"""

import re
from urllib.parse import quote, urlsplit

from index.model.document_limits import URI_CHARACTERS_MAX

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|urn:|mailto:")


def checked(base_url: str) -> str:
    """The URL, so that a path can follow. Raises `ValueError`."""
    try:
        parts = urlsplit(base_url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or " " in base_url:
        raise ValueError("must be an http or https URL")
    return base_url if base_url.endswith(("/", "=", "#")) else f"{base_url}/"


def link(base_url: str, path: str, uri: str) -> str:
    """The document's URI below the base.

    path: of the document in its source. uri: its own; an absolute one stays, and a relative one is
    the path as it is, or a reference that somebody has written.
    """
    if _ABSOLUTE.match(uri):
        return uri
    reference = uri.lstrip("/") if uri not in ("", path) else quote(path, safe="/")
    address = base_url + reference
    return address if len(address) <= URI_CHARACTERS_MAX else uri
