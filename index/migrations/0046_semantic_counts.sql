-- Answers to similar questions are counted together, not by bucket of similarity: see docs/decisions/0011.

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

-- The table semantic_buckets stays for gateways of the previous release; the next release drops it.
