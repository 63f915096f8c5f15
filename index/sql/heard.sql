-- name: read
-- $1 tenant, $2 document: one row, of nulls if no event has said anything yet; none if there is no
-- tenant.
SELECT content, access, owner, readers
FROM tenants LEFT JOIN heard ON heard.tenant = tenants.tenant AND document_id = $2
WHERE tenants.tenant = $1 AND NOT leaving;

-- name: keep
-- $1 tenant, $2 document, $3 and $4 versions of before, then what has been heard now; false if another
-- event has been heard meanwhile. The row stays locked until the transaction ends.
WITH kept AS (
    INSERT INTO heard (tenant, document_id, content, access, owner, readers, access_sequence)
    VALUES ($1, $2, $5, $6, $7, $8, CASE WHEN $4::bigint < $6::bigint THEN nextval('document_versions') ELSE 0 END)
    ON CONFLICT (tenant, document_id) DO UPDATE SET
        content = excluded.content, access = excluded.access,
        owner = excluded.owner, readers = excluded.readers,
        access_sequence = greatest(heard.access_sequence, excluded.access_sequence)
    WHERE heard.content = $3 AND heard.access = $4
    RETURNING tenant
)
SELECT EXISTS (SELECT FROM kept);
