"""What verifies web tokens, if the settings name their keys: of one of the extensions."""

from gateway.auth.web_token_kind import WebTokens
from gateway.configured import of_one_extension
from gateway.settings.settings import Settings

_NAMES = ("jwt_jwks_url", "jwt_secret", "jwt_issuer", "jwt_audience", "mcp_resource_url")


def find(settings: Settings) -> WebTokens | None:
    """None if nothing of web tokens is set. Raises `CommandError` unless one extension reads them.

    No credential is refused that an operator thinks is taken.
    """
    named = [name for name in _NAMES if getattr(settings, name) is not None]
    if not named:
        return None
    return of_one_extension.require(
        settings, lambda each: each.web_tokens, "read web tokens", named[0]
    )


def check(settings: Settings) -> None:
    """Raises `CommandError` as `find` does, and if the settings do not fit together."""
    web_tokens = find(settings)
    if web_tokens is not None:
        web_tokens.check(settings)
