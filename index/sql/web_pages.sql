-- The pages of sources that are read from the web.

-- name: of_source
-- $1 tenant, $2 source
SELECT document_id, uri, etag, last_modified, settings
FROM documents JOIN web_pages USING (document_key)
WHERE tenant = $1 AND source = $2;

-- name: put
-- $1 tenant, $2 source, $3 documents, $4 their validators: ETags and $5 dates, $6 digest of the settings.
-- A document that is not stored is left out.
INSERT INTO web_pages (document_key, etag, last_modified, settings)
SELECT document_key, new.etag, new.last_modified, $6
FROM unnest($3::text[], $4::text[], $5::text[]) AS new (document_id, etag, last_modified)
JOIN documents ON documents.tenant = $1 AND documents.document_id = new.document_id
WHERE documents.source = $2
ON CONFLICT (document_key) DO UPDATE SET
    etag = excluded.etag, last_modified = excluded.last_modified, settings = excluded.settings;
