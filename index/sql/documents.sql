-- uses: quotas
-- uses: vocabulary
-- uses: forgetting

-- name: lock
-- $1 tenant, $2 documents, which may not exist yet: writers of one document wait for each other. All
-- writers lock in one order, so that they can't deadlock.
SELECT count(pg_advisory_xact_lock(place))
FROM (
    SELECT hashtextextended($1 || chr(31) || document_id, 0) AS place
    FROM unnest($2::text[]) AS document_id ORDER BY place
) AS places;

-- name: lock_tenant
-- $1 tenant. Writers share a lock during which the tenant's chunks keep their partition and embedding
-- space (see partitions.sql); false while they are being moved. chr(31) is in no tenant's name, so the
-- key can't equal that of a document.
SELECT pg_try_advisory_xact_lock_shared(hashtextextended(chr(31) || 'partition' || chr(31) || $1, 0));

-- name: lock_for_write
-- $1 tenant, $2 documents: `lock_tenant`, then `lock`, in one round trip; false, and no document is
-- locked, while the tenant's chunks are being moved. There is one row of `tenant_lock`, so that the
-- places keep their order.
WITH tenant_lock AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock_shared(
        hashtextextended(chr(31) || 'partition' || chr(31) || $1, 0)
    ) AS is_locked
)
SELECT is_locked, count(pg_advisory_xact_lock(place))
FROM tenant_lock LEFT JOIN (
    SELECT hashtextextended($1 || chr(31) || document_id, 0) AS place
    FROM unnest($2::text[]) AS document_id ORDER BY place
) AS places ON is_locked
GROUP BY is_locked;

-- name: stored
-- $1 tenant, $2 documents: those that exist, with their chunks in the order of the text, and summaries,
-- whose identifiers are below zero, apart. LATERAL looks up each document by itself; for a join the
-- planner may read all documents of the tenant.
SELECT
    stored.document_id, source, title, uri, language, tags, metadata, owner, readers, chunker, summaries,
    is_active, provenance, version, sequences,
    EXISTS (
        SELECT FROM jobs
        WHERE jobs.tenant = $1 AND target = 'document:' || stored.document_id
          AND state IN ('waiting', 'running')
    ) AS is_awaited,
    document_texts.text, (SELECT revision FROM tenants WHERE tenant = $1) AS revision,
    pieces.chunk_ids, pieces.digests, pieces.starts, pieces.ends, pieces.summary_rows
FROM unnest($2::text[]) AS requested (document_id)
CROSS JOIN LATERAL (
    SELECT * FROM documents WHERE tenant = $1 AND documents.document_id = requested.document_id LIMIT 1
) AS stored
JOIN document_texts USING (document_key)
CROSS JOIN LATERAL (
    SELECT
        coalesce(array_agg(chunk_id ORDER BY start_at, chunk_id) FILTER (WHERE chunk_id > 0), '{}')
            AS chunk_ids,
        coalesce(array_agg(digest ORDER BY start_at, chunk_id) FILTER (WHERE chunk_id > 0), '{}')
            AS digests,
        coalesce(array_agg(start_at ORDER BY start_at, chunk_id) FILTER (WHERE chunk_id > 0), '{}')
            AS starts,
        coalesce(array_agg(end_at ORDER BY start_at, chunk_id) FILTER (WHERE chunk_id > 0), '{}')
            AS ends,
        array_agg((chunk_id, digest, start_at, end_at, text) ORDER BY start_at, chunk_id)
            FILTER (WHERE chunk_id < 0) AS summary_rows
    FROM chunk_texts WHERE chunk_texts.document_key = stored.document_key
) AS pieces;

-- name: exists
SELECT true FROM documents WHERE tenant = $1 AND document_id = $2;

-- name: missing
-- $1 tenant, $2 documents, none of which exists: when each was removed, and its access by events.
SELECT
    requested.document_id, coalesce(removed.sequence, 0) AS removed,
    coalesce(access_sequence, 0) AS access, event_versions.owner,
    coalesce(event_versions.readers, '{}') AS readers
FROM unnest($2::text[]) AS requested (document_id)
LEFT JOIN removed_documents AS removed
    ON removed.tenant = $1 AND removed.digest = sha256(convert_to(requested.document_id, 'UTF8'))
