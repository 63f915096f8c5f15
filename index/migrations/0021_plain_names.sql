-- Names that say what a table or column holds. Every statement changes the catalogue alone and reads
-- no row. Earlier versions of Nearhit can't use the new names: stop them before this migration runs.
--
-- event_versions:          content_version and access_version of the last events of each document.
-- chunk_partitions:        the tables that hold chunks; dimensions: of the vectors in its index.
-- index_meta:              the embedding space, dimensions and analyser of the index.
-- document_texts:          whole texts.
-- change_log:              chunks that each revision added, removed, updated or moved within their
--                          document; document_keys: of all documents that it changed.
-- previous_digests:        digests of chunks of a document's earlier versions.
-- deleted_tenant_counters: the highest counters of deleted tenants; new tenants start beyond them.
-- index_audits:            when each tenant's index is audited, and the problems that were left.
-- audit_log_heads:         the last row of each tenant's log, and the last one that was pruned.
-- semantic_buckets:        how often answers to similar questions were right, by similarity bucket.
-- documents:               allowed_tokens: the readers, and the owner as a token; equal sets share a row
--                          of `audiences`. sample_rank: random, so that the lowest are a fair sample.
--                          chunker: the name of what split the text into chunks.
-- tenants:                 vocabulary_size: the number of words, and in units of 2^40 how often words
--                          were removed. embedding_space: null for that of index_meta.
-- keys:                    ancestor_key_ids: the keys and tokens that a token was made from, oldest
--                          first. allowed_groups: the only groups of a token; null for all.
-- jobs:                    job_no: the order in which jobs were requested.

ALTER TABLE heard RENAME TO event_versions;
ALTER TABLE event_versions RENAME content TO content_version;
ALTER TABLE event_versions RENAME access TO access_version;

ALTER TABLE shelves RENAME TO chunk_partitions;
ALTER TABLE chunk_partitions RENAME shelf TO partition_no;
ALTER TABLE chunk_partitions RENAME width TO dimensions;
ALTER TABLE chunks RENAME shelf TO partition_no;
ALTER TABLE tenants RENAME shelf TO partition_no;
ALTER SEQUENCE shelf_numbers RENAME TO partition_numbers;
-- The columns of an index keep their names, after which PostgreSQL names the indexes of new partitions.
ALTER TABLE chunks_document RENAME COLUMN shelf TO partition_no;

ALTER TABLE generation RENAME TO index_meta;
ALTER TABLE index_meta RENAME only_row TO singleton;
ALTER TABLE index_meta RENAME space TO embedding_space;
ALTER TABLE embeddings RENAME space TO embedding_space;
ALTER TABLE tenants RENAME space TO embedding_space;

ALTER TABLE texts RENAME TO document_texts;
ALTER TABLE members RENAME TO group_members;

ALTER TABLE changes RENAME TO change_log;
ALTER TABLE change_log RENAME added TO added_chunks;
ALTER TABLE change_log RENAME removed TO removed_chunks;
ALTER TABLE change_log RENAME touched TO updated_chunks;
ALTER TABLE change_log RENAME moved TO repositioned_chunks;
ALTER TABLE change_log RENAME documents TO document_keys;

ALTER TABLE audits RENAME TO index_audits;
ALTER TABLE index_audits RENAME flaws TO problems;

ALTER TABLE audit_heads RENAME TO audit_log_heads;
ALTER TABLE audit_log_heads RENAME base_number TO pruned_number;
ALTER TABLE audit_log_heads RENAME base_hash TO pruned_hash;

ALTER TABLE outdated RENAME TO previous_digests;
ALTER TABLE departed RENAME TO deleted_tenant_counters;
ALTER TABLE deleted_tenant_counters RENAME only_row TO singleton;
ALTER TABLE deleted_tenant_counters RENAME words TO vocabulary_size;
ALTER TABLE history_numbers RENAME only_row TO singleton;

ALTER TABLE gates RENAME TO query_gates;
ALTER TABLE semantic_bands RENAME TO semantic_buckets;
ALTER TABLE semantic_buckets RENAME band TO bucket;

ALTER TABLE documents RENAME audience TO allowed_tokens;
ALTER TABLE documents RENAME dice TO sample_rank;
ALTER TABLE documents RENAME cut TO chunker;
ALTER TABLE audiences RENAME audience TO allowed_tokens;

ALTER TABLE tenants RENAME words TO vocabulary_size;
ALTER TABLE tenants RENAME leaving TO is_being_deleted;

