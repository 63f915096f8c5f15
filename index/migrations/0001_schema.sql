-- The data model, from top to bottom. All of it is the truth: what stands in Redis and in processes can
-- be rebuilt from it. The extensions vector and pg_trgm are there (index/postgres/setup/prerequisites.py), and
-- the roles of searches and shards own nothing here (index/postgres/functions/function_roles.py).
--
--   Tenants · Principals · Sources · Documents · Chunks · Words · Revisions and histories · Past versions ·
--   Read leases · Answers · Popularity · Jobs and costs · Subscriptions · Vector stores · OpenFGA · Audit log
--
-- A trigger stands where a statement must not be able to forget something. Where PostgreSQL's planner
-- must not take one index for another, a column stands in an index in a form that no other index has.

------------------------------------------------------------------------------------------------------
-- Tenants

-- One row for each tenant, and one called 'public' for what is readable across tenants.
CREATE TABLE tenants (
    tenant     text PRIMARY KEY,  -- checked where it enters: index/model/identifiers.py
    name       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- It lets nobody in, and nothing is written to it.
    is_being_deleted boolean NOT NULL DEFAULT false,

    -- Counters that only rise; a cached answer is correct at certain values of them.
    -- revision:          of committed changes of documents.
    -- access_revision:   of changes of keys and groups, and of settings that are read with a principal.
    -- audience_revision: of changes of the set of the tenant's audiences.
    -- vocabulary_size:   the number of words, and in units of 2^40 how often words were removed: equal
    --                    numbers mean equal vocabularies.
    -- written_in:        the history in which `revision` was raised last.
    revision          bigint NOT NULL DEFAULT 0,
    access_revision   bigint NOT NULL DEFAULT 0,
    audience_revision bigint NOT NULL DEFAULT 0,
    vocabulary_size   bigint NOT NULL DEFAULT 0,
    written_in        text,

    -- What is stored, counted in the transaction of each write, for search plans and quotas.
    -- chunks:        of the tenant's documents; in the row 'public', of all that every tenant may read.
    -- public_chunks: of the tenant's own documents that every tenant may read.
    -- stored_bytes:  of the texts of its documents, in UTF-8, and of its uploaded files.
    -- languages:     only grows, to the few that have an analyser: a query is analysed in each.
    documents     bigint NOT NULL DEFAULT 0,
    chunks        bigint NOT NULL DEFAULT 0,
    public_chunks bigint NOT NULL DEFAULT 0,
    stored_bytes  bigint NOT NULL DEFAULT 0,
    languages     text[] NOT NULL DEFAULT '{}',

    -- partition_no:    of `chunk_partitions`, where its chunks are.
    -- embedding_space: null for that of `index_meta`; another one while embedders are exchanged.
    -- analyser:        null for that of `index_meta`; an older one until all chunks are analysed anew.
    partition_no    integer NOT NULL DEFAULT 0,
    embedding_space text,
    analyser        text,

    -- Quotas of the tenant's own; null for the deployment's default.
    documents_max bigint CHECK (documents_max >= 0),
    chunks_max    bigint CHECK (chunks_max >= 0),
    bytes_max     bigint CHECK (bytes_max >= 0),
    sources_max   bigint CHECK (sources_max >= 0),
    budget_month  double precision CHECK (budget_month >= 0),

    -- What an admin chooses for the tenant.
    -- receives_public:     whether searches include other tenants' public documents, if the deployment
    --                      allows it.
    -- shares_answers:      whether callers with other grants who see the same documents share cached
    --                      answers.
    -- max_staleness_ms:    the most staleness that a caller may choose; null for the deployment's.
    -- semantic_error_max:  the share of wrong answers to similar questions; null for the deployment's.
    -- confidence:          how sure an answer has to be, null while nothing is set: `score_min`, by name
    --                      in `sources` that of a source, and `fallback`, what is said instead. Answers
    --                      show whether they are below it, so a change raises the revision.
    -- questions_kept_days: for which `asked_questions` has rows; 0 for none.
    -- quarantine:          what of agents' writing is held: {"of", "readers"}; null for nothing.
    -- counted_openings:    which openings of documents count as popularity: none, those that callers
    --                      report, or also each reading of a document.
    receives_public     boolean NOT NULL DEFAULT false,
    shares_answers      boolean NOT NULL DEFAULT true,
    max_staleness_ms    integer CHECK (max_staleness_ms BETWEEN 0 AND 3600000),
    semantic_error_max  double precision CHECK (semantic_error_max > 0 AND semantic_error_max <= 0.2),
    confidence          jsonb,
    questions_kept_days integer NOT NULL DEFAULT 0 CHECK (questions_kept_days BETWEEN 0 AND 92),
    quarantine          jsonb,
    counted_openings    text NOT NULL DEFAULT 'nothing'
        CHECK (counted_openings IN ('nothing', 'feedback', 'all')),
    popularity_rolled_up_at timestamptz
);
INSERT INTO tenants (tenant, name) VALUES ('public', 'What every tenant may read');
CREATE INDEX tenants_public ON tenants (partition_no) WHERE public_chunks > 0;

-- The highest counters of deleted tenants. New tenants start beyond them, so what a cache still holds of
-- an older tenant of the same name is out of date.
CREATE TABLE deleted_tenant_counters (
    singleton       boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    revision        bigint NOT NULL DEFAULT 0,
    vocabulary_size bigint NOT NULL DEFAULT 0
);
INSERT INTO deleted_tenant_counters DEFAULT VALUES;

------------------------------------------------------------------------------------------------------
-- Principals: who may ask, and on behalf of whom

-- The spelling in which subjects and groups are stored, as in NEARHIT_IDENTIFIER_CASE; no row until the
-- first start has chosen. See index/postgres/setup/identifier_spellings.py.
CREATE TABLE identifier_cases (
    singleton       boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    identifier_case text NOT NULL CHECK (identifier_case IN ('fold', 'keep'))
);

-- API keys, and tokens, which are keys with fewer rights than those they were made from. A revoked row
-- stays as a record of who held it.
-- digest:           SHA-256 of the key, which itself is stored nowhere.
-- scopes:           those that its requests may name.
-- ancestor_key_ids: the keys and tokens that a token was made from and ends with, oldest first; none if
--                   the first was a web token.
-- allowed_groups:   the only groups of a token; null for all.
-- filter:           what a token's documents must be, as index/model/query.py has it; null for any.
-- issuer_key:       the thumbprint of the key that verified the web token which a token was made with; it
--                   works only while the issuer publishes that key. Null for the others.
-- agents:           as in index/model/provenance.py, who acts for the subject with it.
-- is_for_job:       nobody holds it: a web token queued a job, which has its rights. Such tokens do not
--                   count towards the limit of a subject's tokens, because the queue limits them.
-- last_used_at:     to about a minute.
CREATE TABLE keys (
    key_id           text PRIMARY KEY,
    tenant           text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    digest           bytea NOT NULL UNIQUE,
    name             text NOT NULL DEFAULT '',
    subject          text NOT NULL,
    groups           text[] NOT NULL,
    roles            text[] NOT NULL,
    scopes           text[] NOT NULL DEFAULT '{private,shared,tenant,public}',
    is_token         boolean NOT NULL DEFAULT false,
    ancestor_key_ids text[] NOT NULL DEFAULT '{}',
    allowed_groups   text[],
    filter           jsonb,
    issuer_key       text,
    agents           text[] NOT NULL DEFAULT '{}',
    is_for_job       boolean NOT NULL DEFAULT false,
    created_at       timestamptz NOT NULL DEFAULT now(),
    expires_at       timestamptz,
    revoked_at       timestamptz,
    last_used_at     timestamptz
);
CREATE INDEX keys_listed ON keys (tenant, is_token, key_id);
CREATE INDEX keys_ancestors ON keys USING gin (ancestor_key_ids) WHERE is_token;
CREATE INDEX ON keys (tenant, subject, key_id);