LEFT JOIN event_versions
    ON event_versions.tenant = $1 AND event_versions.document_id = requested.document_id;

-- name: next_sequence
-- Higher than the number of every acknowledged write.
SELECT nextval('document_versions') AS sequence;

-- name: versions
-- $1 tenant, $2 documents: those that exist, with the tenant's embedding space (null while it has none),
-- the analyser that writes use, and the vocabulary size. At least one row if the tenant exists; none if not, or if it is being deleted.
-- $3 the source of each document that a caller writes, else null: `reserved` are documents of sources
-- to which callers may not write, unless the document is an attached file. `awaited` are documents with
-- unfinished jobs.
SELECT
    coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta)) AS embedding_space,
    (SELECT index_meta.analyser FROM index_meta) AS analyser,
    vocabulary_size,
    (SELECT history FROM histories) AS history,
    ARRAY(
        SELECT requested.document_id
        FROM unnest($2::text[], $3::text[]) AS requested (document_id, source)
        JOIN sources ON sources.tenant = $1 AND sources.source = requested.source
        WHERE sources.kind IS NOT NULL
          OR EXISTS (
              SELECT FROM vector_stores
              WHERE vector_stores.tenant = $1 AND vector_stores.source = requested.source
          ) AND NOT EXISTS (
              SELECT FROM vector_store_files AS files
              WHERE files.tenant = $1 AND files.source = requested.source
                AND files.document_id = requested.document_id
          )
    ) AS reserved,
    ARRAY(
        SELECT substr(target, length('document:') + 1) FROM jobs
        WHERE jobs.tenant = $1 AND state IN ('waiting', 'running')
          AND target = ANY (ARRAY(SELECT 'document:' || requested FROM unnest($2) AS requested))
    ) AS awaited,
    document_key, document_id, version, readers, documents.chunks,
    coalesce((
        SELECT octet_length(text) FROM document_texts
        WHERE document_texts.document_key = documents.document_key
    ), 0) AS text_bytes
FROM tenants
LEFT JOIN documents ON documents.tenant = tenants.tenant AND document_id = ANY ($2::text[])
WHERE tenants.tenant = $1 AND NOT is_being_deleted;

