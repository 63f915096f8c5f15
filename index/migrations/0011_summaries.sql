-- Summaries of a document and of its long sections are chunks of their own kind: those whose chunk_id
-- is below zero. So their rows are told apart by what stands foremost in them.

-- summaries: `none`, or who makes them: `extract`, `model`.
ALTER TABLE documents ADD summaries text NOT NULL DEFAULT 'none';
