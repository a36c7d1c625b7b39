#!/bin/sh
# Debian's busybox-static, unmodified, on real files: output and status as natively.
. "$(dirname "$0")/../lib.sh"
busybox=$(command -v busybox) || skip_all 'busybox is not installed (Debian package busybox-static)'

# Real text and real binaries, the same on every run on one machine.
find /usr/include /usr/share/perl /usr/share/common-licenses -type f 2>/dev/null | sort |
    xargs cat 2>/dev/null | head -c 150000 >text
cat /usr/bin/perl "$HR" "$BUILD"/workloads/*-glibc-static 2>/dev/null | head -c 600000 >binary
head -c 150000 binary >binary1
awk '{ for (i = 1; i <= NF; i++) print $i }' text | head -n 6000 >words

# same INPUT APPLET ARG...: runs both ways on INPUT as stdin, compares stdout and status.
same() {
    input=$1
    shift
    "$busybox" "$@" <"$input" >native 2>native.err
    native_status=$?
    run_guest -i 1ms "$busybox" "$@" <"$input"
    is "$*: status" "$status" "$native_status"
    same_file "$*: output" out native
}

same binary sha256sum
same text md5sum
same text wc
same text sed 's/\([a-z]*\) \([a-z]*\)/\2 \1/g'
same words sort
same text awk '{ n += NF; for (i = 1; i <= NF; i++) seen[$i]++ } END { for (w in seen) k++; print n, k }'
same binary1 od -A d -t x1
same text gzip -c
same binary1 bzip2 -c
same text grep -c include
same text grep no-such-line-anywhere
same /dev/null cat
same text tail -n 3
same text cut -c 1-20
same words uniq -c

"$busybox" bzip2 -c <text >text.bz2
same text.bz2 bunzip2 -c
run_guest -i 1ms "$busybox" bzip2 -c <text
bunzip2 -c <out >unpacked 2>/dev/null
same_file 'what the guest packed, the native bunzip2 unpacks' unpacked text

run_guest --file "$work/text" "$busybox" cat "$work/text"
same_file '--file: the guest reads a file by its path' out text
run_guest "$busybox" cat /no/such/file
is 'a missing file: status' "$status" 1
like 'a missing file: message' err "can't open '/no/such/file'"
run_guest "$busybox" no-such-applet
is 'a missing applet: status' "$status" 127

if [ -n "${HR_TEST_LONG:-}" ]; then
    find /usr -type f -size +100k 2>/dev/null | sort | xargs cat 2>/dev/null | head -c 100000000 >large
    LIMIT=900
    same large sha256sum
    same large md5sum
    same large cat
else
    skip 6 'inputs of 100 MB run in make test-long'
fi
done_testing
