"""A transaction appends to the audit log, which checks rights, or is listed here with why not."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[3]
WITHOUT: Mapping[str, tuple[str, ...]] = {
    "its callers append": (
        "index/postgres/database.py transaction",
        "index/documents/document_store.py _writing",
        "gateway/extensions/scim/user_provisioning.py create",
        "gateway/extensions/scim/user_provisioning.py update",
        "gateway/extensions/scim/user_provisioning.py delete",
    ),
    "a job, whose rights are read when it runs": (
        "index/jobs/job_queue.py enqueue",
        "index/jobs/job_queue.py enqueue_once",
        "index/jobs/job_queue.py enqueue_document",
        "index/jobs/job_queue.py enqueue_if_unchanged",
        "index/jobs/job_queue.py supersede",
        "index/sources/source_store.py enqueue_sync",
    ),
    "no caller's rights: workers, events, counts and the start": (
        "index/embedders/analyser_migration.py enqueue_due",
        "index/embedders/embedding_migration.py switch",
        "index/embedders/embedding_migration.py fill",
        "index/vocabulary/pruning.py run",
        "index/jobs/job_queue.py claim",
        "index/postgres/pooler.py _set_role_properties",
        "index/postgres/connections.py keeps_statements",
        "index/postgres/setup/identifier_spellings.py settle",
        "index/postgres/setup/migrate.py _apply",
        "index/postgres/functions/function_roles.py may_act_as",
        "index/audit/audit_schedule.py enqueue_due",
        "index/sources/source_store.py enqueue_due",
        "index/sources/source_origins.py register",
        "index/tenants/tenant_deletion.py wait_for_writers",
        "index/tenants/tenant_deletion.py remove_rows",
        "index/tenants/tenant_deletion.py drop_partition",
        "index/tenants/tenant_deletion.py end",
        "index/tenants/tenant_deletion.py _locked",
        "index/tenants/tenant_store.py invalidate_partition",
        "index/documents/partitions.py _move",
        "index/documents/partitions.py _index",
        "index/documents/consistency_counts.py recount",
        "gateway/extensions/activity/search_statistics_store.py add",
        "gateway/extensions/popularity/popularity_rollup.py roll_up",
        "gateway/extensions/curation/best_scores.py add",
        "gateway/extensions/curation/low_confidence_store.py add",
        "gateway/extensions/curation/asked_question_store.py add",
        "gateway/extensions/openfga/tuple_store.py apply",
        "gateway/extensions/openfga/tuple_store.py replace",
        "gateway/extensions/openfga/tuple_store.py settle",
        "gateway/extensions/rabbitmq/event_version_store.py keep",
    ),
}


def without_append() -> Iterator[str]:
    for folder in ("index", "gateway"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef):
                    text = ast.unparse(node)
                    appends = "audit_log.append(" in text or "await append(" in text
                    if ".transaction()" in text and not appends:
                        yield f"{path.relative_to(ROOT)} {node.name}"


def test_a_transaction_appends_or_it_is_said_why_not() -> None:
    listed = [name for names in WITHOUT.values() for name in names]

    assert sorted(set(without_append())) == sorted(listed)