-- name: put
-- $1 tenant, $2 documents and $3 their texts: the next version of a document with a key, else a new one.
-- $4 the sequence number of the writes or null for the next ones. Of a document, `parts` are those that the
-- write sets, and `access_parts` and `other_parts` the rest; `by_caller` says whether a caller writes it, and
-- `is_first_of_source` is true once a source.
-- Then the new chunks: $5 the place of each one's document, from 1, and its fields. Identifiers grow with the
-- order of the arrays; those of summaries are negative.
-- The documents are locked. All writers give them in the order of their sources, whose rows are locked here.
WITH requested AS MATERIALIZED (
    SELECT
        requested.*, unnest AS text, ordinality AS place,
        coalesce($4::bigint, nextval('document_versions')) AS sequence
    FROM ROWS FROM (
        jsonb_to_recordset($2) AS (
            document_key bigint, document_id text, source text, title text, uri text, language text,
            tags text[], metadata jsonb, owner text, readers text[], chunker text, summaries text,
            is_active boolean, provenance jsonb, chunks integer, parts text[], access_parts text[],
            other_parts text[], by_caller boolean, is_first_of_source boolean
        ),
        unnest($3::text[])
    ) WITH ORDINALITY AS requested
),
registered AS (
    INSERT INTO sources (tenant, source, by_callers)
    SELECT $1, source, bool_or(by_caller) FROM requested GROUP BY source ORDER BY source
    ON CONFLICT DO NOTHING
    RETURNING source
),
source_marked AS (
    UPDATE sources SET by_callers = true
    WHERE tenant = $1 AND NOT by_callers
      AND source = ANY (ARRAY(SELECT source FROM requested WHERE by_caller))
),
removal AS (
    DELETE FROM removed_documents
    WHERE tenant = $1
      AND digest = ANY (ARRAY(SELECT sha256(convert_to(document_id, 'UTF8')) FROM requested))
    RETURNING digest, sequence
),
added AS (
    INSERT INTO documents
        (tenant, document_id, source, title, uri, language, tags, metadata, owner, readers, chunker,
         summaries, chunks, is_active, provenance, sequences)
    SELECT
        $1, document_id, source, title, uri, language, tags, metadata, owner, readers, chunker, summaries,
        chunks, is_active, provenance,
        part_sequences(other_parts, earlier.removed)
            || part_sequences(access_parts, greatest(earlier.removed, earlier.access))
            || part_sequences(parts, requested.sequence)
    FROM requested
    CROSS JOIN LATERAL (
        SELECT
            coalesce((
                SELECT sequence FROM removal WHERE digest = sha256(convert_to(document_id, 'UTF8'))
            ), 0) AS removed,
            (SELECT access_sequence FROM event_versions
             WHERE tenant = $1 AND event_versions.document_id = requested.document_id) AS access
    ) AS earlier
    WHERE document_key IS NULL
    ORDER BY place
    RETURNING document_key, document_id
),
updated AS (
    UPDATE documents SET
        source = requested.source, title = requested.title, uri = requested.uri,
        language = requested.language, tags = requested.tags, metadata = requested.metadata,
        owner = requested.owner, readers = requested.readers, chunker = requested.chunker,
        summaries = requested.summaries, chunks = requested.chunks, is_active = requested.is_active,
        provenance = requested.provenance,
        sequences = sequences || part_sequences(parts, requested.sequence),
        version = nextval('document_versions'), updated_at = now()
    FROM requested
    WHERE documents.tenant = $1 AND documents.document_key = requested.document_key
    RETURNING documents.document_key, documents.document_id
),
written AS MATERIALIZED (
    SELECT place, stored.document_key, text, source, is_first_of_source
    FROM (SELECT * FROM added UNION ALL SELECT * FROM updated) AS stored JOIN requested USING (document_id)
),
document_text AS (
    INSERT INTO document_texts (document_key, text) SELECT document_key, text FROM written
    ON CONFLICT (document_key) DO UPDATE SET text = excluded.text
    WHERE document_texts.text <> excluded.text
),
new_chunks AS MATERIALIZED (
    SELECT nextval('chunk_ids') * CASE WHEN is_summary THEN -1 ELSE 1 END AS chunk_id, *
    FROM unnest(
        $5::bigint[], $6::halfvec[], $7::sparsevec[], $8::bytea[], $9::integer[], $10::integer[],
        $11::text[], $12::boolean[]
    ) AS new_chunks (place, dense, lexical, digest, start_at, end_at, text, is_summary)
),
added_chunks AS (
    INSERT INTO chunks (partition_no, chunk_id, tenant, document_key, dense, lexical)
    SELECT
        (SELECT partition_no FROM tenants WHERE tenant = $1), chunk_id, $1, document_key, dense, lexical
    FROM new_chunks JOIN written USING (place)
),
added_texts AS (
    INSERT INTO chunk_texts (chunk_id, document_key, digest, start_at, end_at, text)
    SELECT chunk_id, document_key, digest, start_at, end_at, new_chunks.text
    FROM new_chunks JOIN written USING (place)
)
SELECT
    document_key,
    is_first_of_source AND EXISTS (
        SELECT FROM registered WHERE registered.source = written.source
    ) AS is_new_source,
    coalesce(chunk_ids, '{}') AS chunk_ids
FROM written LEFT JOIN (
    SELECT place, array_agg(chunk_id ORDER BY abs(chunk_id)) AS chunk_ids FROM new_chunks GROUP BY place
) AS chunk_ids_by_place USING (place)
ORDER BY place;

-- name: reposition_chunks
-- Kept chunks with new offsets; returns those that changed.
UPDATE chunk_texts SET start_at = new.start_at, end_at = new.end_at
FROM unnest($1::bigint[], $2::integer[], $3::integer[]) AS new (chunk_id, start_at, end_at)
WHERE chunk_texts.chunk_id = new.chunk_id
  AND (chunk_texts.start_at <> new.start_at OR chunk_texts.end_at <> new.end_at)
RETURNING chunk_texts.chunk_id;

-- name: put_lexical
-- The lexical vector contains the words of the title, so a new title changes that of kept chunks.
UPDATE chunks SET lexical = new.lexical
FROM unnest($2::bigint[], $3::sparsevec[]) AS new (chunk_id, lexical)
WHERE chunks.partition_no = (SELECT partition_no FROM tenants WHERE tenant = $1) AND chunks.tenant = $1
  AND chunks.chunk_id = new.chunk_id AND chunks.lexical <> new.lexical;

