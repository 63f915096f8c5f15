-- Stores and registers one entry if the state is unchanged since the caller read it.
-- All decisions are in cache/protocol.py.
--
-- The registry is a sorted set of the entries' names, scored by a rising sequence number. The nonce
-- is a member too; its score is the greatest number ever assigned. A stored entry begins with its
-- number.
--
-- KEYS: state, registry, entry, fill lock.
-- ARGV: expected server id, expected state, its nonce, lifetime in ms, the entry's name in the
--       registry, the entry, the caller's lock token, the maximum number of entries.
-- Returns whether it was done, the server id and the current state; if done, also the entry's
-- number, the number of registered entries, and the names removed from the registry.
local found = redis.call('GET', KEYS[1]) or ''
if run ~= ARGV[1] or found ~= ARGV[2] then
    return { 0, run, found }
end
if not redis.call('ZSCORE', KEYS[2], ARGV[3]) then
    redis.call('DEL', KEYS[1]) -- the registry was lost, so the state is no longer valid
    return { 0, run, '' }
end
local lifetime = tonumber(ARGV[4])
local number = redis.call('ZINCRBY', KEYS[2], 1, ARGV[3])
redis.call('ZADD', KEYS[2], number, ARGV[5])
redis.call('SET', KEYS[3], number .. ' ' .. ARGV[6], 'PX', lifetime)
redis.call('PEXPIRE', KEYS[1], 4 * lifetime)
redis.call('PEXPIRE', KEYS[2], 4 * lifetime)
if redis.call('GET', KEYS[4]) == ARGV[7] then
    redis.call('DEL', KEYS[4])
end

-- Evict as Redis does, from a few random entries: expired ones are removed from the registry, and
-- if the registry is full, the least recently used one is deleted.
local base = string.sub(KEYS[3], 1, -1 - #ARGV[5])
local gone, idlest, idle = {}, nil, -1
for _, name in ipairs(redis.call('ZRANDMEMBER', KEYS[2], 8)) do
    if name ~= ARGV[3] and name ~= ARGV[5] then
        if redis.call('EXISTS', base .. name) == 0 then
            table.insert(gone, name)
        else
            local seconds = redis.pcall('OBJECT', 'IDLETIME', base .. name)
            if type(seconds) ~= 'number' then
                seconds = 0 -- a policy that counts uses instead
            end
            if seconds > idle then
                idlest, idle = name, seconds
            end
        end
    end
end
if idlest and redis.call('ZCARD', KEYS[2]) - 1 - #gone > tonumber(ARGV[8]) then
    redis.call('DEL', base .. idlest)
    table.insert(gone, idlest)
end
if #gone > 0 then
    redis.call('ZREM', KEYS[2], unpack(gone))
end
return { 1, run, found, number, redis.call('ZCARD', KEYS[2]) - 1, gone }
