-- Removes an entry of `work` that this worker was given and does not take. KEYS: work. ARGV: worker, entry, and the sid
-- to enter again for another worker, or ''. What another worker has by now is left alone. Returns 1 if it was removed.
local found = redis.call('XPENDING', KEYS[1], 'workers', ARGV[2], ARGV[2], 1)
if not found[1] or found[1][2] ~= ARGV[1] then return 0 end
if ARGV[3] ~= '' then redis.call('XADD', KEYS[1], '*', 'sid', ARGV[3]) end
redis.call('XACK', KEYS[1], 'workers', ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
return 1
