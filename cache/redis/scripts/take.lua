-- Takes tokens from a bucket, by the server's clock.
-- KEYS: bucket. ARGV: tokens a second, the bucket's size, the number of tokens wanted.
-- Returns how many were taken, how many are left, and the ms until one is available.
local rate, size, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local stored = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local left, at = tonumber(stored[1] or ''), tonumber(stored[2] or '')
local tokens = size
if left and at and left >= 0 then -- else somebody else has written them
    tokens = math.min(size, left + math.max(0, now - at) * rate)
end
-- Fractions of a token may add up to slightly less than one.
local taken = math.min(wanted, math.floor(tokens + 1e-6))
tokens = tokens - taken
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(size / rate * 1000) + 1000)
local wait_ms = 0
if tokens < 1 then
    wait_ms = math.ceil((1 - tokens) / rate * 1000)
end
return { taken, math.floor(tokens), wait_ms }
