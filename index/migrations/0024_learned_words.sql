-- Which transaction has added a word, so that a copy of the vocabulary in memory reads only the words that
-- it lacks: those of the transactions that had not ended in its snapshot. Null for older words.
ALTER TABLE vocabulary ADD COLUMN learned_by xid8;  -- without a default, so that no row is rewritten
ALTER TABLE vocabulary ALTER COLUMN learned_by SET DEFAULT pg_current_xact_id();

-- Only for conditions on `learned_by`: no planner can walk all of a tenant's words by it.
CREATE INDEX vocabulary_learned ON vocabulary (tenant, learned_by) WHERE learned_by IS NOT NULL;
