#!/bin/sh
# Interruptions: signals to hr, a dead emulator, a full disk. No emulator is left, the trace is readable.
. "$(dirname "$0")/../lib.sh"

# start ARG...: `hr run` of an endless program in the background; sets $pid and $emulator.
start() {
    rm -f hr.bin
    interruptible "$HR" run -q "$@" "$WORKLOADS/crash" loop >out 2>err </dev/null &
    pid=$!
    emulator=$(emulator_of "$pid")
}

# reach BYTES: waits until hr.bin has so many: the trace's first chunks, samples of the loop.
reach() {
    tries=1200
    while [ "$(stat -c %s hr.bin 2>/dev/null || echo 0)" -lt "$1" ] && [ $((tries -= 1)) -gt 0 ]; do sleep 0.05; done
}

# left NAME: the emulator is gone, and hr.bin is readable as far as it goes.
left() {
    ok "$1: no emulator is left" wait_gone "$emulator"
    run_hr check hr.bin
    ok "$1: hr check gives a verdict ($status)" test "$status" -le 1
    run_hr stat hr.bin
    is "$1: hr stat reads the trace" "$status" 0
}

for bytes in 1 70000 200000; do
    start -i 1us
    reach $bytes
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    is "SIGINT after $bytes bytes: status" "$status" 130
    left "SIGINT after $bytes bytes"
    is "SIGINT after $bytes bytes: the trace is closed" "$("$HR" check hr.bin >check.log 2>&1; echo $?)" 0
done
for delay in 0.01 0.02 0.03 0.04 0.05 0.06 0.08 0.1; do
    start
    sleep "$delay"
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    is "SIGINT $delay s after the emulator's start: status" "$status" 130
    ok "SIGINT $delay s after the emulator's start: it is gone" wait_gone "$emulator"
done
start -i 1us
reach 100000
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
is 'SIGTERM: status' "$status" 143
left SIGTERM

for bytes in 1 70000 200000; do
    start -i 1us
    reach $bytes
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    left "SIGKILL after $bytes bytes"
done
run_hr check hr.bin
like 'SIGKILL: hr check says that the trace is incomplete' out 'incomplete|missing|truncated|no end'

start -e "$five" -i 1us
reach 70000
kill -KILL "$emulator"
status=0
wait "$pid" || status=$?
is 'QEMU killed: status' "$status" 125
like 'QEMU killed: message' err 'emulator'
left 'QEMU killed'
within 'QEMU killed: samples are there' "$(stat_of hr.bin .samples)" 100 100000000

# A full disk: a small file system where we may mount one, otherwise a limit on the file's size.
mkdir disk
if mount -t tmpfs -o size=300k none disk 2>/dev/null; then
    trap 'umount "$work/disk"; rm -rf "$work"' EXIT
    status=0
    timeout 100 "$HR" run -q -e "$five" -i 1us -o disk/hr.bin "$WORKLOADS/phases" 400 1 >out 2>err || status=$?
    cp disk/hr.bin hr.bin
    umount disk
    trap 'rm -rf "$work"' EXIT
    what='disk full'
else
    status=0
    (ulimit -f 600; trap '' XFSZ
     timeout 100 "$HR" run -q -e "$five" -i 1us "$WORKLOADS/phases" 400 1 >out 2>err) || status=$?
    what='file size limit'
fi
is "$what: status" "$status" 125
is "$what: one line" "$(grep -c . err)" 1
like "$what: message" err 'hr\.bin'
run_hr stat hr.bin
is "$what: the trace is readable up to there" "$status" 0
within "$what: with samples" "$(stat_of hr.bin .samples)" 1000 100000000
done_testing
