#!/bin/sh
# hr collect --listen tcp: several machines, broken connections, a killed collector, a full disk, limits.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/collector.sh"

"$TOOLS/gentrace" --stream 200000 trace.bin
"$TOOLS/gentrace" --stream --seed 7 1000 small.bin
head -c 200000 "$HR" >words
bytes=$(stat -c %s trace.bin)
id=000102030405060708090a0b0c0d0e0f

# Several at once, each in frames of another size.
collector many 0 --runs 4
clients=
for n in 1 2 3 4; do
    timeout 100 "$TOOLS/streamclient" --machine "m$((n % 2))" --run work --frame $((n * n * 999)) \
        --trace trace.bin --stdout words "$port" &
    clients="$clients $!"
done
for pid in $clients; do
    ended "$pid"
    is 'four at once: a machine sees its run complete' "$status" 0
done
ended "$collector"
is 'four at once: --runs 4: status' "$status" 0
for run in m0/work-1 m0/work-2 m1/work-1 m1/work-2; do
    is_run "four at once: $run" "results/$run" trace.bin words
done
is 'four at once: a line for each' "$(grep -c 'complete: 200,000 samples, 0 lost' many.err)" 4
like 'four at once: how the program ended' many.err 'm0/work-1: complete.*status 0'
is 'four at once: hr stat reads one' "$(stat_of results/m0/work-1/hr.bin .samples)" 200000

# One after the other: each hears that it is done.
collector row 0 -o row --runs 40
done=0
for _ in $(seq 40); do
    client --trace small.bin
    [ "$status" -ne 0 ] || done=$((done + 1))
done
is 'forty in a row: done' "$done" 40
ended "$collector"
is 'forty in a row: status' "$status" 0
ok 'forty in a row: a directory each' test -e row/lab/run-40/hr.bin

# Broken connections.
collector broken 0 -o there --runs 2
client --again --break 10 --break 24 --break 70000 --break 1 --break 300000 --trace trace.bin --stdout words --verbose
is 'broken five times: the machine sees its run complete' "$status" 0
like 'broken five times: by six connections' out '^6 connections$'
is_run 'broken five times' there/lab/run-1 trace.bin words
like 'broken five times: a line says so' broken.err 'run-1: interrupted after .*; it may go on'
like 'broken five times: and another' broken.err 'run-1: goes on after .* KB, from 127\.0\.0\.1'
client --again --break 100 --break 31 --frame 7 --trace small.bin
is 'tiny frames: complete' "$status" 0
ended "$collector"
is 'broken five times: the collector is content' "$status" 0

# Killed while a machine is connected, and started again.
collector killed 0
timeout 100 "$TOOLS/streamclient" --machine kill --id $id --again --pause go --stall $((bytes / 2)) \
    --trace trace.bin --stdout words --verbose "$port" >client.out 2>&1 &
machine=$!
ok 'killed: half of the run was sent' wait_file go.here
stopped "$collector" KILL 2>/dev/null
ok 'killed: run.state is there' test -s results/kill/run-1/run.state
collector again "$port" --runs 1
touch go
ended "$machine"
is 'killed: the machine sees its run complete' "$status" 0
sed 's/^/# /' client.out
ended "$collector"
is 'killed: the new collector, too' "$status" 0
is_run killed results/kill/run-1 trace.bin words
like 'killed: it went on' again.err 'kill/run-1: goes on after'
ok 'killed: no other directory' test ! -e results/kill/run-2

# Once more with the same hello, as a machine does that did not hear that it was done.
collector twice 0 --runs 1
client --machine kill --id $id --trace trace.bin --stdout words
is 'complete before: the machine is told' "$status" 0
is_run 'complete before' results/kill/run-1 trace.bin words

# Stopped while a machine is connected: what is there is readable.
rm -f go go.here
timeout 100 "$TOOLS/streamclient" --machine stop --again --pause go --stall $((bytes / 2)) --trace trace.bin "$port" &
machine=$!
ok 'stopped: half of the run was sent' wait_file go.here
stopped "$collector" TERM
is 'stopped: status' "$status" 143
like 'stopped: a line says so' twice.err 'stop/run-1: interrupted .*stopped; it may go on'
run_hr stat results/stop/run-1/hr.bin
is 'stopped: hr stat reads the trace' "$status" 0
run_hr check results/stop/run-1/hr.bin
like 'stopped: hr check says that it is not all' out 'interrupted|incomplete|no END|missing'
within 'stopped: about half of the samples' "$(stat_of results/stop/run-1/hr.bin .samples)" 50000 150000
collector stopped "$port" --runs 1
touch go
ended "$machine"
is 'stopped: the run goes on' "$status" 0
ended "$collector"
: >empty
is_run stopped results/stop/run-1 trace.bin empty

# A machine that comes back while its old connection looks alive.
collector back 0 --runs 1
rm -f go go.here
timeout 100 "$TOOLS/streamclient" --machine back --id $id --pause go --stall 100000 --trace trace.bin "$port" &
machine=$!
ok 'back: the old connection hangs' wait_file go.here
client --machine back --id $id --trace trace.bin
is 'back: the new one completes the run' "$status" 0
touch go
ended "$machine"
is 'back: the old one was closed' "$status" 3
ended "$collector"
is_run back results/back/run-1 trace.bin empty
like 'back: a line says so' back.err 'back/run-1: interrupted .*another connection'

