-- Stores events and lines of the rollout, and what they answer, all or nothing.
-- KEYS: work. ARGV: sid, epoch, number of the last event and of the last line before these, the Submission that they
-- answer or '', events to keep, worker, 1 to make a session again that Redis has lost, count of events, time in ms,
-- then the events, then the lines.
local p = KEYS[1]:sub(1, -5)
local s = p .. 's:' .. ARGV[1]
local h = redis.call('HMGET', s, 'epoch', 'seq', 'lines', 'owner')
local seq, lines, entry = tonumber(ARGV[3]), tonumber(ARGV[4]), false
if not h[1] then
  if ARGV[8] ~= '1' then return {'gone'} end
  pcall(redis.call, 'XGROUP', 'CREATE', KEYS[1], 'workers', '0', 'MKSTREAM')
  entry = redis.call('XADD', KEYS[1], '*', 'sid', ARGV[1])
  redis.call('XCLAIM', KEYS[1], 'workers', ARGV[7], 0, entry, 'FORCE', 'JUSTID')
  redis.call('HSET', s, 'epoch', ARGV[2], 'owner', ARGV[7], 'state', 'active', 'applied', '0-0', 'entry', entry)
elseif h[1] ~= ARGV[2] or h[4] ~= ARGV[7] then -- epochs begin again in a store that was emptied
  return {'fenced', h[1]}
elseif h[2] ~= ARGV[3] or (h[3] or '0') ~= ARGV[4] then
  return {'other', h[2], h[3] or '0'}
end
local eq, log, first = s .. ':eq', s .. ':log', 11
local count = tonumber(ARGV[9])
if first + count <= #ARGV then redis.call('XLEN', log) end -- fails before anything is written, unless it is a stream
for i = first, first + count - 1 do
  seq = seq + 1
  redis.call('XADD', eq, 'MAXLEN', '~', ARGV[6], seq .. '-0', 'ev', ARGV[i])
end
for i = first + count, #ARGV do
  lines = lines + 1
  redis.call('XADD', log, lines .. '-0', 'l', ARGV[i])
end
redis.call('HSET', s, 'seq', seq, 'lines', lines)
if ARGV[5] ~= '' then redis.call('HSET', s, 'applied', ARGV[5]) end
redis.pcall('ZADD', p .. 'sessions', ARGV[10], ARGV[1])
return {'ok', seq, lines}
