-- Rows that hold names of the HTTP API get its new names. Finished jobs keep their old results.

UPDATE jobs SET
    kind = CASE kind
        WHEN 'document' THEN 'document.write'
        WHEN 'source.read' THEN 'source.sync'
        WHEN 'words' THEN 'vocabulary.prune'
        WHEN 'answers' THEN 'cached_answers.drop'
        WHEN 'audit' THEN 'consistency.check'
        ELSE 'embeddings.backfill'
    END,
    target = CASE kind WHEN 'answers' THEN 'cached_' || target ELSE target END
WHERE kind IN ('document', 'source.read', 'words', 'answers', 'audit', 'backfill');

UPDATE sources SET counts = counts - '{refused,chunks_kept}'::text[] || jsonb_build_object(
    'rejected', counts -> 'refused', 'chunks_unchanged', counts -> 'chunks_kept'
)
WHERE counts ? 'refused';

UPDATE query_gates SET words = words - 'otherwise' || jsonb_build_object('default', words -> 'otherwise')
WHERE words ? 'otherwise';

UPDATE tenants SET
    confidence = confidence - 'min' || jsonb_build_object('score_min', confidence -> 'min')
WHERE confidence ? 'min';

ALTER TABLE usage RENAME money TO cost;
