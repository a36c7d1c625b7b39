# memcached with four threads and libmemcached's clients.
# shellcheck shell=sh
port=21211
memcached -p $port -U 0 -l 127.0.0.1 -t 4 -m 16 &
server=$!
for _ in $(seq 100); do
    memcping --servers=127.0.0.1:$port >/dev/null 2>&1 && break
    sleep 0.2
done
for i in 1 2 3; do
    seq $((i * 1000)) >file$i
    memccp --servers=127.0.0.1:$port file$i
done
for i in 1 2 3; do
    memccat --servers=127.0.0.1:$port file$i | cksum
done
memcexist --servers=127.0.0.1:$port file2
echo "file2 exists: $?"
memcrm --servers=127.0.0.1:$port file2
memcexist --servers=127.0.0.1:$port file2
echo "file2 is gone: $?"
memccat --servers=127.0.0.1:$port file2 2>/dev/null | wc -c
memcslap --servers=127.0.0.1:$port --concurrency=4 --execute-number=200 --test=set >slap 2>&1
echo "memcslap: $?"
kill $server
wait $server
echo "server: status $?"
