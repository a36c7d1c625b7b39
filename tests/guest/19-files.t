#!/bin/sh
# Files: what calls return, and what is in the tree afterwards, as natively; what comes back.
. "$(dirname "$0")/../lib.sh"

# same_run NAME PROGRAM [OPTION...]: the workload prints the same natively and in the guest.
same_run() {
    name=$1 program=$2
    shift 2
    rm -rf files.d
    "$program" >native
    rm -rf files.d
    run_guest --accel tcg "$@" "$program"
    is "$name: status" "$status" 0
    same_file "$name: every call returns what it returns natively" out native
}

same_run glibc "$WORKLOADS/files-glibc-static"
[ -x "$WORKLOADS/files-musl" ] && same_run musl "$WORKLOADS/files-musl"
same_run 'several CPUs' "$WORKLOADS/files" --cpus 2

# The same samples every time, though files are sent meanwhile.
run_guest --accel tcg -o first.bin "$WORKLOADS/files"
run_guest --accel tcg -o second.bin "$WORKLOADS/files"
"$HR" dump --format csv first.bin >first.csv
"$HR" dump --format csv second.bin >second.csv
ok 'there are samples' test -s first.csv
same_file 'two runs have the same samples' first.csv second.csv

# What it made comes back, also when it is sent in parts, moved, made shorter, or the program is ended.
rm -rf files.d
"$WORKLOADS/files" large >/dev/null
mv files.d native.d # the program would find it
mkdir kept
run_guest --accel tcg --keep-files kept "$WORKLOADS/files" large
ok '--keep-files: the same tree comes back' diff -r --no-dereference native.d "kept$work/files.d"
is '... and nothing else' "$(find kept -name 'microtome-incomplete*')" ''
run_guest --accel tcg --keep-files kept2 "$WORKLOADS/files" large abort
is '--keep-files: a program that aborts' "$status" 134
ok '... leaves the same' diff -r --no-dereference native.d "kept2$work/files.d"
run_guest --accel tcg --cpus 2 --keep-files kept3 "$WORKLOADS/files" large
ok '--keep-files with --cpus' diff -r --no-dereference native.d "kept3$work/files.d"
same_run 'threads with one file' "$WORKLOADS/filerace-glibc-static" --cpus 2 --keep-files kept5
run_guest --accel tcg --cpus 2 --keep-files kept6 "$WORKLOADS/filerace-glibc-static" twice
is 'two threads write one file: status' "$status" 0
same_file '... and its last contents are what comes back' "kept6$work/race-both" "kept6$work/race-copy"
run_guest --accel tcg --keep-files kept4 -o kept.bin "$WORKLOADS/files"
"$HR" dump --format csv kept.bin >kept.csv
same_file '--keep-files does not change the samples' first.csv kept.csv
run_guest --accel tcg --missing "$WORKLOADS/files"
like '--missing: a name that it looked for' err "$work/files.d/none\$"
fails '... but not one that it made' grep -q 'files.d/made' err

busybox=$(command -v busybox) || { done_testing; exit; }
run_guest --accel tcg "$busybox" ls -l /dev/null /dev/stdin /proc/self/exe
is '/dev and /proc: links and devices can be listed' "$status" 0
like '/dev/null is device 1, 3' out '^crw-rw-rw-.* 1, +3 .* /dev/null$'
like '/dev/stdin is a link' out '/dev/stdin -> /proc/self/fd/0$'
like '/proc/self/exe leads to the program' out "/proc/self/exe -> $busybox\$"
run_guest --accel tcg "$busybox" find /proc/self/task /proc/self/fd -maxdepth 1
like '/proc/self/task: the thread' out '^/proc/self/task/1000$'
like '/proc/self/fd: a descriptor' out '^/proc/self/fd/1$'
run_guest --accel tcg "$busybox" sh -c 'echo >/proc/version'
like '/proc: what cannot be written' err 'ermission denied'
is '... status' "$status" 1
run_guest --accel tcg "$busybox" cp /proc/self/exe /tmp/copy
is '/tmp can be written' "$status" 0
run_guest --accel tcg --mem 64M "$busybox" dd if=/dev/zero of=/tmp/large bs=1M count=512
like 'more than fits in memory: ENOSPC' err 'No space left on device'
is '... and the program goes on' "$status" 1
done_testing