-- Whether a key is the token or was made from it; true without a token. A token sees of what its subject
-- has made, beside documents, only what was made with it.
CREATE FUNCTION is_made_with(tenant text, key_id text, token_id text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT
        $3 IS NULL OR coalesce($2 = $3, false) OR EXISTS (
            SELECT FROM keys
            WHERE keys.tenant = $1 AND keys.key_id = $2 AND keys.ancestor_key_ids @> ARRAY[$3]
        )
$$;

-- Groups of subjects, which may be readers of documents.
-- scim_id:      by which an identity provider knows the group, also under another name.
-- display_name: null for a group that an admin has made; then group_id is shown.
CREATE TABLE groups (
    tenant       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    group_id     text NOT NULL,
    scim_id      text NOT NULL DEFAULT gen_random_uuid()::text,
    display_name text,
    external_id  text,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, group_id)
);
CREATE UNIQUE INDEX ON groups (tenant, scim_id);
CREATE INDEX ON groups (tenant, lower(coalesce(display_name, group_id)));
CREATE INDEX ON groups (tenant, external_id);

-- Members of groups, beside the groups that a key names. A group that gets another name keeps them.
CREATE TABLE group_members (
    tenant     text NOT NULL,
    group_id   text NOT NULL,
    subject    text NOT NULL,
    added_at   timestamptz NOT NULL DEFAULT now(),
    member_key bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (tenant, subject, group_id),
    FOREIGN KEY (tenant, group_id) REFERENCES groups ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX ON group_members (tenant, group_id, subject);

-- Users that an identity provider provisions: SCIM 2.0, RFC 7643.
-- subject:   whom the user's keys, tokens and web tokens stand for.
-- user_name: compared without regard to case, as RFC 7643, section 4.1.1 asks.
-- emails:    [{"value", "type", "is_primary"}], by which an identity provider may look for a user.
CREATE TABLE provisioned_users (
    tenant       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    user_id      text NOT NULL DEFAULT gen_random_uuid()::text,
    subject      text NOT NULL,
    user_name    text NOT NULL,
    external_id  text,
    display_name text,
    emails       jsonb NOT NULL DEFAULT '[]',
    is_active    boolean NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, user_id),
    UNIQUE (tenant, subject)
);
CREATE UNIQUE INDEX ON provisioned_users (tenant, lower(user_name));
CREATE INDEX ON provisioned_users (tenant, external_id);

-- Subjects without a working credential: those of inactive users, of deleted ones, and of former names.
-- Rows stay, because a web token may outlive its user.
CREATE TABLE suspended_subjects (
    tenant       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    subject      text NOT NULL,
    suspended_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, subject)
);

------------------------------------------------------------------------------------------------------
-- Sources: where documents come from

-- What a tenant's documents are grouped by; some sources Nearhit reads by itself.
-- kind:               how the source is read; null for one whose documents callers bring.
-- settings:           what reading it needs to know; never a key.
-- schedule:           when to read it, as cron has it (in UTC); null for when somebody asks.
-- next_run_at:        when the schedule says so; null while it is paused or has none.
-- counts, last_error: of the last reading; the error is null if it did not fail.
-- by_callers:         whether callers have written documents of it, which a reading would remove.
-- may_publish:        whether a publisher has configured it, so that its documents may be public.
-- pending_removals:   how many documents the last reading no longer found and kept, because they were
--                     too many to remove without a confirmation; null for none.
-- confirmed_removals: how many the next reading may remove, as an admin has confirmed; null for none.
CREATE TABLE sources (
    tenant             text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    source             text NOT NULL,
    kind               text,
    settings           jsonb NOT NULL DEFAULT '{}',
    schedule           text,
    paused             boolean NOT NULL DEFAULT false,
    next_run_at        timestamptz,
    last_run_at        timestamptz,
    last_error         text,
    counts             jsonb NOT NULL DEFAULT '{}',
    by_callers         boolean NOT NULL DEFAULT false,
    may_publish        boolean NOT NULL DEFAULT false,
    pending_removals   integer,
    confirmed_removals integer,
    created_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, source)
);
CREATE INDEX sources_due ON sources (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX sources_pending ON sources (tenant) WHERE pending_removals IS NOT NULL;

-- One row for each replication slot on another server, whose changes are followed into a source. A source whose
-- settings change gets another row; the old one stays until its slot is dropped.
-- settings, may_publish: of the source, when the row was made.
-- history, definition: of the server's log of writes, and of what is read there, since the last copy.
-- lsn:          all changes up to it are stored; null until the first copy is complete.
-- lease:        of the process that follows the slot, until `leased_until`.
-- failures:     in a row. due_at: when the next process may take it.
CREATE TABLE source_followers (
    follower_no       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant            text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    source            text NOT NULL,
    slot              text NOT NULL,
    settings          jsonb NOT NULL,
    may_publish       boolean NOT NULL,
    history           text,
    definition        text,
    lsn               pg_lsn,
    is_copy_requested boolean NOT NULL DEFAULT false,
    lease             uuid,
    leased_until      timestamptz,
    failures          integer NOT NULL DEFAULT 0,
    due_at            timestamptz NOT NULL DEFAULT now(),
    created_at        timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX source_followers_source
    ON source_followers (tenant, source, md5(settings::text), may_publish);

-- One row for each folder, file or repository that `nearhit ingest` has read into a source.
-- origin:    the machine and the path, or the name that the operator gave it.
-- origin_no: documents of the source without a row in document_origins belong to number 1. Number 1 is
--            never given if callers wrote documents first, so that these belong to no origin.
CREATE TABLE source_origins (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    source     text NOT NULL,
    origin_no  integer NOT NULL,
    origin     text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, source, origin_no),
    UNIQUE (tenant, source, origin)
);

-- Which origin a document belongs to, in sources that several origins share; other sources have no rows.
-- A row is older than its document, so it names the document's identifier.
CREATE TABLE document_origins (
    tenant      text NOT NULL,
    source      text NOT NULL,
    document_id text NOT NULL,
    origin_no   integer NOT NULL,
    PRIMARY KEY (tenant, document_id),
    FOREIGN KEY (tenant, source, origin_no) REFERENCES source_origins ON DELETE CASCADE
);
CREATE INDEX document_origins_source ON document_origins (tenant, source, origin_no);

------------------------------------------------------------------------------------------------------
-- Documents

-- Who may read, once for all documents that the same may read: a search decides for each audience, not
-- for each document. Two rows may hold the same, if two writers made them at once: either says the same.
CREATE TABLE audiences (
    audience_key   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant         text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    allowed_tokens text[] NOT NULL,
    UNIQUE (tenant, audience_key)
);
CREATE INDEX audiences_hash ON audiences (tenant, hash_array_extended(allowed_tokens, 0));
-- The tenant as an array: a search that asks so uses this index, whatever the planner's estimates.
-- Without a pending list, which every search would read through.
CREATE INDEX audiences_tokens ON audiences USING gin ((ARRAY[tenant]), allowed_tokens)
    WITH (fastupdate = off);

-- At the end of the transaction: writers lock the tenant's row last, and unused audiences go then too.
CREATE FUNCTION raise_audience_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tenants SET audience_revision = audience_revision + 1
    WHERE tenant = coalesce(NEW.tenant, OLD.tenant);
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER raise_audience_revision AFTER INSERT OR UPDATE OR DELETE ON audiences
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_audience_revision();

-- Numbers of a document's versions, and of acknowledged writes in their order.
CREATE SEQUENCE document_versions;

-- What is searched, as callers and sources wrote it; its text and its chunks have tables of their own.
-- chunker:        the name of what split the text into chunks: index/model/chunking_config.py. An edit is
--                 compared with what the same chunker made.
-- summaries:      `none`, or who makes them: `extract`, `model`.
-- allowed_tokens: the readers, and the owner as a token; equal sets share a row of `audiences`.
-- is_active:      whether searches may find it; an inactive document has no chunks.
-- sample_rank:    random, so that the lowest are a fair sample.
-- version:        another one after every change, also of a document removed and written again: a writer
--                 compares it before it applies a plan.
-- sequences:      by part, the number of the last write that set it: when it was acknowledged, at its commit
--                 or when its job was queued. The write with the highest number decides; none: any counts.
-- provenance:     index/model/provenance.py; empty if it is not known.
-- updated_at:     when a write last changed it, other than its owner and readers alone.
CREATE TABLE documents (
    document_key     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant           text NOT NULL,
    document_id      text NOT NULL,
    source           text NOT NULL,
    title            text NOT NULL,
    uri              text NOT NULL,
    language         text NOT NULL,
    tags             text[] NOT NULL,
    metadata         jsonb NOT NULL,
    chunker          text NOT NULL DEFAULT 'structure',
    summaries        text NOT NULL DEFAULT 'none',
    owner            text,
    readers          text[] NOT NULL,
    allowed_tokens   text[] NOT NULL,
    audience_key     bigint NOT NULL,
    is_active        boolean NOT NULL DEFAULT true,
    provenance       jsonb NOT NULL DEFAULT '{}',
    chunks           integer NOT NULL DEFAULT 0,
    sample_rank      integer NOT NULL GENERATED ALWAYS AS (hashint8(document_key)) STORED,
    version          bigint NOT NULL DEFAULT nextval('document_versions'),
    sequences        jsonb NOT NULL DEFAULT '{}',
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT documents_inactive CHECK (is_active OR chunks = 0),
    FOREIGN KEY (tenant, source) REFERENCES sources ON DELETE CASCADE,
    FOREIGN KEY (tenant, audience_key) REFERENCES audiences (tenant, audience_key)
);
-- The same sequence number for each of the parts: see `documents.sequences`.
CREATE FUNCTION part_sequences(parts text[], sequence bigint) RETURNS jsonb IMMUTABLE PARALLEL SAFE
RETURN (SELECT coalesce(jsonb_object_agg(part, $2), '{}') FROM unnest($1) AS part);
-- In the order of the identifiers' bytes, whatever the collation of the database, so that a page of a
-- list, or of a prefix, reads only what it shows. Such an operator class can't be a constraint's.
CREATE UNIQUE INDEX documents_document_id ON documents (tenant, document_id text_pattern_ops);
CREATE INDEX documents_source ON documents (tenant, source, document_id text_pattern_ops);
CREATE INDEX documents_audience ON documents (audience_key, document_key);
CREATE INDEX documents_sample_rank ON documents ((ARRAY[tenant]), sample_rank);
CREATE INDEX documents_public ON documents (sample_rank) WHERE 'public' = ANY (readers);
-- Of the documents that a caller sees, only those that replace another one are read for it.
CREATE INDEX documents_replacing ON documents (tenant) WHERE metadata ? 'replaces';

-- A document's allowed_tokens follow from its owner and readers alone, and equal sets share an audience.
CREATE FUNCTION set_document_audience() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.allowed_tokens := CASE
        WHEN NEW.owner IS NULL THEN NEW.readers ELSE NEW.readers || ('owner:' || NEW.owner)
    END;
    IF TG_OP = 'UPDATE' AND NEW.allowed_tokens = OLD.allowed_tokens AND NEW.tenant = OLD.tenant THEN
        NEW.audience_key := OLD.audience_key;
        RETURN NEW;
    END IF;
    SELECT audience_key INTO NEW.audience_key FROM audiences
    WHERE tenant = NEW.tenant AND allowed_tokens = NEW.allowed_tokens
      AND hash_array_extended(allowed_tokens, 0) = hash_array_extended(NEW.allowed_tokens, 0)
    ORDER BY audience_key LIMIT 1 FOR KEY SHARE;
    IF NOT FOUND THEN
        INSERT INTO audiences (tenant, allowed_tokens) VALUES (NEW.tenant, NEW.allowed_tokens)
        RETURNING audience_key INTO NEW.audience_key;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER set_document_audience BEFORE INSERT OR UPDATE ON documents
    FOR EACH ROW EXECUTE FUNCTION set_document_audience();

-- The last document of an audience takes the audience with it, because an audience names people. At the
-- end of the transaction, when the writers of a tenant take turns; one that another transaction is about
-- to use stays.
CREATE FUNCTION delete_unused_audience() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM audiences
    WHERE audience_key = OLD.audience_key
      AND NOT EXISTS (SELECT FROM documents WHERE audience_key = OLD.audience_key)
    FOR UPDATE SKIP LOCKED;
    IF FOUND THEN  -- and looked at anew, now that nobody else can begin to use it
        DELETE FROM audiences
        WHERE audience_key = OLD.audience_key
          AND NOT EXISTS (SELECT FROM documents WHERE audience_key = OLD.audience_key);
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER delete_unused_audience_of_deleted AFTER DELETE ON documents
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION delete_unused_audience();
CREATE CONSTRAINT TRIGGER delete_unused_audience_of_updated AFTER UPDATE ON documents
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.audience_key <> NEW.audience_key)
    EXECUTE FUNCTION delete_unused_audience();

