"""A change appends to the audit log, which checks rights, or is listed here with why not."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from index.postgres import statements

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
    ),
    "an upload's, whose document is appended once it is written or removed": (
        "gateway/extensions/vector_stores/stored/vector_store_store.py attach",
        "gateway/extensions/vector_stores/stored/vector_store_store.py record_file",
        "gateway/extensions/vector_stores/stored/vector_store_store.py detach",
        "gateway/extensions/vector_stores/stored/vector_store_store.py forget_refused",
        "gateway/extensions/vector_stores/stored/vector_store_store.py end_lost_requests",
    ),
    "no caller's rights: workers, events, counts and the start": (
        "gateway/extensions/reembed/analyser_migration.py enqueue_due",
        "gateway/extensions/reembed/embedding_migration.py switch",
        "gateway/extensions/reembed/embedding_migration.py fill",
        "gateway/extensions/replay/past_store.py _make_triggers",
        "gateway/extensions/replay/past_store.py prune",
        "index/vocabulary/pruning.py run",
        "index/jobs/job_queue.py claim",
        "index/postgres/pooler.py _set_role_properties",
        "index/postgres/read_leases.py run_out",
        "index/postgres/connections.py keeps_statements",
        "index/postgres/setup/identifier_spellings.py settle",
        "index/postgres/setup/migrate.py _apply",
        "index/postgres/functions/function_roles.py may_act_as",
        "gateway/extensions/_audits/audit_schedule.py enqueue_due",
        "gateway/extensions/_sources/source_store.py enqueue_due",
        "gateway/extensions/_ingest/source_origins.py register",
        "index/tenants/tenant_deletion.py wait_for_writers",
        "index/tenants/tenant_deletion.py remove_rows",
        "index/tenants/tenant_deletion.py drop_partition",
        "index/tenants/tenant_deletion.py end",
        "index/tenants/tenant_deletion.py _locked",
        "index/tenants/tenant_store.py invalidate_partition",
        "index/documents/partitions.py _move",
        "index/documents/partitions.py _index",
        "gateway/extensions/audits/consistency_counts.py recount",
        "gateway/extensions/activity/search_statistics_store.py add",
        "gateway/extensions/popularity/popularity_rollup.py roll_up",
        "gateway/extensions/curation/best_scores.py add",
        "gateway/extensions/curation/low_confidence_store.py add",
        "gateway/extensions/curation/asked_questions/asked_question_store.py add",
        "gateway/extensions/openfga/tuple_store.py apply",
        "gateway/extensions/openfga/tuple_store.py replace",
        "gateway/extensions/openfga/tuple_store.py settle",
        "gateway/extensions/rabbitmq/event_version_store.py keep",
        "gateway/extensions/reembed/analyser_migration.py finish",
        "gateway/extensions/reembed/embedding_migration.py prepare",
        "gateway/extensions/reembed/embedding_migration.py finish",
        "index/embedders/index_version.py check_or_create",
        "index/embedders/index_version.py _check",
        "gateway/extensions/_audits/audit_schedule.py record_run",
        "index/jobs/job_queue.py run_now",
        "index/jobs/job_queue.py renew",
        "index/jobs/job_queue.py delete_done",
        "gateway/extensions/_regions/read_lease_store.py remove",
        "gateway/extensions/_regions/read_lease_store.py release",
        "gateway/extensions/_regions/read_lease_store.py settle",
        "index/jobs/process_store.py announce",
        "index/jobs/process_store.py forget",
        "gateway/extensions/_sources/source_store.py record_failure",
        "gateway/extensions/_sources/source_store.py record_run",
        "gateway/extensions/_sources/source_store.py record_following",
        "gateway/extensions/sources_postgres/server/replication_slot.py peek",
        "gateway/extensions/sources_postgres/follower_store.py claim",
        "gateway/extensions/sources_postgres/follower_store.py renew",
        "gateway/extensions/sources_postgres/follower_store.py release",
        "gateway/extensions/sources_postgres/follower_store.py remove",
        "gateway/extensions/sources_postgres/follower_store.py request_copy",
        "gateway/extensions/_ingest/source_origins.py claim",
        "gateway/extensions/_ingest/source_origins.py release",
        "gateway/extensions/_tenants/usage_store.py add",
        "gateway/extensions/similar_questions/pair_store.py add",
        "index/tenants/principals.py touch",
        "index/tenants/tenant_store.py begin_history",
        "index/tenants/keys.py forget_tokens",
        "index/documents/document_store.py forget_removed",
        "index/documents/document_store.py keep_embeddings",
        "gateway/extensions/audits/consistency_counts.py forget_space",
        "gateway/extensions/sources_web/web_page_store.py put",
        "gateway/extensions/popularity/popularity_store.py add",
        "gateway/extensions/popularity/popularity_rollup.py delete_openings",
        "gateway/extensions/curation/asked_questions/asked_question_store.py delete_old",
        "gateway/extensions/openfga/tuple_store.py position",
        "gateway/extensions/openfga/tuple_store.py record_as_of",
        "gateway/extensions/subscriptions/subscription_store.py delete_unused",
        "gateway/extensions/subscriptions/subscription_store.py record_use",
        "gateway/extensions/subscriptions/subscription_store.py record_event",
        "gateway/extensions/subscriptions/webhooks/webhook_store.py record_delivered",
        "gateway/extensions/subscriptions/webhooks/webhook_store.py record_failed",
        "gateway/extensions/subscriptions/webhooks/webhook_store.py give_up",
        "gateway/extensions/subscriptions/webhooks/webhook_store.py end",
    ),
}
CHANGE = re.compile(r"(?<!FOR )(?<!FOR NO KEY )\b(INSERT INTO|UPDATE|DELETE FROM) [a-z]")
CHANGING = {
    name
    for name, text in statements.load().items()
    if CHANGE.search(re.sub(r"--.*", "", text)) is not None
}


def without_append() -> Iterator[str]:
    for folder in ("index", "gateway"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef):
                    text = ast.unparse(node)
                    appends = "audit_log.append(" in text or "await append(" in text
                    if (".transaction()" in text or is_change(node)) and not appends:
                        yield f"{path.relative_to(ROOT)} {node.name}"


def is_change(function: ast.AST) -> bool:
    """Whether it runs a statement that changes rows in a transaction of the statement's own."""
    runs_statement = re.search(r"database\.(row|rows|rows_each)\(", ast.unparse(function))
    return runs_statement is not None and any(
        isinstance(node, ast.Constant) and node.value in CHANGING for node in ast.walk(function)
    )


def test_a_change_appends_or_it_is_said_why_not() -> None:
    listed = [name for names in WITHOUT.values() for name in names]

    assert sorted(set(without_append())) == sorted(listed)
