#!/bin/sh
# hr timeline --bandwidth: programs that move a known number of bytes, on each modelled PMU.
# QEMU: see tests/flavours.sh; the CPUs are those of the modelled PMU.
. "$(dirname "$0")/../lib.sh"

. "$ROOT/tests/flavours.sh"
membench=$WORKLOADS/membench
size=4194304 # four times the model's cache

# bytes FLOW: the sum over the bins of the trace's flow.
bytes() {
    "$HR" timeline --bandwidth --format csv --bin 100us |
        awk -F, -v m="$1_bytes" '$4 == m && $6 == "pmu" { s += $7 } END { printf "%d", s }'
}

# moves FLAVOUR KIND PASSES: runs membench.
moves() {
    run_guest -q --accel tcg --qemu "$QEMU" --cpu "$1" -e @bandwidth -i 100us "$membench" "$2" $size "$3"
}

event_total() {
    stat_of hr.bin ".events[] | select(.name | startswith(\"$1\")) | .total"
}

moves Icelake-Server,model=106,pmu=on,pmu-prefetch=off read 1
[ "$status" -eq 0 ] || skip_all "QEMU does not model the CPU"

for flavour in Icelake-Server,model=106,pmu=on,pmu-prefetch=off Skylake-Server,pmu=on,pmu-version=2,pmu-gp=4,pmu-fixed=3,pmu-prefetch=off; do
    moves $flavour read 1
    one=$(bytes read)
    is "$flavour: bytes are 64 for each miss" "$one" $((64 * $(event_total LLC-misses)))
    within "$flavour: a pass reads its bytes, and its start little" "$one" $size $((size + 65536))
    moves $flavour read 3
    within "$flavour: two more passes read their bytes and the stack's" $(($(bytes read) - one)) $((2 * size)) $((2 * size + 256))
    within "$flavour: nearly all by loads" "$(bytes demand)" $((3 * size)) $((3 * size + 65536))
    within "$flavour: nearly nothing is written" "$(bytes written_at_most)" 0 65536
    moves $flavour write 1
    is "$flavour: what stores take is written" "$(bytes written_at_most)" \
        $((64 * ($(event_total LLC-misses) - $(event_total LLC-load-misses))))
    within "$flavour: stores: their bytes" "$(bytes written_at_most)" $size $((size + 65536))
    within "$flavour: stores: hardly a load" "$(bytes demand)" 0 65536
done

moves Icelake-Server,model=106,pmu=on read 1
if command -v chromium >/dev/null; then
    . "$ROOT/tests/view/look.sh"
    run_hr view
    look hr.html overview
    is 'hr view: rows of the flows can be chosen' "$(seen '[.overview.choices[] | select(endswith(" MB/s"))] | join(",")')" \
        'read MB/s,loads MB/s,written <= MB/s'
else
    skip 2 'chromium is not installed'
fi
within 'the prefetcher: two misses a page are counted' "$(bytes read)" $((size / 32)) $((size / 32 + 65536))

for flavour in EPYC-Milan,pmu=on,pmu-prefetch=off EPYC,pmu=on,pmu-v2=off,pmu-prefetch=off; do
    moves $flavour copy 1
    one=$(bytes read)
    is "$flavour: bytes are 64 for each fill" "$one" $((64 * $(event_total LLC-load-misses)))
    moves $flavour copy 3
    within "$flavour: two more copies move twice their bytes" $(($(bytes read) - one)) $((4 * size)) $((4 * size + 256))
    is "$flavour: demand and prefetch make the whole" "$(($(bytes demand) + $(bytes prefetch)))" "$(bytes read)"
done
run_hr timeline --bandwidth
like 'table: a row' out '^read MB/s +[0-9.]+ +[0-9.]+ [▁▂▃▄▅▆▇█]+$'
like 'table: the formula' out '^# read: [0-9.]+ MB = \(LLC-load-misses \+ L2_PREFETCH_MISS_L3.ANY \+ r485a\) x 64 bytes$'
run_hr timeline --bandwidth --format json --line-bytes 128
is 'json' "$(jq -c '[.line_bytes, .lines.demand, ([.rows[] | select(.metric == "demand_bytes") | .value] | add)]' out)" \
    "[128,\"LLC-load-misses\",$((128 * $(event_total LLC-load-misses)))]"

run_guest -q --accel tcg --qemu "$QEMU" --cpu Icelake-Server,model=106,pmu=on -e cycles,LLC-loads "$WORKLOADS/hello"
run_hr timeline --bandwidth
is 'no event of lines from memory' "$status.$(cat err)" \
    "1.hr: --bandwidth: no event of hr.bin counts lines from memory; record some with 'hr run -e @bandwidth'"
done_testing
