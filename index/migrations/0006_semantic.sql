-- How often the answer to a similar question was seen to be the answer; cache/semantic/similarity_buckets.py judges by it.

-- The share of wrong answers that the tenant puts up with; null: the setting's.
ALTER TABLE tenants ADD COLUMN semantic_error_max double precision
    CHECK (semantic_error_max > 0 AND semantic_error_max <= 0.2);

-- generation names what the counts hold for; those of another one stay, and are read by nobody.
CREATE TABLE semantic_bands (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    generation text NOT NULL,
    band       smallint NOT NULL,
    seen       bigint NOT NULL,
    served     bigint NOT NULL,
    verified   bigint NOT NULL,
    wrong      bigint NOT NULL CHECK (wrong <= verified),
    PRIMARY KEY (tenant, generation, band)
);
