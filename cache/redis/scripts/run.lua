-- The server id, computed before every script. It changes at each start and each promotion, so that
-- an id stands for one memory that never goes back. (A run_id alone survives a demotion, which
-- replaces the memory, and the promotion after it.)
local info = redis.call('INFO', 'server', 'replication')
local run = string.match(info, 'run_id:(%x+)') .. string.match(info, 'master_replid:(%x+)')

