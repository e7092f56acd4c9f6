-- Decides about an entry of `work`: this worker takes the session, or its owner looks at it, or it was put aside.
-- KEYS: work. ARGV: sid, worker, entry, 1 if the entry was claimed from a lost worker, 1 if this worker has the
-- session, most crashes, the error event of a session that is put aside, in two halves around the count, time in ms.
local work, p = KEYS[1], KEYS[1]:sub(1, -5)
local sid, me, entry, claimed, has = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1', ARGV[5] == '1'
local s = p .. 's:' .. sid
local h = redis.call('HMGET', s, 'state', 'owner', 'epoch', 'seq', 'applied', 'entry', 'lines')
local owner, held = h[2] or '', h[6]
for _, name in ipairs({':sq', ':eq', ':log', ':pack'}) do -- before anything is written
  local kind = redis.call('TYPE', s .. name).ok
  if kind ~= 'stream' and kind ~= 'none' then return redis.error_reply('WRONGTYPE ' .. name .. ' is a ' .. kind) end
end
local function pending(id)
  local found = redis.call('XPENDING', work, 'workers', id, id, 1)
  return found[1] and found[1][4]
end
local function done(id)
  redis.call('XACK', work, 'workers', id)
  redis.call('XDEL', work, id)
end
local function elsewhere()
  -- a script that has written may write on, also when the memory is full: first what needs none
  if held == entry then redis.call('XCLAIM', work, 'workers', owner, 0, entry, 'JUSTID') else done(entry) end
  redis.pcall('XADD', p .. 'w:' .. owner .. ':in', 'MAXLEN', '~', 10000, '*', 'sid', sid)
  return {'elsewhere'}
end
if h[1] == 'dead' then
  done(entry)
  return {'dead'}
end
if h[1] == 'ended' and #redis.call('XRANGE', s .. ':sq', '(' .. h[5], '+', 'COUNT', 1) == 0 then
  done(entry) -- its submission was applied before the end
  return {'dead'}
end
if has and not h[3] then -- the store has lost what this worker has
  done(entry)
  return {'gone'}
end
if owner == me and has then
  if held ~= entry then done(entry) end
  return {'mine'}
end
local lives = owner ~= '' and owner ~= me and redis.call('EXISTS', p .. 'w:' .. owner) == 1
if lives and (not claimed or (held and held ~= entry)) then return elsewhere() end
if owner ~= '' and not claimed and held and held ~= entry and pending(held) then
  done(entry)
  entry = held
elseif claimed and held and held ~= entry then
  done(held)
end
if owner ~= '' then -- one delivery for each owner since the session was let go
  redis.call('XCLAIM', work, 'workers', me, 0, entry)
else
  redis.call('XCLAIM', work, 'workers', me, 0, entry, 'RETRYCOUNT', 1, 'JUSTID')
end
local deliveries, epoch, seq = pending(entry) or 1, (tonumber(h[3]) or 0) + 1, tonumber(h[4]) or 0
if deliveries > tonumber(ARGV[6]) and owner ~= '' then
  local lost = deliveries - 1
  redis.pcall('XADD', s .. ':eq', (seq + 1) .. '-0', 'ev', ARGV[7] .. lost .. ARGV[8])
  redis.call('HSET', s, 'epoch', epoch, 'seq', seq + 1, 'owner', '', 'state', 'dead')
  redis.call('HDEL', s, 'entry')
  redis.pcall('XADD', p .. 'dead', '*', 'sid', sid, 'deliveries', lost)
  done(entry)
  return {'dead', sid}
end
redis.call('HSET', s, 'epoch', epoch, 'seq', seq, 'applied', h[5] or '0-0', 'owner', me, 'state', 'active')
redis.call('HSET', s, 'entry', entry)
redis.pcall('ZADD', p .. 'sessions', ARGV[9], sid)
return {'taken', epoch, seq, tonumber(h[7]) or 0, h[5] or '0-0', owner}
