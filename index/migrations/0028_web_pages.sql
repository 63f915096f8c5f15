-- What a host said of a page when it was last stored, for conditional requests.
--   settings: digest of the settings with which it was stored; with others it is read again.
CREATE TABLE web_pages (
    document_key  bigint PRIMARY KEY REFERENCES documents (document_key) ON DELETE CASCADE,
    etag          text,
    last_modified text,
    settings      bytea NOT NULL
);
