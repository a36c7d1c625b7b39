#!/bin/sh
# A guest that lies, floods and never ends: hr ends in time, shows nothing raw, keeps what was good.
. "$(dirname "$0")/../lib.sh"
fake=$TOOLS/fakeguest
hello=$WORKLOADS/hello-musl

# play PART ARG...: hr run with the guest replaced by one that plays PART.
play() {
    part=$1
    shift
    status=0
    start=$(date +%s)
    FAKEGUEST=$part timeout -k 5 60 "$HR" run -q --accel tcg --qemu "$fake" "$@" "$hello" >out 2>err || status=$?
    seconds=$(($(date +%s) - start))
}

echo 'some input' >input
play reads <input
is 'odd requests for input: status' "$status" 0
is 'odd requests for input: a byte, then the rest' "$(cat out)" 'some input'

play donetwice --timeout 2s </dev/null
is 'done, and still there: status' "$status" 125
within 'done, and still there: killed in time' "$seconds" 1 12
like 'done, and still there: message' err 'did not end'

play endtwice </dev/null
is 'two ends: status' "$status" 125
like 'two ends: message' err 'after the END'
is 'two ends: the first one holds' "$(stat_of hr.bin .exit_status)" 0

play hostile </dev/null
for command in stat 'stat --json' report check 'dump --format csv' 'dump --format records' 'dump --from 1s --to 2s'; do
    cat err >shown
    # shellcheck disable=SC2086
    run_hr $command hr.bin
    ended=$((status >= 124))
    result "$ended" "nonsense: hr $command ends by itself (status $status)"
    is "nonsense: hr $command shows no control character" "$(cat shown out err | tr -d -c '\033\007\r' | wc -c)" 0
done
"$HR" stat --json hr.bin >json
ok 'nonsense: the JSON is valid' jq -e . json

play logflood </dev/null
is 'flood of log: status' "$status" 0
ok 'flood of log: quiet' test ! -s err

FAKEGUEST_CHUNKS=2150000 play tiny </dev/null
is 'flood of tiny chunks: status' "$status" 0
run_hr check hr.bin
is 'flood of tiny chunks: hr check' "$status" 1
like 'flood of tiny chunks: no index' out 'INDEX'
rm -f hr.bin

# A reader that stalls must not keep a stopped run alive.
export FAKEGUEST_BYTES=100000000
mkfifo fifo
perl -e 'sleep 100' <fifo &
reader=$!
start=$(date +%s)
status=0
FAKEGUEST=output timeout -k 5 60 "$HR" run -q --timeout 1s --accel tcg --qemu "$fake" "$hello" </dev/null >fifo 2>err || status=$?
kill "$reader"
is '--timeout with a stalled reader: status' "$status" 124
within '--timeout with a stalled reader: in time' "$(($(date +%s) - start))" 1 20
like '--timeout with a stalled reader: the loss is said' err 'output.*lost'
unset FAKEGUEST_BYTES

# A script that does not exec leaves its child behind, unless the whole group is ended.
cat >wrapper <<END
#!/bin/sh
"$fake" "\$@"
exit \$?
END
chmod +x wrapper
fake=$PWD/wrapper
play deaf --timeout 1s </dev/null
is 'an emulator behind a script: status' "$status" 124
within 'an emulator behind a script: in time' "$seconds" 1 12

fake=$TOOLS/fakeguest
FAKEGUEST=endless interruptible "$HR" run -q --accel tcg --qemu "$fake" "$hello" >out 2>err </dev/null &
pid=$!
child=$(emulator_of "$pid")
for _ in 1 2 3; do
    kill -STOP "$pid"
    sleep 0.2
    kill -CONT "$pid"
    sleep 0.1
done
kill -HUP "$pid"
status=0
wait "$pid" 2>/dev/null || status=$?
is 'SIGSTOP, SIGCONT, SIGHUP: status' "$status" 129
ok 'SIGHUP: the emulator is gone' wait_gone "$child"
is 'SIGHUP: the trace is whole' "$("$HR" check hr.bin >check.log 2>&1; echo $?)" 0
done_testing
