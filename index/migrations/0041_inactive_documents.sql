-- documents: is_active: whether searches may find the document; an inactive one has no chunks, which the
-- constraint asserts. active_sequence: of the last write that set it, as in 0018_write_order.sql.
-- No row is rewritten. The constraint need not be checked for existing rows: all of them are active.
ALTER TABLE documents
    ADD is_active boolean NOT NULL DEFAULT true,
    ADD active_sequence bigint NOT NULL DEFAULT 0,
    ADD CONSTRAINT documents_inactive CHECK (is_active OR chunks = 0) NOT VALID;
