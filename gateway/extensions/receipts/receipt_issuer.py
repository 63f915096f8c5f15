"""Makes the receipts of answers."""

from collections.abc import Callable
from typing import Protocol

from cache.lookup import ServedAnswer
from gateway.extension import SearchRequest, decode_in_steps, revision_header
from gateway.extensions._audit_log.audit_chain import AuditHead
from gateway.extensions.receipts import receipt
from gateway.extensions.receipts.receipt import AuditLogHead, Statement
from gateway.extensions.receipts.receipt_keys import ReceiptKeys


class AuditLogHeads(Protocol):
    async def head(self, tenant: str, /) -> AuditHead | None: ...


class ReceiptIssuer:
    def __init__(
        self, keys: ReceiptKeys, audit_log: AuditLogHeads, now_s: Callable[[], float]
    ) -> None:
        self._keys = keys
        self._audit_log = audit_log
        self._now_s = now_s

    async def header(
        self, sent: bytes, search: SearchRequest, served: ServedAnswer
    ) -> tuple[bytes, bytes]:
        """The header with the receipt of an answer, fresh or cached, to the request body `sent`.

        Raises `DatabaseUnavailable`, for the head of the audit log.
        """
        tenant = search.scope.tenant
        head = await self._audit_log.head(tenant)
        statement = Statement(
            iat=int(self._now_s()),
            tenant=tenant,
            request=receipt.digest(sent),
            query=search.query.digest.hex(),
            scope=search.scope.fingerprint.hex(),
            revision=revision_header(served.valid_until, tenant).decode(),
            answer=receipt.digest(served.body),
            chunks=receipt.chunk_digests(await decode_in_steps(served.body)),
            audit_log=head and AuditLogHead(number=head.number, hash=head.hash.hex()),
        )
        return b"nearhit-receipt", receipt.sign(statement, self._keys).encode()
