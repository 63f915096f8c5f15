-- A change says more exactly what it changed, so that caches drop what hangs on it and nothing else.
--
-- touched: kept chunks of which something has changed that a search compares or filters by, or that
--          a hit shows beside its place. moved: those that merely stand elsewhere in their document,
--          or whose document does. documents: keys of all documents that were written, re-permitted
--          or removed. Rows of before, and of gateways of before, have every kept chunk in `touched`.
ALTER TABLE changes
    ADD moved     bigint[] NOT NULL DEFAULT '{}',
    ADD documents bigint[] NOT NULL DEFAULT '{}';
