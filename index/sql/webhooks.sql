-- Webhooks of subscriptions.

-- name: create
-- $1 tenant, $2 subscription, $3 URL, $4 secret.
INSERT INTO subscription_webhooks (tenant, subscription_id, url, secret) VALUES ($1, $2, $3, $4);

-- name: of_subscriptions
-- $1 tenant, $2 subscriptions: their webhooks, with the dead letters, newest first, at most $3 of each.
SELECT subscription_id, url, attempts, next_attempt_at, last_error, end_reason,
    ARRAY(
        SELECT json_build_object('number', number, 'given_up_at', given_up_at, 'error', error)::jsonb
        FROM dead_letters
        WHERE dead_letters.tenant = $1
          AND dead_letters.subscription_id = subscription_webhooks.subscription_id
        ORDER BY number DESC LIMIT $3
    ) AS dead_letters
FROM subscription_webhooks WHERE tenant = $1 AND subscription_id = ANY ($2::text[]);

-- name: active
-- The webhooks of all tenants to which a worker sends.
SELECT subscription_webhooks.subscription_id FROM subscription_webhooks WHERE end_reason IS NULL;

-- name: get_active
-- $1 subscriptions: with what a worker needs to send.
SELECT
    subscriptions.subscription_id, subscriptions.tenant, subject, key_id, search, reports_hits,
    interval_ms, created_at, number, revision, reported_at,
    url, event_id, attempts, next_attempt_at
FROM subscription_webhooks JOIN subscriptions USING (tenant, subscription_id)
WHERE subscription_webhooks.subscription_id = ANY ($1::text[]) AND end_reason IS NULL;

-- name: secrets
-- $1 tenant, $2 subscription: the secrets that sign a message of now, the current one first.
SELECT secret FROM subscription_webhooks WHERE tenant = $1 AND subscription_id = $2
UNION ALL
SELECT previous ->> 'secret'
FROM subscription_webhooks, jsonb_array_elements(previous_secrets) AS previous
WHERE tenant = $1 AND subscription_id = $2 AND (previous ->> 'until')::timestamptz > now();

-- name: rotate_secret
-- $1 tenant, $2 subscription, $3 new secret, $4 when all earlier ones end, $5 how many of them may last.
-- Returns whether it was done; no row without a webhook.
WITH webhook AS (
    SELECT secret, previous_secrets FROM subscription_webhooks
    WHERE tenant = $1 AND subscription_id = $2
    FOR UPDATE
),
earlier AS (
    SELECT secret, $4::timestamptz AS until, 0 AS place FROM webhook WHERE $4 > now()
    UNION ALL
    SELECT previous ->> 'secret', least((previous ->> 'until')::timestamptz, $4), place
    FROM webhook, jsonb_array_elements(previous_secrets) WITH ORDINALITY AS of (previous, place)
    WHERE least((previous ->> 'until')::timestamptz, $4) > now()
),
rotated AS (
    UPDATE subscription_webhooks SET
        secret = $3,
        previous_secrets = (
            SELECT coalesce(
                jsonb_agg(jsonb_build_object('secret', secret, 'until', until) ORDER BY place), '[]'
            ) FROM earlier
        )
    WHERE tenant = $1 AND subscription_id = $2 AND (SELECT count(*) FROM earlier) <= $5
    RETURNING subscription_id
)
SELECT EXISTS (SELECT FROM rotated) AS is_done FROM webhook;

-- name: record_delivered
-- $1 tenant, $2 subscription, $3 id of the event.
UPDATE subscription_webhooks SET event_id = $3, attempts = 0, next_attempt_at = NULL, last_error = NULL
WHERE tenant = $1 AND subscription_id = $2;

-- name: record_failed
-- $1 tenant, $2 subscription, $3 attempts so far, $4 seconds until the next one, $5 error.
UPDATE subscription_webhooks SET
    attempts = $3, next_attempt_at = now() + make_interval(secs => $4), last_error = $5
WHERE tenant = $1 AND subscription_id = $2;

-- name: give_up
-- $1 tenant, $2 subscription, $3 number of the event, $4 error, $5 how many dead letters are kept.
WITH letter AS (
    INSERT INTO dead_letters (tenant, subscription_id, number, error)
    SELECT tenant, subscription_id, $3, $4
    FROM subscription_webhooks WHERE tenant = $1 AND subscription_id = $2
    ON CONFLICT (tenant, subscription_id, number) DO UPDATE SET
        given_up_at = now(), error = excluded.error
),
pruned AS (
    DELETE FROM dead_letters WHERE tenant = $1 AND subscription_id = $2 AND number IN (
        SELECT number FROM dead_letters WHERE tenant = $1 AND subscription_id = $2 AND number <> $3
        ORDER BY number DESC OFFSET $5 - 1
    )
)
UPDATE subscription_webhooks SET attempts = 0, next_attempt_at = NULL, last_error = $4
WHERE tenant = $1 AND subscription_id = $2;

-- name: end
-- $1 tenant, $2 subscription, $3 reason, $4 error or null.
UPDATE subscription_webhooks SET end_reason = $3, last_error = $4, next_attempt_at = NULL
WHERE tenant = $1 AND subscription_id = $2;

-- name: try_lead
-- Whether this session is, or becomes, the one whose process sends to webhooks.
SELECT pg_try_advisory_lock(hashtext(current_schema() || ' nearhit webhooks')) AS is_leading;
