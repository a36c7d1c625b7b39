# redis-server with its own clients: commands, a pipeline, Lua, a client that blocks; then an orderly end.
# $requests: of each kind, for redis-benchmark.
# shellcheck shell=sh
port=26379
redis-server --port $port --save '' --appendonly no --daemonize no --logfile redis.log --dir . &
server=$!
for _ in $(seq 100); do
    redis-cli -p $port ping >/dev/null 2>&1 && break
    sleep 0.2
done
redis-cli -p $port <<'COMMANDS'
PING
SET greeting "hello, world"
GET greeting
INCRBY counter 41
INCR counter
RPUSH list a b c d
LRANGE list 0 -1
HSET hash one 1 two 2
HGETALL hash
ZADD scores 3 c 1 a 2 b
ZRANGE scores 0 -1 WITHSCORES
EVAL "local s = 0 for i = 1, 1000 do s = s + i end return s" 0
EXPIRE greeting 100
OBJECT ENCODING list
GET nothing
LPOP counter
COMMANDS
redis-cli -p $port blpop queue 30 >popped &
popping=$!
redis-cli -p $port rpush queue late
wait $popping
cat popped
for i in 1 2 3 4 5 6 7 8 9 10; do echo "SET key$i $i"; done | redis-cli -p $port --pipe
redis-cli -p $port mget key1 key5 key10
redis-benchmark -p $port -t set,get -n "${requests:-500}" -c 20 -q 2>&1 | tr '\r' '\n' |
    sed -n 's/^\([A-Z]*\): [0-9.]* requests per second.*/\1: done/p'
redis-cli -p $port dbsize
redis-cli -p $port shutdown nosave
wait $server
echo "server: status $?"
