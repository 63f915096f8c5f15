-- Who saw and who changed what: rows that only come, each hashed with the one before it.
-- It outlives its tenant, and holds identifiers alone: no text, no title, no key.
-- number:  from 1 without gaps, in the order of `at`.
-- subject: who acted; null for the operator and the system, whom key_id then names. Of a web token
--          key_id is null.
-- details: `documents` names what was seen (an array), or says what was done to each (an object).
CREATE TABLE audit_log (
    tenant  text NOT NULL,
    number  bigint NOT NULL,
    at      timestamptz NOT NULL,
    subject text,
    key_id  text,
    action  text NOT NULL,
    target  text NOT NULL,
    details jsonb NOT NULL,
    hash    bytea NOT NULL,
    PRIMARY KEY (tenant, number)
);

-- The last row of each tenant's log, and the last one that was pruned: the first that is left has
-- the hash of this one in its own.
CREATE TABLE audit_heads (
    tenant      text PRIMARY KEY,
    number      bigint NOT NULL DEFAULT 0,
    hash        bytea NOT NULL DEFAULT '',
    base_number bigint NOT NULL DEFAULT 0,
    base_hash   bytea NOT NULL DEFAULT ''
);

-- $1 the hash of the row before, then the row. An array of JSON tells where each field ends.
CREATE FUNCTION audit_hash(
    bytea, tenant text, number bigint, at timestamptz, subject text, key_id text, action text,
    target text, details jsonb
) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256($1 || convert_to(
        jsonb_build_array(
            $2, $3, (extract(epoch FROM $4) * 1000000)::bigint, $5, $6, $7, $8, $9
        )::text,
        'UTF8'
    ))
$$;

-- $1 tenant, $2 subject, $3 key, $4 action, $5 target, $6 details. Whoever appends to a tenant's log
-- next waits for the end of the transaction, so it is the last thing that one does.
CREATE FUNCTION audit_append(text, text, text, text, text, jsonb) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    head audit_heads;
    moment timestamptz;
    next_hash bytea;
BEGIN
    INSERT INTO audit_heads (tenant) VALUES ($1) ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM audit_heads WHERE tenant = $1 FOR UPDATE;
    moment := clock_timestamp();  -- after the lock, so that it rises with the number
    next_hash := audit_hash(head.hash, $1, head.number + 1, moment, $2, $3, $4, $5, $6);
    INSERT INTO audit_log (tenant, number, at, subject, key_id, action, target, details, hash)
    VALUES ($1, head.number + 1, moment, $2, $3, $4, $5, $6, next_hash);
    UPDATE audit_heads SET number = head.number + 1, hash = next_hash WHERE tenant = $1;
    RETURN head.number + 1;
END
$$;

CREATE FUNCTION audit_log_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('nearhit.audit_log_prunes', true) = 'yes' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the audit log only grows';
END
$$;
CREATE TRIGGER audit_log_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows();
CREATE TRIGGER audit_heads_stay BEFORE DELETE OR TRUNCATE ON audit_heads
    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows();
