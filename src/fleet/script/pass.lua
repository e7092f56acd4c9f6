-- Leaves a session to other workers: the next one that looks for lost workers finds its entry. KEYS: work.
-- ARGV: worker, entry or '', the longest lease in ms, sid, epoch, owner before.
-- With an entry: it was not taken. Without: the session becomes what it was before this worker took it, and the
-- delivery to this worker does not count.
local work, me, entry = KEYS[1], ARGV[1], ARGV[2]
local s, was_taken = work:sub(1, -5) .. 's:' .. ARGV[4], entry == ''
if was_taken then
  local h = redis.call('HMGET', s, 'epoch', 'owner', 'entry')
  if h[1] ~= ARGV[5] or h[2] ~= me or not h[3] then return 0 end
  entry = h[3]
end
local found = redis.call('XPENDING', work, 'workers', entry, entry, 1)[1]
if not found or found[2] ~= me then return 0 end
local count = was_taken and math.max(found[4] - 1, 1) or found[4]
redis.call('XCLAIM', work, 'workers', me, 0, entry, 'IDLE', ARGV[3], 'RETRYCOUNT', count, 'JUSTID')
if was_taken then
  redis.call('HSET', s, 'owner', ARGV[6], 'state', ARGV[6] == '' and 'idle' or 'active')
  if ARGV[6] == '' then redis.call('HDEL', s, 'entry') end
end
return 1