-- A document's whole text, read only when the document itself is asked for.
CREATE TABLE document_texts (
    document_key bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    text         text NOT NULL
);

-- What a host said of a page when it was last stored, for conditional requests.
-- settings: digest of the settings with which it was stored; with others it is read again.
CREATE TABLE web_pages (
    document_key  bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    etag          text,
    last_modified text,
    settings      bytea NOT NULL
);

-- Documents that were removed, as long as an earlier write may still come.
-- digest: SHA-256 of the identifier, because the name is forgotten.
CREATE TABLE removed_documents (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    digest     bytea NOT NULL,
    sequence   bigint NOT NULL,
    removed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, digest)
);
CREATE INDEX removed_documents_old ON removed_documents (removed_at);

-- Readers of documents that others than its writers gave and have taken away since, as long as an earlier
-- write may still come. digest: as above. sequence: when that was, among the writes of documents.
CREATE TABLE ended_readers (
    tenant   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    digest   bytea NOT NULL,
    reader   text NOT NULL,
    sequence bigint NOT NULL DEFAULT nextval('document_versions'),
    ended_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ended_readers_document ON ended_readers (tenant, digest);
CREATE INDEX ended_readers_old ON ended_readers (ended_at);

-- What events have said of each document, also of one that is gone or not there yet: an event is out of
-- date if a later one has said the same of it.
-- content_version: of the last event that said what is in the document, or that it is gone.
-- access_version:  of the last event that said who may read it, with what it said.
-- access_sequence: when that event was acknowledged.
CREATE TABLE event_versions (
    tenant          text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    document_id     text NOT NULL,
    content_version bigint NOT NULL,
    access_version  bigint NOT NULL,
    access_sequence bigint NOT NULL DEFAULT 0,
    owner           text,
    readers         text[] NOT NULL,
    PRIMARY KEY (tenant, document_id)
);

------------------------------------------------------------------------------------------------------
-- Chunks: what a search compares

-- What the vectors are made with; a gateway with another embedder, or an older analyser, refuses to start.
CREATE TABLE index_meta (
    singleton       boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    embedding_space text NOT NULL,
    dimensions      integer NOT NULL,
    analyser        text NOT NULL
);

-- Tables that hold chunks. Number 0 is for all tenants; one that outgrows it gets a partition of its own,
-- with indexes that only many chunks repay.
-- dimensions: of the vectors in its index; null while it has none.
CREATE TABLE chunk_partitions (
    partition_no integer PRIMARY KEY,
    tenant       text UNIQUE REFERENCES tenants ON DELETE CASCADE,
    dimensions   integer
);
INSERT INTO chunk_partitions (partition_no) VALUES (0);
ALTER TABLE tenants ADD FOREIGN KEY (partition_no) REFERENCES chunk_partitions;
CREATE SEQUENCE partition_numbers AS integer;

CREATE SEQUENCE chunk_ids;

-- What an exact search reads, and nothing else: rows stay short and vectors stay in line.
-- chunk_id: below zero for a summary of the document or of a long section.
CREATE TABLE chunks (
    partition_no integer NOT NULL,
    chunk_id     bigint NOT NULL DEFAULT nextval('chunk_ids'),
    tenant       text NOT NULL,
    document_key bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    dense        halfvec NOT NULL,
    lexical      sparsevec NOT NULL,
    PRIMARY KEY (chunk_id, partition_no)
) PARTITION BY LIST (partition_no);
CREATE TABLE chunks_0 PARTITION OF chunks FOR VALUES IN (0) WITH (toast_tuple_target = 8160);
CREATE INDEX chunks_tenant ON chunks (tenant);
-- A pass looks up the chunks of many documents in one partition. Both columns in one index, or the
-- planner combines two, one of which it reads through.
CREATE INDEX chunks_document ON chunks (document_key, partition_no);

-- The terms of a lexical vector, for the index by which a partition of one tenant finds them.
CREATE FUNCTION lexical_terms(lexical sparsevec) RETURNS integer[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN coalesce(
    (SELECT array_agg(split_part(term, ':', 1)::integer)
     FROM unnest(string_to_array(split_part(ltrim(lexical::text, '{'), '}', 1), ',')) AS term
     WHERE term <> ''),
    '{}'
);

-- What only a hit shows. An edit that merely moves a chunk rewrites this row and no vector.
CREATE TABLE chunk_texts (
    chunk_id     bigint PRIMARY KEY,
    document_key bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    digest       bytea NOT NULL,
    start_at     integer NOT NULL,
    end_at       integer NOT NULL,
    text         text NOT NULL
);
CREATE INDEX chunk_texts_document ON chunk_texts (document_key, start_at);
CREATE INDEX chunk_texts_digest ON chunk_texts USING hash (digest);  -- does another document hold it?

-- Chunks that a document once had, by digest: their vectors stay, should the words come back, and go with
-- the document.
CREATE TABLE previous_digests (
    document_key bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    digest       bytea NOT NULL,
    PRIMARY KEY (document_key, digest)
);

-- Vectors by what was embedded: a text met again, anywhere in the tenant, is never paid for twice.
-- dense: zero where the embedder was unable to embed the text.
CREATE TABLE embeddings (
    tenant          text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    embedding_space text NOT NULL,
    digest          bytea NOT NULL,
    dense           halfvec NOT NULL,
    PRIMARY KEY (tenant, embedding_space, digest)
);
CREATE INDEX embeddings_without_vector ON embeddings (tenant, embedding_space, digest)
    WHERE l2_norm(dense) = 0;  -- which `nearhit status` counts

------------------------------------------------------------------------------------------------------
-- Words, by which queries are corrected

-- The words that a tenant's documents have ever held and the whole tenant may read, without accents and
-- case. They leave only when documents are forgotten: a correction then changes by additions alone, and a
-- word that no document holds any more finds nothing.
-- learned_by: the transaction that added it, so that a copy in memory reads only the words that it lacks.
CREATE TABLE vocabulary (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    word       text NOT NULL,
    learned_by xid8 DEFAULT pg_current_xact_id(),
    PRIMARY KEY (word, tenant)  -- in this order no planner can walk all of a tenant's words by it
);
-- A word's trigrams within the tenant, in one index. With 100,000 words in one tenant and 20,000 in each
-- of 50 others, one look takes 2.7 ms in the big one; GiST takes 23, trigrams alone 100.
CREATE INDEX vocabulary_near ON vocabulary USING gin ((ARRAY[tenant]), word gin_trgm_ops)
    WITH (fastupdate = off);
-- Partial, so that only conditions on learned_by use it.
CREATE INDEX vocabulary_learned ON vocabulary (tenant, learned_by) WHERE learned_by IS NOT NULL;

-- The words of documents that only groups of a tenant may read, by the group's token: a query is
-- corrected by those of the caller's grants. tenants.vocabulary_size counts them too.
CREATE TABLE restricted_words (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    token      text NOT NULL,
    word       text NOT NULL,
    learned_by xid8 DEFAULT pg_current_xact_id(),
    PRIMARY KEY (word, tenant, token)
);
-- As `vocabulary_near`; no name contains the character between tenant and token.
CREATE INDEX restricted_words_near ON restricted_words
    USING gin ((ARRAY[tenant || E'\x1f' || token]), word gin_trgm_ops) WITH (fastupdate = off);
CREATE INDEX restricted_words_learned ON restricted_words (tenant, learned_by);

-- The tokens of groups that have, or once had, words of their own. A key of cached answers names those of
-- a caller's groups that are here or may read a document: no other group changes an answer. A row stays
-- when its words are deleted; then a key names more than it has to.
CREATE TABLE groups_with_words (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    token  text NOT NULL,
    PRIMARY KEY (tenant, token)
);
CREATE FUNCTION note_groups_with_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO groups_with_words (tenant, token)
    SELECT DISTINCT tenant, token FROM learned ORDER BY tenant, token
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER note_groups_with_words AFTER INSERT ON restricted_words
    REFERENCING NEW TABLE AS learned
    FOR EACH STATEMENT EXECUTE FUNCTION note_groups_with_words();
-- A group may get its first word by a document whose audience is an old one.
CREATE CONSTRAINT TRIGGER raise_audience_revision AFTER INSERT ON groups_with_words
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_audience_revision();

------------------------------------------------------------------------------------------------------
-- Revisions and histories: by which caches know what is correct

-- The outbox: what each revision changed in a tenant's index, so that caches drop what depends on it and
-- nothing else.
-- updated_chunks:      kept chunks of which something has changed that a search compares or filters by, or
--                      that a hit shows beside its place.
-- repositioned_chunks: kept chunks that merely stand elsewhere in their document, or whose document does.
-- document_keys:       of all documents that were written, re-permitted or removed.
-- popularity_keys:     of documents whose popularity changed for the tenant.
CREATE TABLE change_log (
    tenant              text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    revision            bigint NOT NULL,
    added_chunks        bigint[] NOT NULL,
    removed_chunks      bigint[] NOT NULL,
    updated_chunks      bigint[] NOT NULL,
    repositioned_chunks bigint[] NOT NULL DEFAULT '{}',
    document_keys       bigint[] NOT NULL DEFAULT '{}',
    popularity_keys     bigint[] NOT NULL DEFAULT '{}',
    committed_at        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, revision)
);
CREATE INDEX change_log_committed ON change_log (tenant, committed_at);  -- for the revision of a document

-- The random part of the history's name, drawn again by an operator who has restored the database by
-- means that nothing else shows.
CREATE TABLE history_numbers (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    number    bigint NOT NULL DEFAULT hashtextextended(gen_random_uuid()::text, 0)
);
INSERT INTO history_numbers DEFAULT VALUES;

-- The name of the database's history, another one wherever a revision may be used again. Each statement
-- that reads a revision reads this too; it needs no rights beyond the table's, and no setting of a session
-- has a part in it. It changes
--   whenever the server starts: a restored copy, a promoted standby and a recovered server have started
--       since, or at another time, than the server that knew the revisions that were lost;
--   whenever the server recovers without starting, after one of its processes was killed: what was
--       committed asynchronously may be lost, and the statistics begin anew;
--   when the table `tenants` is made, emptied or rewritten, or is that of another database, whose file
--       is another one: pg_restore does so, and so does an operator who puts a copy in its place.
CREATE FUNCTION history_of(number bigint) RETURNS text STABLE PARALLEL SAFE
RETURN to_hex(
    hashfloat8extended(
        date_part('epoch', pg_postmaster_start_time()),
        hashfloat8extended(
            coalesce(date_part('epoch', pg_stat_get_bgwriter_stat_reset_time()), 0),
            hashtextextended(pg_relation_filepath('tenants'::regclass), number)
        )
    )
);

-- What all servers with copies of this database call its history. A standby starts at other times than
-- its primary, so it reads the name here.
-- is_settled:  whether the read leases of earlier histories have run out.
-- lease_s_max: seconds of the longest read lease that was ever stored; 0 if there was none.
CREATE TABLE replicated_history (
    singleton   boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    history     text NOT NULL,
    is_settled  boolean NOT NULL,
    lease_s_max double precision NOT NULL DEFAULT 0
);

-- The current history, on a primary and on its standbys.
CREATE VIEW histories AS
SELECT CASE
    WHEN pg_is_in_recovery() THEN (SELECT history FROM replicated_history WHERE singleton)
    ELSE history_of(number)
END AS history
FROM history_numbers WHERE singleton;

INSERT INTO replicated_history (history, is_settled) SELECT history, true FROM histories;

-- Which earlier histories this database continues, and up to which revisions: a revision that a caller was
-- given in one of them is reached if the database still holds it. Numbers rise with the histories.
CREATE SEQUENCE history_order;

-- Histories of which callers may have revisions: each is noted before anybody is given one.
CREATE TABLE noted_histories (
    history text PRIMARY KEY,
    number  bigint NOT NULL DEFAULT nextval('history_order')
);

-- The tenant's revision before its first write in a history.
CREATE TABLE revisions_before (
    tenant   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    history  text NOT NULL,
    revision bigint NOT NULL,
    number   bigint NOT NULL DEFAULT nextval('history_order'),
    PRIMARY KEY (tenant, history)
);
CREATE INDEX ON revisions_before (number);

-- It waits for no other tenant's writer.
CREATE FUNCTION note_revision_before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.written_in := (SELECT history FROM histories);
    IF OLD.written_in IS DISTINCT FROM NEW.written_in THEN
        INSERT INTO revisions_before (tenant, history, revision)
        VALUES (OLD.tenant, NEW.written_in, OLD.revision)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER note_revision_before BEFORE UPDATE OF revision ON tenants
    FOR EACH ROW WHEN (OLD.revision IS DISTINCT FROM NEW.revision) EXECUTE FUNCTION note_revision_before();

-- Note the current history, unless nothing can be written now. The last 100 are kept, and the revisions
-- before them.
CREATE FUNCTION note_history() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean THEN
        RETURN;
    END IF;
    INSERT INTO noted_histories (history) SELECT history FROM histories ON CONFLICT DO NOTHING;
    IF FOUND THEN
        DELETE FROM noted_histories WHERE number <= (
            SELECT number FROM noted_histories ORDER BY number DESC OFFSET 100 LIMIT 1
        );
        DELETE FROM revisions_before WHERE number < (SELECT min(number) FROM noted_histories);
    END IF;
END
$$;

------------------------------------------------------------------------------------------------------
-- Past versions: by which an answer of an earlier revision is given again; see index/sql/replay.sql

-- Tenants that keep them.
-- days:               for how long at least; 0 while none is kept and the rest is deleted.
-- revision:           of the oldest answers that can be given again.
-- forgotten_revision: of the last change that forgot something: answers before it may lack that.
CREATE TABLE past_windows (
    tenant             text PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
    days               integer NOT NULL CHECK (days BETWEEN 0 AND 92),
    revision           bigint NOT NULL,
    forgotten_revision bigint NOT NULL DEFAULT 0
);

-- What of `tenants` an answer depends on, as it was at each revision.
-- written_by: the transaction that raised it, which may have learned words.
CREATE TABLE past_revisions (
    tenant          text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    revision        bigint NOT NULL,
    committed_at    timestamptz NOT NULL DEFAULT now(),
    written_by      xid8 NOT NULL DEFAULT pg_current_xact_id(),
    vocabulary_size bigint NOT NULL,
    languages       text[] NOT NULL,
    embedding_space text,
    analyser        text NOT NULL,
    confidence      jsonb,
    PRIMARY KEY (tenant, revision)
);
CREATE INDEX ON past_revisions (tenant, written_by);

-- Since which revision a row is as it is; one that is not here has not changed within the window.
-- relation, row_key: the row's table and `row_name`, as the trigger has them.
CREATE TABLE past_begins (
    tenant   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    relation text NOT NULL,
    row_key  bigint NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (relation, row_key)
);
CREATE INDEX ON past_begins (tenant, revision);

-- What rows were at the revisions from `began` until before `ended`.
CREATE TABLE past_documents (
    LIKE documents, began bigint, ended bigint, FOREIGN KEY (tenant) REFERENCES tenants ON DELETE CASCADE
);
CREATE INDEX ON past_documents (tenant, ended);
CREATE INDEX ON past_documents USING gist (int8range(began, ended));
CREATE INDEX ON past_documents (document_key, ended, began);

-- Likewise.
CREATE TABLE past_document_texts (
    LIKE document_texts, tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE, began bigint, ended bigint
);
CREATE INDEX ON past_document_texts (tenant, ended);
CREATE INDEX ON past_document_texts (document_key, ended, began);

-- Likewise.
CREATE TABLE past_chunks (
    LIKE chunks, began bigint, ended bigint, FOREIGN KEY (tenant) REFERENCES tenants ON DELETE CASCADE
);
CREATE INDEX ON past_chunks (tenant, ended);
CREATE INDEX ON past_chunks USING gist (int8range(began, ended));
CREATE INDEX ON past_chunks (document_key);

-- Likewise.
CREATE TABLE past_chunk_texts (
    LIKE chunk_texts, tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE, began bigint, ended bigint
);
CREATE INDEX ON past_chunk_texts (tenant, ended);
CREATE INDEX ON past_chunk_texts (document_key, ended, began);
CREATE INDEX ON past_chunk_texts (chunk_id, ended, began);

-- Likewise.
CREATE TABLE past_group_members (
    LIKE group_members, began bigint, ended bigint, FOREIGN KEY (tenant) REFERENCES tenants ON DELETE CASCADE
);
CREATE INDEX ON past_group_members (tenant, ended);

-- At the end of the transaction, when its revision is known: keep the row as it was. The argument is the
-- table's name. A transaction that moves rows, or forgets them, keeps nothing: `nearhit.keeps_past` says so.
CREATE FUNCTION keep_past_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    row_name bigint;
    writer text;
    written bigint;
    begun bigint;
BEGIN
    IF current_setting('nearhit.keeps_past', true) = 'off' THEN
        RETURN NULL;
    END IF;
    IF TG_ARGV[0] IN ('documents', 'group_members', 'chunks') THEN
        writer := coalesce(NEW.tenant, OLD.tenant);
    ELSE
        SELECT tenant INTO writer FROM documents
        WHERE document_key = coalesce(NEW.document_key, OLD.document_key);
        IF NOT FOUND THEN
            SELECT tenant INTO writer FROM past_documents
            WHERE document_key = coalesce(NEW.document_key, OLD.document_key) LIMIT 1;
        END IF;
    END IF;
    SELECT tenants.revision INTO written FROM tenants JOIN past_windows USING (tenant)
    WHERE tenant = writer AND days > 0 AND NOT is_being_deleted;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF TG_ARGV[0] IN ('chunks', 'chunk_texts') THEN
        row_name := coalesce(NEW.chunk_id, OLD.chunk_id);
    ELSIF TG_ARGV[0] = 'group_members' THEN
        row_name := coalesce(NEW.member_key, OLD.member_key);
    ELSE
        row_name := coalesce(NEW.document_key, OLD.document_key);
    END IF;
    IF TG_OP <> 'INSERT' THEN
        SELECT revision INTO begun FROM past_begins WHERE relation = TG_ARGV[0] AND row_key = row_name;
        IF coalesce(begun, 0) < written THEN
            IF TG_ARGV[0] IN ('document_texts', 'chunk_texts') THEN
                EXECUTE format('INSERT INTO %I SELECT ($1).*, $2, $3, $4', 'past_' || TG_ARGV[0])
                USING OLD, writer, coalesce(begun, 0), written;
            ELSE
                EXECUTE format('INSERT INTO %I SELECT ($1).*, $2, $3', 'past_' || TG_ARGV[0])
                USING OLD, coalesce(begun, 0), written;
            END IF;
        END IF;
    END IF;
    IF TG_OP = 'DELETE' THEN
        DELETE FROM past_begins WHERE relation = TG_ARGV[0] AND row_key = row_name;
    ELSE
        INSERT INTO past_begins (tenant, relation, row_key, revision)
        VALUES (writer, TG_ARGV[0], row_name, written)
        ON CONFLICT (relation, row_key) DO UPDATE SET revision = written;
    END IF;
    RETURN NULL;
END
$$;

-- Likewise what the tenant's row was after the transaction.
CREATE FUNCTION keep_past_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO past_revisions
        (tenant, revision, vocabulary_size, languages, embedding_space, analyser, confidence)
    SELECT
        tenants.tenant, tenants.revision, vocabulary_size, languages,
        coalesce(tenants.embedding_space, index_meta.embedding_space),
        coalesce(tenants.analyser, index_meta.analyser), confidence
    FROM tenants JOIN past_windows USING (tenant) CROSS JOIN index_meta
    WHERE tenants.tenant = NEW.tenant AND days > 0
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

------------------------------------------------------------------------------------------------------
-- Read leases: gateways that answer without asking this server; see gateway/extensions/regions/read_lease.py

-- Who holds a lease. Not written ahead: a crash or a failover loses all rows, and begins a history that is
-- not settled.
-- number: of the last renewal; no two renewals have the same.
CREATE UNLOGGED TABLE read_leases (
    holder     text PRIMARY KEY,
    region     text NOT NULL,
    number     bigint NOT NULL,
    duration_s double precision NOT NULL
);
CREATE SEQUENCE read_lease_numbers;

-- Store the name of the history, if it is new, and the duration of the longest lease.
CREATE FUNCTION replicate_history(lease_s double precision) RETURNS void LANGUAGE sql
BEGIN ATOMIC
    UPDATE replicated_history SET
        history = current.history,
        is_settled = replicated_history.is_settled AND replicated_history.history = current.history,
        lease_s_max = greatest(lease_s_max, lease_s)
    FROM (SELECT history FROM histories) AS current
    WHERE replicated_history.history <> current.history OR lease_s_max < lease_s;
END;

-- Store a lease and commit; then, in a later snapshot, read the history and what has moved.
-- since: in: where the snapshot of the last renewal was, or null. Out: where this one was, which is its
--        oldest running transaction. What a snapshot does not contain was written by this transaction or a
--        later one.
-- moved: of each tenant that was written since, its name, revision, access revision and audience revision,
--        in an array; null for none, and if `since` is null. As JSON: the driver asks the server about
--        other types on each new connection, which takes four round trips before the first lease.
CREATE PROCEDURE renew_read_lease(
    lease_holder text,
    lease_region text,
    lease_s double precision,
    INOUT since bigint,
    INOUT history text,
    INOUT moved text
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM replicate_history(lease_s);
    INSERT INTO read_leases AS stored (holder, region, number, duration_s)
    VALUES (lease_holder, lease_region, nextval('read_lease_numbers'), lease_s)
    ON CONFLICT (holder) DO UPDATE SET
        region = excluded.region, number = excluded.number, duration_s = excluded.duration_s;
    COMMIT;
    -- A row keeps the lower 32 bits of the transaction that wrote it.
    SELECT
        pg_snapshot_xmin(now.snapshot)::text::bigint,
        (SELECT histories.history FROM histories),
        (
            SELECT json_agg(json_build_array(tenant, revision, access_revision, audience_revision))
            FROM tenants AS written
            WHERE now.newest - ((now.newest - written.xmin::text::bigint) & 4294967295)
                >= renew_read_lease.since
        )
    INTO since, history, moved
    FROM (
        SELECT
            pg_current_snapshot() AS snapshot,
            pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1 AS newest
    ) AS now;
END;
$$;

------------------------------------------------------------------------------------------------------
-- Answers: what stands around searches

-- Words by which a tenant decides which messages are questions, instead of the built-in ones of a gate.
CREATE TABLE query_gates (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name   text NOT NULL,
    words  jsonb NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- Search plans that a tenant has stored under a name.
-- strategy: its description, its parameters, and the plan with the names of parameters in their places.
CREATE TABLE strategies (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name       text NOT NULL,
    strategy   jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, name)
);

-- Questions whose answers were below the tenant's confidence; who asked is not kept.
-- digest: of the question, without case.
-- hits:   the best ones of the last time: chunk, document and score.
-- count:  how often it was asked since it was last settled.
CREATE TABLE curation (
    tenant      text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    digest      bytea NOT NULL,
    item_id     text NOT NULL UNIQUE,
    question    text NOT NULL,
    hits        jsonb NOT NULL,
    count       bigint NOT NULL,
    state       text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'resolved', 'dismissed')),
    document_id text,
    first_at    timestamptz NOT NULL DEFAULT now(),
    last_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, digest)
);
CREATE INDEX curation_listed ON curation (tenant, state, count DESC, item_id);

