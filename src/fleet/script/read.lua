-- Reads entries of a stream of a session, up to a count and, but for the first one, up to a number of bytes.
-- KEYS: work. ARGV: sid, the stream's name, the id after which to read, count, bytes.
-- Returns 1 if there may be more, and the entries.
local stream, last, left = KEYS[1]:sub(1, -5) .. 's:' .. ARGV[1] .. ARGV[2], ARGV[3], tonumber(ARGV[5])
local entries = {}
while #entries < tonumber(ARGV[4]) do
  local entry = redis.call('XRANGE', stream, '(' .. last, '+', 'COUNT', 1)[1]
  if not entry then return {0, entries} end
  for _, text in ipairs(entry[2]) do left = left - #text end
  if left < 0 and #entries > 0 then break end
  entries[#entries + 1] = entry
  last = entry[1]
end
return {1, entries}
