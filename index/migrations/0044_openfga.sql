-- What stores of OpenFGA say about a tenant: see docs/decisions/0071.

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
