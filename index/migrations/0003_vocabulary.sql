CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- The words that a tenant's documents have ever held, without accents and case.
-- It only grows: what a query's words are taken for then changes by additions alone, so a cached
-- answer that used a correction dies at additions alone, and a process may remember a known word for
-- ever. A word that no document holds any more finds nothing, which is all the harm it does.
CREATE TABLE vocabulary (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    word   text NOT NULL,
    PRIMARY KEY (word, tenant)  -- in this order no planner can walk all of a tenant's words by it
);

-- One index over both: a word's trigrams within the tenant. Measured with 100,000 words in one tenant
-- and 20,000 in each of 50 others, one look takes 2.7 ms in the big one; GiST 23, trigrams alone 100.
-- The tenant in a form that the primary key doesn't hold, so that no planner can take one index for
-- the other. Without a pending list, all of which every look would read.
CREATE INDEX vocabulary_near ON vocabulary USING gin ((ARRAY[tenant]), word gin_trgm_ops)
    WITH (fastupdate = off);

-- How many words the tenant's vocabulary holds: equal numbers mean equal vocabularies.
ALTER TABLE tenants ADD COLUMN words bigint NOT NULL DEFAULT 0;
