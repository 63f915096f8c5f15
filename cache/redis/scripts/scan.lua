-- Reads the entries registered after a number: each one's name, number and header, without its body.
-- KEYS: registry. ARGV: nonce, the number, the page size, the maximum length of a first line.
-- Returns the server id and, unless the registry was lost: the number of registered entries, whether
-- this page is the last one, the greatest number assigned, and the entries in order.
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
