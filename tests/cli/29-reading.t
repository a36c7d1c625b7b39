#!/bin/sh
# docs/reading.md: its commands work, print what it shows, and the finding is what it says.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/docs/transcript.sh"

for tool in patch jq sqlite3; do
    command -v $tool >/dev/null || skip_all "$tool is not installed"
done
ls /usr/lib/debug/.build-id >/dev/null 2>&1 || skip_all 'libc6-dbg is not installed: names of the C library'

[ "$(getconf GNU_LIBC_VERSION)" = 'glibc 2.36' ] || skip_all 'docs/reading.md shows functions of the C library of Debian 12'
transcript "$ROOT/docs/reading.md"

# the finding itself, in numbers: self of the two loops, growth, and what each step of the mending won
share() { "$HR" report --format json "$@" | jq "100 * ([.rows[] | select(.function == \"$name\")][0].self.samples) / .all.samples"; }
name=__rawmemchr_avx2
within 'rawmemchr in all' "$(share before.bin)" 10 35
within 'rawmemchr at first' "$(share --to 18ms before.bin)" 45 85
name=__strcmp_avx2
within 'strcmp in all' "$(share before.bin)" 35 65
within 'strcmp at the end' "$(share --from 160ms before.bin)" 50 80
ratio() { awk -v a="$(total "$1" instructions)" -v b="$(total "$2" instructions)" 'BEGIN { print b / a }'; }
within 'half the list is about a quarter of the work' "$(ratio before.bin half.bin)" 0.2 0.35
within 'the first step wins a part' "$(ratio before.bin numbers.bin)" 0.6 0.9
within 'both win nearly all' "$(ratio before.bin after.bin)" 0.01 0.1
is 'the result is the same' "$(for n in 0 1 2; do ./prices-$n prices.json; done | sort -u | wc -l)" 1
is 'a run again is the same to the instruction' "$(total again.bin instructions)" "$(total after.bin instructions)"
within 'a thousand files cost jq next to nothing' "$(ratio jq-one.bin jq-many.bin)" 1.01 1.2

# its pictures are there, and small
for picture in $(grep -o '(pictures/[^)]*' "$ROOT/docs/reading.md" | cut -c2-); do
    within "$picture: bytes" "$(stat -c %s "$ROOT/docs/$picture")" 1000 150000
done
done_testing
