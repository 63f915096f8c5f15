-- Sources that were made as vector stores, and the files attached to sources.
--
-- $1 tenant, $2 grants, $3 grants that count only for documents of other owners: as in visibility.sql. A
-- caller who may see a store may not for that reason see its files.

-- name: add_source
INSERT INTO sources (tenant, source) SELECT tenant, $2 FROM tenants
WHERE tenant = $1 AND NOT is_being_deleted
  AND (SELECT count(*) FROM vector_stores WHERE vector_stores.tenant = $1) < $3::bigint
RETURNING source;

-- name: add
-- $1 tenant, $2 source, $3 name, $4 description, $5 metadata, $6 owner, $7 readers
INSERT INTO vector_stores (tenant, source, name, description, metadata, owner, readers)
VALUES ($1, $2, $3, $4, $5, $6, $7)
RETURNING created_at;

-- fragment: is_visible
(ARRAY['owner:' || owner] || readers) && ($2::text[] || $3::text[])

-- fragment: columns
source, name, description, metadata, owner, readers, created_at

-- name: get
-- $4 source, $5 the caller is an admin
SELECT :columns FROM vector_stores WHERE tenant = $1 AND source = $4 AND ($5::boolean OR :is_visible);

-- name: page
-- $4 the last store of the previous page or null, $5 the caller is an admin, $6 newest first, $7 limit,
-- $8 the sources to return or null for all
SELECT :columns FROM vector_stores
WHERE tenant = $1 AND ($5::boolean OR :is_visible) AND ($8::text[] IS NULL OR source = ANY ($8))
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

-- name: update
-- $2 source, $3 name, $4 metadata
UPDATE vector_stores SET name = $3, metadata = $4 WHERE tenant = $1 AND source = $2;

-- name: documents_of_files
-- $2 source: the documents of all its files, also of those that are not written yet.
SELECT document_id FROM vector_store_files WHERE tenant = $1 AND source = $2;

-- name: delete
-- $2 source: it stays a source until its last document is deleted.
DELETE FROM vector_stores WHERE tenant = $1 AND source = $2;

-- name: attach
-- $2 source, $3 file, $4 document, $5 subject, $6 batch or null, $7 key or token or null, $8 request. What an
-- earlier request has attached stays as it is until the result of this one is recorded.
INSERT INTO vector_store_files (tenant, source, file_id, document_id, subject, batch_id, key_id, attaching)
VALUES ($1, $2, $3, $4, $5, $6, $7, ARRAY[$8::text])
ON CONFLICT (tenant, source, file_id) DO UPDATE
SET attaching = vector_store_files.attaching || excluded.attaching, attaching_at = now()
RETURNING created_at;

-- name: record_file
-- $2 source, $3 file, $4 subject, $5 batch or null, $6 key or token or null, $7 request, $8 job or null, $9 code
-- of the error or null, $10 error or null: the result of the request
UPDATE vector_store_files
SET subject = $4, batch_id = $5, key_id = $6, attaching = array_remove(attaching, $7), job_id = $8,
    error_code = $9, error = $10
WHERE tenant = $1 AND source = $2 AND file_id = $3;

-- name: detach
DELETE FROM vector_store_files WHERE tenant = $1 AND source = $2 AND file_id = $3;

-- name: end_refused
-- $2 source, $3 file, $4 request: it has no result.
UPDATE vector_store_files SET attaching = array_remove(attaching, $4)
WHERE tenant = $1 AND source = $2 AND file_id = $3;

-- fragment: has_nothing
-- No request has made a document, a job or a failure of the attached file.
job_id IS NULL AND error_code IS NULL
AND NOT EXISTS (
    SELECT FROM documents
    WHERE documents.tenant = attached.tenant AND documents.document_id = attached.document_id
      AND documents.source = attached.source
)

-- name: forget_refused
-- $2 source, $3 file: unless a request still attaches it.
DELETE FROM vector_store_files AS attached
WHERE tenant = $1 AND source = $2 AND file_id = $3 AND attaching = '{}' AND :has_nothing;

-- name: end_lost
-- $1 seconds after which a request without a result is lost, because its process has ended. The files of which
-- nothing was made are forgotten.
WITH forgotten AS (
    DELETE FROM vector_store_files AS attached
    WHERE attaching <> '{}' AND attaching_at < now() - $1 * interval '1 second' AND :has_nothing
)
UPDATE vector_store_files AS attached SET attaching = '{}'
WHERE attaching <> '{}' AND attaching_at < now() - $1 * interval '1 second' AND NOT (:has_nothing);

-- name: stores_of_file
-- $2 file
SELECT source, document_id FROM vector_store_files WHERE tenant = $1 AND file_id = $2;
