-- A webhook's secret can be rotated: while the earlier ones last, messages carry their signatures too.

-- previous_secrets: [{"secret", "until"}], the newest first.
ALTER TABLE subscription_webhooks ADD COLUMN previous_secrets jsonb NOT NULL DEFAULT '[]';
