-- The words of documents that only groups of a tenant may read, by the group's token: a query is corrected
-- by those of the caller's grants. They are counted in `tenants.vocabulary_size` with the words of
-- `vocabulary`, which the whole tenant may read. Documents that are stored now add theirs at their next
-- write.
CREATE TABLE restricted_words (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    token      text NOT NULL,
    word       text NOT NULL,
    learned_by xid8 DEFAULT pg_current_xact_id(),
    PRIMARY KEY (word, tenant, token)  -- in this order no planner can walk all of a tenant's words by it
);

-- A word's trigrams among those of a tenant's token, as `vocabulary_near`. No name contains the character
-- between the two.
CREATE INDEX restricted_words_near ON restricted_words
    USING gin ((ARRAY[tenant || E'\x1f' || token]), word gin_trgm_ops) WITH (fastupdate = off);

CREATE INDEX restricted_words_learned ON restricted_words (tenant, learned_by);