ALTER TABLE keys RENAME lineage TO ancestor_key_ids;
ALTER TABLE keys RENAME groups_only TO allowed_groups;

ALTER TABLE jobs RENAME place TO job_no;
ALTER SEQUENCE jobs_place_seq RENAME TO jobs_job_no_seq;

ALTER INDEX keys_lineage RENAME TO keys_ancestors;
ALTER INDEX documents_dice RENAME TO documents_sample_rank;
ALTER INDEX audiences_readers RENAME TO audiences_tokens;
ALTER INDEX audiences_same RENAME TO audiences_hash;

-- PostgreSQL named these constraints after their tables and columns. A partition's copy of a constraint
-- follows its parent's.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT
            conrelid::regclass AS relation, conname AS old_name,
            CASE contype
                WHEN 'n' THEN relname || '_' || attname || '_not_null'
                ELSE replace(
                    replace(
                        regexp_replace(
                            conname,
                            '^(heard|shelves|generation|texts|members|changes|audits|audit_heads'
                            '|outdated|departed|gates|semantic_bands)_',
                            relname || '_'
                        ),
                        '_shelf_', '_partition_no_'
                    ),
                    '_only_row_', '_singleton_'
                )
            END AS new_name
        FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
        LEFT JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1] AND contype = 'n'
        WHERE relnamespace = current_schema()::regnamespace AND coninhcount = 0 AND conparentid = 0
    LOOP
        IF item.new_name <> item.old_name THEN
            EXECUTE format(
                'ALTER TABLE %s RENAME CONSTRAINT %I TO %I', item.relation, item.old_name, item.new_name
            );
        END IF;
    END LOOP;
    FOR item IN
        SELECT indexrelid::regclass AS relation, replace(relname, '_shelf_', '_partition_no_') AS new_name
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE relnamespace = current_schema()::regnamespace AND relname LIKE '%\_shelf\_idx'
    LOOP
        EXECUTE format('ALTER INDEX %s RENAME TO %I', item.relation, item.new_name);
    END LOOP;
END
$$;

-- The bodies of these functions are text, which does not follow a table that is renamed.

-- Parameters: $1 tenant, $2 subject, $3 key, $4 action, $5 target, $6 details. It locks the tenant's head
-- until the transaction ends, so call it last.
CREATE OR REPLACE FUNCTION audit_append(text, text, text, text, text, jsonb) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    head audit_log_heads;
    moment timestamptz;
    next_hash bytea;
BEGIN
    INSERT INTO audit_log_heads (tenant) VALUES ($1) ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM audit_log_heads WHERE tenant = $1 FOR UPDATE;
    moment := clock_timestamp();  -- after the lock, so that it rises with the number
    next_hash := audit_hash(head.hash, $1, head.number + 1, moment, $2, $3, $4, $5, $6);
    INSERT INTO audit_log (tenant, number, at, subject, key_id, action, target, details, hash)
    VALUES ($1, head.number + 1, moment, $2, $3, $4, $5, $6, next_hash);
    UPDATE audit_log_heads SET number = head.number + 1, hash = next_hash WHERE tenant = $1;
    RETURN head.number + 1;
END
$$;
ALTER TRIGGER audit_heads_stay ON audit_log_heads RENAME TO audit_log_heads_stay;

-- A document's allowed_tokens follow from its owner and readers alone, and equal sets share an audience.
DROP TRIGGER documents_audience ON documents;
DROP FUNCTION documents_audience();
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

-- The last document of an audience takes the audience with it, because an audience names people.
ALTER FUNCTION audiences_leave() RENAME TO delete_unused_audience;
DROP TRIGGER audiences_leave ON documents;
DROP TRIGGER audiences_change ON documents;
CREATE CONSTRAINT TRIGGER delete_unused_audience_of_deleted AFTER DELETE ON documents
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION delete_unused_audience();
CREATE CONSTRAINT TRIGGER delete_unused_audience_of_updated AFTER UPDATE ON documents
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.audience_key <> NEW.audience_key)
    EXECUTE FUNCTION delete_unused_audience();

-- Functions of searches by earlier versions, which name tables that no longer exist.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT oid::regprocedure AS signature FROM pg_proc
        WHERE pronamespace = current_schema()::regnamespace AND prosecdef
          AND proname ~ '^(search|vocabulary)_\w+_[0-9a-f]{8}$'
    LOOP
        EXECUTE format('DROP FUNCTION %s', item.signature);
    END LOOP;
END
$$;
