-- Extends the lease of a worker and of its sessions. KEYS: work. ARGV: worker, lease in ms, host, pid, sessions, most
-- sessions, 1 if it drains, the time in ms, then sid and epoch of each session. Returns the sids of sessions
-- that another worker has (fenced), or that are not in the store (gone).
local work, p, me = KEYS[1], KEYS[1]:sub(1, -5), ARGV[1]
local w, lost = p .. 'w:' .. me, {}
redis.call('PEXPIRE', w, ARGV[2]) -- a script that begins with what needs no memory is not refused for lack of it
redis.pcall('XGROUP', 'CREATE', work, 'workers', '0', 'MKSTREAM')
redis.call('HSET', w, 'host', ARGV[3], 'pid', ARGV[4], 'sessions', ARGV[5], 'max', ARGV[6], 'draining', ARGV[7],
  'lease', ARGV[2])
redis.call('PEXPIRE', w, ARGV[2])
redis.pcall('ZADD', p .. 'workers', ARGV[8], me)
for i = 9, #ARGV, 2 do
  local s = p .. 's:' .. ARGV[i]
  local h = redis.call('HMGET', s, 'epoch', 'entry', 'owner')
  if h[1] ~= ARGV[i + 1] or h[3] ~= me then
    lost[#lost + 1] = ARGV[i]
    lost[#lost + 1] = h[1] and 'fenced' or 'gone'
  else
    local held = h[2] and redis.call('XCLAIM', work, 'workers', me, 0, h[2], 'JUSTID') or {}
    if #held == 0 then
      local entry = redis.call('XADD', work, '*', 'sid', ARGV[i])
      redis.call('XCLAIM', work, 'workers', me, 0, entry, 'FORCE', 'JUSTID')
      redis.call('HSET', s, 'entry', entry)
    end
  end
end
return lost
