-- Leaves a session to other workers: the next one that looks for lost workers finds its entry. KEYS: work.
-- ARGV: worker, entry or '', the longest lease in ms, sid, epoch, owner before.
-- With an entry: it was not taken. If another worker has the session, that one gets a message instead. Without: the
-- session becomes what it was before this worker took it, and the delivery to this worker does not count.
local work, p, me, entry = KEYS[1], KEYS[1]:sub(1, -5), ARGV[1], ARGV[2]
local s, was_taken = p .. 's:' .. ARGV[4], entry == ''
local kind = redis.call('TYPE', s).ok
local h = kind == 'hash' and redis.call('HMGET', s, 'epoch', 'owner', 'entry') or {}
local owner = h[2] or ''
if was_taken then
  if h[1] ~= ARGV[5] or owner ~= me or not h[3] then return 0 end
  entry = h[3]
end
local found = redis.call('XPENDING', work, 'workers', entry, entry, 1)[1]
if not found or found[2] ~= me then return 0 end
if not was_taken and owner ~= '' and owner ~= me and h[3] ~= entry and
  redis.call('EXISTS', p .. 'w:' .. owner) == 1 then
  redis.call('XACK', work, 'workers', entry) -- first what needs no memory
  redis.call('XDEL', work, entry)
  redis.pcall('XADD', p .. 'w:' .. owner .. ':in', 'MAXLEN', '~', 10000, '*', 'sid', ARGV[4])
  return 1
end
local count = was_taken and math.max(found[4] - 1, 1) or found[4]
redis.call('XCLAIM', work, 'workers', me, 0, entry, 'IDLE', ARGV[3], 'RETRYCOUNT', count, 'JUSTID')
if was_taken then
  redis.call('HSET', s, 'owner', ARGV[6], 'state', ARGV[6] == '' and 'idle' or 'active')
  if ARGV[6] == '' then redis.call('HDEL', s, 'entry') end
end
return 1
