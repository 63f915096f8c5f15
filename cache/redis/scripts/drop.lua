-- Drops one entry, whatever it holds.
-- KEYS: registry, entry. ARGV: the entry's name in the registry.
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[1], ARGV[1])
return { run }
