-- The most staleness that a tenant's admin lets its callers choose, in milliseconds; null: as much as the
-- deployment allows. Read with a principal, so a change raises access_revision.
ALTER TABLE tenants ADD COLUMN max_staleness_ms integer CHECK (max_staleness_ms BETWEEN 0 AND 3600000);
