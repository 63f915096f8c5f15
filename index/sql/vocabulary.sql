-- fragment: learned
-- $1 tenant, $13 words, and $14 tokens and $15 words in pairs: words that the holders of a token may read.
-- New ones are inserted. The order keeps concurrent writers of the same words from deadlocking.
learned AS (
    INSERT INTO vocabulary (tenant, word)
    SELECT $1, word FROM unnest($13::text[]) AS new (word) ORDER BY word
    ON CONFLICT DO NOTHING
    RETURNING word
),
learned_restricted AS (
    INSERT INTO restricted_words (tenant, token, word)
    SELECT $1, token, word FROM unnest($14::text[], $15::text[]) AS new (token, word) ORDER BY word, token
    ON CONFLICT DO NOTHING
    RETURNING word
)

-- name: look_up
-- $1 tenant, $2 words, $3 similarity, $4 near words each, $5 words that may have near ones, $6 the caller's
-- grants: words of documents that they admit count like those that the whole tenant may read.
-- One row for each word, in their order, with the vocabulary's size and history in the same snapshot.
--
-- pg_trgm reads the threshold of `%` from a setting. The join with set_config sets it before any row is
-- compared, for this transaction alone.
WITH requested AS MATERIALIZED (
    SELECT requested.word, position, is_known IS NOT NULL AS is_known,
           count(*) FILTER (WHERE is_known IS NULL) OVER (ORDER BY position) AS unknown_before
    FROM set_config('pg_trgm.similarity_threshold', $3::real::text, true) AS setting
    CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS requested (word, position)
    LEFT JOIN LATERAL (
        SELECT true AS is_known FROM vocabulary
        WHERE vocabulary.tenant = $1 AND vocabulary.word = requested.word
        UNION ALL
        SELECT true FROM restricted_words
        WHERE restricted_words.tenant = $1 AND restricted_words.word = requested.word
          AND token = ANY ($6::text[])
        LIMIT 1  -- one by one
    ) AS known ON true
    WHERE setting IS NOT NULL
)
SELECT
    coalesce((SELECT vocabulary_size FROM tenants WHERE tenant = $1), 0) AS vocabulary_size,
    (SELECT history FROM histories) AS history,
    requested.word, requested.is_known, near.words AS near_words, near.similarities
FROM requested
CROSS JOIN LATERAL (
    SELECT array_agg(word ORDER BY similarity DESC, word) AS words,
           array_agg(similarity ORDER BY similarity DESC, word) AS similarities
    FROM (
        SELECT words.word, similarity(words.word, requested.word) AS similarity
        FROM (
            SELECT vocabulary.word FROM vocabulary
            WHERE NOT requested.is_known AND requested.unknown_before <= $5
              AND ARRAY[vocabulary.tenant] && ARRAY[$1::text] AND vocabulary.word % requested.word
            UNION
            SELECT restricted_words.word FROM restricted_words
            WHERE NOT requested.is_known AND requested.unknown_before <= $5
              AND ARRAY[restricted_words.tenant || E'\x1f' || token]
                  && (SELECT array_agg($1 || E'\x1f' || granted) FROM unnest($6) AS granted)
              AND restricted_words.word % requested.word
        ) AS words
        ORDER BY similarity DESC, word COLLATE "C"  -- as processes order them that hold the words
        LIMIT $4
    ) AS nearest
) AS near
ORDER BY requested.position;

-- name: entries
-- $1 tenant, here and below: its words; those of a token after the token.
SELECT word AS entry FROM vocabulary WHERE ARRAY[tenant] && ARRAY[$1::text]
UNION ALL
SELECT token || E'\x1f' || word FROM restricted_words WHERE tenant = $1;

-- name: prune_version
-- Every later write has a greater version.
SELECT coalesce(max(version), 0) AS version FROM documents WHERE tenant = $1;

-- fragment: titles_and_texts
SELECT
    document_id, title, readers, document_texts.text,
    ARRAY(
        SELECT chunk_texts.text FROM chunk_texts
        WHERE chunk_texts.document_key = documents.document_key AND chunk_id < 0
    ) AS summaries
FROM documents JOIN document_texts USING (document_key)
WHERE tenant = $1

-- name: prune_page
-- $2 the last document of the previous page, $3 limit
:titles_and_texts AND document_id ~>~ $2 ORDER BY document_id USING ~<~ LIMIT $3;

-- name: prune_since
-- $2 version
:titles_and_texts AND version > $2;

-- name: prune_delete
-- $2 entries
WITH deleted AS (
    DELETE FROM vocabulary WHERE tenant = $1 AND word = ANY ($2::text[]) RETURNING true
),
deleted_restricted AS (
    DELETE FROM restricted_words WHERE tenant = $1 AND token || E'\x1f' || word = ANY ($2) RETURNING true
)
SELECT (SELECT count(*) FROM deleted) + (SELECT count(*) FROM deleted_restricted);

-- name: prune_skip_revision
-- A revision without a row in the change log: a cache that meets the gap starts anew.
UPDATE tenants SET vocabulary_size = vocabulary_size + (1::bigint << 40), revision = revision + 1
WHERE tenant = $1;
