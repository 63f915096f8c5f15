-- One tenant's state and one entry, at one instant, the server that they were read on, and who is
-- computing the entry if it is not there: the caller from now on, if nobody was.
-- KEYS: state, entry, claim. ARGV: the caller's token ('' to claim nothing), for how many ms.
local entry = redis.call('GET', KEYS[2])
local claimant = ''
if not entry and ARGV[1] ~= '' then
    redis.call('SET', KEYS[3], ARGV[1], 'NX', 'PX', ARGV[2])
    claimant = redis.call('GET', KEYS[3]) or ''
end
return { run, redis.call('GET', KEYS[1]), entry, claimant }
