-- The use of embedders and models, and its cost.

-- name: add
-- $1 tenants, $2 days, $3 operations, $4 sources, $5 tokens, $6 cost, $7 embedded, $8 reused. Rows
-- are locked in one order, so that processes can't deadlock. A deleted tenant gets no rows.
INSERT INTO usage AS so_far (tenant, day, operation, source, tokens, cost, embedded, reused)
SELECT new.*
FROM unnest(
    $1::text[], $2::date[], $3::text[], $4::text[], $5::bigint[], $6::double precision[], $7::bigint[],
    $8::bigint[]
) AS new (tenant, day, operation, source, tokens, cost, embedded, reused)
JOIN tenants USING (tenant)
ON CONFLICT (tenant, day, operation, source) DO UPDATE SET
    tokens = so_far.tokens + excluded.tokens, cost = so_far.cost + excluded.cost,
    embedded = so_far.embedded + excluded.embedded, reused = so_far.reused + excluded.reused;

-- name: days
-- $1 tenant, $2 first and $3 last day
SELECT day, operation, sum(tokens)::bigint AS tokens, sum(cost) AS cost,
    sum(embedded)::bigint AS embedded, sum(reused)::bigint AS reused
FROM usage WHERE tenant = $1 AND day BETWEEN $2 AND $3
GROUP BY day, operation ORDER BY day, operation;

-- name: month
-- $1 tenant, $2 first day of the month: the cost since, and the tenant's own limit or null.
SELECT
    coalesce((SELECT sum(cost) FROM usage WHERE usage.tenant = $1 AND day >= $2), 0) AS cost,
    budget_month
FROM tenants WHERE tenants.tenant = $1;

-- name: put_budget
-- $1 tenant, $2 limit or null
UPDATE tenants SET budget_month = $2 WHERE tenant = $1 AND tenant <> 'public' RETURNING true;

-- name: status
-- $1 tenant: each source that has a row, jobs or usage; '' stands for work without a source.
WITH queued AS (
    SELECT
        coalesce(source, '') AS source,
        count(*) FILTER (WHERE state = 'waiting') AS waiting,
        count(*) FILTER (WHERE state = 'running') AS running,
        count(*) FILTER (WHERE state = 'failed') AS failed,
        min(created_at) FILTER (WHERE state = 'waiting') AS oldest_waiting,
        min(created_at) FILTER (WHERE state IN ('waiting', 'running')) AS oldest
    FROM jobs WHERE tenant = $1 AND state IN ('waiting', 'running', 'failed')
    GROUP BY 1
),
done AS (
    SELECT source, sum(embedded)::bigint AS embedded, sum(reused)::bigint AS reused
    FROM usage WHERE tenant = $1 AND operation = 'ingest' AND source <> '' GROUP BY source
),
known AS (
    SELECT source, CASE WHEN next_run_at < now() THEN next_run_at END AS overdue
    FROM sources WHERE tenant = $1
),
unembedded AS (
    SELECT source, count(*) AS without_vector
    FROM tenants
    JOIN embeddings ON embeddings.tenant = $1 AND l2_norm(embeddings.dense) = 0
        AND embeddings.embedding_space
            = coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta))
    JOIN chunk_texts USING (digest)
    JOIN documents USING (document_key)
    WHERE tenants.tenant = $1 AND documents.tenant = $1
    GROUP BY source
)
SELECT
    source, coalesce(waiting, 0) AS waiting, coalesce(running, 0) AS running,
    coalesce(failed, 0) AS failed, coalesce(embedded, 0) AS embedded, coalesce(reused, 0) AS reused,
    coalesce(without_vector, 0) AS without_vector,
    extract(epoch FROM now() - oldest_waiting)::double precision AS oldest_waiting_s,
    coalesce(extract(epoch FROM now() - least(oldest, overdue)), 0)::double precision AS lag_s
FROM known FULL JOIN queued USING (source) FULL JOIN done USING (source)
    FULL JOIN unembedded USING (source)
ORDER BY source;
