-- The best scores of a tenant's answers.

-- name: add
-- $1 tenants, $2 days, $3 scores, $4 answers. Rows are locked in one order, so that processes can't
-- deadlock. A deleted tenant gets no rows.
INSERT INTO best_scores AS so_far (tenant, day, score_percent, answers)
SELECT new.*
FROM unnest($1::text[], $2::date[], $3::smallint[], $4::bigint[]) AS new (tenant, day, score_percent, answers)
JOIN tenants USING (tenant)
ON CONFLICT (tenant, day, score_percent) DO UPDATE SET answers = so_far.answers + excluded.answers;

-- name: prune
-- $1 tenants, $2 first day that is kept
DELETE FROM best_scores WHERE tenant = ANY ($1::text[]) AND day < $2;

-- name: counts
-- $1 tenant, $2 first day
SELECT score_percent, sum(answers)::bigint AS answers FROM best_scores
WHERE tenant = $1 AND day >= $2 GROUP BY score_percent ORDER BY score_percent;
