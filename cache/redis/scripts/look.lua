-- One tenant's state and one entry, at one instant, the server that they were read on, who is
-- computing the entry if it is not there: the caller from now on, if nobody was; and the greatest
-- number that the registry has given.
-- KEYS: state, entry, claim, registry. ARGV: the caller's token ('' to claim nothing), for how many
-- ms.
local entry = redis.call('GET', KEYS[2])
local claimant = ''
if not entry and ARGV[1] ~= '' then
    redis.call('SET', KEYS[3], ARGV[1], 'NX', 'PX', ARGV[2])
    claimant = redis.call('GET', KEYS[3]) or ''
end
local state = redis.call('GET', KEYS[1])
local number = state and redis.call('ZSCORE', KEYS[4], string.match(state, '^%d+ %x+ (%x+)') or '')
return { run, state, entry, claimant, number }
