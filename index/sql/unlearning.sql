-- What a tenant's vocabulary still has to know.

-- name: words
-- $1 tenant, here and below
SELECT word FROM vocabulary WHERE ARRAY[tenant] && ARRAY[$1::text];

-- name: version
-- Whatever is written from now on has a greater one, for writers wait.
SELECT coalesce(max(version), 0) AS version FROM documents WHERE tenant = $1;

-- fragment: titles_and_texts
SELECT
    document_key, title, document_texts.text,
    ARRAY(
        SELECT chunk_texts.text FROM chunk_texts
        WHERE chunk_texts.document_key = documents.document_key AND chunk_id < 0
    ) AS summaries
FROM documents JOIN document_texts USING (document_key)
WHERE tenant = $1 AND readers && '{tenant,public}'

-- name: page
-- $2 the last document of the page before, $3 limit
:titles_and_texts AND document_key > $2 ORDER BY document_key LIMIT $3;

-- name: since
-- $2 version
:titles_and_texts AND version > $2;

-- name: forget
-- $2 words
WITH forgotten AS (
    DELETE FROM vocabulary WHERE tenant = $1 AND word = ANY ($2::text[]) RETURNING true
)
SELECT count(*) FROM forgotten;

-- name: tell
-- A revision without a row among the changes: a cache that meets the gap starts anew.
UPDATE tenants SET vocabulary_size = vocabulary_size + (1::bigint << 40), revision = revision + 1 WHERE tenant = $1;
