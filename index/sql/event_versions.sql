-- name: read
-- $1 tenant, $2 document: one row, of nulls if there was no event; no row if the tenant does not exist.
SELECT content_version, access_version, owner, readers
FROM tenants LEFT JOIN event_versions ON event_versions.tenant = tenants.tenant AND document_id = $2
WHERE tenants.tenant = $1 AND NOT is_being_deleted;

-- name: put
-- $1 tenant, $2 document, $3 and $4 the versions that the caller has read, then the new values; false if
-- another event has changed the versions. The row stays locked until the transaction ends.
WITH stored AS (
    INSERT INTO event_versions (
        tenant, document_id, content_version, access_version, owner, readers, access_sequence
    )
    VALUES (
        $1, $2, $5, $6, $7, $8,
        CASE WHEN $4::bigint < $6::bigint THEN nextval('document_versions') ELSE 0 END
    )
    ON CONFLICT (tenant, document_id) DO UPDATE SET
        content_version = excluded.content_version, access_version = excluded.access_version,
        owner = excluded.owner, readers = excluded.readers,
        access_sequence = greatest(event_versions.access_sequence, excluded.access_sequence)
    WHERE event_versions.content_version = $3 AND event_versions.access_version = $4
    RETURNING tenant
)
SELECT EXISTS (SELECT FROM stored);
