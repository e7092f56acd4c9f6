-- Lets a session go. KEYS: work. ARGV: sid, epoch, state, events to keep, 1 to enter it into `work` again,
-- worker.
local work, p = KEYS[1], KEYS[1]:sub(1, -5)
local s = p .. 's:' .. ARGV[1]
local h = redis.call('HMGET', s, 'epoch', 'applied', 'entry', 'owner')
if not h[1] then return 'gone' end
if h[1] ~= ARGV[2] or h[4] ~= ARGV[6] then return 'fenced' end
if ARGV[3] == 'idle' and ARGV[5] ~= '1' and #redis.call('XRANGE', s .. ':sq', '(' .. h[2], '+', 'COUNT', 1) > 0 then
  return 'busy'
end
redis.call('XTRIM', s .. ':sq', 'MINID', h[2]) -- first: needs no memory, so that the rest is not refused for lack of it
redis.call('XTRIM', s .. ':eq', 'MAXLEN', '~', ARGV[4])
redis.call('HSET', s, 'owner', '', 'state', ARGV[3])
redis.call('HDEL', s, 'entry')
if h[3] then
  redis.call('XACK', work, 'workers', h[3])
  redis.call('XDEL', work, h[3])
end
-- A Submission behind the shutdown opens the session again.
if ARGV[5] == '1' or (ARGV[3] == 'ended' and
  #redis.call('XRANGE', s .. ':sq', '(' .. h[2], '+', 'COUNT', 1) > 0) then
  redis.call('XADD', work, '*', 'sid', ARGV[1])
end
return 'ok'
