-- Read leases: gateways that answer without asking this server. See cache/read_lease.py.

-- What all servers with copies of this database call its history. A standby starts at other times
-- than its primary, so it reads the name here.
--   is_settled:  whether the leases of earlier histories have run out.
--   lease_s_max: seconds of the longest lease that was ever stored; 0 if there was none.
CREATE TABLE replicated_history (
    singleton   boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    history     text NOT NULL,
    is_settled  boolean NOT NULL,
    lease_s_max double precision NOT NULL DEFAULT 0
);
INSERT INTO replicated_history (history, is_settled) SELECT history, true FROM histories;

CREATE OR REPLACE VIEW histories AS
SELECT CASE
    WHEN pg_is_in_recovery() THEN (SELECT history FROM replicated_history WHERE singleton)
    ELSE history_of(number)
END AS history
FROM history_numbers WHERE singleton;

-- Not written ahead: a crash or a failover loses all rows, and begins a history that is not settled.
--   number: of the last renewal; no two renewals have the same.
CREATE UNLOGGED TABLE read_leases (
    holder     text PRIMARY KEY,
    region     text NOT NULL,
    number     bigint NOT NULL,
    duration_s double precision NOT NULL
);
CREATE SEQUENCE read_lease_numbers;

-- Store the name of the history, if it is new, and the duration of the longest lease.
CREATE FUNCTION replicate_history(lease_s double precision) RETURNS void LANGUAGE sql
BEGIN ATOMIC
    UPDATE replicated_history SET
        history = current.history,
        is_settled = replicated_history.is_settled AND replicated_history.history = current.history,
        lease_s_max = greatest(lease_s_max, lease_s)
    FROM (SELECT history FROM histories) AS current
    WHERE replicated_history.history <> current.history OR lease_s_max < lease_s;
END;

-- Store a lease and commit; then, in a later snapshot, read the history and what has moved.
--   since:     in: where the snapshot of the renewal before was, or null. Out: where this one was, which is
--              its oldest running transaction. What a snapshot does not contain was written by this
--              transaction or a later one.
--   tenants …: the counters of the tenants that were written since; of none if `since` is null.
CREATE PROCEDURE renew_read_lease(
    lease_holder text,
    lease_region text,
    lease_s double precision,
    INOUT since bigint,
    INOUT history text,
    INOUT tenants text[],
    INOUT revisions bigint[],
    INOUT access_revisions bigint[]
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM replicate_history(lease_s);
    INSERT INTO read_leases AS stored (holder, region, number, duration_s)
    VALUES (lease_holder, lease_region, nextval('read_lease_numbers'), lease_s)
    ON CONFLICT (holder) DO UPDATE SET
        region = excluded.region, number = excluded.number, duration_s = excluded.duration_s;
    COMMIT;
    -- A row keeps the lower 32 bits of the transaction that wrote it.
    SELECT
        pg_snapshot_xmin(now.snapshot)::text::bigint,
        (SELECT histories.history FROM histories),
        moved.*
    INTO since, history, tenants, revisions, access_revisions
    FROM (
        SELECT
            pg_current_snapshot() AS snapshot,
            pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1 AS newest
    ) AS now
    CROSS JOIN LATERAL (
        SELECT array_agg(tenant), array_agg(revision), array_agg(access_revision)
        FROM tenants AS written
        WHERE now.newest - ((now.newest - written.xmin::text::bigint) & 4294967295)
            >= renew_read_lease.since
    ) AS moved;
END;
$$;