-- name: remove_chunks
-- Their digests are kept, so that deleting the document also deletes their embeddings.
WITH deleted_texts AS (
    DELETE FROM chunk_texts USING chunks
    WHERE chunks.partition_no = (SELECT partition_no FROM tenants WHERE tenant = $1)
      AND chunks.tenant = $1 AND chunks.chunk_id = ANY ($2::bigint[]) AND chunk_texts.chunk_id = chunks.chunk_id
    RETURNING chunk_texts.document_key, digest
),
kept_digests AS (
    INSERT INTO previous_digests (document_key, digest)
    SELECT DISTINCT document_key, digest FROM deleted_texts
    ON CONFLICT DO NOTHING
)
DELETE FROM chunks
WHERE partition_no = (SELECT partition_no FROM tenants WHERE tenant = $1) AND tenant = $1
  AND chunk_id = ANY ($2::bigint[]);

-- name: remove_stray_chunks
-- $1 tenant, $2 chunks, in whichever table and partition.
WITH deleted_texts AS (
    DELETE FROM chunk_texts USING documents
    WHERE documents.tenant = $1 AND chunk_texts.document_key = documents.document_key
      AND chunk_id = ANY ($2::bigint[])
    RETURNING chunk_texts.document_key, digest
),
kept_digests AS (
    INSERT INTO previous_digests (document_key, digest)
    SELECT DISTINCT document_key, digest FROM deleted_texts
    ON CONFLICT DO NOTHING
)
DELETE FROM chunks USING documents
WHERE documents.tenant = $1 AND chunks.document_key = documents.document_key
  AND chunk_id = ANY ($2::bigint[]);

-- name: remove
-- $1 tenant, $2 document, $3 the sequence number of its removal or null for the next one. The document
-- need not exist: the row then supersedes queued writes and readings of it.
WITH removed AS (DELETE FROM documents WHERE tenant = $1 AND document_id = $2)
INSERT INTO removed_documents AS removal (tenant, digest, sequence)
VALUES ($1, sha256(convert_to($2, 'UTF8')), coalesce($3::bigint, nextval('document_versions')))
ON CONFLICT (tenant, digest) DO UPDATE SET
    sequence = greatest(removal.sequence, excluded.sequence), removed_at = excluded.removed_at;

-- name: prune_removed
-- $1 seconds: delete older removals, unless an unfinished job was requested before them.
DELETE FROM removed_documents AS removed
WHERE removed_at < now() - $1 * interval '1 second' AND NOT EXISTS (
    SELECT FROM jobs
    WHERE jobs.tenant = removed.tenant AND state <> 'done' AND jobs.sequence < removed.sequence
);

-- name: end_readers
-- $1 tenant, $2 document, which is locked, $3 readers: no earlier write gives them to it.
INSERT INTO ended_readers (tenant, digest, reader)
SELECT $1, sha256(convert_to($2, 'UTF8')), unnest($3::text[]);

-- name: ended_readers
-- $1 tenant, $2 documents, which are locked, $3 the sequence number of their writes: by document, the readers
-- that ended later.
SELECT document_id, array_agg(reader) AS readers
FROM unnest($2::text[]) AS document_id
JOIN ended_readers ON tenant = $1 AND digest = sha256(convert_to(document_id, 'UTF8'))
WHERE sequence > $3::bigint
GROUP BY document_id;

-- name: prune_ended_readers
-- As `prune_removed`.
DELETE FROM ended_readers AS ended
WHERE ended_at < now() - $1 * interval '1 second' AND NOT EXISTS (
    SELECT FROM jobs
    WHERE jobs.tenant = ended.tenant AND state <> 'done' AND jobs.sequence < ended.sequence
);

-- name: put_access
-- $1 tenant, $2 document, $3 owner, $4 readers, $5 the parts that the write sets, $6 the provenance.
UPDATE documents SET
    owner = $3, readers = $4, provenance = $6, version = now.sequence,
    sequences = sequences || part_sequences($5, now.sequence)
FROM nextval('document_versions') AS now (sequence)
WHERE tenant = $1 AND document_id = $2;

-- name: confirm
-- $1 tenant, $2 documents that a write would not change, $3 the parts that it sets, $4 its sequence
-- number or null for the next one. The version changes, so that no earlier plan is committed.
UPDATE documents SET
    version = now.version,
    sequences = sequences || part_sequences($3, coalesce($4, now.version))
