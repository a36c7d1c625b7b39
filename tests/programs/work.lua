-- Lua: tables, closures, coroutines, string patterns, garbage.
local function generate(n)
  return coroutine.wrap(function() for i = 1, n do coroutine.yield(i * i % 97) end end)
end
local sum, seen = 0, {}
for v in generate(20000) do
  sum = sum + v
  seen[v] = (seen[v] or 0) + 1
end
local keys = {}
for k in pairs(seen) do keys[#keys + 1] = k end
table.sort(keys)
print(sum, #keys, keys[1], keys[#keys])
local text = string.rep("the quick brown fox ", 200)
print((text:gsub("(%w+) (%w+)", "%2 %1")):sub(1, 40), select(2, text:gsub("o", "0")))
for i = 1, 50000 do local t = {i, tostring(i)} end
print(string.format("%5.2f %q %x", math.pi, 'a "b"\n', 255), 7 // 2, 7.5 % 2, 1 << 40)
print(pcall(error, {code = 1}) == false, select("#", table.unpack({1, nil, 3}, 1, 3)))
print(os.date("!%Y-%m-%d", 1700000000), os.getenv("HOME") ~= nil)
os.exit(7)
