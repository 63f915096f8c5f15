-- Keys say more of whom they let in, and tokens are keys that others were narrowed to.
-- scopes:       those that its requests may name.
-- lineage:      of a token, the keys and tokens that it goes back to, and ends with: oldest first, and
--               none if the first was a web token of another issuer.
-- groups_only:  of a token, the only groups that still count; null for all that there are.
-- filter:       of a token, what a document must be, as index/model/query.py has it; null for no filter.
-- last_used_at: to about a minute.
ALTER TABLE keys
    ADD name         text NOT NULL DEFAULT '',
    ADD scopes       text[] NOT NULL DEFAULT '{private,shared,tenant,public}',
    ADD is_token     boolean NOT NULL DEFAULT false,
    ADD lineage      text[] NOT NULL DEFAULT '{}',
    ADD groups_only  text[],
    ADD filter       jsonb,
    ADD last_used_at timestamptz;
CREATE INDEX keys_lineage ON keys USING gin (lineage) WHERE is_token;
