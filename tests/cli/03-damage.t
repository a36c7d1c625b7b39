#!/bin/sh
# Damaged, truncated and foreign traces: one clear line, a non-zero exit, what is intact is read.
. "$(dirname "$0")/../lib.sh"

run_guest -q -i 1us -o good.bin "$WORKLOADS/phases" 10 1
is 'a good trace: hr check' "$("$HR" check good.bin >check.log 2>&1; echo $?)" 0
all=$(stat_of good.bin .samples)
bytes=$(stat -c %s good.bin)
[ "${bytes:-0}" -gt 10000 ] || { result 1 'a trace to damage'; done_testing; }

# reads FILE NAME STATUS: no reader crashes or hangs on FILE; hr check has that status.
reads() {
    for command in stat report check 'dump --format csv' 'dump --format records' 'stat --json' \
        'export csv' 'export folded' 'export perf' 'export sqlite' 'export hrperf' 'export pprof' 'export perfetto' \
        'export firefox'; do
        # shellcheck disable=SC2086
        run_hr $command "$1"
        [ "$status" -lt 124 ]
        result $? "$2: hr $command ends by itself (status $status)"
        ! grep -qaE 'Sanitizer|runtime error' err
        result $? "$2: hr $command has no memory error"
        [ "$3" -ne 2 ] || is "$2: hr $command takes it for no trace" "$status" 2
    done
    run_hr check "$1"
    is "$2: hr check" "$status" "$3"
}

for cut in 1 24 5000; do
    head -c $((bytes - cut)) good.bin >bad.bin
    reads bad.bin "without the last $cut bytes" 1
done
head -c $((bytes / 2)) good.bin >bad.bin
reads bad.bin 'half of it' 1
within 'half of it: about half of the samples' "$(stat_of bad.bin .samples)" $((all * 4 / 10)) $((all * 6 / 10))
is 'half of it: hr stat says so' "$(stat_of bad.bin .complete)" false
head -c 64 good.bin >bad.bin
reads bad.bin 'the file header alone' 1
head -c 10 good.bin >bad.bin
reads bad.bin 'ten bytes' 1
: >bad.bin
reads bad.bin 'empty' 2
cp "$HR" bad.bin
reads bad.bin 'not a trace' 2
sed 's/\r$//' good.bin >bad.bin
reads bad.bin 'text-mode damage' 2

# flip OFFSET...: a copy with the bytes at these offsets inverted.
flip() {
    perl -e '$f = shift; open(I, "good.bin") or die; binmode I; local $/; $b = <I>;
        substr($b, $_, 1) ^= "\xff" for @ARGV; open(O, ">", $f); binmode O; print O $b' bad.bin "$@"
}
flip $((bytes / 2))
reads bad.bin 'one bad byte in the middle' 1
is 'one bad byte: one chunk is damaged' "$(stat_of bad.bin .damaged_chunks)" 1
within 'one bad byte: most samples are left' "$(stat_of bad.bin .samples)" $((all / 3)) $((all - 1))
run_hr check bad.bin
like 'one bad byte: hr check says where' out '[0-9]{4,}'
flip 12
reads bad.bin 'bad file header' 1
perl -e 'open(I, "good.bin"); local $/; $b = <I>; substr($b, 8, 2) = pack("S<", 2); $c = 0xffffffff;
    for (unpack("C60", $b)) { $c ^= $_; $c = $c & 1 ? ($c >> 1) ^ 0x82f63b78 : $c >> 1 for 1 .. 8 }
    substr($b, 60, 4) = pack("L<", $c ^ 0xffffffff); print $b' >bad.bin
reads bad.bin 'another major version' 2
run_hr stat bad.bin
like 'another major version: message' err 'version'
# shellcheck disable=SC2046
flip $(seq 300 997 "$bytes")
reads bad.bin 'a bad byte in every kilobyte' 1
perl -e 'open(I, "good.bin"); local $/; $b = <I>; $h = length($b) >> 1;
    print substr($b, 0, $h), "\0" x 4000, substr($b, $h)' >bad.bin
reads bad.bin 'zeros inserted' 1

cat good.bin | run_hr stat /dev/stdin
is 'reading from a pipe: one line at most' "$(($(grep -c . err) <= 1))" 1
if [ -w /dev/full ]; then
    status=0
    "$HR" dump --format csv good.bin >/dev/full 2>err || status=$?
    is 'dump to a full disk: status' "$status" 1
    is 'dump to a full disk: one line' "$(grep -c . err)" 1
fi
"$HR" dump --format csv good.bin 2>err | head -n 2 >out
is 'dump | head is quiet' "$(cat err)" ''
done_testing
