-- Sources that Nearhit reads by itself, what reading and asking costs, and audits of the index.

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

-- What was used of embedders and models, by day (in UTC) and operation.
-- source:   of the documents that it was for; empty where it was for none.
-- embedded: texts that went to an embedder; reused: chunks that did without.
CREATE TABLE usage (
    tenant    text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    day       date NOT NULL,
    operation text NOT NULL,
    source    text NOT NULL DEFAULT '',
    tokens    bigint NOT NULL DEFAULT 0,
    money     double precision NOT NULL DEFAULT 0,
    embedded  bigint NOT NULL DEFAULT 0,
    reused    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, day, operation, source)
);

-- The most that the tenant may use in a month; null: the setting's.
ALTER TABLE tenants ADD budget_month double precision CHECK (budget_month >= 0);

-- When each tenant's index is audited next (null: not said yet), and what was left by the last audit:
-- how many flaws of each kind.
CREATE TABLE audits (
    tenant      text PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
    next_run_at timestamptz,
    last_run_at timestamptz,
    flaws       jsonb NOT NULL DEFAULT '{}'
);
