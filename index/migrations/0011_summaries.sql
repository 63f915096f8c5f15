-- Summaries of a document and of its long sections are chunks of their own kind; index/kind.py has the
-- numbers. The scan filters by the one beside the vectors, what looks around in a text by the other.

-- summaries: `none`, or who makes them: `extract`, `model`.
ALTER TABLE documents ADD summaries text NOT NULL DEFAULT 'none';
ALTER TABLE chunks ADD kind smallint NOT NULL DEFAULT 0;
ALTER TABLE chunk_texts ADD kind smallint NOT NULL DEFAULT 0;