-- How often the answer to a similar question was the right one.
-- generation: what the counts hold for; those of another one stay, and are read by nobody.
-- seen, served, verified, wrong: pairs of questions, and of their answers those that were served, compared
-- with the real one, and wrong.
CREATE TABLE semantic_counts (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    generation text NOT NULL,
    seen       bigint NOT NULL,
    served     bigint NOT NULL,
    verified   bigint NOT NULL,
    wrong      bigint NOT NULL CHECK (wrong <= verified),
    PRIMARY KEY (tenant, generation)
);

-- How the searches of a tenant were answered, by hour (in UTC); rows older than some months are deleted.
-- tier:           the cache that answered, or miss.
-- outcome:        confident, low_confidence or empty; audit_equal and audit_other count the answers of
--                 these that were computed a second time and compared.
-- latency_ms_max: the upper bound of the time that the answers took; 0 if it was not measured.
CREATE TABLE search_statistics (
    tenant         text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    hour           timestamptz NOT NULL,
    tier           text NOT NULL,
    outcome        text NOT NULL,
    latency_ms_max integer NOT NULL,
    answers        bigint NOT NULL,
    PRIMARY KEY (tenant, hour, tier, outcome, latency_ms_max)
);

-- The operator reads the last hours of all tenants; rows come in the order of their hours.
CREATE INDEX search_statistics_hours ON search_statistics USING brin (hour);

