-- Documents that the caller may see, found by identifier, source or file.
--
-- All take the parameters $1 to $12 of visibility.sql.

-- uses: visibility

-- fragment: is_owned
-- The caller owns the document, and its credential reaches what it owns.
allowed_tokens && ARRAY[$4::text]

-- name: get
-- $13 document: of the tenant. $14 the caller may change every document that it may read; others see an
-- inactive one only if they own it.
SELECT document_id, source, title, uri, language, tags, metadata, owner, readers, chunker, summaries,
    is_active, provenance, text, created_at, updated_at
FROM documents JOIN document_texts USING (document_key)
WHERE tenant = $1 AND document_id = $13 AND :is_admitted AND :passes_filter
  AND (is_active OR $14::boolean OR :is_owned);

-- fragment: are_listed
-- $13 the last document of the previous page, $14 beginning of identifiers, $15 limit, $16 as $14 of
-- `get`. Exactly those that begin with $14 are within the bounds: no character is higher than U+10FFFF, and
-- no identifier has more than 512.
FROM documents
WHERE tenant = $1 AND document_id ~>~ $13
  AND document_id ~>=~ $14 AND document_id ~<=~ ($14 || repeat(chr(1114111), 512))
  AND :is_admitted AND :passes_filter AND (is_active OR $16::boolean OR :is_owned)

-- fragment: next_documents
-- Documents without their texts, by their identifiers' bytes.
SELECT document_id, source, title, uri, language, tags, metadata, owner, readers, chunker, summaries,
    is_active, provenance, '' AS text, created_at, updated_at
:are_listed

-- name: page
-- The next documents of the tenant.
:next_documents
ORDER BY document_id USING ~<~ LIMIT $15;

-- name: page_of_source
-- $17 source: the next documents of a source, found by its index. A condition that may also be
-- null would have a plan that reads through the whole tenant.
:next_documents
  AND source = $17
ORDER BY document_id USING ~<~ LIMIT $15;

-- name: total
-- How many follow, counted up to the limit.
SELECT count(*) AS visible FROM (SELECT :are_listed LIMIT $15) AS listed;

-- name: total_of_source
-- $17 source: likewise.
SELECT count(*) AS visible FROM (SELECT :are_listed AND source = $17 LIMIT $15) AS listed;

-- fragment: attached_files
-- $13 source, $14 subject or null, $15 null or a token as in `is_made_with`, $16 batch or null, $17 status or null:
-- files attached to the source whose document the caller may see. While a file has no document, only its
-- maker sees it.
SELECT
    file_id, document_id, created_at, status, error_code, error, metadata, chunker, size_bytes
FROM (
    SELECT
        attached.file_id, attached.document_id, attached.created_at, attached.error_code,
        coalesce(attached.error, jobs.error) AS error, documents.metadata, documents.chunker,
        coalesce(octet_length(document_texts.text), 0) AS size_bytes,
        CASE
            WHEN jobs.state IN ('waiting', 'running') THEN 'in_progress'
            WHEN document_key IS NOT NULL THEN 'completed'
            WHEN attached.error_code IS NOT NULL OR jobs.state = 'failed' THEN 'failed'
        END AS status
    FROM vector_store_files AS attached
    LEFT JOIN documents
        ON documents.tenant = $1 AND documents.document_id = attached.document_id
        AND documents.source = attached.source
    LEFT JOIN document_texts USING (document_key)
    LEFT JOIN jobs ON jobs.job_id = attached.job_id
    WHERE attached.tenant = $1 AND attached.source = $13
      AND ($16::text IS NULL OR attached.batch_id = $16)
      AND CASE
          WHEN document_key IS NULL
              THEN attached.subject = $14 AND is_made_with($1, attached.key_id, $15)
          ELSE EXISTS (
              SELECT FROM documents AS visible
              WHERE visible.tenant = $1 AND visible.document_key = documents.document_key
                AND :is_admitted AND :passes_filter AND (is_active OR :is_owned)
          )
      END
) AS files
WHERE status IS NOT NULL AND ($17::text IS NULL OR status = $17)

