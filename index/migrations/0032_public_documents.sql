-- tenants: receives_public: whether its searches include other tenants' public documents, if the
-- deployment allows it. sources: may_publish: whether a publisher has configured the source, so that its
-- documents may be public.
-- Both are false for existing rows: no tenant asked to receive, and no source was checked.
ALTER TABLE tenants ADD COLUMN receives_public boolean NOT NULL DEFAULT false;
ALTER TABLE sources ADD COLUMN may_publish boolean NOT NULL DEFAULT false;
