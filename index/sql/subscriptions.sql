-- Subscriptions, and the events that reported their answers.

-- fragment: columns
subscription_id, tenant, subject, key_id, search, reports_hits, interval_ms, created_at, number, revision,
reported_at

-- name: lock_tenant
-- $1 tenant: its subscriptions are counted one creation at a time.
SELECT true FROM tenants WHERE tenant = $1 AND NOT is_being_deleted FOR NO KEY UPDATE;

-- name: counts
-- $1 tenant, $2 subject.
SELECT count(*) AS tenant_count, count(*) FILTER (WHERE subject = $2) AS subject_count
FROM subscriptions WHERE tenant = $1;

-- name: create
INSERT INTO subscriptions (subscription_id, tenant, subject, key_id, search, reports_hits, interval_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7)
RETURNING :columns;

-- fragment: is_of_maker
tenant = $1 AND subject = $2 AND is_made_with($1, key_id, $3)

-- name: get
-- $1 tenant, $2 subject, $3 null or a token as in `is_made_with`, $4 subscription.
SELECT :columns FROM subscriptions WHERE :is_of_maker AND subscription_id = $4;

-- name: page
-- $1 to $3 as above, $4 the last identifier of the previous page, $5 limit.
SELECT :columns FROM subscriptions WHERE :is_of_maker AND subscription_id > $4
ORDER BY subscription_id LIMIT $5;

-- name: delete
-- $1 to $3 as above, $4 subscription. Those who listen to it hear that it ended.
WITH deleted AS (
    DELETE FROM subscriptions WHERE :is_of_maker AND subscription_id = $4
    RETURNING subscription_id
)
SELECT
    subscription_id,
    pg_notify('nearhit_subscriptions', json_build_object('subscription', subscription_id)::text)
FROM deleted;

-- name: delete_unused
-- $1 seconds without use, $2 limit.
WITH deleted AS (
    DELETE FROM subscriptions WHERE subscription_id = ANY (ARRAY(
        SELECT subscription_id FROM subscriptions WHERE used_at < now() - make_interval(secs => $1)
        ORDER BY used_at LIMIT $2
    ))
    RETURNING subscription_id
)
SELECT
    subscription_id,
    pg_notify('nearhit_subscriptions', json_build_object('subscription', subscription_id)::text)
FROM deleted;

-- name: record_use
-- $1 subscriptions. Rows are locked in one order, so that concurrent calls can't deadlock.
WITH used AS (
    SELECT subscription_id FROM subscriptions WHERE subscription_id = ANY ($1::text[])
    ORDER BY subscription_id FOR NO KEY UPDATE
)
UPDATE subscriptions SET used_at = now() FROM used
WHERE subscriptions.subscription_id = used.subscription_id;

-- name: existing
-- $1 subscriptions: those of them that exist.
SELECT subscription_id FROM subscriptions WHERE subscription_id = ANY ($1::text[]);

-- name: event
-- $1 tenant, $2 subscription, $3 number.
SELECT digest, hits FROM subscription_events
WHERE tenant = $1 AND subscription_id = $2 AND number = $3;

-- name: record_event
-- $1 tenant, $2 subscription, $3 digest of the answer, $4 history, $5 and $6 the revisions at which it is
-- correct, of the tenant and of the public partition, the latter null if the answer does not depend on it,
-- $7 hits, $8 how many events are kept, $9 the number of the last event that the receiver has, or 0. An
-- answer that the last event reported already makes no new event.
--
-- The commit does not wait for the disk: if the server crashes, the next event may get a lost number, but
-- not the digest in its id, and none that the receiver has.
--
-- `number` is null if the subscription is gone, or an event of a later revision is stored.
WITH updated AS (
    UPDATE subscriptions SET
        number = CASE
            WHEN digest IS DISTINCT FROM $3 OR number <= $9::bigint THEN greatest(number, $9::bigint) + 1
            ELSE number
        END,
        digest = $3,
        history = $4,
        revision = $5,
        public_revision = coalesce($6, public_revision),
        used_at = now(),
        reported_at = CASE WHEN digest IS DISTINCT FROM $3 THEN now() ELSE reported_at END
    WHERE tenant = $1 AND subscription_id = $2
      AND (history IS DISTINCT FROM $4 OR (revision <= $5 AND coalesce(public_revision <= $6, true)))
    RETURNING tenant, subscription_id, number
),
stored AS (
    INSERT INTO subscription_events (tenant, subscription_id, number, digest, hits)
    SELECT tenant, subscription_id, number, $3, $7 FROM updated
    ON CONFLICT (subscription_id, number) DO NOTHING
),
pruned AS (
    DELETE FROM subscription_events USING updated
    WHERE subscription_events.tenant = updated.tenant
      AND subscription_events.subscription_id = updated.subscription_id
      AND subscription_events.number <= updated.number - $8::bigint
)
SELECT
    (SELECT number FROM updated) AS number,
    set_config('synchronous_commit', 'off', true) AS synchronous_commit,
    EXISTS (SELECT FROM subscriptions WHERE tenant = $1 AND subscription_id = $2) AS is_there;
