# nginx with two workers; curl and ab ask it for files.
# shellcheck shell=sh
port=28080
mkdir -p site nginx
echo '<p>hello</p>' >site/index.html
seq 50000 >site/numbers.txt
cat >nginx.conf <<CONFIGURATION
worker_processes 2;
pid nginx.pid;
error_log error.log;
daemon off;
events { worker_connections 64; }
http {
    access_log access.log;
    client_body_temp_path nginx;
    proxy_temp_path nginx;
    fastcgi_temp_path nginx;
    uwsgi_temp_path nginx;
    scgi_temp_path nginx;
    sendfile on;
    gzip on;
    gzip_types text/plain;
    server {
        listen 127.0.0.1:$port;
        root site;
        location /status { stub_status; }
        location /again { proxy_pass http://127.0.0.1:$port/numbers.txt; }
    }
}
CONFIGURATION
nginx -p . -c nginx.conf -e error.log &
server=$!
for _ in $(seq 100); do
    curl -s -o /dev/null http://127.0.0.1:$port/ && break
    sleep 0.2
done
curl -s http://127.0.0.1:$port/
curl -s http://127.0.0.1:$port/numbers.txt | cksum
curl -s --compressed http://127.0.0.1:$port/numbers.txt | cksum
curl -s -r 100-199 http://127.0.0.1:$port/numbers.txt | cksum
curl -s http://127.0.0.1:$port/again | cksum
curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:$port/absent
curl -s -I http://127.0.0.1:$port/ | tr -d '\r' | grep -i '^HTTP\|^content-length'
ab -q -n 100 -c 8 http://127.0.0.1:$port/index.html 2>&1 | grep 'Complete requests\|Failed requests\|Document Length'
ab -q -k -n 100 -c 8 http://127.0.0.1:$port/index.html 2>&1 | grep 'Keep-Alive requests\|Failed requests'
curl -s http://127.0.0.1:$port/status | head -n 1
kill -QUIT $server
wait $server
echo "server: status $?"
