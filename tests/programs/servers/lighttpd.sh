# lighttpd, with a program behind CGI; curl and ab ask it for files.
# shellcheck shell=sh
port=28081
root=$(dirname "$(dirname "$(dirname "$(command -v lighttpd)")")")
mkdir -p site/list
echo '<p>hello</p>' >site/index.html
seq 50000 >site/numbers.txt
echo one >site/list/one.txt
cat >site/sum.cgi <<'PROGRAM'
printf 'Content-Type: text/plain\r\n\r\n'
echo "$REQUEST_METHOD $QUERY_STRING $(cat | cksum)"
PROGRAM
cat >lighttpd.conf <<CONFIGURATION
server.document-root = "$PWD/site"
server.port = $port
server.bind = "127.0.0.1"
server.errorlog = "$PWD/error.log"
server.modules = ("mod_accesslog", "mod_cgi", "mod_dirlisting", "mod_status")
accesslog.filename = "$PWD/access.log"
index-file.names = ("index.html")
mimetype.assign = (".html" => "text/html", ".txt" => "text/plain")
cgi.assign = (".cgi" => "/bin/sh")
dir-listing.activate = "enable"
CONFIGURATION
lighttpd -D -f lighttpd.conf -m "$root/usr/lib/lighttpd" &
server=$!
for _ in $(seq 100); do
    curl -s -o /dev/null http://127.0.0.1:$port/ && break
    sleep 0.2
done
curl -s http://127.0.0.1:$port/
curl -s http://127.0.0.1:$port/numbers.txt | cksum
curl -s -r 100-199 http://127.0.0.1:$port/numbers.txt | cksum
curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:$port/absent
curl -s -I http://127.0.0.1:$port/ | tr -d '\r' | grep -i '^HTTP\|^content-length'
curl -s http://127.0.0.1:$port/list/ | grep -o 'href="one.txt"'
curl -s --data-binary @site/numbers.txt "http://127.0.0.1:$port/sum.cgi?a=1"
ab -q -n 100 -c 8 http://127.0.0.1:$port/index.html 2>&1 | grep 'Complete requests\|Failed requests\|Document Length'
ab -q -k -n 100 -c 8 http://127.0.0.1:$port/index.html 2>&1 | grep 'Failed requests'
kill -INT $server
wait $server
echo "server: status $?"
