-- Which folders, files and repositories `nearhit ingest` has read into a source.

-- name: all
-- $1 tenant, $2 source
SELECT origin_no, origin FROM source_origins WHERE tenant = $1 AND source = $2 ORDER BY origin_no;

-- name: add
-- $1 tenant, $2 source, $3 origin_no, $4 origin
INSERT INTO source_origins (tenant, source, origin_no, origin) VALUES ($1, $2, $3, $4);

-- name: claim
-- $1 tenant, $2 source, $3 origin_no, $4 document ids: those that belong to another origin, or to none
-- but exist. A source with one origin alone keeps no rows, unless that is not number 1.
WITH shared AS (
    SELECT FROM source_origins WHERE tenant = $1 AND source = $2
    HAVING count(*) > 1 OR min(origin_no) > 1
),
asked AS (
    SELECT DISTINCT asked.document_id, documents.document_id IS NOT NULL AS has_document
    FROM shared, unnest($4::text[]) AS asked (document_id)
    LEFT JOIN documents ON documents.tenant = $1 AND documents.document_id = asked.document_id
),
claimed AS (
    INSERT INTO document_origins AS stored (tenant, source, document_id, origin_no)
    SELECT $1, $2, document_id, $3 FROM asked WHERE $3 = 1 OR NOT has_document
    ON CONFLICT (tenant, document_id) DO NOTHING
    RETURNING document_id
)
SELECT document_id FROM asked
WHERE document_id NOT IN (SELECT document_id FROM claimed)
  AND NOT EXISTS (
      SELECT FROM document_origins AS own
      WHERE own.tenant = $1 AND own.document_id = asked.document_id AND own.origin_no = $3
  );

-- name: release
-- $1 tenant, $2 source, $3 origin_no, $4 document: another origin may have it from now on.
DELETE FROM document_origins WHERE tenant = $1 AND source = $2 AND origin_no = $3 AND document_id = $4;

-- name: documents
-- $1 tenant, $2 source, $3 origin_no: documents that a complete reading of the origin is compared with.
-- A document that a queued write moves to another source is left out.
SELECT documents.document_id FROM documents
LEFT JOIN document_origins USING (tenant, document_id)
WHERE tenant = $1 AND documents.source = $2 AND coalesce(origin_no, 1) = $3
  AND NOT EXISTS (
      SELECT FROM jobs
      WHERE jobs.tenant = $1 AND target = 'document:' || documents.document_id
        AND kind = 'document.write' AND state IN ('waiting', 'running') AND jobs.source <> $2
  )
ORDER BY documents.document_id USING ~<~;
