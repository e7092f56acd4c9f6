-- Lets a session that was put aside continue. KEYS: work. ARGV: sid. Returns 0 if it was not put aside.
local p = KEYS[1]:sub(1, -5)
local s, dead = p .. 's:' .. ARGV[1], p .. 'dead'
if redis.call('HGET', s, 'state') ~= 'dead' then return 0 end
redis.call('HSET', s, 'state', 'idle', 'owner', '')
for _, entry in ipairs(redis.call('XRANGE', dead, '-', '+')) do
  for i = 1, #entry[2], 2 do
    if entry[2][i] == 'sid' and entry[2][i + 1] == ARGV[1] then redis.call('XDEL', dead, entry[1]) end
  end
end
redis.call('XADD', KEYS[1], '*', 'sid', ARGV[1])
return 1
