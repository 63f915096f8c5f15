"""JSON Web Keys (RFC 7517)."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

_THUMBPRINT_MEMBERS = {"RSA": ("e", "kty", "n"), "EC": ("crv", "kty", "x", "y"),
                       "OKP": ("crv", "kty", "x")}  # fmt: skip


def thumbprint(key: Mapping[str, Any]) -> str | None:
    """The thumbprint by RFC 7638, which ignores the `kid`. None if the key is incomplete."""
    members = {name: key.get(name) for name in _THUMBPRINT_MEMBERS.get(str(key.get("kty")), ())}
    if not members or not all(isinstance(value, str) for value in members.values()):
        return None
    digest = hashlib.sha256(orjson.dumps(members, option=orjson.OPT_SORT_KEYS)).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
