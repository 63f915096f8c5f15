-- Who may read, once for all documents that the same may read: a search asks for whom each audience is,
-- not for whom each document is. See docs/decisions/0030.

-- Two rows of a tenant may hold the same, if two writers made them at once: either says the same.
CREATE TABLE audiences (
    audience_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    audience     text[] NOT NULL,
    UNIQUE (tenant, audience_key)
);
CREATE INDEX audiences_same ON audiences (tenant, hash_array_extended(audience, 0));
-- A tenant in a form that no other index holds: what asks for it so is found by audience, whatever
-- the planner believes of the table. Without a pending list, which every search would read through.
CREATE INDEX audiences_readers ON audiences USING gin ((ARRAY[tenant]), audience)
    WITH (fastupdate = off);

INSERT INTO audiences (tenant, audience) SELECT DISTINCT tenant, audience FROM documents;

DROP INDEX documents_audience;
ALTER TABLE documents ADD audience_key bigint, ALTER audience DROP EXPRESSION;
UPDATE documents SET audience_key = audiences.audience_key
FROM audiences WHERE audiences.tenant = documents.tenant AND audiences.audience = documents.audience;
ALTER TABLE documents
    ALTER audience_key SET NOT NULL,
    ADD FOREIGN KEY (tenant, audience_key) REFERENCES audiences (tenant, audience_key);
CREATE INDEX documents_audience ON documents (audience_key, document_key);

-- Whoever writes a document says who owns and who reads it; what that comes to is said here alone.
CREATE FUNCTION documents_audience() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.audience := CASE
        WHEN NEW.owner IS NULL THEN NEW.readers ELSE NEW.readers || ('owner:' || NEW.owner)
    END;
    IF TG_OP = 'UPDATE' AND NEW.audience = OLD.audience AND NEW.tenant = OLD.tenant THEN
        NEW.audience_key := OLD.audience_key;
        RETURN NEW;
    END IF;
    SELECT audience_key INTO NEW.audience_key FROM audiences
    WHERE tenant = NEW.tenant AND audience = NEW.audience
      AND hash_array_extended(audience, 0) = hash_array_extended(NEW.audience, 0)
    ORDER BY audience_key LIMIT 1 FOR KEY SHARE;
    IF NOT FOUND THEN
        INSERT INTO audiences (tenant, audience) VALUES (NEW.tenant, NEW.audience)
        RETURNING audience_key INTO NEW.audience_key;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER documents_audience BEFORE INSERT OR UPDATE ON documents
    FOR EACH ROW EXECUTE FUNCTION documents_audience();

-- An audience of no document goes with the last one that had it, for it names people. At the end of the
-- transaction, when the writers of a tenant take turns; one that somebody else is about to use stays.
CREATE FUNCTION audiences_leave() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM audiences
    WHERE audience_key = OLD.audience_key
      AND NOT EXISTS (SELECT FROM documents WHERE audience_key = OLD.audience_key)
    FOR UPDATE SKIP LOCKED;
    IF FOUND THEN  -- and looked at anew, now that nobody else can begin to use it
        DELETE FROM audiences
        WHERE audience_key = OLD.audience_key
          AND NOT EXISTS (SELECT FROM documents WHERE audience_key = OLD.audience_key);
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER audiences_leave AFTER DELETE ON documents
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audiences_leave();
CREATE CONSTRAINT TRIGGER audiences_change AFTER UPDATE ON documents
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.audience_key <> NEW.audience_key)
    EXECUTE FUNCTION audiences_leave();

-- A pass looks up the chunks of many documents on one shelf. Both in one index, or the planner makes it
-- out of two, one of which it reads through.
DROP INDEX chunks_document;
CREATE INDEX chunks_document ON chunks (document_key, shelf);
