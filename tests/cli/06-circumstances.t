#!/bin/sh
# Outputs that must not be destroyed, odd names, closed streams, small limits.
. "$(dirname "$0")/../lib.sh"
fake=$TOOLS/fakeguest
hello=$WORKLOADS/hello-musl

# play ARG...: hr run with a played guest.
play() {
    status=0
    timeout -k 5 60 "$HR" run -q --accel tcg --qemu "$fake" "$@" >out 2>err || status=$?
}

# refused NAME REGEX: status 125 and one line.
refused() {
    is "$1: status" "$status" 125
    like "$1: message" err "$2"
    is "$1: one line" "$(grep -c . err)" 1
}

cp "$hello" prog
play -o prog ./prog </dev/null
refused 'the trace over the program' "'prog'.*name another"
same_file 'the trace over the program: it is whole' prog "$hello"
status=0
"$HR" pack -o prog ./prog >out 2>err || status=$?
refused 'the archive over the program' "'prog'.*name another"
same_file 'the archive over the program: it is whole' prog "$hello"
echo input >data
play -o data "$hello" <data
refused 'the trace over standard input' 'standard input'
is 'the trace over standard input: it is whole' "$(cat data)" input
status=0
"$HR" run -q --accel tcg --qemu "$fake" "$hello" </dev/null >hr.bin 2>err || status=$?
refused 'the trace over standard output' 'standard output'
play "$hello" </dev/null
cp hr.bin copy.bin
status=0
"$HR" collect -o hr.bin <hr.bin >out 2>err || status=$?
refused 'hr collect onto its input' 'standard input'
same_file 'hr collect onto its input: it is whole' hr.bin copy.bin

for wrong in '--listen udp:1' '--listen unix:' '--fd 99'; do
    # shellcheck disable=SC2086
    run_hr collect $wrong
    refused "hr collect $wrong" '[-]-'
    same_file "hr collect $wrong: the old trace is whole" hr.bin copy.bin
done
# In blocks of 512 bytes: room for the archive in memory and for a part of the trace.
run_hr pack --accel tcg -o small.cpio "$hello"
(ulimit -f $(($(stat -c %s small.cpio) / 512 + 40)); trap '' XFSZ
 FAKEGUEST_CHUNKS=1000 exec "$HR" run -q --accel tcg --qemu "$fake" -o small.bin "$hello" </dev/null 2>err)
like 'a small disk: message' err 'small.bin.*kept'
within 'a small disk: the chunks that fit are kept' "$("$HR" stat --json small.bin | jq .samples)" 1000 900000
mkfifo fifo quiet
"$HR" collect -o ended.bin <quiet 2>err &
pid=$!
exec 8>quiet
head -c 3000 copy.bin >&8
sleep 0.5
kill -HUP "$pid"
status=0
wait "$pid" || status=$?
exec 8>&-
is 'hr collect, SIGHUP: status' "$status" 129
run_hr check ended.bin
like 'hr collect, SIGHUP: the trace is closed' out 'incomplete'
! grep -qE 'HOST|INDEX' out
result $? 'hr collect, SIGHUP: with its index'
play -o fifo "$hello" </dev/null
refused 'the trace into a FIFO' "'fifo'.*no process reads"
exec 8<>fifo
play -o fifo "$hello" </dev/null
refused 'the trace into a FIFO with a reader' "'fifo'.*name a file"
exec 8<&-
play -o . "$hello" </dev/null
refused 'the trace over a directory' 'directory'
play -o /dev/full "$hello" </dev/null
refused 'the trace to a full device' '/dev/full.*No space'
play -o /dev/null "$hello" </dev/null
is 'the trace to /dev/null: status' "$status" 0
if mknod device c 1 7 2>/dev/null && (: >device) 2>/dev/null; then
    run_hr pack -o device "$hello"
    ok 'hr pack leaves a device in its place' test -c device
else
    skip 1 'no permission for mknod'
fi

FAKEGUEST=endless interruptible "$HR" run -q --accel tcg --qemu "$fake" -o both.bin "$hello" >first 2>&1 </dev/null &
pid=$!
child=$(emulator_of "$pid")
sleep 0.3
play -o both.bin "$hello" </dev/null
refused 'two runs, one output' 'another hr'
play -o other.bin "$hello" </dev/null
is 'two runs, two outputs: status' "$status" 0
kill -INT "$pid"
wait "$pid" 2>/dev/null
ok 'two runs: the first ends' wait_gone "$child"
is 'two runs: the first is whole' "$("$HR" check both.bin >check.log 2>&1; echo $?)" 0

odd="$(printf 'od d\n"\033[31m\377,$x')"
cp "$hello" "$odd"
play -o "$odd.bin" "./$odd" </dev/null
is 'odd names: status' "$status" 0
for command in stat report check 'dump --format records' 'stat --json'; do
    # shellcheck disable=SC2086
    run_hr $command "$odd.bin"
    is "odd names: hr $command sends no control character" "$(cat out err | tr -d -c '\033\377' | wc -c)" 0
done

"$HR" stat hr.bin >&- 2>err
is 'stat with stdout closed: status' "$?" 1
"$HR" collect -o collected.bin <copy.bin 2>&- >&-
is 'collect with output closed: nothing but the trace' "$("$HR" check collected.bin 2>&1 | head -n 1 | cut -d: -f2)" ' complete'
for streams in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
    status=0
    eval "$HR run -q --accel tcg --qemu $fake $hello $streams" </dev/null >out || status=$?
    is "streams closed ($streams): status" "$status" 0
    is "streams closed ($streams): check" "$("$HR" check hr.bin >check.log 2>&1; echo $?)" 0
done
status=0
env -i "$HR" run -q --accel tcg --qemu "$fake" "$hello" </dev/null 2>err || status=$?
is 'empty environment: status' "$status" 0

status=0
# shellcheck disable=SC3045
(ulimit -n 64; "$HR" run -q --accel tcg --qemu "$fake" "$hello" </dev/null 2>err) || status=$?
refused 'too few descriptors' 'Too many open files|descriptor'
status=0
# shellcheck disable=SC3045
(ulimit -S -n 64; "$HR" run -q --accel tcg --qemu "$fake" "$hello" </dev/null 2>err) || status=$?
is 'a low soft limit of descriptors: status' "$status" 0
FAKEGUEST=fds play "$hello" </dev/null 7<copy.bin 9<copy.bin
is 'the emulator inherits only its own descriptors' "$(sed -n 's/^fds: //p' out)" '0-2 100-107 109-109'

mkdir tree
truncate -s 3G tree/large
play --mem 64M --file tree "$hello" </dev/null
is 'a tree larger than memory: status' "$status" 126
like 'a tree larger than memory: message' err '[-]-mem'
for list in instructions,instructions instructions,instructions:u; do
    play -e "$list" "$hello" </dev/null
    refused "event twice ($list)" 'twice'
done
done_testing
