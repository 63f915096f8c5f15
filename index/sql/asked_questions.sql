-- Which questions the callers of a tenant asked how often, if its admin has them recorded.

-- name: add
-- $1 tenants, $2 digests, $3 days, $4 asked, $5 unsure. A tenant that records none gets no rows; its row is
-- locked, so that none is added while recording is turned off. Rows are locked in one order, so that
-- processes can't deadlock.
INSERT INTO asked_questions AS so_far (tenant, digest, day, asked, unsure)
SELECT new.*
FROM unnest($1::text[], $2::bytea[], $3::date[], $4::bigint[], $5::bigint[])
    AS new (tenant, digest, day, asked, unsure)
JOIN tenants USING (tenant)
WHERE questions_kept_days > 0 AND NOT is_being_deleted
ORDER BY new.tenant, new.digest, new.day
FOR SHARE OF tenants
ON CONFLICT (tenant, digest, day) DO UPDATE
SET asked = so_far.asked + excluded.asked, unsure = so_far.unsure + excluded.unsure;

-- name: add_texts
-- $1 tenants, $2 digests, $3 days, $4 questions: the text of each that was asked twice.
UPDATE asked_questions AS stored SET question = new.question
FROM unnest($1::text[], $2::bytea[], $3::date[], $4::text[]) AS new (tenant, digest, day, question)
WHERE stored.tenant = new.tenant AND stored.digest = new.digest AND stored.day = new.day
  AND stored.question IS NULL
  AND (stored.asked > 1 OR EXISTS (
      SELECT FROM asked_questions AS earlier
      WHERE earlier.tenant = new.tenant AND earlier.digest = new.digest AND earlier.day <> new.day
  ));

-- name: prune
-- $1 tenants, $2 days, $3 limit of a tenant's rows of a day: those asked most stay.
DELETE FROM asked_questions USING (
    SELECT tenant, digest, day,
        row_number() OVER (PARTITION BY tenant, day ORDER BY asked DESC, digest) AS position
    FROM asked_questions WHERE tenant = ANY ($1::text[]) AND day = ANY ($2::date[])
) AS ordered
WHERE asked_questions.tenant = ordered.tenant AND asked_questions.digest = ordered.digest
  AND asked_questions.day = ordered.day AND position > $3::bigint;

-- name: delete_old
-- $1 today: rows that are older than their tenant keeps them.
DELETE FROM asked_questions USING tenants
WHERE asked_questions.tenant = tenants.tenant AND day <= $1::date - questions_kept_days;

-- name: most_asked
-- $1 tenant, $2 first and $3 last day, $4 today, $5 limit. The text is that of the last day.
SELECT
    digest, (array_agg(question ORDER BY day DESC) FILTER (WHERE question IS NOT NULL))[1] AS question,
    sum(asked)::bigint AS asked, sum(unsure)::bigint AS unsure, max(day) AS last_day
FROM asked_questions JOIN tenants USING (tenant)
WHERE tenant = $1 AND day BETWEEN $2 AND $3 AND day > $4::date - questions_kept_days
GROUP BY digest HAVING count(question) > 0
ORDER BY asked DESC, last_day DESC, digest LIMIT $5;

-- name: kept_days
-- $1 tenant
SELECT questions_kept_days FROM tenants WHERE tenant = $1;

-- name: put_kept_days
-- $1 tenant, $2 days. Principals hold whether it is 0, so gateways read them again at the next request.
UPDATE tenants SET
    questions_kept_days = $2,
    access_revision = access_revision + (questions_kept_days <> $2)::integer
WHERE tenant = $1 AND NOT is_being_deleted
RETURNING access_revision;

-- name: delete_all
-- $1 tenant
DELETE FROM asked_questions WHERE tenant = $1;

-- name: delete
-- $1 tenant, $2 digest: of every day.
WITH deleted AS (DELETE FROM asked_questions WHERE tenant = $1 AND digest = $2 RETURNING true)
SELECT count(*) FROM deleted;
