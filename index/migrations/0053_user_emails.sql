-- emails: [{"value", "type", "is_primary"}], by which an identity provider may look for a user.
ALTER TABLE provisioned_users ADD COLUMN emails jsonb NOT NULL DEFAULT '[]';