FROM nextval('document_versions') AS now (version)
WHERE tenant = $1 AND document_id = ANY ($2::text[]);

-- name: advance
-- $1 tenant or 'public', $2 languages, $3 increment of chunks, $4 increment of public chunks, $5 added,
-- $6 removed, $7 updated and $8 repositioned chunks, $9 keys of changed documents, $10 increment of
-- documents and $11 of bytes, $12 keys of documents that are more or less popular now, $13 to $16 as the
-- fragments say. The row lock makes revisions commit in order and without gaps, and quotas hold; writers
-- take it last. The change log keeps the last 10,000 changes of a tenant; a cache that is further behind
-- starts anew.
WITH :learned,
advanced AS (
    UPDATE tenants SET
        revision = revision + 1,
        vocabulary_size = vocabulary_size
            + (SELECT count(*) FROM learned) + (SELECT count(*) FROM learned_restricted),
        chunks = chunks + $3,
        public_chunks = public_chunks + $4,
        documents = documents + $10,
        stored_bytes = stored_bytes + $11,
        languages = languages || ARRAY(SELECT unnest($2::text[]) EXCEPT SELECT unnest(languages))
    WHERE tenant = $1
    RETURNING revision, :amounts
),
pruned AS (
    DELETE FROM change_log WHERE tenant = $1 AND revision <= (SELECT revision - 10000 FROM advanced)
),
logged AS (
    INSERT INTO change_log (
        tenant, revision, added_chunks, removed_chunks, updated_chunks, repositioned_chunks,
        document_keys, popularity_keys
    )
    SELECT $1, revision, $5, $6, $7, $8, $9, $12 FROM advanced
),
:restored_embeddings
SELECT revision, (SELECT history FROM histories) AS history, :amounts FROM advanced;

-- name: embeddings
-- $1 tenant, $2 space, $3 digests. A zero vector stands for none: the embedder is asked again.
SELECT digest, dense FROM embeddings
WHERE tenant = $1 AND embedding_space = $2 AND digest = ANY ($3::bytea[]) AND l2_norm(dense) > 0;

-- name: planned_embeddings
-- $1 tenant, $2 the space of a tenant without vectors, $3 digests: the tenant's space, null while it has none,
-- with what it stores and may store, and the embeddings as above; no row without the tenant.
SELECT own.embedding_space, :amounts, digest, dense
FROM tenants
CROSS JOIN LATERAL (
    SELECT coalesce(
        tenants.embedding_space, (SELECT embedding_space FROM index_meta)
    ) AS embedding_space
) AS own
LEFT JOIN embeddings
    ON embeddings.tenant = $1 AND embeddings.embedding_space = coalesce(own.embedding_space, $2)
    AND embeddings.digest = ANY ($3::bytea[]) AND l2_norm(embeddings.dense) > 0
WHERE tenants.tenant = $1;

-- name: put_embeddings
INSERT INTO embeddings (tenant, embedding_space, digest, dense)
SELECT $1, $2, digest, dense FROM unnest($3::bytea[], $4::halfvec[]) AS new (digest, dense)
ON CONFLICT (tenant, embedding_space, digest) DO UPDATE SET dense = excluded.dense
WHERE l2_norm(embeddings.dense) = 0;

-- name: contents
-- $1 tenant, $2 documents
SELECT document_id, owner, readers, sha256(convert_to(text, 'UTF8')) AS digest
FROM documents JOIN document_texts USING (document_key)
WHERE tenant = $1 AND document_id = ANY ($2::text[]);

-- name: of_source
-- $1 tenant, $2 source: documents that a complete reading of the source is compared with. $3 null, or a
-- sequence number: only documents whose content is not newer. A document that a queued write moves to
-- another source is left out.
SELECT document_id FROM documents
WHERE tenant = $1 AND source = $2 AND ($3::bigint IS NULL OR coalesce((sequences ->> 'content')::bigint, 0) <= $3)
  AND NOT EXISTS (
      SELECT FROM jobs
      WHERE jobs.tenant = $1 AND target = 'document:' || document_id
        AND state IN ('waiting', 'running') AND jobs.source <> $2
  )
ORDER BY document_id USING ~<~;
