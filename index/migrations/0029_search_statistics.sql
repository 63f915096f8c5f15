-- How the searches of a tenant were answered, by hour (in UTC); rows older than some months are deleted.
--   tier:           the cache that answered, or miss.
--   outcome:        confident, low_confidence or empty; audit_equal and audit_other count the answers of
--                   these that were computed a second time and compared.
--   latency_ms_max: the upper bound of the time that the answers took; 0 if it was not measured.
CREATE TABLE search_statistics (
    tenant         text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    hour           timestamptz NOT NULL,
    tier           text NOT NULL,
    outcome        text NOT NULL,
    latency_ms_max integer NOT NULL,
    answers        bigint NOT NULL,
    PRIMARY KEY (tenant, hour, tier, outcome, latency_ms_max)
);