-- Gateways and workers, which say at intervals that they run. Not written ahead: each says it again.
-- process: host and number. is_warm: whether a gateway has loaded what it loads after its start.
CREATE UNLOGGED TABLE processes (
    process    text PRIMARY KEY,
    kind       text NOT NULL CHECK (kind IN ('gateway', 'worker')),
    version    text NOT NULL,
    is_warm    boolean,
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL
);

-- How well the best hits of a tenant's answers fit, by day (in UTC); old rows are deleted.
-- score_percent: the best score of an answer in hundredths, rounded down; 0 also without a hit.
CREATE TABLE best_scores (
    tenant        text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    day           date NOT NULL,
    score_percent smallint NOT NULL CHECK (score_percent BETWEEN 0 AND 100),
    answers       bigint NOT NULL,
    PRIMARY KEY (tenant, day, score_percent)
);

-- How often each question was asked on a day (in UTC). Nobody's name is in it.
-- digest:   of the question without its case, its spaces and the punctuation around it.
-- question: as it was asked; null until the same question has come twice within the days that are kept.
-- unsure:   how many of the answers had no hit, or had low confidence.
CREATE TABLE asked_questions (
    tenant   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    digest   bytea NOT NULL,
    day      date NOT NULL,
    question text,
    asked    bigint NOT NULL,
    unsure   bigint NOT NULL,
    PRIMARY KEY (tenant, digest, day)
);
CREATE INDEX asked_questions_by_day ON asked_questions (tenant, day);

