-- What stands around searches: how sure an answer has to be, what could not be answered, and which
-- messages are questions.

-- confidence: null while nothing is set, or an object: `min`, what the best hit has to score, `sources`,
--             by name what a hit of theirs has to, and `fallback`, what is said instead of an answer.
--             Answers show whether they are below it, so a change of it raises the revision.
ALTER TABLE tenants ADD confidence jsonb;

-- Questions whose answers were below it, one row each; who asked is not kept.
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

-- What a tenant says of a gate instead of what is built in.
CREATE TABLE gates (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name   text NOT NULL,
    words  jsonb NOT NULL,
    PRIMARY KEY (tenant, name)
);
