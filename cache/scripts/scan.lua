-- All that a partition's registry holds, and the server that it was read on.
-- KEYS: registry.
return { run, redis.call('ZRANGE', KEYS[1], 0, -1) }