------------------------------------------------------------------------------------------------------
-- Popularity: what searches may rank by

-- Who opened what on a day (in UTC), until the day after the next one. Nobody's name is in it.
-- tenant:     of the opener; the document may be another tenant's public one.
-- opener:     a digest of the subject, the tenant, the day and the document, so that rows of two days or of
--             two documents do not tell that one subject opened both.
-- is_counted: whether it is part of the document's popularity.
CREATE TABLE document_openings (
    document_key bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    tenant       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    day          date NOT NULL,
    opener       bytea NOT NULL,
    is_counted   boolean NOT NULL DEFAULT false,
    PRIMARY KEY (document_key, tenant, day, opener)
);
CREATE INDEX document_openings_by_day ON document_openings (tenant, day);
CREATE INDEX document_openings_uncounted ON document_openings (tenant, document_key) WHERE NOT is_counted;

-- How often subjects of a tenant opened a document; a row is deleted when that is long ago.
-- openings: their decayed number as of the day `counted_on`.
-- level:    what searches rank by: four times the binary logarithm of one more than that, rounded. It
--           changes with a revision of the tenant alone, whose change names the document.
-- falls_on: the day on which the level is lower if nobody opens the document again.
CREATE TABLE document_popularity (
    document_key bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    tenant       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    openings     double precision NOT NULL,
    counted_on   date NOT NULL,
    level        smallint NOT NULL CHECK (level > 0),
    falls_on     date NOT NULL,
    PRIMARY KEY (document_key, tenant)
);
CREATE INDEX document_popularity_falling ON document_popularity (tenant, falls_on);

