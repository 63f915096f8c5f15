-- Users and groups that an identity provider provisions: SCIM 2.0, RFC 7643.

-- subject:   whom the user's keys, tokens and web tokens stand for.
-- user_name: compared without regard to case, as RFC 7643, section 4.1.1 asks.
CREATE TABLE provisioned_users (
    tenant       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    user_id      text NOT NULL DEFAULT gen_random_uuid()::text,
    subject      text NOT NULL,
    user_name    text NOT NULL,
    external_id  text,
    display_name text,
    is_active    boolean NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, user_id),
    UNIQUE (tenant, subject)
);
CREATE UNIQUE INDEX ON provisioned_users (tenant, lower(user_name));
CREATE INDEX ON provisioned_users (tenant, external_id);

-- Subjects without a working credential: those of inactive users, of deleted ones, and of earlier names.
-- Rows stay, because a web token may outlive its user.
CREATE TABLE suspended_subjects (
    tenant       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    subject      text NOT NULL,
    suspended_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, subject)
);

-- scim_id:      by which an identity provider knows the group, also under another name.
-- display_name: null for a group that an admin has made; then group_id is shown.
ALTER TABLE groups
    ADD COLUMN scim_id text NOT NULL DEFAULT gen_random_uuid()::text,
    ADD COLUMN display_name text,
    ADD COLUMN external_id text;
CREATE UNIQUE INDEX ON groups (tenant, scim_id);
CREATE INDEX ON groups (tenant, lower(coalesce(display_name, group_id)));
CREATE INDEX ON groups (tenant, external_id);
CREATE INDEX ON group_members (tenant, group_id, subject);

-- A group that gets another name keeps its members.
ALTER TABLE group_members DROP CONSTRAINT group_members_tenant_group_id_fkey;
ALTER TABLE group_members ADD FOREIGN KEY (tenant, group_id)
    REFERENCES groups ON UPDATE CASCADE ON DELETE CASCADE;

CREATE INDEX ON keys (tenant, subject) WHERE revoked_at IS NULL;
