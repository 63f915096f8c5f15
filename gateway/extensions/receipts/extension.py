"""Receipts: an answer comes with a signed statement of it if the caller prefers one."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
from pydantic import BaseModel, Field
from starlette.responses import Response

from gateway.extension import (
    ApiRoute,
    Extension,
    Preference,
    RequestContext,
    Services,
    listed,
    problems,
)
from gateway.extensions._audit_log.audit_log_reader import AuditLogReader
from gateway.extensions.receipts import receipt_keys
from gateway.extensions.receipts.receipt_issuer import ReceiptIssuer
from gateway.extensions.receipts.receipt_keys import ReceiptKeys
from gateway.extensions.receipts.receipt_schemas import ReceiptKeySet

_PREFERENCE = "receipt"


class ReceiptsSettings(BaseModel):
    """Receipts of answers."""

    keys: str | None = Field(
        None,
        description="comma-separated PEM files of Ed25519 keys: the first signs receipts, all are "
        "published; unset: there are no receipts",
    )


async def get_receipt_keys(context: RequestContext[ReceiptKeys | None]) -> Response:
    """A 404 `Problem` if the operator has configured no keys."""
    if context.services is None:
        detail = "There are no keys: the operator sets NEARHIT_RECEIPTS_KEYS."
        raise problems.not_found("path", detail)
    return Response(orjson.dumps(context.services.published), media_type="application/json")


@asynccontextmanager
async def _open(
    services: Services, settings: ReceiptsSettings
) -> AsyncIterator[ReceiptKeys | None]:
    paths = listed(settings.keys)
    keys = await asyncio.to_thread(receipt_keys.load, paths) if paths else None
    if keys is not None:
        issuer = ReceiptIssuer(keys, AuditLogReader(services.stores.database), time.time)
        services.search.preferred_headers[_PREFERENCE] = issuer.header
    yield keys


EXTENSION = Extension(
    summary="an answer comes with a signed statement of it if the caller prefers one",
    routes=(
        ApiRoute(
            "GET",
            "/v1/receipts/keys",
            get_receipt_keys,
            needs="anyone",
            summary="Get the public keys that verify receipts, as a JSON Web Key Set",
            answer=ReceiptKeySet,
            is_optional=True,
        ),
    ),
    open=_open,
    settings=ReceiptsSettings,
    preferences={
        _PREFERENCE: Preference(
            "a signed statement about the answer",
            header="Nearhit-Receipt",
            content="a JSON Web Signature, if there are keys",
        )
    },
)