# The disk fills up; later there is room.
mkdir disk
if mount -t tmpfs -o size=300k none disk 2>/dev/null; then
    trap 'umount "$work/disk"; rm -rf "$work"' EXIT
    collector full 0 -o disk/results --runs 1
    timeout 100 "$TOOLS/streamclient" --again --trace trace.bin "$port" >out &
    machine=$!
    ok 'disk full: a line says so' wait_line full.err 'lab/run-1: cannot be written: No space left.*when that is mended'
    run_hr stat disk/results/lab/run-1/hr.bin
    is 'disk full: the trace is readable up to there' "$status" 0
    mount -o remount,size=20m disk
    ended "$machine"
    is 'disk full: with room the run goes on' "$status" 0
    ended "$collector"
    is 'disk full: and is complete' "$status" 0
    is_run 'disk full' disk/results/lab/run-1 trace.bin empty
    umount disk
    trap 'rm -rf "$work"' EXIT
else
    skip 7 'a small file system cannot be mounted'
fi
(ulimit -f 500; trap '' XFSZ; exec "$HR" collect -l tcp:0 -o sized 2>sized.err) &
collector=$!
wait_line sized.err 'listening on'
port=$(sed -n 's/.*listening on .*:\([0-9]*\);.*/\1/p' sized.err)
client --id $id --trace trace.bin
is 'files limited: the machine is told of the disk' "$status" 17
like 'files limited: a line says so' sized.err 'cannot be written: File too large'
stopped "$collector" TERM
collector sized 0 -o sized --runs 1
client --id $id --trace trace.bin
is 'files no longer limited: the run goes on' "$status" 0
ended "$collector"
is_run 'files no longer limited' sized/lab/run-1 trace.bin empty

# Limits.
collector limits 0 --limit 300K --runs 1
client --machine limit --trace trace.bin
is '--limit: the machine is told' "$status" 16
ended "$collector"
is '--limit: --runs: status' "$status" 125
like '--limit: a line says so' limits.err 'limit/run-1: ended by --limit'
within '--limit: so much is kept' "$(cat results/limit/run-1/* | wc -c)" 200000 310000
collector clients 0 --clients 1
mkfifo hold
"$TOOLS/streamfoe" hold "$port" <hold >held &
machine=$!
exec 9>hold
ok '--clients 1: one is here' wait_line held here
client --machine second --trace small.bin
is '--clients 1: a second is told to come later' "$status" 15
exec 9>&-
ended "$machine"
client --machine second --trace small.bin
is '--clients 1: later it is served' "$status" 0
stopped "$collector" INT
is 'SIGINT: status' "$status" 130

# Tokens.
echo secret-4711 >token
collector token 0 --token token
client --machine token --trace small.bin
is 'no token: refused' "$status" 12
client --machine token --token secret-471 --trace small.bin
is 'a wrong token: refused' "$status" 12
like 'a wrong token: the machine says why' out 'token is wrong or missing'
ok 'a wrong token: nothing was written' test ! -e results/token
like 'a wrong token: a line says so' token.err 'refused 127\.0\.0\.1: the token is wrong'
client --machine token --token secret-4711 --trace small.bin
is 'the token: accepted' "$status" 0
stopped "$collector" TERM
HR_TOKEN=from-outside collector token 0
client --machine token --token from-outside --trace small.bin
is 'HR_TOKEN: accepted' "$status" 0
stopped "$collector" TERM
fails 'HR_TOKEN: nobody is told' grep -q from-outside token.err

# Addresses.
collector everywhere 0.0.0.0:0
like 'everywhere without a token: a warning' everywhere.err 'anyone who reaches this port.*--token'
client --machine everywhere --trace small.bin
is 'everywhere: reached by loopback, too' "$status" 0
stopped "$collector" TERM
HR_TOKEN=x collector everywhere 0.0.0.0:0
fails 'everywhere with a token: no warning' grep -q 'anyone who' everywhere.err
stopped "$collector" TERM
if [ -e /proc/sys/net/ipv6 ] && collector six '[::1]:0' --runs 1; then
    client --machine six --ipv6 --trace small.bin
    is 'IPv6' "$status" 0
    ended "$collector"
else
    skip 1 'no IPv6'
fi

# What cannot be.
collector first 0
for wrong in tcp:99999 tcp:a:b:c "tcp:$port" tcp:no.such.host.invalid:1 udp:1; do
    run_hr collect -l "$wrong"
    is "$wrong: status" "$status" 125
    is "$wrong: one line" "$(grep -c . err)" 1
done
stopped "$collector" TERM
for wrong in '--clients 0' '--clients 5000' '--runs x' '--limit 0' '--limit much' '--idle 0' '--token /no/such' \
    '--token /dev/null' '-o words' '-o /proc/nothing' '--fd 0'; do
    # shellcheck disable=SC2086
    run_hr collect -l tcp:0 $wrong
    is "$wrong: status" "$status" 125
done
run_hr collect --runs 3 -
like '--runs without tcp: a message' err 'runs works only with --listen tcp'

collector bad 0 --runs 1
client --machine bad --trace words --stdout words
is 'no trace: the machine is done' "$status" 0
ended "$collector"
is 'no trace: status' "$status" 125
like 'no trace: a line says so' bad.err 'bad/run-1: ended.*NO TRACE.*hr\.bad'
same_file 'no trace: what came is kept' results/bad/run-1/hr.bad words
same_file 'no trace: stdout came' results/bad/run-1/stdout words

# A trace that is whole, and files that are not.
collector files 0 --runs 1
client --machine files --trace small.bin --files words
is 'bad files: the machine is done' "$status" 0
ended "$collector"
is 'bad files: status' "$status" 125
like 'bad files: a line says so' files.err 'files/run-1: some of its files are missing: .*files\.stream has what arrived'
like 'bad files: the run ended' files.err 'files/run-1: ended: 1,000 samples'
fails 'bad files: it is not called complete' grep -q complete files.err
same_file 'bad files: what came is kept' results/files/run-1/files.stream words
done_testing
