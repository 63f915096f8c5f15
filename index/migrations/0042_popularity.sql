-- tenants: counted_openings: which openings of documents count as popularity: none, those that callers report
-- with POST /v1/feedback, or also each reading of a document. Read with a principal, so a change raises
-- access_revision. popularity_rolled_up_at: when openings were last added to what searches rank by.
ALTER TABLE tenants
    ADD COLUMN counted_openings text NOT NULL DEFAULT 'nothing'
        CHECK (counted_openings IN ('nothing', 'feedback', 'all')),
    ADD COLUMN popularity_rolled_up_at timestamptz;

-- Who opened what on a day (in UTC), until the day after the next one. Nobody's name is in it.
--   tenant:     of the opener; the document may be another tenant's public one.
--   opener:     a digest of the subject, the tenant, the day and the document, so that rows of two days or of
--               two documents don't tell that one subject opened both.
--   is_counted: whether it is part of the document's popularity.
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
--   openings:   their decayed number as of the day `counted_on`.
--   level:      what searches rank by: four times the binary logarithm of one more than that, rounded. It
--               changes with a revision of the tenant alone, whose change names the document.
--   falls_on:   the day on which the level is lower if nobody opens the document again.
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

-- change_log: popularity_keys: keys of documents whose level changed for the tenant.
ALTER TABLE change_log ADD COLUMN popularity_keys bigint[] NOT NULL DEFAULT '{}';
