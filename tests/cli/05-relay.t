#!/bin/sh
# The host's side of a run against a guest that is played: streams, ends of all kinds, hostile bytes.
. "$(dirname "$0")/../lib.sh"
fake=$TOOLS/fakeguest
hello=$WORKLOADS/hello

# play PART ARG...: hr run with the guest replaced by one that plays PART.
play() {
    part=$1
    shift
    status=0
    FAKEGUEST=$part timeout -k 10 60 "$HR" run -q --accel tcg --qemu "$fake" "$@" "$hello" >out 2>err ||
        status=$?
}

play normal </dev/null
is 'normal: status' "$status" 0
is 'normal: check' "$("$HR" check hr.bin >check.log 2>&1; echo $?)" 0
is 'normal: samples' "$(stat_of hr.bin .samples)" 10000
FAKEGUEST_STATUS=42 play normal </dev/null
is 'status 42' "$status" 42

export FAKEGUEST_CHUNKS=1
head -c 3000001 "$HR" >data
play cat <data
same_file 'stdin to stdout, from a file' out data
mkfifo fifo
(head -c 1000000 data; sleep 0.3; tail -c +1000001 data) >fifo &
play cat <fifo
same_file 'stdin to stdout, from a slow pipe' out data
play cat </dev/null
is 'stdin empty' "$status/$(wc -c <out)" 0/0
play cat <&-
is 'stdin closed' "$status/$(wc -c <out)" 0/0

# pattern BYTES: what the played guest writes.
pattern() {
    perl -e 'for ($i = 0; $i < $ARGV[0]; $i++) { $s .= chr((($i * 2654435761 % 4294967296) >> 13) & 255) }
        print $s' "$1"
}
export FAKEGUEST_BYTES=3000000
pattern 3000000 >wanted
play output
is 'big output: status' "$status" 0
is 'big output: length' "$(wc -c <out)" 3000000
FAKEGUEST=output "$HR" run -q --accel tcg --qemu "$fake" "$hello" </dev/null 2>err | { sleep 1; cat; } >slow
same_file 'big output: a slow reader loses nothing' slow out
export FAKEGUEST_BYTES=100000000
{ FAKEGUEST=output timeout 60 "$HR" run -q --accel tcg --qemu "$fake" "$hello" </dev/null 2>err
    echo $? >pipe.status; } | head -c 10 >/dev/null
is 'stdout closed early: as by SIGPIPE' "$(cat pipe.status)" 141
unset FAKEGUEST_BYTES

# failed NAME REGEX: status 125, a message that matches, a trace that can be read.
failed() {
    is "$1: status" "$status" 125
    like "$1: message" err "$2"
    run_hr check hr.bin
    is "$1: hr check says incomplete" "$status" 1
    is "$1: the samples before are kept" "$(stat_of hr.bin .samples)" 1000
}
play death </dev/null
failed 'emulator killed' '[Qq][Ee][Mm][Uu]|emulator'
play garbage </dev/null
failed 'garbage in the trace' '.'
play badchunk </dev/null
failed 'a chunk with a wrong checksum' '.'
play panic </dev/null
failed 'panic' 'panic: test of the report'
is 'panic: control characters do not reach the terminal' \
    "$(FAKEGUEST=panic "$HR" run -q --accel tcg --qemu "$fake" "$hello" 2>&1 </dev/null | tr -d -c '\033' | wc -c)" 0
play crash </dev/null
is 'crash: status' "$status" 139
play refused </dev/null
ok 'refused: not zero' test "$status" -ge 125

play endless --timeout 1s </dev/null
is '--timeout: status' "$status" 124
is '--timeout: check' "$("$HR" check hr.bin >check.log 2>&1; echo $?)" 0
start=$(date +%s)
play deaf --timeout 1s </dev/null
is '--timeout of a guest that does not listen: status' "$status" 124
within '--timeout of a guest that does not listen: in time' "$(($(date +%s) - start))" 1 20

# stop PART SIGNAL...: starts PART, sends the signals a second apart; $status is hr's.
stop() {
    FAKEGUEST=$1 interruptible "$HR" run -q --accel tcg --qemu "$fake" "$hello" >out 2>err </dev/null &
    pid=$!
    shift
    child=$(emulator_of "$pid")
    for signal in "$@"; do
        sleep 1
        kill "-$signal" "$pid"
    done
    status=0
    wait "$pid" 2>/dev/null || status=$?
    ok "$*: the emulator is gone" wait_gone "$child"
    run_hr stat hr.bin
    ok "$*: the trace can be read" test "$(stat_of hr.bin .samples)" -gt 0
}
stop endless INT
result_status=$("$HR" check hr.bin >check.log 2>&1; echo $?)
is 'SIGINT: the trace is complete' "$result_status" 0
stop deaf INT INT
stop deaf TERM TERM
stop endless KILL
stop endless TERM

# The limit, in blocks of 512 bytes, leaves room for the archive in memory but not for the trace.
(ulimit -f 6000; trap '' XFSZ
 FAKEGUEST=normal FAKEGUEST_CHUNKS=2000 timeout 60 "$HR" run -q --accel tcg --qemu "$fake" "$hello" \
     >out 2>err </dev/null; echo $? >full.status)
is 'file size limit: status' "$(cat full.status)" 125
like 'file size limit: message names the file' err 'hr\.bin'
run_hr stat hr.bin
is 'file size limit: the trace can be read' "$status" 0
ok 'file size limit: samples up to there' test "$(stat_of hr.bin .samples)" -gt 1000
done_testing
