-- What PostgreSQL says of answers that shards in memory have computed (index/search/shards/confirmation.py): how
-- many of its chunks a caller may see now, and the counters of the same snapshot. Nothing here shares code
-- with the masks of shards. OFFSET 0: one lookup for each row.
--
-- The functions of this file are planned once: planning takes longer than looking up the rows.

-- uses: visibility

-- fragment: counters
(SELECT history FROM histories) AS history,
coalesce(own.revision, 0) AS tenant_revision,
(SELECT revision FROM tenants WHERE tenant = 'public') AS public_revision,
own.access_revision AS tenant_access_revision,
coalesce(own.audience_revision, 0) AS tenant_audience_revision,
coalesce(own.vocabulary_size, 0) AS tenant_vocabulary_size

-- fragment: documents_of_shown
CROSS JOIN LATERAL (
    SELECT document_key FROM chunk_texts WHERE chunk_texts.chunk_id = shown_id OFFSET 0
) AS chunk_texts

-- name: confirm
-- For each of several questions without a filter, in their order.
--
-- $1 JSON: an array of questions. Of each the tenant, the tokens, the chunks, and whether public documents of
-- other tenants are admitted.
SELECT
    :counters,
    (
        SELECT count(*)
        FROM unnest(asked.chunks) AS shown (shown_id)
        :documents_of_shown
        CROSS JOIN LATERAL (
            SELECT FROM documents
            WHERE documents.document_key = chunk_texts.document_key
              AND (
                (
                    documents.tenant = asked.tenant
                    AND (
                        allowed_tokens && asked.grants
                        OR (
                            allowed_tokens && asked.shared
                            AND NOT allowed_tokens && ARRAY[asked.owner_token]
                        )
                    )
                )
                OR (
                    documents.tenant <> asked.tenant AND asked.receives_public
                    AND 'public' = ANY (asked.grants) AND 'public' = ANY (readers)
                    AND NOT :is_of_deleted_tenant
                )
              )
            OFFSET 0
        ) AS documents
    ) AS visible
FROM ROWS FROM (
    json_to_recordset($1::json) AS (
        tenant text, grants text[], shared text[], owner_token text, receives_public boolean, chunks bigint[]
    )
) WITH ORDINALITY AS asked (tenant, grants, shared, owner_token, receives_public, chunks, place)
LEFT JOIN LATERAL (
    SELECT revision, access_revision, audience_revision, vocabulary_size
    FROM tenants WHERE tenants.tenant = asked.tenant
    OFFSET 0
) AS own ON true
ORDER BY place;

-- name: confirm_filtered
-- $1 to $12 as in visibility.sql, $13 the chunks of one question, $14 as `receives_public` above.
SELECT
    :counters,
    (
        SELECT count(*)
        FROM unnest($13::bigint[]) AS shown (shown_id)
        :documents_of_shown
        CROSS JOIN LATERAL (
            SELECT FROM documents
            WHERE documents.document_key = chunk_texts.document_key
              AND (
                (tenant = $1 AND :is_admitted)
                OR (
                    tenant <> $1 AND :includes_others AND 'public' = ANY (readers)
                    AND NOT :is_of_deleted_tenant
                )
              )
              AND :passes_filter
            OFFSET 0
        ) AS documents
    ) AS visible
FROM (SELECT) AS question
LEFT JOIN tenants AS own ON own.tenant = $1;
