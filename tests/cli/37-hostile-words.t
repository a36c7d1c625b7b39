#!/bin/sh
# What users, machines and files say is shown, and steers nothing: terminals, spreadsheets, directories, servers.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/many.sh"

escape=$(printf '\033')
"$TOOLS/gentrace" 2000 hr.bin >/dev/null
for command in stat report view 'export csv' collect usb run pack doctor events; do
    for word in "--nosuch${escape}[31m" "-${escape}" "--output${escape}x=y"; do
        # shellcheck disable=SC2086
        run_hr $command "$word"
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

# Functions and a program whose names are formulas, end a script, or turn the direction of a line; all get samples.
turn=$(printf '\342\200\256') # U+202E
{
    for name in '=SUM(1)' '+SUM(1)' '-SUM(1)' '@SUM(1)' '</script><script>alert(1)</script>' "safe${turn}txt"; do
        printf '.globl "%s"\n.type "%s", @function\n"%s":\n.skip 1048576, 0x90\nret\n.size "%s", . - "%s"\n' \
            "$name" "$name" "$name" "$name" "$name"
    done
    printf '.globl _start\n_start: nop\n'
} >words.S
# formulas FILE: its fields that a spreadsheet would compute; numbers may be negative.
formulas() { grep -acE '(^|,)"?([=+@]|-[^0-9.])' "$1"; }
if ${CC:-gcc} -nostdlib -static -o '=cmd' words.S 2>cc.log; then
    for seed in 1 2 3; do # the outermost function is another one in each
        "$TOOLS/gentrace" --elf ./=cmd --stacks fp --depth 1 --seed $seed 20000 stack.bin >/dev/null
        run_hr export csv -o - stack.bin
        cat out >>stacks.csv
    done
    is 'stacks: no field is a formula' "$(formulas stacks.csv)" 0
    like 'stacks: some begin with one, as a text' stacks.csv ",\"'[-@]SUM\(1\);"
    "$TOOLS/gentrace" --elf ./=cmd --stacks fp --depth 3 60000 words.bin >/dev/null
    run_hr report --format json --limit 0 words.bin
    is 'all such names have samples' "$(jq '[.. | .function? // empty | select(test("SUM|script|txt"))] | unique | length' out)" 6
    for command in dump 'export csv -o -' 'report --format csv' 'report --format csv --by line' 'report --format csv --by library' \
        'report --format csv --stacks' 'report --format csv --callers =SUM(1)' 'timeline --format csv' 'hist --format csv' \
        'noise --format csv' 'diff --format csv stack.bin'; do
        # shellcheck disable=SC2086
        run_hr $command words.bin
        is "hr $command: no field is a formula" "$status$(formulas out)" 00
        is "hr $command: nothing turns a line" "$(grep -ac "$turn" out)" 0
    done
    for format in $("$HR" export --list | cut -d ' ' -f 1); do
        run_hr export "$format" -o "words.$format" words.bin
        case $format in pprof) gzip -dc "words.$format" >out ;; *) cp "words.$format" out ;; esac
        is "hr export $format: nothing turns a line" "$status$(grep -ac "$turn" out)" 00
    done
    for command in report 'report --stacks' 'annotate =SUM(1)' stat 'plot -p functions -o -'; do
        # shellcheck disable=SC2086
        run_hr $command words.bin
        is "hr $command: nothing turns a line" "$status$(cat out err | grep -ac "$turn")" 00
    done
    is 'hr plot: no script in the picture' "$(grep -c '<script\|</script' out)" 0
    like 'hr plot: the name is there, as a text' out '&lt;/script&gt;'
    if "$HR" view words.bin 2>/dev/null; then
        is 'hr view: no script of the trace' "$(grep -c 'alert(1)' words.html)" 0
        is 'hr view: nothing turns a line' "$(grep -ac "$turn" words.html)" 0
    else
        skip 2 'no page in this build'
    fi
else
    skip 43 'the assembler takes no such name'
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
