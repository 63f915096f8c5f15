-- Sources that were made as vector stores, and the files attached to sources.
--
-- $1 tenant, $2 grants, $3 readers that count on other owners' documents only, $4 the caller's own owner
-- token: as in search.sql. Who sees a store sees nothing of its files by that alone.

-- name: add_source
INSERT INTO sources (tenant, source) SELECT tenant, $2 FROM tenants
WHERE tenant = $1 AND NOT leaving
  AND (SELECT count(*) FROM vector_stores WHERE vector_stores.tenant = $1) < $3::bigint
RETURNING source;

-- name: add
-- $1 tenant, $2 source, $3 name, $4 description, $5 metadata, $6 owner, $7 readers
INSERT INTO vector_stores (tenant, source, name, description, metadata, owner, readers)
VALUES ($1, $2, $3, $4, $5, $6, $7)
RETURNING created_at;

-- fragment: is_seen
(ARRAY['owner:' || owner] || readers) && ($2::text[] || $3::text[])

-- fragment: shown
source, name, description, metadata, owner, readers, created_at

-- name: one
-- $4 source, $5 whether it is an admin who asks
SELECT :shown FROM vector_stores WHERE tenant = $1 AND source = $4 AND ($5::boolean OR :is_seen);

-- name: page
-- $4 the last store of the page before or null, $5 whether an admin asks, $6 whether the newest come
-- first, $7 limit
SELECT :shown FROM vector_stores
WHERE tenant = $1 AND ($5::boolean OR :is_seen)
  AND ($4::text IS NULL OR CASE
      WHEN $6::boolean THEN (created_at, source)
          < (SELECT created_at, source FROM vector_stores AS last
             WHERE last.tenant = $1 AND last.source = $4)
      ELSE (created_at, source)
          > (SELECT created_at, source FROM vector_stores AS last
             WHERE last.tenant = $1 AND last.source = $4)
  END)
ORDER BY
    CASE WHEN $6 THEN created_at END DESC, CASE WHEN $6 THEN source END DESC, created_at, source
LIMIT $7;

-- name: change
-- $2 source, $3 name, $4 metadata
UPDATE vector_stores SET name = $3, metadata = $4 WHERE tenant = $1 AND source = $2;

-- name: forget
-- $2 source: from now on it is a source like any other, until its last document is gone.
DELETE FROM vector_stores WHERE tenant = $1 AND source = $2;

-- name: attach
-- $2 source, $3 file, $4 document, $5 subject, $6 batch or null
INSERT INTO vector_store_files (tenant, source, file_id, document_id, subject, batch_id)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant, source, file_id) DO UPDATE SET
    subject = excluded.subject, batch_id = excluded.batch_id, job_id = NULL, error_code = NULL,
    error = NULL;

-- name: attached
-- $2 source, $3 file, $4 job or null, $5 code of the error or null, $6 error or null: how it went
UPDATE vector_store_files SET job_id = $4, error_code = $5, error = $6
WHERE tenant = $1 AND source = $2 AND file_id = $3;

-- name: detach
DELETE FROM vector_store_files WHERE tenant = $1 AND source = $2 AND file_id = $3;

-- name: stores_of_file
-- $2 file
SELECT source, document_id FROM vector_store_files WHERE tenant = $1 AND file_id = $2;

-- name: files
-- Those whose document the caller may read; before there is one, those that the caller attached.
-- $5 source, $6 subject, $7 file or null, $8 batch or null, $9 status or null, $10 the last file of the
-- page before or null, $11 whether the newest come first, $12 limit
SELECT file_id, document_id, created_at, status, error_code, error, metadata, cut, size_bytes
FROM (
    SELECT
        held.file_id, held.document_id, held.created_at, held.error_code,
        coalesce(held.error, jobs.error) AS error, documents.metadata, documents.cut,
        coalesce(octet_length(texts.text), 0) AS size_bytes,
        CASE
            WHEN jobs.state IN ('waiting', 'running') THEN 'in_progress'
            WHEN document_key IS NOT NULL THEN 'completed'
            WHEN held.error_code IS NOT NULL OR jobs.state = 'failed' THEN 'failed'
        END AS status
    FROM vector_store_files AS held
    LEFT JOIN documents
        ON documents.tenant = $1 AND documents.document_id = held.document_id
        AND documents.source = held.source
    LEFT JOIN texts USING (document_key)
    LEFT JOIN jobs ON jobs.job_id = held.job_id
    WHERE held.tenant = $1 AND held.source = $5
      AND ($7::text IS NULL OR held.file_id = $7) AND ($8::text IS NULL OR held.batch_id = $8)
      AND CASE
          WHEN document_key IS NULL THEN held.subject = $6
          ELSE (audience && $2::text[] OR (audience && $3::text[] AND NOT audience && ARRAY[$4::text]))
      END
) AS files
WHERE status IS NOT NULL AND ($9::text IS NULL OR status = $9)
  AND ($10::text IS NULL OR CASE
      WHEN $11::boolean THEN (created_at, file_id)
          < (SELECT created_at, file_id FROM vector_store_files AS last
             WHERE last.tenant = $1 AND last.source = $5 AND last.file_id = $10)
      ELSE (created_at, file_id)
          > (SELECT created_at, file_id FROM vector_store_files AS last
             WHERE last.tenant = $1 AND last.source = $5 AND last.file_id = $10)
  END)
ORDER BY
    CASE WHEN $11 THEN created_at END DESC, CASE WHEN $11 THEN file_id END DESC, created_at, file_id
LIMIT $12;
