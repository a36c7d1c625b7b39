#!/bin/sh
# hr bench memory: what it prints, that an emulator's peak is not kept, and what it refuses.
. "$(dirname "$0")/../lib.sh"

run_hr bench memory --accel tcg --size 1M
is 'status' "$status" 0
is 'a row for each size' "$(awk '/KiB/ { printf "%s ", $1 }' out)" '16 32 64 128 256 512 1024 '
is 'four figures a row' "$(awk '/KiB/ && $3 > 0 && $4 > 0 && $5 > 0 && $6 > 0' out | wc -l)" 7
is 'emulation is named' "$(cat err)" \
    "hr: the run was emulated: these figures are the emulator's, and no peak is kept"
fails 'no peak is kept' sh -c 'test -e cache/microtome/peak-*'
run_hr bench memory --accel tcg --size 1M --format json
is 'json' "$(jq -c '[.emulated, (.sizes | length), (.sizes[6] | .size, .read_bytes_per_us > 0)]' out)" '[true,7,1048576,true]'

run_hr bench
is 'nothing to measure' "$status.$(head -n 1 err)" '2.hr bench: say what to measure: memory'
run_hr bench disk
is 'another bench' "$status.$(head -n 1 err)" '2.hr bench: disk: there is one bench: memory'
run_hr bench memory --size 1K
is 'a size that is too small' "$status" 2
run_hr bench memory --qemu /nonexistent --accel tcg
like 'a run that fails: the reason' err '^hr: bench memory: the run ended with status 12[57]: .*/nonexistent'
ok 'a run that fails: status' test "$status" -ne 0
is 'nothing is left' "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'microtome-bench.*' -user "$(id -u)" -newer "$work" | wc -l)" 0
done_testing
