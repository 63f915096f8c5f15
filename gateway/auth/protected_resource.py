"""`/mcp` as a protected resource of OAuth 2.1: how a client learns where it can log in (RFC 9728).

1. A client calls `/mcp` without a valid web token and gets a 401 with the address of the metadata.
2. The metadata names the issuer; the client logs in there for the resource's URL (RFC 8707).
3. The issuer's web token names that URL as its audience, so no other service accepts it.

The issuer is not part of this service: `gateway/extensions/web_tokens` verifies its tokens.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from starlette.responses import Response

from gateway.auth.credentials import bearer
from gateway.problems import problems
from gateway.settings.settings import Settings

WELL_KNOWN = "/.well-known/oauth-protected-resource"
WELL_KNOWN_OF_MCP = f"{WELL_KNOWN}/mcp"


@dataclass(frozen=True, slots=True)
class ProtectedResource:
    """url: of `/mcp`, as clients write it. scopes: what a web token needs there."""

    url: str
    issuer: str
    scopes: tuple[str, ...]

    def has_scopes(self, held: Collection[str]) -> bool:
        return all(scope in held for scope in self.scopes)

    def add_challenge(
        self, response: Response, error: Exception, headers: Mapping[bytes, bytes]
    ) -> None:
        """Tell the client of a refused request where to log in, and for which scopes.

        A 403 for another reason than scopes stays as it is: another web token would not help.
        """
        if response.status_code == 401:
            is_sent = bearer(headers.get(b"authorization", b"")) is not None
            response.headers["WWW-Authenticate"] = self._challenge("invalid_token" * is_sent)
        elif isinstance(error, problems.Problem) and error.kind == "insufficient-scope":
            response.headers["WWW-Authenticate"] = self._challenge("insufficient_scope")

    def _challenge(self, error: str) -> str:
        """By RFC 6750, section 3, a request without a credential gets no error code."""
        parameters = {
            "realm": "nearhit",
            "error": error,
            "scope": " ".join(self.scopes),
            "resource_metadata": self.url.removesuffix("/mcp") + WELL_KNOWN_OF_MCP,
        }
        listed = (f'{name}="{value}"' for name, value in parameters.items() if value)
        return f"Bearer {', '.join(listed)}"


def build(settings: Settings) -> ProtectedResource | None:
    """None if no URL is configured: then `/mcp` has no metadata."""
    if settings.mcp_resource_url is None:
        return None
    issuer = settings.jwt_issuer or ""  # `WebTokens.check` refuses to start without one
    return ProtectedResource(settings.mcp_resource_url, issuer, tuple(settings.mcp_scopes.split()))
