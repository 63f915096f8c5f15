-- What events have said of each document, also of one that is gone or not there yet: an event is out
-- of date if a later one has said the same of it.
-- content: version of the last event that said what is in the document, or that it is gone.
-- access:  version of the last event that said who may read it, with what it said.
CREATE TABLE heard (
    tenant      text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    document_id text NOT NULL,
    content     bigint NOT NULL,
    access      bigint NOT NULL,
    owner       text,
    readers     text[] NOT NULL,
    PRIMARY KEY (tenant, document_id)
);
