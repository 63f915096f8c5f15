-- Truth lives here; everything in Redis and in a process can be rebuilt from it.
-- Tenant identifiers are checked where they enter (index/model/document.py, gateway/schemas.py).

CREATE EXTENSION IF NOT EXISTS vector;

-- One row a tenant, and one called 'public' for what is readable across tenants.
-- revision counts committed changes of documents, access_revision those of keys and groups.
-- languages only grows, to the few that have an analyser: it is what a query is analysed in.
CREATE TABLE tenants (
    tenant          text PRIMARY KEY,
    name            text NOT NULL,
    revision        bigint NOT NULL DEFAULT 0,
    access_revision bigint NOT NULL DEFAULT 0,
    languages       text[] NOT NULL DEFAULT '{}',
    created_at      timestamptz NOT NULL DEFAULT now()
);

INSERT INTO tenants (tenant, name) VALUES ('public', 'What every tenant may read');

-- Only the SHA-256 of a key is kept; a revoked key stays as a record of who held it.
CREATE TABLE keys (
    key_id     text PRIMARY KEY,
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    digest     bytea NOT NULL UNIQUE,
    subject    text NOT NULL,
    groups     text[] NOT NULL,
    roles      text[] NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX keys_tenant ON keys (tenant);

CREATE TABLE groups (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    group_id   text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, group_id)
);

CREATE TABLE members (
    tenant   text NOT NULL,
    group_id text NOT NULL,
    subject  text NOT NULL,
    added_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, subject, group_id),
    FOREIGN KEY (tenant, group_id) REFERENCES groups ON DELETE CASCADE
);

CREATE TABLE sources (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    source     text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, source)
);

CREATE SEQUENCE document_versions;

-- audience is all that may let a principal in: the readers, and the owner as a token of its own.
-- version is another one after every change, also of a document removed and written again: a writer
-- compares it before it applies a plan.
CREATE TABLE documents (
    document_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant       text NOT NULL,
    document_id  text NOT NULL,
    source       text NOT NULL,
    title        text NOT NULL,
    uri          text NOT NULL,
    language     text NOT NULL,
    tags         text[] NOT NULL,
    metadata     jsonb NOT NULL,
    owner        text,
    readers      text[] NOT NULL,
    audience     text[] NOT NULL GENERATED ALWAYS AS (
        CASE WHEN owner IS NULL THEN readers ELSE readers || ('owner:' || owner) END
    ) STORED,
    version      bigint NOT NULL DEFAULT nextval('document_versions'),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant, document_id),
    FOREIGN KEY (tenant, source) REFERENCES sources ON DELETE CASCADE
);
CREATE INDEX documents_source ON documents (tenant, source, document_id);
CREATE INDEX documents_public ON documents (tenant) WHERE 'public' = ANY (readers);

-- A document's whole text, read only when the document itself is asked for.
CREATE TABLE texts (
    document_key bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    text         text NOT NULL
);

-- What the exact pass reads, and nothing else: rows stay short and vectors stay in line.
CREATE TABLE chunks (
    chunk_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant       text NOT NULL,
    document_key bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    dense        halfvec NOT NULL,
    lexical      sparsevec NOT NULL
) WITH (toast_tuple_target = 8160);
CREATE INDEX chunks_document ON chunks (tenant, document_key);
CREATE INDEX chunks_cascade ON chunks (document_key);

-- What only a hit shows. An edit that merely moves a chunk rewrites this row and no vector.
CREATE TABLE chunk_texts (
    chunk_id     bigint PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    document_key bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    digest       bytea NOT NULL,
    start_at     integer NOT NULL,
    end_at       integer NOT NULL,
    text         text NOT NULL
);
CREATE INDEX chunk_texts_document ON chunk_texts (document_key, start_at);

-- Vectors by what was embedded: a digest met again, anywhere in the tenant, is never paid for twice.
CREATE TABLE embeddings (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    space  text NOT NULL,
    digest bytea NOT NULL,
    dense  halfvec NOT NULL,
    PRIMARY KEY (tenant, space, digest)
);

-- The outbox: what each revision added to, took from or re-permitted in a tenant's index.
CREATE TABLE changes (
    tenant       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    revision     bigint NOT NULL,
    added        bigint[] NOT NULL,
    removed      bigint[] NOT NULL,
    touched      bigint[] NOT NULL,
    committed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, revision)
);

-- What the stored vectors were made with; a gateway with another embedder or analyser refuses to start.
CREATE TABLE generation (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    space      text NOT NULL,
    dimensions integer NOT NULL,
    analyser   text NOT NULL
);
