-- Reads a tenant's state and one entry in one step. If the entry is absent, acquires its fill lock
-- unless another caller holds it.
--
-- An entry counts as absent unless the registry lists it under its own number: it may be a copy that
-- has come back, with the keys of a slot of a cluster, after a drain dropped the entry.
--
-- KEYS: state, entry, fill lock, registry. ARGV: the caller's lock token ('' for no lock), the
-- lock's lifetime in ms, the entry's name in the registry.
-- Returns the server id, the state, the entry, the token of the lock's owner, and the greatest
-- sequence number of the registry.
local state = redis.call('GET', KEYS[1])
local number = state and redis.call('ZSCORE', KEYS[4], string.match(state, '^%d+ %x+ (%x+)') or '')
local entry = number and redis.call('GET', KEYS[2])
if entry and redis.call('ZSCORE', KEYS[4], ARGV[3]) ~= string.match(entry, '^(%d+) ') then
    entry = false
end
local claimant = ''
if not entry and ARGV[1] ~= '' then
    redis.call('SET', KEYS[3], ARGV[1], 'NX', 'PX', ARGV[2])
    claimant = redis.call('GET', KEYS[3]) or ''
end
return { run, state, entry, claimant, number }
