-- Replaces a tenant's state if it is unchanged since the caller read it, and drops entries in the
-- same step. All decisions are in cache/protocol.py.
--
-- KEYS: state, registry, then the entries to drop.
-- ARGV: expected server id, expected state ('' for none), new state, the registry's new nonce ('' to
--       keep the registry), lifetime of entries in ms, then the entries' names in the registry.
-- Returns whether it was done, the server id and the current state; if done, also the greatest
-- sequence number of the registry.
local found = redis.call('GET', KEYS[1]) or ''
if run ~= ARGV[1] or found ~= ARGV[2] then
    return { 0, run, found }
end
local nonce = string.match(ARGV[3], '^%d+ %x+ (%x+)') or ''
if #KEYS > 2 and not redis.call('ZSCORE', KEYS[2], nonce) then
    -- The registry was lost, or its slot moved without it. It would still list the entries when it
    -- came back, so the state is no longer valid.
    redis.call('DEL', KEYS[1])
    return { 0, run, '' }
end
for i = 3, #KEYS do
    redis.call('DEL', KEYS[i])
    redis.call('ZREM', KEYS[2], ARGV[i + 3])
end
if ARGV[4] ~= '' then
    -- No registered entry may be served any more, so all are deleted before they expire.
    local base = string.sub(KEYS[2], 1, -1 - #'entries')
    for _, name in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
        redis.call('UNLINK', base .. name)
    end
    redis.call('DEL', KEYS[2])
    redis.call('ZADD', KEYS[2], 0, ARGV[4])
end
-- State and registry outlive every entry; the nonce shows if one of them is evicted.
redis.call('SET', KEYS[1], ARGV[3], 'PX', 4 * ARGV[5])
redis.call('PEXPIRE', KEYS[2], 4 * ARGV[5])
local number = redis.call('ZSCORE', KEYS[2], nonce)
return { 1, run, ARGV[3], number }
