"""What verifies web tokens, of an extension."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from gateway.auth.authenticator import WebTokenVerifier
from gateway.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class WebTokens:
    """check: refuses settings that a gateway can't have together. Raises `CommandError`.

    open: the verifier; None if the settings name no keys. Raises what `check` raises.
    """

    check: Callable[[Settings], None]
    open: Callable[[Settings], AbstractAsyncContextManager[WebTokenVerifier | None]]
