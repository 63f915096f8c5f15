-- name: learn
-- $1 tenant, $2 words: those that are new are kept and counted.
-- Sorted, so that two writers of the same new words wait for each other and can't deadlock.
WITH learned AS (
    INSERT INTO vocabulary (tenant, word)
    SELECT $1, word FROM unnest($2::text[]) AS new (word) ORDER BY word
    ON CONFLICT DO NOTHING
    RETURNING word
)
UPDATE tenants SET vocabulary_size = vocabulary_size + (SELECT count(*) FROM learned)
WHERE tenant = $1 AND EXISTS (SELECT FROM learned);

-- name: look_up
-- $1 tenant, $2 words, $3 similarity, $4 near words each, $5 words that may have near ones.
-- One row a word, in their order, how many words the vocabulary held in the same snapshot, and in
-- which history.
--
-- pg_trgm takes the similarity that `%` asks for from a setting. It is set here, for this statement
-- alone, in the only place that the words come from: no row is compared before it is set.
WITH asked AS MATERIALIZED (
    SELECT asked.word, place, is_known IS NOT NULL AS is_known,
           count(*) FILTER (WHERE is_known IS NULL) OVER (ORDER BY place) AS unknown_before
    FROM set_config('pg_trgm.similarity_threshold', $3::real::text, true) AS setting
    CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS asked (word, place)
    LEFT JOIN LATERAL (
        SELECT true AS is_known FROM vocabulary
        WHERE vocabulary.tenant = $1 AND vocabulary.word = asked.word
        OFFSET 0  -- one by one
    ) AS known ON true
    WHERE setting IS NOT NULL
)
SELECT
    coalesce((SELECT vocabulary_size FROM tenants WHERE tenant = $1), 0) AS vocabulary_size,
    (SELECT history FROM histories) AS history,
    asked.word, asked.is_known, near.words AS near_words, near.similarities
FROM asked
CROSS JOIN LATERAL (
    SELECT array_agg(word ORDER BY similarity DESC, word) AS words,
           array_agg(similarity ORDER BY similarity DESC, word) AS similarities
    FROM (
        SELECT vocabulary.word, similarity(vocabulary.word, asked.word) AS similarity
        FROM vocabulary
        WHERE NOT asked.is_known AND asked.unknown_before <= $5
          AND ARRAY[vocabulary.tenant] && ARRAY[$1::text] AND vocabulary.word % asked.word
        ORDER BY similarity DESC, word
        LIMIT $4
    ) AS nearest
) AS near
ORDER BY asked.place;
