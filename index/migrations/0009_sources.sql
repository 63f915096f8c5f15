-- Sources that Nearhit reads by itself.

-- kind:        how the source is read; null for one whose documents somebody else brings.
-- settings:    what reading it needs to know; never a key.
-- schedule:    when to read it, as cron has it (in UTC); null for when somebody asks.
-- next_run_at: when the schedule says so; null while it is paused or has none.
-- last_error:  why the last reading failed; null if it didn't.
-- counts:      what the last reading came to.
ALTER TABLE sources
    ADD kind        text,
    ADD settings    jsonb NOT NULL DEFAULT '{}',
    ADD schedule    text,
    ADD paused      boolean NOT NULL DEFAULT false,
    ADD next_run_at timestamptz,
    ADD last_run_at timestamptz,
    ADD last_error  text,
    ADD counts      jsonb NOT NULL DEFAULT '{}';
CREATE INDEX sources_due ON sources (next_run_at) WHERE next_run_at IS NOT NULL;
