-- documents: created_at: when the document was first stored; null if that was before this migration, which
-- nobody recorded. Rows of gateways that do not know the column get the default.
ALTER TABLE documents ADD COLUMN created_at timestamptz;
ALTER TABLE documents ALTER COLUMN created_at SET DEFAULT now();
