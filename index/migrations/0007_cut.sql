-- How the document's text is cut into chunks: a name that index/model/chunking_config.py reads. An edit is compared with
-- what is stored under the same cut.
ALTER TABLE documents ADD COLUMN cut text NOT NULL DEFAULT 'structure';
