-- What a token sees of what its subject has made beside documents: what was made with it, or with a token
-- that was made from it.

-- key_id: the key or token that a file was uploaded or attached with; null for a web token, and before this
-- migration.
ALTER TABLE files ADD COLUMN key_id text;
ALTER TABLE vector_store_files ADD COLUMN key_id text;

-- Whether the key is the token or was made from it; true without a token.
CREATE FUNCTION is_made_with(tenant text, key_id text, token_id text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT
        $3 IS NULL OR coalesce($2 = $3, false) OR EXISTS (
            SELECT FROM keys
            WHERE keys.tenant = $1 AND keys.key_id = $2 AND keys.ancestor_key_ids @> ARRAY[$3]
        )
$$;
