"""What PostgreSQL stores, a store for each kind of row; every room takes those that it uses."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.settings.settings import Settings
from index.audit.audit_log import AuditLog
from index.documents.document_store import DocumentStore
from index.documents.visible_documents import VisibleDocuments
from index.jobs.job_queue import JobQueue
from index.jobs.process_store import ProcessStore
from index.model.quota import Quotas
from index.postgres.database import Database
from index.search.confidence import ConfidenceStore
from index.tenants.keys import KeyStore
from index.tenants.principals import PrincipalStore
from index.tenants.quota_store import QuotaStore
from index.tenants.tenant_store import TenantStore

_PRUNING_PAUSES = 12  # of a job: the words of about a minute's deletions are pruned in one reading


@dataclass(frozen=True, slots=True)
class Stores:
    database: Database
    tenants: TenantStore
    keys: KeyStore
    principals: PrincipalStore
    documents: DocumentStore
    visible_documents: VisibleDocuments
    jobs: JobQueue
    processes: ProcessStore
    quotas: QuotaStore
    audit_log: AuditLog
    confidences: ConfidenceStore

    @classmethod
    def of(
        cls,
        database: Database,
        settings: Settings,
        on_went_back: Callable[[], None] | None = None,
    ) -> "Stores":
        """on_went_back: see `TenantStore`."""
        quotas = default_quotas(settings)
        return cls(
            database=database,
            tenants=TenantStore(database, on_went_back),
            keys=KeyStore(database),
            principals=PrincipalStore(database, shares_public=settings.public_documents),
            documents=DocumentStore(
                database,
                unlearn_s=_PRUNING_PAUSES * settings.job_retry_delay_s,
                default_quotas=quotas,
            ),
            visible_documents=VisibleDocuments(database),
            jobs=JobQueue(database),
            processes=ProcessStore(database),
            quotas=QuotaStore(database, quotas),
            audit_log=AuditLog(database),
            confidences=ConfidenceStore(database),
        )


def default_quotas(settings: Settings) -> Quotas:
    """Of tenants without quotas of their own."""
    return Quotas(**settings.tenant_quotas)
