-- What has moved is returned as JSON: the driver asks the server about other types than text and
-- numbers on each new connection, which takes four round trips before the first lease.

DROP PROCEDURE renew_read_lease(
    text, text, double precision, bigint, text, text[], bigint[], bigint[]
);

-- Store a lease and commit; then, in a later snapshot, read the history and what has moved.
--   since: in: where the snapshot of the renewal before was, or null. Out: where this one was, which is
--          its oldest running transaction. What a snapshot does not contain was written by this
--          transaction or a later one.
--   moved: of each tenant that was written since, its name, revision and access revision, in an array;
--          null for none, and if `since` is null.
CREATE PROCEDURE renew_read_lease(
    lease_holder text,
    lease_region text,
    lease_s double precision,
    INOUT since bigint,
    INOUT history text,
    INOUT moved text
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
        (
            SELECT json_agg(json_build_array(tenant, revision, access_revision))
            FROM tenants AS written
            WHERE now.newest - ((now.newest - written.xmin::text::bigint) & 4294967295)
                >= renew_read_lease.since
        )
    INTO since, history, moved
    FROM (
        SELECT
            pg_current_snapshot() AS snapshot,
            pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1 AS newest
    ) AS now;
END;
$$;
