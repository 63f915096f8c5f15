-- Uploaded files. A file is visible to its subject and to the tenant's admins; to a token only if it was
-- made with the token.

-- name: add
-- $1 tenant, $2 file, $3 subject, $4 name, $5 purpose, $6 content, $7 limit of files, $8 key or token or
-- null: no row if the tenant has as many or does not exist.
INSERT INTO files (tenant, file_id, subject, filename, purpose, content, key_id)
SELECT tenant, $2, $3, $4, $5, $6, $8 FROM tenants
WHERE tenant = $1 AND NOT is_being_deleted
  AND (SELECT count(*) FROM files WHERE files.tenant = $1) < $7::bigint
RETURNING created_at;

-- fragment: columns
file_id, subject, filename, purpose, octet_length(content) AS size_bytes, created_at

-- fragment: is_visible
tenant = $1 AND ($2::text IS NULL OR subject = $2) AND is_made_with($1, key_id, $3)

-- name: get
-- $1 tenant, $2 subject or null for all, $3 null or a token as in `is_made_with`, $4 file
SELECT :columns FROM files WHERE :is_visible AND file_id = $4;

-- name: content
SELECT content FROM files WHERE :is_visible AND file_id = $4;

-- name: remove
DELETE FROM files WHERE :is_visible AND file_id = $4
RETURNING octet_length(content) AS size_bytes;

-- fragment: listed
-- $4 purpose or null, $5 the last file of the previous page or null, $6 limit.
SELECT :columns FROM files WHERE :is_visible AND ($4::text IS NULL OR purpose = $4)

-- fragment: last_created_at
-- Null if the last file is gone: no file comes after it.
(SELECT created_at FROM files AS last WHERE last.tenant = $1 AND last.file_id = $5)

-- name: page
-- The oldest first. The index `files_created` serves one order in a statement.
:listed
  AND (created_at, file_id)
      > (CASE WHEN $5::text IS NULL THEN '-infinity' ELSE :last_created_at END, coalesce($5, ''))
ORDER BY created_at, file_id LIMIT $6;

-- name: newest_page
:listed
  AND (created_at, file_id)
      < (CASE WHEN $5::text IS NULL THEN 'infinity' ELSE :last_created_at END, coalesce($5, ''))
ORDER BY created_at DESC, file_id DESC LIMIT $6;
