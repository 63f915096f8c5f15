-- Work that outlives the process that was asked for it; see docs/decisions/0013.

-- place:    jobs in the order in which they were asked for.
-- target:   what the job changes: no two jobs of one target run at once.
-- source:   of the documents that it changes, for who counts by source.
-- key_id:   of the key that asked, whose rights count when the job runs; null for the operator. Never
--           the key itself.
-- payload:  what the job needs to know; gone once it is done.
-- attempts: how often it was begun; with the lease, it tells one run from all others.
-- error:    why it failed last, without a word of the payload.
CREATE TABLE jobs (
    place        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id       text NOT NULL UNIQUE,
    tenant       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    kind         text NOT NULL,
    target       text NOT NULL,
    source       text,
    key_id       text,
    subject      text,
    payload      bytea CHECK (octet_length(payload) <= 8388608),
    state        text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    attempts     integer NOT NULL DEFAULT 0,
    attempts_max integer NOT NULL,
    due_at       timestamptz NOT NULL DEFAULT now(),
    lease        uuid,
    leased_until timestamptz,
    progress     jsonb,
    result       jsonb,
    error        text,
    created_at   timestamptz NOT NULL DEFAULT now(),
    started_at   timestamptz,
    ended_at     timestamptz,
    CHECK ((state = 'running') = (lease IS NOT NULL) AND (lease IS NULL) = (leased_until IS NULL)),
    CHECK ((state IN ('done', 'failed')) = (ended_at IS NOT NULL))
);
CREATE INDEX jobs_waiting ON jobs (tenant, due_at, place) WHERE state = 'waiting';
CREATE INDEX jobs_due ON jobs (due_at) WHERE state = 'waiting';
CREATE INDEX jobs_running ON jobs (leased_until) WHERE state = 'running';
CREATE INDEX jobs_busy ON jobs (tenant) WHERE state = 'running';
CREATE INDEX jobs_live ON jobs (tenant, target) WHERE state IN ('waiting', 'running');
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE state = 'done';
CREATE INDEX jobs_listed ON jobs (tenant, place);
