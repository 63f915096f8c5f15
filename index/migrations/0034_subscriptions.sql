-- Subscriptions: questions whose answers callers want to hear of again when they change.

-- search:    the body of the search, as the caller sent it. reports_hits: whether events name hits.
-- key_id:    the key or token that created it; null for a web token.
-- number:    of the last event; 0 before the first one.
-- digest:    of the answer that the last event reports. history, revision, public_revision: at which it was
--            correct; public_revision is null until an answer depends on the public partition.
-- used_at:   when a client last listened, or an event was last stored.
CREATE TABLE subscriptions (
    subscription_id text PRIMARY KEY,
    tenant          text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    subject         text NOT NULL,
    key_id          text,
    search          jsonb NOT NULL,
    reports_hits    boolean NOT NULL,
    interval_ms     integer NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    used_at         timestamptz NOT NULL DEFAULT now(),
    number          bigint NOT NULL DEFAULT 0,
    digest          bytea,
    history         text,
    revision        bigint,
    public_revision bigint,
    reported_at     timestamptz
);
CREATE INDEX ON subscriptions (tenant, subject, subscription_id);
CREATE INDEX ON subscriptions (used_at);

-- What the last events of a subscription reported, so that a client that comes back with the number of one
-- of them hears only what has changed since.
--   hits: of each hit its chunk, its document and the digest of its fields; no text.
CREATE TABLE subscription_events (
    tenant          text NOT NULL,
    subscription_id text NOT NULL REFERENCES subscriptions ON DELETE CASCADE,
    number          bigint NOT NULL,
    digest          bytea NOT NULL,
    hits            jsonb NOT NULL,
    PRIMARY KEY (subscription_id, number)
);

-- Tell the processes that follow subscriptions about each commit that raises a counter, so that no
-- statement that raises one can forget it. A tenant without subscriptions sends nothing, because commits
-- with messages wait for each other.
CREATE FUNCTION notify_subscribers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM subscriptions WHERE tenant = NEW.tenant OR NEW.tenant = 'public') THEN
        PERFORM pg_notify(
            'nearhit_subscriptions',
            json_build_object(
                'tenant', NEW.tenant, 'revision', NEW.revision, 'access_revision', NEW.access_revision
            )::text
        );
    END IF;
    RETURN NULL;
END;
$$;
CREATE TRIGGER notify_subscribers AFTER UPDATE ON tenants FOR EACH ROW
WHEN (OLD.revision <> NEW.revision OR OLD.access_revision <> NEW.access_revision)
EXECUTE FUNCTION notify_subscribers();
