-- The tokens of groups that have, or once had, words of their own in `restricted_words`. A key of cached
-- answers names those of a caller's groups that are here or may read a document: no other group changes an
-- answer. A row stays when its words are deleted; then a key names more than it has to.
CREATE TABLE groups_with_words (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    token  text NOT NULL,
    PRIMARY KEY (tenant, token)
);

-- A trigger, so that no statement that learns words can forget it.
CREATE FUNCTION note_groups_with_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO groups_with_words (tenant, token)
    SELECT DISTINCT tenant, token FROM learned ORDER BY tenant, token
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER note_groups_with_words AFTER INSERT ON restricted_words
    REFERENCING NEW TABLE AS learned
    FOR EACH STATEMENT EXECUTE FUNCTION note_groups_with_words();

INSERT INTO groups_with_words (tenant, token)
SELECT DISTINCT tenant, token FROM restricted_words
ON CONFLICT DO NOTHING;
