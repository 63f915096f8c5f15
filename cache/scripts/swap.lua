-- Replace a partition's state if it is still what the caller judged, and in the same step store
-- and drop entries. All judgement is in cache/protocol.py.
--
-- KEYS: state, registry, then the entries to store, then the entries to drop.
-- ARGV: expected run, expected state ('' for none), new state, the registry's new nonce ('' to keep
--       the registry), lifetime in ms, number of entries to store, then their values.
-- Returns whether it was done, and the run and the state found.
local found = redis.call('GET', KEYS[1]) or ''
if run ~= ARGV[1] or found ~= ARGV[2] then
    return { 0, run, found }
end

local lifetime = tonumber(ARGV[5])
local stored = tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

for i = 3 + stored, #KEYS do
    redis.call('DEL', KEYS[i])
    redis.call('ZREM', KEYS[2], KEYS[i])
end
if ARGV[4] ~= '' then
    redis.call('DEL', KEYS[2])
    redis.call('ZADD', KEYS[2], '+inf', ARGV[4])
end
for i = 1, stored do
    redis.call('SET', KEYS[2 + i], ARGV[6 + i], 'PX', lifetime)
    redis.call('ZADD', KEYS[2], now + lifetime, KEYS[2 + i])
end
if stored > 0 then
    -- Long after the entries have expired: a record must never go before its entry.
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - lifetime)
end
-- State and registry outlive every entry; if one of them is evicted, the nonce tells.
redis.call('SET', KEYS[1], ARGV[3], 'PX', 4 * lifetime)
redis.call('PEXPIRE', KEYS[2], 4 * lifetime)
return { 1, run, ARGV[3] }