-- fragment: last_created_at
-- Null if the last file is no longer attached: no file comes after it.
(SELECT created_at FROM vector_store_files AS last
 WHERE last.tenant = $1 AND last.source = $13 AND last.file_id = $18)

-- name: files
-- $18 the last file of the previous page or null, $19 limit: the oldest first. The index
-- `vector_store_files_created` serves one order in a statement.
:attached_files
  AND (created_at, file_id)
      > (CASE WHEN $18::text IS NULL THEN '-infinity' ELSE :last_created_at END, coalesce($18, ''))
ORDER BY created_at, file_id LIMIT $19;

-- name: newest_files
-- As above, the newest first.
:attached_files
  AND (created_at, file_id)
      < (CASE WHEN $18::text IS NULL THEN 'infinity' ELSE :last_created_at END, coalesce($18, ''))
ORDER BY created_at DESC, file_id DESC LIMIT $19;

-- name: file
-- $18 the file.
:attached_files
  AND file_id = $18;

-- fragment: is_visible
-- $14 include public documents of other tenants, $16 as $14 of `get`.
:passes_filter
AND (
    (tenant = $1 AND :is_admitted AND (is_active OR $16::boolean OR :is_owned))
    OR (tenant <> $1 AND 'public' = ANY (readers) AND is_active AND :includes_others
        AND NOT :is_of_deleted_tenant)
)

-- name: get_of
-- $13 document, $15 its tenant, $17 whether with its chunks. Another tenant's comes without its owner, its
-- other readers, the people of its provenance and its revision, which only its own tenant may know. The
-- transaction that wrote it is known by its time, as long as its change is kept.
SELECT
    document_id, source, title, uri, language, tags, metadata,
    CASE WHEN tenant = $1 THEN owner END AS owner,
    CASE WHEN tenant = $1 THEN readers ELSE ARRAY['public'] END AS readers,
    chunker, summaries, is_active,
    CASE WHEN tenant = $1 THEN provenance ELSE jsonb_set(
        provenance - ARRAY['subject', 'agents', 'ratified_at', 'held_readers'],
        ARRAY['ratified_by'], '""', false
    ) END AS provenance,
    text, created_at, updated_at,
    CASE WHEN $17::boolean THEN (
        SELECT coalesce(jsonb_agg(jsonb_build_array(chunk_id, start_at, end_at, chunk_texts.text)
            ORDER BY start_at, chunk_id), '[]')
        FROM chunk_texts WHERE chunk_texts.document_key = documents.document_key
    ) END AS chunk_rows,
    CASE WHEN tenant = $1 THEN (
        SELECT max(change_log.revision) FROM change_log
        WHERE change_log.tenant = $1 AND committed_at = updated_at AND document_key = ANY (document_keys)
    ) END AS revision
FROM documents JOIN document_texts USING (document_key)
WHERE tenant = $15 AND document_id = $13 AND :is_visible;

-- name: count
-- $13 documents, $15 their tenants, $17 chunks: how many of all these the caller may see.
SELECT (
    SELECT count(*)
    FROM unnest($15::text[], $13::text[]) AS names (named_tenant, named_id)
    CROSS JOIN LATERAL (
        SELECT FROM documents
        WHERE tenant = named_tenant AND document_id = named_id AND :is_visible
        OFFSET 0
    ) AS visible
) + (
    SELECT count(*)
    FROM unnest($17::bigint[]) AS chunks (named_chunk)
    CROSS JOIN LATERAL (
        SELECT document_key FROM chunk_texts WHERE chunk_texts.chunk_id = named_chunk OFFSET 0
    ) AS of_chunk
    CROSS JOIN LATERAL (
        SELECT FROM documents
        WHERE documents.document_key = of_chunk.document_key AND :is_visible
        OFFSET 0
    ) AS visible
) AS visible;

-- name: sources
-- $13 limit: the sources of the tenant's active documents, and the number of documents of each.
SELECT source, count(*) AS documents
FROM documents
WHERE tenant = $1 AND is_active AND :is_admitted AND :passes_filter
GROUP BY source ORDER BY source LIMIT $13;
