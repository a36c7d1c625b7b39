#!/bin/sh
# Files that come back, from a guest that is played: contents, attributes, ends of all kinds, hostile names.
. "$(dirname "$0")/../lib.sh"
hello=$WORKLOADS/hello
export FAKEGUEST_CHUNKS=1

# play PART ARG...: hr run with the guest replaced by one that plays PART.
play() {
    FAKEGUEST=$1
    export FAKEGUEST
    shift
    run_hr run -q --accel tcg --qemu "$TOOLS/fakeguest" "$@" "$hello" </dev/null
}

play files --keep-files kept
is 'status' "$status" 0
is 'nothing is said' "$(cat err)" ''
is 'all files, and nothing else' "$(cd kept && find . ! -type d | sort | tr '\n' ' ')" \
    './empty ./out/deep/er/pieces ./out/hello ./out/holes ./out/link '
is 'contents: the last word on a byte counts, and the size is the last one' "$(cat kept/out/hello)" hEllo
is 'contents: pieces in any order' "$(tr -s 0-7 <kept/out/deep/er/pieces)" 76543210
is 'contents: holes' "$(tr -d b <kept/out/holes | tr -d '\0' | wc -c)/$(wc -c <kept/out/holes)" 0/1310720
is 'permissions, without set-user-ID' "$(stat -c %a kept/out/hello)" 751
is 'times' "$(stat -c %Y kept/out/hello)" 1700000000
is 'a link is a link' "$(readlink kept/out/link)" /etc/passwd
echo mine >kept/out/hello
echo mine >kept/mine
play files --keep-files kept
is 'again: status' "$status" 0
is 'again: replaced' "$(cat kept/out/hello)" hEllo
is 'again: what is not the program'\''s stays' "$(cat kept/mine)" mine

play files --missing
is '--missing: status' "$status" 0
is '--missing: what is here comes with the remedy' "$(grep -A 1 'and here' err | tail -n 1)" '    --file /etc/passwd'
is '--missing: what is not here' "$(grep -A 2 'not here' err | tail -n 2 | tr -s ' \n' ' ')" \
    ' /no/escape\x1b[31m /no/such/file '
like '--missing: what was left out' err 'and 3 more'
play normal --missing
like '--missing: nothing' err 'found every file'

play normal --keep-files nothing
is 'a guest that sends no files: status' "$status" 125
like 'a guest that sends no files: message' err 'did not send all files'
play files-death --keep-files dead
is 'a guest that dies: status' "$status" 125
like 'a guest that dies: message' err '3 of them are in dead/microtome-incomplete-000'
is 'a guest that dies: what came is kept' "$(head -n 1 dead/microtome-incomplete-000/1)" hEllo

play normal --keep-files no/such/dir
is 'a directory that cannot be made: status' "$status" 125
like 'a directory that cannot be made: message' err 'no/such/dir: No such file'
: >plain
play normal --keep-files plain
like 'a file instead of a directory: message' err 'plain: Not a directory'

# bad KIND REGEX: a guest that sends what no program could have done.
bad() {
    rm -rf jail
    mkdir jail
    FAKEGUEST_BAD=$1
    export FAKEGUEST_BAD
    play files-bad --keep-files jail/kept
    is "bad $1: status" "$status" 125
    like "bad $1: message" err "$2"
    is "bad $1: nothing outside" "$(ls jail)" kept
}
touch mark
for kind in 0 1 2 3 4 5 6 8 11 12 23 24 25; do bad $kind 'no path'; done
for kind in 7 10; do bad $kind 'through a symbolic link or a file'; done
bad 9 'a file where a directory is'
bad 20 'too long'
for kind in 21 22; do bad $kind 'more than any program'; done
is 'bad: nothing came through the link' "$(find /tmp -maxdepth 1 -name in -newer mark)" ''
rm -rf jail
FAKEGUEST_BAD=26 play files-bad --mem 32M --keep-files jail
like 'files without end: stopped' err 'more than any program'
within 'files without end: in time' "$(du -sm jail | cut -f 1)" 200 300
rm -rf jail
FAKEGUEST_BAD=28 play files-bad --mem 32M --keep-files jail
like 'names without end: stopped' err 'more than any program'

# The limit, in blocks of 512 bytes, leaves room for the archive in memory but not for the files.
(ulimit -f 9000; trap '' XFSZ; FAKEGUEST_BAD=27; export FAKEGUEST_BAD
 play files-bad --keep-files full; echo "$status" >full.status)
is 'file size limit: status' "$(cat full.status)" 125
like 'file size limit: message names the directory' err "to 'full'"
like 'file size limit: and the reason' err 'too large'
run_hr check hr.bin
ok 'file size limit: the trace can be read' test "$status" -le 1
done_testing
