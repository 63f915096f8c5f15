"""Every queue, pool and cache of the product that is not from `common/shares`, with its reason.

By file and name: how often the file refers to it, and why no tenant takes it from another one.
`tests/common/test_shares_everywhere.py` compares this list with the code.
"""

# Work for no tenant: it ends before the first request, or it is an operator's own process.
_START = "runs while the process starts"
_END = "runs while the process ends"
_COMMAND = "runs in an operator's command, which has no callers"
_ONCE = "loads a part of the program at its first use, once a process"
# Bounded otherwise.
_ONE_CALL = "belongs to one call, which is bounded itself"
_ONE_DOCUMENT = "belongs to one document"
_ONE_OBJECT = "belongs to one shard or segment, which is its tenant's"
_ONE_READING = "belongs to one reading of a source, which holds a job's slot"
_ONE_CONNECTION = "opens the connection of a followed source, of which a tenant has few"
_BACKGROUND = "one at a time in the background; no request waits for it"
_SHARD_FILE = "one at a time a partition; a search goes on without it"
# A cache of small entries of a fixed size: losing one costs a statement or a parse.
_TENANT_ENTRY = "one entry a tenant"
_ADDRESS_ENTRY = "one entry a client address, whoever its tenants are"
_CALLER_ENTRY = "an entry that is evicted has not been used for so long that it says nothing"

UNSHARED = {
    ("gateway/services.py", "to_thread"): (3, _START),
    ("gateway/api/app.py", "to_thread"): (1, _START),
    ("gateway/extensions/answers/extension.py", "to_thread"): (1, _START),
    ("gateway/extensions/receipts/extension.py", "to_thread"): (1, _START),
    ("gateway/extensions/openapi/extension.py", "to_thread"): (1, _ONCE),
    ("gateway/extensions/mcp/lazy_module.py", "to_thread"): (1, _ONCE),
    ("gateway/background/warm_up.py", "to_thread"): (2, _BACKGROUND),
    ("gateway/extensions/_gates/gate_vocabulary.py", "to_thread"): (1, _ONCE),
    ("gateway/extensions/rag/search_steps.py", "to_thread"): (1, _ONCE),
    ("gateway/extensions/similar_questions/question_similarity.py", "to_thread"): (1, _ONCE),
    ("index/search/list_loader.py", "to_thread"): (1, _ONCE),
    ("gateway/extensions/import_/archive/archive_import.py", "to_thread"): (1, _COMMAND),
    ("gateway/cli/operations.py", "to_thread"): (5, _COMMAND),
    ("gateway/extensions/setup_commands/server_check.py", "to_thread"): (1, _COMMAND),
    ("gateway/extensions/_ingest/watch.py", "to_thread"): (1, _COMMAND),
    ("gateway/extensions/opentelemetry/opentelemetry_tracing.py", "to_thread"): (1, _END),
    ("common/processes/worker_pool.py", "to_thread"): (1, _END),
    ("gateway/extensions/_batches/one_revision.py", "Semaphore"): (1, _ONE_CALL),
    ("gateway/extensions/answers/answer_run.py", "Queue"): (1, _ONE_CALL),
    ("gateway/extensions/preprocessing/llm_chunker.py", "Semaphore"): (1, _ONE_DOCUMENT),
    ("gateway/extensions/preprocessing/llm_summarizer.py", "Semaphore"): (1, _ONE_DOCUMENT),
    ("gateway/extensions/sources/path_reader.py", "to_thread"): (1, _ONE_READING),
    ("gateway/extensions/sources_postgres/server/connection.py", "to_thread"): (
        1,
        _ONE_CONNECTION,
    ),
    ("gateway/extensions/sources_web/web_reader.py", "to_thread"): (1, _ONE_READING),
    ("gateway/extensions/_sources/sync/source_sync.py", "ThreadPoolExecutor"): (1, _ONE_READING),
    ("gateway/extensions/_sources/sync/source_sync.py", "run_in_executor"): (2, _ONE_READING),
    ("index/resident/building/loading.py", "to_thread"): (2, _BACKGROUND),
    ("index/resident/building/loading_words.py", "to_thread"): (3, _BACKGROUND),
    ("gateway/extensions/audits/shard_comparison.py", "to_thread"): (2, _BACKGROUND),
    ("index/resident/building/shard_source.py", "to_thread"): (4, _SHARD_FILE),
    ("index/resident/building/shard_folder.py", "to_thread"): (1, _SHARD_FILE),
    ("index/resident/columns.py", "LRUCache"): (1, _ONE_OBJECT),
    ("index/resident/segment.py", "LRUCache"): (1, _ONE_OBJECT),
    ("index/resident/shard.py", "LRUCache"): (1, _ONE_OBJECT),
    ("cache/invalidation/drain.py", "LRUCache"): (1, _TENANT_ENTRY),
    ("cache/revision_reader.py", "OrderedDict"): (1, _TENANT_ENTRY),
    ("gateway/extensions/similar_questions/pair_stats.py", "LRUCache"): (1, _TENANT_ENTRY),
    ("index/tenants/tenant_store.py", "OrderedDict"): (1, _TENANT_ENTRY),
    ("gateway/extensions/budgets/usage_meter.py", "TTLCache"): (1, _TENANT_ENTRY),
    ("index/resident/resident_shards.py", "TTLCache"): (3, _TENANT_ENTRY),
    ("gateway/http/failures.py", "LRUCache"): (1, _ADDRESS_ENTRY),
}
