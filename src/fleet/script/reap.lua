-- Finds entries of `work` for a worker. With a lease: those of lost workers, which become its own (take.lua
-- counts deliveries). Without: those that it has already. KEYS: work. ARGV: worker, lease in ms or '', cursor, count.
-- Returns the next cursor, '0-0' at the end, and the entries.
local work, me, count, cursor, ids = KEYS[1], ARGV[1], tonumber(ARGV[4]), '0-0', {}
if ARGV[2] ~= '' then
  local found = redis.call('XAUTOCLAIM', work, 'workers', me, ARGV[2], ARGV[3], 'COUNT', count, 'JUSTID')
  cursor, ids = found[1], found[2]
else
  for i, row in ipairs(redis.call('XPENDING', work, 'workers', '(' .. ARGV[3], '+', count, me)) do ids[i] = row[1] end
  if #ids == count then cursor = ids[count] end
end
local entries = {}
for _, id in ipairs(ids) do
  local entry = redis.call('XRANGE', work, id, id)[1]
  if entry then entries[#entries + 1] = entry else redis.call('XACK', work, 'workers', id) end
end
return {cursor, entries}
