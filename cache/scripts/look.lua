-- One partition's state and one entry, at one instant, and the server that they were read on.
-- KEYS: state, entry.
return { run, redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]) }
