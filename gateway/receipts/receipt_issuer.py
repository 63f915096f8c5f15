"""Makes the receipts of answers; see `gateway.receipts.receipt`."""

from collections.abc import Callable
from typing import Protocol

from cache.lookup import ServedAnswer
from gateway.auth.freshness import revision_header
from gateway.receipts import receipt, receipt_keys
from gateway.receipts.receipt import AuditLogHead, Statement
from gateway.receipts.receipt_keys import ReceiptKeys
from gateway.search.search_request import SearchRequest
from gateway.settings.groups.lists import listed
from gateway.settings.settings import Settings
from index.audit.audit_chain import AuditHead


class AuditLogHeads(Protocol):
    async def head(self, tenant: str, /) -> AuditHead | None: ...


class ReceiptIssuer:
    def __init__(
        self, keys: ReceiptKeys, audit_log: AuditLogHeads, now_s: Callable[[], float]
    ) -> None:
        self.keys = keys
        self._audit_log = audit_log
        self._now_s = now_s

    async def issue(self, sent: bytes, search: SearchRequest, served: ServedAnswer) -> str:
        """The receipt of an answer, fresh or cached, to the request body `sent`.

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
            chunks=receipt.chunk_digests(served.body),
            audit_log=head and AuditLogHead(number=head.number, hash=head.hash.hex()),
        )
        return receipt.sign(statement, self.keys)


def build(
    settings: Settings, audit_log: AuditLogHeads, now_s: Callable[[], float]
) -> ReceiptIssuer | None:
    """None if no keys are configured. Raises `CommandError`."""
    paths = listed(settings.receipt_keys)
    return ReceiptIssuer(receipt_keys.load(paths), audit_log, now_s) if paths else None
