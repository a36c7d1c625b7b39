#!/bin/sh
# hr collect --listen tcp: among strangers and enemies: nobody is disturbed but who misbehaves. Under the
# sanitizers where built.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/collector.sh"

[ ! -x "$BUILD/unit/hr" ] || HR=$BUILD/unit/hr
export ASAN_OPTIONS=quarantine_size_mb=4
# A directory of its own: also what is written outside it is seen.
mkdir inside
cd inside || exit 1
"$TOOLS/gentrace" --stream 100000 trace.bin
: >empty

# foe KIND [N]: what the collector answered is in the file out.
foe() {
    timeout -k 5 100 "$TOOLS/streamfoe" "$1" "$port" ${2:+"$2"} >out 2>err
}

# good NAME: a machine that behaves completes its run meanwhile.
good() {
    client --machine good --trace trace.bin
    is "$1: another machine's run completes" "$status" 0
}

collector enemies 0 --limit 3M --idle 2s
memory=$(awk '/VmRSS/ { print $2 }' "/proc/$collector/status")
for kind in gap long port checksum; do
    foe "$kind"
    is "$kind: told that this is no stream" "$(cat out)" 'ack 8'
    is "$kind: what came before is kept" "$(cat "results/foe/$kind-1/stdout")" good
done
foe nonsense 100000
is 'nonsense after the hello' "$(cat out)" 'ack 8'
foe random 100000
is 'nonsense at once' "$(cat out)" 'welcome 8'
foe random 3
is 'three bytes of nonsense, and nothing more' "$(cat out)" closed
like 'three bytes: a line says so' enemies.err 'no hello in time'
foe version
is 'another version' "$(cat out)" 'welcome 3'
foe name
is 'a name that leads elsewhere' "$(cat out)" 'welcome 4'
ok 'a name that leads elsewhere: nothing was made' test ! -e x -a ! -e ../x -a ! -e results/x
foe silent
is 'silence after the hello: --idle' "$(cat out)" closed
like 'silence: a line says so' enemies.err 'foe/silent-1: interrupted .*silent for too long'
good 'after all that'

# Slow, and flooding, while others work.
timeout 100 "$TOOLS/streamfoe" drip "$port" >drip.out &
drip=$!
timeout 100 "$TOOLS/streamfoe" flood "$port" 100000000 >flood.out &
flood=$!
wait_line enemies.err 'foe/drip-1: begins'
good 'one drips, one floods'
ended "$flood"
is 'a flood is stopped by --limit' "$(cat flood.out)" 'ack 6'
within 'a flood: so much is kept' "$(stat -c %s results/foe/flood-1/stderr)" 3145728 3145728

# A crowd that says nothing.
mkfifo stay
timeout 100 "$TOOLS/streamfoe" crowd "$port" 10000 <stay >crowd.out &
crowd=$!
exec 9>stay
ok 'ten thousand connections are there' wait_line crowd.out '^[0-9]'
within 'ten thousand connections: so many were made' "$(cat crowd.out)" 1000 10000
good 'in the crowd'
within 'in the crowd: open descriptors' "$(find "/proc/$collector/fd" | wc -l)" 1 150
exec 9>&-
ended "$crowd"
kill "$drip"
wait "$drip" 2>/dev/null
now=$(awk '/VmHWM/ { print $2 }' "/proc/$collector/status")
within 'memory grew by so many KiB' $((now - memory)) 0 65536
for n in 1 2 3 4 5 6 7 8; do
    timeout 100 "$TOOLS/streamclient" --machine "m$n" --again --break $((n * 5000)) --trace trace.bin "$port" &
    eval "m$n=\$!"
done
done=0
for n in 1 2 3 4 5 6 7 8; do
    eval "ended \$m$n"
    [ "$status" -ne 0 ] || done=$((done + 1))
done
is 'eight machines, all broken once' "$done" 8
stopped "$collector" TERM
is 'status' "$status" 143
fails 'no memory error' grep -qE 'Sanitizer|runtime error' enemies.err
within 'strangers get few lines' "$(grep -c refused enemies.err)" 1 40
# A place that is held by signs of life alone is free for whoever has something to send.
collector lives 0 --clients 1 --idle 1s --runs 1
"$TOOLS/streamfoe" alive "$port" >alive.out 2>&1 &
foe=$!
wait_line lives.err 'foe/alive-1: begins'
for _ in $(seq 100); do
    client --machine late --trace trace.bin
    [ "$status" -ne 0 ] || break
    sleep 0.1
done
is 'signs of life alone: another machine gets the place' "$status" 0
like 'signs of life alone: said' lives.err 'foe/alive-1.*signs of life'
ended "$collector"
kill $foe 2>/dev/null
wait $foe 2>/dev/null
done_testing
