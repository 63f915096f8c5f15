-- Conditions on documents that the caller may see and that the filter admits.
--
-- Parameters: $1 tenant, $2 grants, $3 grants that count only for documents of other owners, $4 the
-- caller's owner token, $5 sources, $6 tags of which a document has one, $7 tags of which it has all,
-- $8 languages, $9 updated at or after, $10 updated before, $11 documents to leave out, $12 metadata:
-- `held`, which the metadata contains, `path`, which matches it with the given `variables`, `valid_on`, the
-- first and the last day on which the document is valid, `as_of`, the same of instants, with the pattern of a
-- bound that is an instant: see index/model/validity.py, and `documents`, of which it is one.

-- fragment: is_admitted
-- The caller may read this document of its tenant.
(allowed_tokens && $2::text[] OR (allowed_tokens && $3::text[] AND NOT allowed_tokens && ARRAY[$4::text]))

-- fragment: passes_filter
-- The filter admits this document.
($5::text[] IS NULL OR source = ANY ($5))
AND ($6::text[] IS NULL OR tags && $6)
AND ($7::text[] IS NULL OR tags @> $7)
AND ($8::text[] IS NULL OR language = ANY ($8))
AND ($9::timestamptz IS NULL OR updated_at >= $9)
AND ($10::timestamptz IS NULL OR updated_at < $10)
AND ($11::text[] IS NULL OR document_id <> ALL ($11))
AND (
    $12::jsonb IS NULL
    OR (
        metadata @> ($12::jsonb -> 'held')
        -- The subselect parses the path once, not for each document.
        AND coalesce(
            jsonb_path_match(
                metadata, (SELECT ($12::jsonb ->> 'path')::jsonpath), $12::jsonb -> 'variables', true
            ),
            NOT $12::jsonb ? 'path'
        )
        AND (
            NOT $12::jsonb ? 'valid_on'
            OR (
                coalesce(
                    substring(
                        metadata ->> 'valid_from' FROM '^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
                    ) COLLATE "C" <= ($12::jsonb -> 'valid_on' ->> 0),
                    true
                )
                AND coalesce(
                    substring(
                        metadata ->> 'valid_to' FROM '^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
                    ) COLLATE "C" >= ($12::jsonb -> 'valid_on' ->> 1),
                    true
                )
            )
        )
        AND (
            NOT $12::jsonb ? 'as_of'
            OR (
                coalesce(
                    CASE
                        WHEN metadata ->> 'valid_from' ~ ($12::jsonb -> 'as_of' ->> 2)
                            THEN left(metadata ->> 'valid_from', 19) COLLATE "C"
                                <= ($12::jsonb -> 'as_of' ->> 0)
                        ELSE substring(
                            metadata ->> 'valid_from' FROM '^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
                        ) COLLATE "C" <= left($12::jsonb -> 'as_of' ->> 0, 10)
                    END,
                    true
                )
                AND coalesce(
                    CASE
                        WHEN metadata ->> 'valid_to' ~ ($12::jsonb -> 'as_of' ->> 2)
                            THEN left(metadata ->> 'valid_to', 19) COLLATE "C"
                                >= ($12::jsonb -> 'as_of' ->> 1)
                        ELSE substring(
                            metadata ->> 'valid_to' FROM '^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
                        ) COLLATE "C" >= left($12::jsonb -> 'as_of' ->> 1, 10)
                    END,
                    true
                )
            )
        )
        AND (
            NOT $12::jsonb ? 'documents'
            -- The subselect is hashed once: the list is not walked for each document.
            OR document_id IN (SELECT jsonb_array_elements_text($12::jsonb -> 'documents'))
        )
    )
)

-- fragment: is_filtered
-- The request has a filter.
NOT (
    $5::text[] IS NULL AND $6::text[] IS NULL AND $7::text[] IS NULL AND $8::text[] IS NULL
    AND $9::timestamptz IS NULL AND $10::timestamptz IS NULL AND $11::text[] IS NULL
    AND $12::jsonb IS NULL
)

-- fragment: includes_others
-- The request includes public documents of other tenants ($14), and the grants include `public`.
$14::boolean AND 'public' = ANY ($2::text[])

-- fragment: is_of_deleted_tenant
-- The tenant of this document is being deleted, so nothing of it is public. OFFSET 0 keeps this lookup
-- out of the join order: it runs for the documents that pass the other conditions.
(SELECT is_being_deleted FROM tenants AS theirs WHERE theirs.tenant = documents.tenant OFFSET 0)
