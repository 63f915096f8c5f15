"""Web tokens of an identity provider are credentials, as keys are."""

from gateway.extension import Extension, WebTokens
from gateway.extensions.web_tokens import web_tokens

EXTENSION: Extension[None] = Extension(
    "web tokens (JWT) of an identity provider are credentials, as keys are",
    web_tokens=WebTokens(web_tokens.check, web_tokens.open_client),
)