------------------------------------------------------------------------------------------------------
-- Jobs and costs

-- Work that outlives the process that was asked for it.
-- job_no:        the order in which jobs were requested.
-- target:        what the job changes: no two jobs of one target run at once.
-- source:        of the documents that it changes, for limits by source.
-- parts:         what it sets of its document, as in `documents.sequences`.
-- sequence:      when it was requested, among the writes of documents.
-- key_id:        of the key whose rights the job has when it runs; null for the operator. Never the key.
-- payload:       what the job needs to know; gone once it is done.
-- attempts:      how often it was begun; with the lease, it tells one run from all others.
-- error:         why it failed last, without a word of the payload.
-- traceparent:   the W3C trace context of the request that enqueued it, with tracestate; null without one.
CREATE TABLE jobs (
    job_no        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id        text NOT NULL UNIQUE,
    tenant        text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    kind          text NOT NULL,
    target        text NOT NULL,
    source        text,
    parts         text[] NOT NULL DEFAULT '{}',
    sequence      bigint NOT NULL DEFAULT nextval('document_versions'),
    key_id        text,
    subject       text,
    payload       bytea CHECK (octet_length(payload) <= 8388608),
    state         text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    attempts      integer NOT NULL DEFAULT 0,
    attempts_max  integer NOT NULL,
    due_at        timestamptz NOT NULL DEFAULT now(),
    lease         uuid,
    leased_until  timestamptz,
    progress      jsonb,
    result        jsonb,
    error         text,
    traceparent   text CHECK (length(traceparent) = 55),
    tracestate    text CHECK (length(tracestate) <= 512),
    created_at    timestamptz NOT NULL DEFAULT now(),
    started_at    timestamptz,
    ended_at      timestamptz,
    CHECK ((state = 'running') = (lease IS NOT NULL) AND (lease IS NULL) = (leased_until IS NULL)),
    CHECK ((state IN ('done', 'failed')) = (ended_at IS NOT NULL))
);
CREATE INDEX jobs_waiting ON jobs (tenant, due_at, job_no) WHERE state = 'waiting';
CREATE INDEX jobs_due ON jobs (due_at) WHERE state = 'waiting';
CREATE INDEX jobs_running ON jobs (leased_until) WHERE state = 'running';
CREATE INDEX jobs_busy ON jobs (tenant) WHERE state = 'running';
CREATE INDEX jobs_live ON jobs (tenant, target) WHERE state IN ('waiting', 'running');
CREATE INDEX jobs_unfinished ON jobs (tenant, sequence) WHERE state <> 'done';
CREATE INDEX jobs_failed ON jobs (tenant, target) WHERE state = 'failed';
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE state = 'done';
CREATE INDEX jobs_listed ON jobs (tenant, job_no);

-- When each tenant's index is audited next, and how many problems of each kind the last audit left.
-- next_run_at: null until it is scheduled.
CREATE TABLE index_audits (
    tenant      text PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
    next_run_at timestamptz,
    last_run_at timestamptz,
    problems    jsonb NOT NULL DEFAULT '{}'
);

-- What was used of embedders and models, by day (in UTC) and operation.
-- source:   of the documents that it was for; empty where it was for none.
-- embedded: texts that went to an embedder; reused: chunks that did without.
CREATE TABLE usage (
    tenant    text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    day       date NOT NULL,
    operation text NOT NULL,
    source    text NOT NULL DEFAULT '',
    tokens    bigint NOT NULL DEFAULT 0,
    cost      double precision NOT NULL DEFAULT 0,
    embedded  bigint NOT NULL DEFAULT 0,
    reused    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, day, operation, source)
);

------------------------------------------------------------------------------------------------------
-- Subscriptions: questions whose callers hear again when the answer changes

-- One row for each question that somebody follows.
-- key_id:       the key or token that created it; null for a web token.
-- search:       the body of the search, as the caller sent it.
-- reports_hits: whether events name hits.
-- number:       of the last event; 0 before the first one.
-- digest:       of the answer that the last event reports; history, revision, public_revision: at which it
--               was correct. public_revision is null until an answer depends on the public partition.
-- used_at:      when a client last listened, or an event was last stored.
CREATE TABLE subscriptions (
    subscription_id text PRIMARY KEY,
    tenant          text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    subject         text NOT NULL,
    key_id          text,
    search          jsonb NOT NULL,
    reports_hits    boolean NOT NULL,
    interval_ms     integer NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    used_at         timestamptz NOT NULL DEFAULT now(),
    number          bigint NOT NULL DEFAULT 0,
    digest          bytea,
    history         text,
    revision        bigint,
    public_revision bigint,
    reported_at     timestamptz
);
CREATE INDEX ON subscriptions (tenant, subject, subscription_id);
CREATE INDEX ON subscriptions (used_at);

-- What the last events of a subscription reported, so that a client that comes back with the number of one
-- of them hears only what has changed since.
-- hits: of each hit its chunk, its document and the digest of its fields; no text.
CREATE TABLE subscription_events (
    tenant          text NOT NULL,
    subscription_id text NOT NULL REFERENCES subscriptions ON DELETE CASCADE,
    number          bigint NOT NULL,
    digest          bytea NOT NULL,
    hits            jsonb NOT NULL,
    PRIMARY KEY (subscription_id, number)
);

-- Where a worker sends the events of a subscription.
-- secret:           that signs the messages; it has to be kept as it is.
-- previous_secrets: [{"secret", "until"}], the newest first: until then messages carry their signatures
--                   too.
-- event_id:         of the last event that was delivered; empty before the first one.
-- attempts:         at the current event that failed. next_attempt_at: null unless one has failed.
-- end_reason:       why nothing more is sent; null while the webhook is active.
CREATE TABLE subscription_webhooks (
    subscription_id  text PRIMARY KEY REFERENCES subscriptions ON DELETE CASCADE,
    tenant           text NOT NULL,
    url              text NOT NULL,
    secret           text NOT NULL,
    previous_secrets jsonb NOT NULL DEFAULT '[]',
    event_id         text NOT NULL DEFAULT '',
    attempts         integer NOT NULL DEFAULT 0,
    next_attempt_at  timestamptz,
    last_error       text,
    end_reason       text
);
CREATE INDEX ON subscription_webhooks (subscription_id) WHERE end_reason IS NULL;

-- Events that were given up after the last attempt. What they reported is in the next event.
CREATE TABLE dead_letters (
    tenant          text NOT NULL,
    subscription_id text NOT NULL REFERENCES subscriptions ON DELETE CASCADE,
    number          bigint NOT NULL,
    given_up_at     timestamptz NOT NULL DEFAULT now(),
    error           text NOT NULL,
    PRIMARY KEY (tenant, subscription_id, number)
);

-- Tell the processes that follow subscriptions about each commit that raises a counter. A tenant without
-- subscriptions sends nothing, because commits with messages wait for each other.
CREATE FUNCTION notify_subscribers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM subscriptions WHERE tenant = NEW.tenant OR NEW.tenant = 'public') THEN
        PERFORM pg_notify(
            'nearhit_subscriptions',
            json_build_object(
                'tenant', NEW.tenant, 'revision', NEW.revision, 'access_revision', NEW.access_revision
            )::text
        );
    END IF;
    RETURN NULL;
END;
$$;
CREATE TRIGGER notify_subscribers AFTER UPDATE ON tenants FOR EACH ROW
WHEN (OLD.revision <> NEW.revision OR OLD.access_revision <> NEW.access_revision)
EXECUTE FUNCTION notify_subscribers();

