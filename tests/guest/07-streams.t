#!/bin/sh
# Standard streams: every byte arrives, in order, whatever stands at either end.
. "$(dirname "$0")/../lib.sh"
busybox=$(command -v busybox) || skip_all 'busybox is not installed (Debian package busybox-static)'
head -c 3000000 "$HR" >data

run_guest "$busybox" cat <data
same_file 'stdin from a file' out data
(head -c 1000000 data; sleep 0.3; tail -c +1000001 data) | run_guest "$busybox" cat
same_file 'stdin from a slow pipe' out data
run_guest "$busybox" wc -c </dev/null
is 'stdin empty' "$(cat out)" 0
run_guest "$busybox" wc -c <&-
is 'stdin closed: the run ends' "$((status < 124))" 1
mkfifo fifo
: >fifo &
run_guest "$busybox" cat <fifo
is 'stdin from a pipe that ends at once' "$status/$(wc -c <out)" 0/0
printf 'one\ntwo\n' | run_guest "$busybox" sh -c 'read a; echo "<$a>"; read b; echo "<$b>"; read c || echo end'
is 'stdin line by line' "$(cat out)" '<one>
<two>
end'

timeout 60 "$HR" run -q "$busybox" yes 2>err | head -n 3 >out
is 'stdout closed early: what was read is right' "$(cat out)" 'y
y
y'
timeout -k 5 60 "$HR" run -q -o early.bin "$busybox" yes 2>err | head -n 1 >/dev/null
ok 'stdout closed early: the trace is readable' "$HR" stat early.bin
{ timeout -k 5 60 "$HR" run -q "$busybox" yes 2>/dev/null; echo $? >early; } | head -n 1 >/dev/null
is 'stdout closed early: as by SIGPIPE' "$(cat early)" 141

megabytes=20
[ -z "${HR_TEST_LONG:-}" ] || megabytes=100
"$busybox" dd if=/dev/zero bs=1M count=$megabytes 2>/dev/null | tr '\0' x | sha256sum >native
"$busybox" dd if=/dev/zero bs=1M count=$megabytes 2>/dev/null | tr '\0' x |
    timeout -k 10 "$LIMIT" "$HR" run -q --mode off "$busybox" cat 2>err | sha256sum >out
same_file "$megabytes MB through stdin and stdout" out native
timeout -k 10 "$LIMIT" "$HR" run -q --mode off "$busybox" cat <data 2>err |
    { sleep 2; cat; } >out
same_file 'a slow reader of stdout gets everything' out data

script='i=0; while [ $i -lt 1000 ]; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); done'
run_guest -q "$busybox" sh -c "$script"
"$busybox" sh -c "$script" >native 2>native.err
same_file 'two interleaved streams: stdout' out native
same_file 'two interleaved streams: stderr' err native.err
timeout "$LIMIT" "$HR" run -q "$busybox" sh -c "$script" >both 2>&1
is 'both streams into one file: no line lost' "$(sort both | md5sum)" "$(cat native native.err | sort | md5sum)"
done_testing
