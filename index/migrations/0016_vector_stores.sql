-- Files as they were uploaded, and sources that are called vector stores; see docs/decisions/0024.

-- subject: who uploaded it. content: never changed.
CREATE TABLE files (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    file_id    text NOT NULL,
    subject    text NOT NULL,
    filename   text NOT NULL,
    purpose    text NOT NULL,
    content    bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, file_id)
);
CREATE INDEX files_created ON files (tenant, created_at, file_id);

-- What is beside a source that was made as a vector store. readers: who sees it, and reads the files
-- that are attached to it from then on.
CREATE TABLE vector_stores (
    tenant      text NOT NULL,
    source      text NOT NULL,
    name        text NOT NULL,
    description text NOT NULL,
    metadata    jsonb NOT NULL,
    owner       text NOT NULL,
    readers     text[] NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, source),
    FOREIGN KEY (tenant, source) REFERENCES sources ON DELETE CASCADE
);

-- Files that were attached to a source: each as a document of it, once it is written.
-- job_id: of who writes it, if that was queued. error: why there is no document, if that is certain.
CREATE TABLE vector_store_files (
    tenant      text NOT NULL,
    source      text NOT NULL,
    file_id     text NOT NULL,
    document_id text NOT NULL,
    subject     text NOT NULL,
    batch_id    text,
    job_id      text,
    error_code  text,
    error       text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, source, file_id),
    FOREIGN KEY (tenant, source) REFERENCES sources ON DELETE CASCADE
);
CREATE INDEX vector_store_files_file ON vector_store_files (tenant, file_id);
