-- For how many days the questions of a tenant's searches are kept; 0: none is recorded. An admin sets it.
-- Read with a principal, so a change raises access_revision.
ALTER TABLE tenants ADD COLUMN questions_kept_days integer NOT NULL DEFAULT 0
    CHECK (questions_kept_days BETWEEN 0 AND 92);

-- How often each question was asked on a day (in UTC). Nobody's name is in it.
--   digest:   of the question without its case, its spaces and the punctuation around it.
--   question: as it was asked; null until the same question has come twice within the days that are kept.
--   unsure:   how many of the answers had no hit, or had low confidence.
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

-- The W3C trace context of the request that enqueued a job; null without one.
ALTER TABLE jobs
    ADD COLUMN traceparent text CHECK (length(traceparent) = 55),
    ADD COLUMN tracestate text CHECK (length(tracestate) <= 512);
