-- Files as they were uploaded. Only who uploaded one sees it, and the tenant's admins.

-- name: add
-- $1 tenant, $2 file, $3 subject, $4 name, $5 purpose, $6 content, $7 most files of the tenant: no row
-- if it has as many, or there is no such tenant.
INSERT INTO files (tenant, file_id, subject, filename, purpose, content)
SELECT tenant, $2, $3, $4, $5, $6 FROM tenants
WHERE tenant = $1 AND NOT is_being_deleted
  AND (SELECT count(*) FROM files WHERE files.tenant = $1) < $7::bigint
RETURNING created_at;

-- fragment: shown
file_id, subject, filename, purpose, octet_length(content) AS size_bytes, created_at

-- fragment: is_seen
tenant = $1 AND ($2::text IS NULL OR subject = $2)

-- name: one
-- $1 tenant, $2 subject or null for all, $3 file
SELECT :shown FROM files WHERE :is_seen AND file_id = $3;

-- name: content
SELECT content FROM files WHERE :is_seen AND file_id = $3;

-- name: remove
DELETE FROM files WHERE :is_seen AND file_id = $3 RETURNING file_id;

-- name: page
-- $3 purpose or null, $4 the last file of the page before or null, $5 whether the newest come first,
-- $6 limit
SELECT :shown FROM files
WHERE :is_seen AND ($3::text IS NULL OR purpose = $3)
  AND ($4::text IS NULL OR CASE
      WHEN $5::boolean THEN (created_at, file_id)
          < (SELECT created_at, file_id FROM files AS last WHERE last.tenant = $1 AND last.file_id = $4)
      ELSE (created_at, file_id)
          > (SELECT created_at, file_id FROM files AS last WHERE last.tenant = $1 AND last.file_id = $4)
  END)
ORDER BY
    CASE WHEN $5 THEN created_at END DESC, CASE WHEN $5 THEN file_id END DESC, created_at, file_id
LIMIT $6;
