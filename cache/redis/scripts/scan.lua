-- What was registered after a number: of each entry its name, its number, and all but its body.
-- KEYS: registry. ARGV: nonce, the number, how many to return, how long a head can be.
-- Returns the server that says so and, unless the registry was lost: how many are registered,
-- whether these are the last ones, the greatest number given, and the entries by their numbers.
local last = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not last then
    return { run }
end
local base = string.sub(KEYS[1], 1, -1 - #'entries')
local named = redis.call(
    'ZRANGE', KEYS[1], '(' .. ARGV[2], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[3], 'WITHSCORES'
)
local found = {}
for i = 1, #named, 2 do
    if named[i] ~= ARGV[1] then
        local head = redis.call('GETRANGE', base .. named[i], 0, ARGV[4] - 1)
        local _, stop, record, question = string.find(head, '^[%w :_-]+ (%d+) (%d+)\n')
        if stop then
            head = redis.call('GETRANGE', base .. named[i], 0, stop + record + question - 1)
        end
        table.insert(found, named[i])
        table.insert(found, named[i + 1])
        table.insert(found, head)
    end
end
local is_last = #named < 2 * ARGV[3] and 1 or 0
return { run, redis.call('ZCARD', KEYS[1]) - 1, is_last, last, found }
