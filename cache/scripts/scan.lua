-- All that a partition's registry holds, nothing if that is too much, and the server that says so.
-- KEYS: registry. ARGV: how much is too much.
if redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[1]) then
    return { run, {} }
end
return { run, redis.call('ZRANGE', KEYS[1], 0, -1) }
