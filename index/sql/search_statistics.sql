-- How the searches of a tenant were answered.

-- name: add
-- $1 tenants, $2 hours, $3 tiers, $4 outcomes, $5 latencies, $6 answers. Rows are locked in one order, so
-- that processes can't deadlock. A deleted tenant gets no rows.
INSERT INTO search_statistics AS so_far (tenant, hour, tier, outcome, latency_ms_max, answers)
SELECT new.*
FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::integer[], $6::bigint[])
    AS new (tenant, hour, tier, outcome, latency_ms_max, answers)
JOIN tenants USING (tenant)
ON CONFLICT (tenant, hour, tier, outcome, latency_ms_max) DO UPDATE
SET answers = so_far.answers + excluded.answers;

-- name: prune
-- $1 tenants, $2 days
DELETE FROM search_statistics WHERE tenant = ANY ($1::text[]) AND hour < now() - make_interval(days => $2);

-- name: outcomes
-- $1 tenant, $2 begin and $3 end, $4 day or hour
SELECT date_trunc($4, hour, 'UTC') AS start, tier, outcome, sum(answers)::bigint AS answers
FROM search_statistics WHERE tenant = $1 AND hour >= $2 AND hour < $3
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- name: latencies
-- $1 tenant, $2 begin and $3 end
SELECT tier, latency_ms_max, sum(answers)::bigint AS answers
FROM search_statistics WHERE tenant = $1 AND hour >= $2 AND hour < $3 AND latency_ms_max > 0
GROUP BY 1, 2 ORDER BY 1, 2;

-- name: latencies_of_all
-- $1 begin, $2 day or hour
SELECT date_trunc($2, hour, 'UTC') AS start, tier, latency_ms_max, sum(answers)::bigint AS answers
FROM search_statistics WHERE hour >= $1 AND latency_ms_max > 0
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
