-- Which earlier histories this database continues, and up to which revisions: a revision that a caller was
-- given in one of them is reached if the database still holds it. docs/decisions/0031 has the argument.

CREATE SEQUENCE history_order;

-- A history is noted before anybody is given a revision of it.
CREATE TABLE noted_histories (
    history text PRIMARY KEY,
    number  bigint NOT NULL DEFAULT nextval('history_order')
);

-- The tenant's revision before its first write in a history.
CREATE TABLE revisions_before (
    tenant   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    history  text NOT NULL,
    revision bigint NOT NULL,
    number   bigint NOT NULL DEFAULT nextval('history_order'),
    PRIMARY KEY (tenant, history)
);
CREATE INDEX ON revisions_before (number);

-- In which history the tenant's revision was raised last.
ALTER TABLE tenants ADD COLUMN written_in text;

-- A trigger, so that no statement that raises a revision can forget it. It waits for no other tenant's writer.
CREATE FUNCTION note_revision_before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.written_in := (SELECT history FROM histories);
    IF OLD.written_in IS DISTINCT FROM NEW.written_in THEN
        INSERT INTO revisions_before (tenant, history, revision)
        VALUES (OLD.tenant, NEW.written_in, OLD.revision)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER note_revision_before BEFORE UPDATE OF revision ON tenants
    FOR EACH ROW WHEN (OLD.revision IS DISTINCT FROM NEW.revision) EXECUTE FUNCTION note_revision_before();

-- Note the current history, unless nothing can be written now. Of those that are noted the last 100 are kept,
-- and the revisions before later ones: numbers rise with the histories.
CREATE FUNCTION note_history() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean THEN
        RETURN;
    END IF;
    INSERT INTO noted_histories (history) SELECT history FROM histories ON CONFLICT DO NOTHING;
    IF FOUND THEN
        DELETE FROM noted_histories WHERE number <= (
            SELECT number FROM noted_histories ORDER BY number DESC OFFSET 100 LIMIT 1
        );
        DELETE FROM revisions_before WHERE number < (SELECT min(number) FROM noted_histories);
    END IF;
END
$$;
