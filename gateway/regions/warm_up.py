"""The statements of a far gateway's first requests, which it prepares while it starts."""

from index.postgres.prepared_ahead import NOTHING_AHEAD, PreparedAhead

_OF_EACH_REQUEST = ("tenants.exists", "principals.holder", "tenants.revisions")
# In the order in which a write runs them.
_OF_WRITES = (
    *("documents.stored", "documents.planned_embeddings", "documents.put_embeddings"),
    *("documents.lock_for_write", "documents.versions", "documents.remove_chunks"),
    *("documents.put", "documents.advance", "audit_log.append"),
    *("read_leases.announce", "change_log.since"),
)
_IN_A_REGION = PreparedAhead(
    requests=_OF_EACH_REQUEST,
    all=(*_OF_EACH_REQUEST, *_OF_WRITES),
    searches=("search.survey", "search.exact"),
)


def statements(region: str | None) -> PreparedAhead:
    """None without a region: near PostgreSQL it makes no difference."""
    return NOTHING_AHEAD if region is None else _IN_A_REGION
