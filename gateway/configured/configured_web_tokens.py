"""What verifies web tokens, if the settings name their keys: of one of the extensions."""

from gateway.auth.web_token_kind import WebTokens
from gateway.errors import CommandError
from gateway.installed_extensions import switched_on
from gateway.settings.settings import Settings

_NAMES = ("jwt_jwks_url", "jwt_secret", "jwt_issuer", "jwt_audience", "mcp_resource_url")


def find(settings: Settings) -> WebTokens | None:
    """None if nothing of web tokens is set. Raises `CommandError` unless one extension reads them.

    No credential is refused that an operator thinks is taken.
    """
    named = [name for name in _NAMES if getattr(settings, name) is not None]
    if not named:
        return None
    extensions = switched_on(settings.extensions_off).values()
    brought = [each.web_tokens for each in extensions if each.web_tokens is not None]
    if len(brought) != 1:
        raise CommandError(
            f"NEARHIT_{named[0].upper()} needs one extension that reads web tokens; {len(brought)} "
            "of those that are on do"
        )
    return brought[0]


def check(settings: Settings) -> None:
    """Raises `CommandError` as `find` does, and if the settings do not fit together."""
    web_tokens = find(settings)
    if web_tokens is not None:
        web_tokens.check(settings)
