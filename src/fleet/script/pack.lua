-- Replaces the oldest lines of a log by their packed form, all or nothing. KEYS: work. ARGV: sid, epoch, worker,
-- numbers of the first and of the last line, the packed lines.
local s = KEYS[1]:sub(1, -5) .. 's:' .. ARGV[1]
local h = redis.call('HMGET', s, 'epoch', 'owner')
if h[1] ~= ARGV[2] or h[2] ~= ARGV[3] then return 'fenced' end
local log = s .. ':log'
local ends = {redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1], redis.call('XRANGE', log, ARGV[5], ARGV[5])[1]}
if not ends[2] or ends[1][1] ~= ARGV[4] .. '-0' then return 'other' end
redis.call('XADD', s .. ':pack', ARGV[5] .. '-0', 'z', ARGV[6])
redis.call('XTRIM', log, 'MINID', string.format('%.0f', tonumber(ARGV[5]) + 1))
return 'ok'
