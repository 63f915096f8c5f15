-- tenants: audience_revision: how often the set of the tenant's audiences has changed. Equal numbers of one
-- history mean equal sets. shares_answers: whether callers with other grants who see the same documents
-- share cached answers; see docs/decisions/0059.
ALTER TABLE tenants
    ADD COLUMN audience_revision bigint NOT NULL DEFAULT 0,
    ADD COLUMN shares_answers boolean NOT NULL DEFAULT true;

-- A trigger, so that no statement that writes documents can forget it. It runs at the end of the
-- transaction: writers lock the tenant's row last, and `delete_unused_audience` runs then too.
CREATE FUNCTION raise_audience_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tenants SET audience_revision = audience_revision + 1
    WHERE tenant = coalesce(NEW.tenant, OLD.tenant);
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER raise_audience_revision AFTER INSERT OR UPDATE OR DELETE ON audiences
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_audience_revision();

DROP PROCEDURE renew_read_lease(text, text, double precision, bigint, text, text);

-- Store a lease and commit; then, in a later snapshot, read the history and what has moved.
--   since: in: where the snapshot of the renewal before was, or null. Out: where this one was, which is
--          its oldest running transaction. What a snapshot does not contain was written by this
--          transaction or a later one.
--   moved: of each tenant that was written since, its name, revision, access revision and audience
--          revision, in an array; null for none, and if `since` is null.
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
            SELECT json_agg(json_build_array(tenant, revision, access_revision, audience_revision))
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
