# python3's web server, and curl.
# shellcheck shell=sh
port=28000
mkdir -p site
seq 20000 >site/numbers.txt
echo hello >site/hello.txt
python3 -S -m http.server $port --bind 127.0.0.1 --directory site 2>http.log &
server=$!
for _ in $(seq 100); do
    curl -s -o /dev/null http://127.0.0.1:$port/ && break
    sleep 0.2
done
curl -s http://127.0.0.1:$port/hello.txt
curl -s http://localhost:$port/numbers.txt | cksum
curl -s http://127.0.0.1:$port/ | grep -c '<li>'
curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:$port/absent
grep -c '"GET /numbers.txt HTTP/1.1" 200' http.log
kill $server
wait $server
echo "server: status $?"
