-- One partition's state and one entry, at one instant, and the process that they were read on.
-- KEYS: state, entry.
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
return { run, redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]) }
