-- What a tenant stores, counted in the transaction of each write, and the most that it may store.
--   stored_bytes: of the texts of its documents, in UTF-8, and of its uploaded files.
--   …_max: the tenant's own quota; null: the default of the deployment.
ALTER TABLE tenants
    ADD documents     bigint NOT NULL DEFAULT 0,
    ADD stored_bytes  bigint NOT NULL DEFAULT 0,
    ADD documents_max bigint CHECK (documents_max >= 0),
    ADD chunks_max    bigint CHECK (chunks_max >= 0),
    ADD bytes_max     bigint CHECK (bytes_max >= 0),
    ADD sources_max   bigint CHECK (sources_max >= 0);

UPDATE tenants SET
    documents = stored.documents,
    stored_bytes = stored.bytes + (
        SELECT coalesce(sum(octet_length(content)), 0) FROM files WHERE files.tenant = tenants.tenant
    )
FROM (
    SELECT tenant, count(*) AS documents, coalesce(sum(octet_length(text)), 0) AS bytes
    FROM documents JOIN document_texts USING (document_key)
    GROUP BY tenant
) AS stored
WHERE stored.tenant = tenants.tenant;

UPDATE tenants SET stored_bytes = stored.bytes
FROM (SELECT tenant, sum(octet_length(content)) AS bytes FROM files GROUP BY tenant) AS stored
WHERE stored.tenant = tenants.tenant AND documents = 0;
