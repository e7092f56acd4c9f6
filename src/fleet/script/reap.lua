-- Finds entries of `work` for a worker. With a lease: those of lost workers, which become its own (take.lua
-- counts deliveries). Without: those that it has already. KEYS: work. ARGV: worker, lease in ms or '', cursor, count.
-- An entry is lost if it is older than this lease and, as long as w:NAME of its worker is there, than that one's lease.
-- Returns the next cursor, '0-0' at the end, and the entries.
local work, me, count, cursor, ids = KEYS[1], ARGV[1], tonumber(ARGV[4]), '0-0', {}
local leases = {}
local function lease_of(name)
  if not leases[name] then
    local its = redis.pcall('HGET', KEYS[1]:sub(1, -5) .. 'w:' .. name, 'lease')
    leases[name] = math.max(tonumber(ARGV[2]), type(its) == 'string' and tonumber(its) or 0)
  end
  return leases[name]
end
if ARGV[2] ~= '' then
  local most = 10 * count -- looked at in one call, which keeps it short
  local rows = redis.call('XPENDING', work, 'workers', '(' .. ARGV[3], '+', most)
  if #rows == most then cursor = rows[most][1] end
  for _, row in ipairs(rows) do
    if row[3] >= lease_of(row[2]) then
      redis.call('XCLAIM', work, 'workers', me, 0, row[1], 'JUSTID')
      ids[#ids + 1] = row[1]
      if #ids == count then
        cursor = row[1]
        break
      end
    end
  end
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