------------------------------------------------------------------------------------------------------
-- Vector stores, for clients of OpenAI's API

-- Files as they were uploaded; the content never changes.
-- key_id: the key or token that uploaded it; null for a web token.
CREATE TABLE files (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    file_id    text NOT NULL,
    subject    text NOT NULL,
    key_id     text,
    filename   text NOT NULL,
    purpose    text NOT NULL,
    content    bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, file_id)
);
CREATE INDEX files_created ON files (tenant, created_at, file_id);

-- Sources that were made as vector stores.
-- readers: who sees it, and reads the files that are attached to it from then on.
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
-- key_id:    the key or token that attached it; null for a web token.
-- job_id:    of the job that writes it, if that was queued.
-- error:     why there is no document, if that is certain.
-- attaching: the requests that attach it and have no result yet. attaching_at: when the last one began.
CREATE TABLE vector_store_files (
    tenant      text NOT NULL,
    source      text NOT NULL,
    file_id     text NOT NULL,
    document_id text NOT NULL,
    subject     text NOT NULL,
    key_id      text,
    batch_id    text,
    job_id      text,
    error_code  text,
    error       text,
    attaching   text[] NOT NULL DEFAULT '{}',
    attaching_at timestamptz NOT NULL DEFAULT now(),
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, source, file_id),
    FOREIGN KEY (tenant, source) REFERENCES sources ON DELETE CASCADE
);
CREATE INDEX vector_store_files_file ON vector_store_files (tenant, file_id);
CREATE INDEX vector_store_files_created ON vector_store_files (tenant, source, created_at, file_id);
CREATE INDEX vector_store_files_attaching ON vector_store_files (attaching_at) WHERE attaching <> '{}';

------------------------------------------------------------------------------------------------------
-- OpenFGA: what its stores say about a tenant's members and readers

-- One row for each tenant that has a store. A change of the row is a compare-and-swap on `sequence`, so a
-- worker that was late changes nothing.
-- meaning:            digest of the settings and of the authorization model by which tuples were understood.
-- continuation_token: of the next page of changes; empty: the page begins at changes_from.
-- changed_at:         OpenFGA's time of the newest change that was applied.
-- read_at:            when all tuples were last read.
-- as_of:              all that OpenFGA had acknowledged by then has been applied.
CREATE TABLE openfga_stores (
    tenant             text PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
    store_id           text NOT NULL DEFAULT '',
    meaning            text NOT NULL DEFAULT '',
    sequence           bigint NOT NULL DEFAULT 0,
    continuation_token text NOT NULL DEFAULT '',
    changes_from       timestamptz,
    changed_at         timestamptz,
    read_at            timestamptz,
    as_of              timestamptz
);

-- The tuples that mean something here. object, relation, holder: as OpenFGA has them.
-- kind, target, grantee: what the tuple means: a subject is a member of a group; a group is a member of a
-- group; or a reader token belongs to a document.
CREATE TABLE openfga_tuples (
    tenant   text NOT NULL REFERENCES openfga_stores ON DELETE CASCADE,
    object   text NOT NULL,
    relation text NOT NULL,
    holder   text NOT NULL,
    kind     text NOT NULL CHECK (kind IN ('member', 'nested', 'reader')),
    target   text NOT NULL,
    grantee  text NOT NULL,
    PRIMARY KEY (tenant, object, relation, holder)
);
CREATE INDEX ON openfga_tuples (tenant, kind, target, grantee);
CREATE INDEX ON openfga_tuples (tenant, grantee) WHERE kind = 'nested';

-- The memberships that the tuples come to, with nested groups resolved; all are in group_members too, unless
-- an admin has removed one there.
CREATE TABLE openfga_members (
    tenant   text NOT NULL REFERENCES openfga_stores ON DELETE CASCADE,
    group_id text NOT NULL,
    subject  text NOT NULL,
    PRIMARY KEY (tenant, group_id, subject)
);

-- The readers that the tuples give to documents, which need not exist yet.
-- is_removed: the tuples no longer give it, and the document may still have it.
CREATE TABLE openfga_readers (
    tenant      text NOT NULL REFERENCES openfga_stores ON DELETE CASCADE,
    document_id text NOT NULL,
    reader      text NOT NULL,
    is_removed  boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant, document_id, reader)
);
CREATE INDEX ON openfga_readers (tenant, document_id) WHERE is_removed;

------------------------------------------------------------------------------------------------------
-- Audit log

-- Who saw and who changed what: rows that are only added, each hashed with the one before it. The log
-- outlives its tenant, and holds identifiers alone: no text, no title, no key.
-- number:  from 1 without gaps, in the order of `at`.
-- subject: who acted; null for the operator and the system, whom key_id then names. Of a web token key_id
--          is null.
-- details: `documents` names what was seen (an array), or says what was done to each (an object).
-- nonce: random, in no answer. Receipts show hashes to readers, who could else find a row by guessing.
CREATE TABLE audit_log (
    tenant  text NOT NULL,
    number  bigint NOT NULL,
    at      timestamptz NOT NULL,
    subject text,
    key_id  text,
    action  text NOT NULL,
    target  text NOT NULL,
    details jsonb NOT NULL,
    nonce   uuid NOT NULL,
    hash    bytea NOT NULL,
    PRIMARY KEY (tenant, number)
);

-- The last row of each tenant's log, and the last one that was pruned, whose hash is part of the first row
-- that is left.
CREATE TABLE audit_log_heads (
    tenant        text PRIMARY KEY,
    number        bigint NOT NULL DEFAULT 0,
    hash          bytea NOT NULL DEFAULT '',
    pruned_number bigint NOT NULL DEFAULT 0,
    pruned_hash   bytea NOT NULL DEFAULT ''
);

-- $1 the hash of the row before, then the row. An array of JSON tells where each field ends.
CREATE FUNCTION audit_hash(
    bytea, tenant text, number bigint, at timestamptz, subject text, key_id text, action text,
    target text, details jsonb, nonce uuid
) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256($1 || convert_to(
        jsonb_build_array(
            $2, $3, (extract(epoch FROM $4) * 1000000)::bigint, $5, $6, $7, $8, $9, $10
        )::text,
        'UTF8'
    ))
$$;

-- $1 tenant, $2 subject, $3 key, $4 action, $5 target, $6 details. It locks the tenant's head until the
-- transaction ends, so call it last. Returns the tenant's access revision, read under the lock.
CREATE FUNCTION audit_append(text, text, text, text, text, jsonb) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    head audit_log_heads;
    moment timestamptz;
    nonce uuid := gen_random_uuid();
    next_hash bytea;
BEGIN
    INSERT INTO audit_log_heads (tenant) VALUES ($1) ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM audit_log_heads WHERE tenant = $1 FOR UPDATE;
    moment := clock_timestamp();  -- after the lock, so that it rises with the number
    next_hash := audit_hash(head.hash, $1, head.number + 1, moment, $2, $3, $4, $5, $6, nonce);
    INSERT INTO audit_log (tenant, number, at, subject, key_id, action, target, details, nonce, hash)
    VALUES ($1, head.number + 1, moment, $2, $3, $4, $5, $6, nonce, next_hash);
    UPDATE audit_log_heads SET number = head.number + 1, hash = next_hash WHERE tenant = $1;
    RETURN (SELECT access_revision FROM tenants WHERE tenants.tenant = $1);
END
$$;

-- $1 tenant: as audit_append where no audit log is kept. chr(31) is in no tenant's name, so the key can't
-- equal that of a document.
CREATE FUNCTION audit_omit(text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(chr(31) || 'audit' || chr(31) || $1, 0));
    RETURN (SELECT access_revision FROM tenants WHERE tenant = $1);
END
$$;

-- Only pruning, which says so in its transaction, deletes rows.
CREATE FUNCTION audit_log_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('nearhit.audit_log_prunes', true) = 'yes' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the audit log only grows';
END
$$;
CREATE TRIGGER audit_log_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows();
CREATE TRIGGER audit_log_heads_stay BEFORE DELETE OR TRUNCATE ON audit_log_heads
    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows();
