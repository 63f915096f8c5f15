-- Conditions on documents that the caller may see and that the filter admits.
--
-- Parameters: $1 tenant, $2 grants, $3 grants that count only for documents of other owners, $4 the
-- caller's owner token, $5 to $12 the filter. Its fragments `passes_filter` and `is_filtered` are made of
-- `index/model/conditions`: see index/postgres/filter_sql.py.

-- fragment: is_admitted
-- The caller may read this document of its tenant.
(allowed_tokens && $2::text[] OR (allowed_tokens && $3::text[] AND NOT allowed_tokens && ARRAY[$4::text]))

-- fragment: includes_others
-- The request includes public documents of other tenants ($14), and the grants include `public`.
$14::boolean AND 'public' = ANY ($2::text[])

-- fragment: is_of_deleted_tenant
-- The tenant of this document is being deleted, so nothing of it is public. OFFSET 0 keeps this lookup
-- out of the join order: it runs for the documents that pass the other conditions.
(SELECT is_being_deleted FROM tenants AS theirs WHERE theirs.tenant = documents.tenant OFFSET 0)
