#!/bin/sh
# What users, machines and files say is shown, and steers nothing: terminals, spreadsheets, directories, servers.
. "$(dirname "$0")/../lib.sh"

escape=$(printf '\033')
"$TOOLS/gentrace" 2000 hr.bin >/dev/null
for command in stat report view 'export csv' collect usb run pack doctor events; do
    for word in "--nosuch${escape}[31m" "-${escape}" "--output${escape}x=y"; do
        # shellcheck disable=SC2086
        timeout 20 "$HR" $command "$word" >out 2>err </dev/null
        is "hr $command, an option that steers the terminal" "$(cat out err | tr -d -c '\033' | wc -c)" 0
    done
done
"$HR" stat one.bin "two${escape}[2J.bin" >out 2>err
is 'an argument too many' "$(tr -d -c '\033' <err | wc -c)" 0
like 'an argument too many: shown' err 'two\\x1b\[2J'

# A name that a spreadsheet would compute.
cat >program.c <<'END'
__asm__(".globl \"=HYPERLINK(1)\"\n\"=HYPERLINK(1)\":\n.skip 16777216, 0x90\nret\n.type \"=HYPERLINK(1)\", @function\n"
        ".size \"=HYPERLINK(1)\", . - \"=HYPERLINK(1)\"\n");
int main(void) { return 0; }
END
if ${CC:-gcc} -static -o program program.c 2>cc.log; then
    "$TOOLS/gentrace" --elf program 20000 named.bin >/dev/null
    for command in dump 'export csv -o -' 'report --format csv'; do
        # shellcheck disable=SC2086
        run_hr $command named.bin
        is "hr $command: no field is a formula" "$(grep -cE '(^|,)"?[=+@]' out)" 0
    done
    run_hr dump named.bin
    like 'the name is there, as a text' out "'=HYPERLINK"
else
    skip 4 'the assembler takes no such name'
fi

# Files that the program made are as private as the umask says.
(umask 077 && FAKEGUEST=files exec "$HR" run -q --accel tcg --qemu "$TOOLS/fakeguest" --keep-files kept -o kept.bin "$WORKLOADS/hello-musl" \
    >out 2>err </dev/null)
is 'kept files: some' "$(find kept -type f | wc -l | awk '{ print ($1 > 0) }')" 1
is 'kept files: none is for others' "$(find kept -type f -perm /077 | wc -l)" 0

# A port that the system chose is said, however quiet the collector is.
"$HR" collect --quiet --listen tcp:127.0.0.1:0 -o results >out 2>err &
pid=$!
for _ in $(seq 100); do
    grep -q 'listening on 127' err && break
    sleep 0.1
done
kill -TERM $pid
wait $pid 2>/dev/null
like 'hr collect --quiet says the port' err 'listening on 127\.0\.0\.1:[1-9]'

# Connections that say nothing, or a byte now and then, do not keep a browser from the page.
"$HR" view --serve hr.bin >url 2>err &
pid=$!
for _ in $(seq 300); do
    grep -q http url && break
    kill -0 $pid 2>/dev/null || break
    sleep 0.1
done
if grep -q http url && command -v python3 >/dev/null; then
    python3 - "$(cat url)" >answered <<'END'
import select, socket, sys, urllib.parse, urllib.request
url = urllib.parse.urlparse(sys.argv[1])
silent = [socket.create_connection((url.hostname, url.port)) for _ in range(80)]
with urllib.request.urlopen(sys.argv[1], timeout=60) as page:
    first = page.read(15).decode()
dripping = [socket.create_connection((url.hostname, url.port)) for _ in range(2)]
dripping[0].sendall(b"GET / HTTP/1.1\r\nX: ")
dripping[1].sendall(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
refused = socket.create_connection((url.hostname, url.port))
refused.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
left = {silent[0]: "silent", dripping[0]: "dripping", dripping[1]: "body", refused: "refused"}
for _ in range(200):
    for s in select.select(list(left), [], [], 0.1)[0]:
        try:
            if s.recv(4096) == b"":
                del left[s]
        except ConnectionError:
            del left[s]
    for s in dripping:
        try:
            s.send(b"x") if s in left else None
        except OSError:
            left.pop(s, None)
    if not left:
        break
print(first, "left:", *left.values())
END
    is '80 connections that get nowhere: the page comes, and they go' "$(cat answered)" '<!doctype html> left:'
else
    skip 1 'no page or no python3'
fi
kill $pid 2>/dev/null
wait $pid 2>/dev/null
done_testing
