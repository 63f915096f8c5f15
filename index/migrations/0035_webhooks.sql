-- Webhooks: where a worker sends the events of a subscription.

-- secret:   that signs the messages; it has to be kept as it is.
-- event_id: of the last event that was delivered; empty before the first one.
-- attempts: at the event of now that failed. next_attempt_at: null unless one has failed.
-- end_reason: why nothing more is sent; null while the webhook is active.
CREATE TABLE subscription_webhooks (
    subscription_id text PRIMARY KEY REFERENCES subscriptions ON DELETE CASCADE,
    tenant          text NOT NULL,
    url             text NOT NULL,
    secret          text NOT NULL,
    event_id        text NOT NULL DEFAULT '',
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    last_error      text,
    end_reason      text
);
CREATE INDEX ON subscription_webhooks (subscription_id) WHERE end_reason IS NULL;

-- Events that were given up after the last attempt. What they reported is in the next event.
CREATE TABLE dead_letters (
    tenant          text NOT NULL,
    subscription_id text NOT NULL REFERENCES subscriptions ON DELETE CASCADE,
    number          bigint NOT NULL,
    given_up_at     timestamptz NOT NULL DEFAULT now(),
    error           text NOT NULL,
    PRIMARY KEY (tenant, subscription_id, number)
);
